//! The Inspector's command line, with `--strict`.

use std::collections::BTreeSet;

use koru_tests::support::documents::{Page, personal};
use koru_tests::support::files::add;
use koru_tests::support::home::Home;
use serde_json::{Value, json};

use super::install::Installed;
use crate::Outcome;
use crate::programs::output;

/// What the Inspector ends with where a tool says `isError`.
const TOOL_ERROR: i32 = 5;

pub(super) fn run(installed: &Installed, home: &Home) -> Outcome {
    let page = Page::of_lines(&home.bridge(), "For the Inspector", 3);
    let workspace = personal(&home.bridge());
    let check = |what: &str, arguments: &[&str], wanted: i32| {
        let mut command = installed.inspector(home)?;
        // The Inspector hands the server no more of its environment than it is told.
        let ours = format!("KORU_HOME={}", home.path().display());
        command.args(["--cli", "-e", &ours]);
        command.arg(&home.programs().bridge).args(["serve", "--stdio"]);
        let (code, said, complained) = output(command.args(arguments))?;
        if code == Some(wanted) {
            println!("{what}: {} bytes", said.len());
            return Ok(said);
        }
        Err(format!("Inspector, {what}: ended with {code:?}\n{said}\n{complained}"))
    };
    let list = check("tools/list --strict", &["--method", "tools/list", "--strict"], 0)?;
    let listed: Value = serde_json::from_str(&list).unwrap_or_default();
    let tools = listed["tools"].as_array().map_or(0, Vec::len);
    let declared = koru_model::protocol::tools::all().len();
    if tools != declared {
        return Err(format!("Inspector lists {tools} tools of {declared}"));
    }
    check("resources/list", &["--method", "resources/list"], 0)?;
    let read = ["--method", "resources/read", "--uri", "koru://docs/model"];
    check("resources/read", &read, 0)?;
    let mut called = BTreeSet::new();
    let mut call = |tool: &'static str, arguments: Value| {
        let arguments = arguments.to_string();
        let call = ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", &arguments];
        let said = check(tool, &call, 0)?;
        called.insert(tool);
        let result: Value = serde_json::from_str(&said).unwrap_or_default();
        Ok::<_, String>(result["structuredContent"].clone())
    };
    let here = json!({ "workspace_id": workspace });
    call("get_documentation", json!({ "uri": "koru://docs/model" }))?;
    call("list_workspaces", json!({}))?;
    for tool in ["list_documents", "list_tags", "list_attributes", "list_files"] {
        call(tool, here.clone())?;
    }
    call(
        "create_document",
        json!({ "workspace_id": workspace, "title": "Made by the Inspector" }),
    )?;
    call("list_document_links", page.this())?;
    call("save_document_version", page.reading(json!({ "label": "inspected" })))?;
    let read = call("read_document", page.reading(json!({ "compact": true })))?;
    let (first, second) = (&read["nodes"][1], &read["nodes"][2]);
    let replace = json!({ "op": "replace_text", "node_id": first["id"], "expected": first["text"], "text": "changed" });
    let edited = call(
        "edit_document",
        page.reading(json!({ "base_revision": read["revision"], "operations": [replace] })),
    )?;
    let found = call("search_documents", json!({ "query": "changed" }))?;
    if found["hits"][0]["node"] != page.nodes[0] {
        return Err(format!("the Inspector did not find what it wrote: {found}"));
    }
    let versions = call("list_document_versions", page.this())?;
    let oldest = versions["entries"].as_array().and_then(|entries| entries.last()).cloned();
    let entry = oldest.unwrap_or_default()["id"].clone();
    call("read_document_version", json!({ "workspace_id": workspace, "entry_id": entry }))?;
    call(
        "compare_document_versions",
        json!({ "workspace_id": workspace, "left_entry_id": entry }),
    )?;
    let extracted = call(
        "extract_to_document",
        json!({
            "workspace_id": workspace,
            "source_document_id": read["document_id"],
            "base_revision": edited["revision"],
            "source_node_id": second["id"],
            "expected": second["text"],
            "new_document_title": "Extracted by the Inspector",
        }),
    )?;
    let back = json!({ "entry_id": entry, "base_revision": extracted["source_revision"] });
    call("restore_document_version", page.reading(back))?;
    let file = add(home, "For the Inspector", b"its content");
    let file = json!({ "workspace_id": workspace, "file_id": file["file_id"] });
    call("search_files", json!({ "workspace_id": workspace, "query": "inspector" }))?;
    for tool in ["get_file", "read_file", "ensure_file_note"] {
        call(tool, file.clone())?;
    }
    if called.len() != declared {
        return Err(format!("the Inspector called {} tools of {declared}", called.len()));
    }
    let bad = json!({ "workspace_id": "no ID", "documents": 1 }).to_string();
    let call =
        ["--method", "tools/call", "--tool-name", "list_documents", "--tool-args-json", &bad];
    check("a bad call", &call, TOOL_ERROR)?;
    Ok(())
}
