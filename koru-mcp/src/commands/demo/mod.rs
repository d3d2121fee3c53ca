//! `demo`: a conversation of two agents with Koru, through the real bridge, in a home that is thrown away.

mod agent;
mod jokes;

use std::collections::HashMap;
use std::path::Path;

use jiff::{ToSpan as _, ZonedDateTime};
use koru_model::protocol::home::Home;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Done, Failure, service};
use crate::output::{self, BOLD, DIM, styled};
use agent::{Agent, short};
use jokes::JOKES;

/// The joke that both agents want to change.
const DISPUTED: &str = "My code never has bugs; it just grows random features.";
const SHORTENED: &str = "My code has no bugs, only random features.";

/// The document, as the first agent knows it.
struct Page {
    workspace: Value,
    document: Value,
    root: String,
    revision: Value,
    /// The jokes and their nodes, in the document's order.
    jokes: Vec<(String, String)>,
}

pub(crate) async fn run() -> Done {
    let folder = tempfile::Builder::new().prefix("koru-demo-").tempdir()?;
    output::line(&styled(
        DIM,
        &format!("home: {} (thrown away at the end)", folder.path().display()),
    ))?;
    let said = converse(folder.path());
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(std::path::PathBuf::from);
    let stopped = service::stop(&Home::under(folder.path(), runtime.as_deref())).await;
    said?;
    stopped?;
    output::line(&styled(DIM, "the service was stopped"))?;
    Ok(())
}

fn converse(home: &Path) -> Done {
    let mut agent = Agent::start("agent", home)?;
    heading("The workspaces")?;
    let listed = agent.must("list_workspaces", json!({}))?;
    let workspace = listed["workspaces"][0]["id"].clone();
    result(&listed)?;

    let mut page = create(&mut agent, workspace)?;
    read(&mut agent, &mut page)?;
    sort(&mut agent, &mut page)?;
    dispute(&mut agent, home, &mut page)?;
    mark(&mut agent, &mut page)?;

    heading("Every edit is in the history, before and after")?;
    let versions = agent.must("list_document_versions", page.arguments(json!({})))?;
    for entry in versions["entries"].as_array().into_iter().flatten() {
        let boundary = entry["boundary"].as_str().unwrap_or_default();
        output::line(&format!(
            "    version {:>2}  {:<8} {boundary:<6}  by {}",
            entry["version"],
            entry["reason"].as_str().unwrap_or_default(),
            entry["author"].as_str().unwrap_or_default(),
        ))?;
    }
    Ok(())
}

impl Page {
    fn arguments(&self, mut more: Value) -> Value {
        more["workspace_id"] = self.workspace.clone();
        more["document_id"] = self.document.clone();
        more
    }

    fn batch(&self, operations: &[Value]) -> Value {
        self.arguments(json!({ "base_revision": self.revision, "operations": operations }))
    }

    fn node(&self, text: &str) -> Result<&str, Failure> {
        self.jokes
            .iter()
            .find(|(joke, _)| joke == text)
            .map(|(_, node)| node.as_str())
            .ok_or_else(|| Failure::Said(format!("the joke is gone: {text}")))
    }
}

fn create(agent: &mut Agent, workspace: Value) -> Result<Page, Failure> {
    heading("A page of 20 jokes, in one call")?;
    let root = Uuid::now_v7().to_string();
    let jokes: Vec<(String, String)> =
        JOKES.iter().map(|joke| ((*joke).to_owned(), Uuid::now_v7().to_string())).collect();
    let operations: Vec<Value> = jokes
        .iter()
        .map(|(joke, node)| {
            json!({ "op": "insert", "node_id": node, "parent_id": root, "at_end": true,
                "kind": "listblock", "text": joke })
        })
        .collect();
    let created = agent.must(
        "create_document",
        json!({
            "workspace_id": workspace, "title": "Twenty jokes", "root_node_id": root,
            "idempotency_key": Uuid::new_v4(), "initial_operations": operations,
        }),
    )?;
    result(&json!({ "document_id": created["document_id"], "revision": created["revision"] }))?;
    let (document, revision) = (created["document_id"].clone(), created["revision"].clone());
    Ok(Page { workspace, document, root, revision, jokes })
}

fn read(agent: &mut Agent, page: &mut Page) -> Result<(), Failure> {
    heading("The page as an agent reads it: compact")?;
    let read = agent.must("read_document", page.arguments(json!({ "compact": true })))?;
    for node in read["nodes"].as_array().into_iter().flatten().take(4) {
        output::line(&format!("    {node}"))?;
    }
    output::line(&styled(DIM, "    …"))?;
    page.revision = read["revision"].clone();
    Ok(())
}

fn sort(agent: &mut Agent, page: &mut Page) -> Result<(), Failure> {
    heading("Sorted by 20 moves in one batch: every node keeps its ID")?;
    page.jokes.sort();
    let mut after = Value::Null;
    let mut operations = Vec::new();
    for (joke, node) in &page.jokes {
        operations.push(json!({ "op": "move", "node_id": node, "expected": joke,
            "parent_id": page.root, "after_node_id": after }));
        after = json!(node);
    }
    let edited = agent.must("edit_document", page.batch(&operations))?;
    result(&edited)?;
    page.revision = edited["revision"].clone();
    let read = agent.must("read_document", page.arguments(json!({ "compact": true })))?;
    for node in read["nodes"].as_array().into_iter().flatten().skip(1).take(3) {
        output::line(&format!("    {}", node["text"].as_str().unwrap_or_default()))?;
    }
    output::line(&styled(DIM, "    …"))?;
    Ok(())
}

fn dispute(agent: &mut Agent, home: &Path, page: &mut Page) -> Result<(), Failure> {
    heading("Meanwhile another agent changes one of the jokes")?;
    let node = page.node(DISPUTED)?.to_owned();
    let replace = |node: &str, expected: &str, text: &str| json!({ "op": "replace_text", "node_id": node, "expected": expected, "text": text });
    let mut other = Agent::start("another agent", home)?;
    let edited = other.must("edit_document", page.batch(&[replace(&node, DISPUTED, SHORTENED)]))?;
    result(&edited)?;
    drop(other);

    heading("The first agent's next batch still expects the old text: it is refused whole")?;
    let wanted = [
        (DISPUTED, "My code never has bugs; it grows features nobody asked for."),
        (JOKES[2], "There are 10 kinds of people: those who know binary and those who don't."),
        (JOKES[11], "It works on my machine, so we will ship my machine."),
    ];
    let mut operations = Vec::new();
    for (expected, text) in wanted {
        operations.push(replace(page.node(expected)?, expected, text));
    }
    let refused = agent.call("edit_document", page.batch(&operations))?;
    if !refused.failed {
        return Err(Failure::Said("the stale batch was taken".into()));
    }
    output::line("  what the agent is told:")?;
    for line in format!("{:#}", refused.value).lines() {
        output::line(&format!("    {line}"))?;
    }

    heading("The agent corrects what it is told about, and sends the batch again")?;
    let details = &refused.value["details"];
    let actual: HashMap<u64, &Value> = details["conflicts"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|conflict| Some((conflict["operation_index"].as_u64()?, &conflict["actual"])))
        .collect();
    for (index, operation) in (0..).zip(operations.iter_mut()) {
        if let Some(actual) = actual.get(&index) {
            operation["expected"] = (*actual).clone();
        }
    }
    page.revision = details["revision"].clone();
    let edited = agent.must("edit_document", page.batch(&operations))?;
    result(&edited)?;
    page.revision = edited["revision"].clone();
    for (expected, text) in wanted {
        if let Some((joke, _)) = page.jokes.iter_mut().find(|(joke, _)| joke == expected) {
            text.clone_into(joke);
        }
    }
    Ok(())
}

fn mark(agent: &mut Agent, page: &mut Page) -> Result<(), Failure> {
    heading("Two tags and a due date")?;
    let (joke, node) = page.jokes.first().ok_or_else(|| Failure::Said("no jokes".into()))?;
    let in_a_week = ZonedDateTime::now()
        .checked_add(7.days())
        .map_err(|error| Failure::Said(error.to_string()))?;
    let date = in_a_week.date().to_string();
    let operations = [
        json!({ "op": "add_tag", "node_id": node, "expected": joke, "tag": "humour/short" }),
        json!({ "op": "add_tag", "node_id": node, "expected": joke, "tag": "to tell" }),
        json!({ "op": "set_attribute", "node_id": node, "expected": joke, "key": "koru.due",
            "value": { "kind": "date", "value": date } }),
    ];
    let edited = agent.must("edit_document", page.batch(&operations))?;
    result(&edited)?;
    page.revision = edited["revision"].clone();
    let tags = agent.must("list_tags", json!({ "workspace_id": page.workspace }))?;
    result(&tags)?;
    Ok(())
}

fn heading(text: &str) -> Result<(), Failure> {
    output::line("")?;
    output::line(&styled(BOLD, text))?;
    Ok(())
}

fn result(value: &Value) -> Result<(), Failure> {
    output::line(&format!("  → {}", short(value)))?;
    Ok(())
}
