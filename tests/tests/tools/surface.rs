//! What a client sees before it calls anything.

use koru_tests::support::bridge::{Bridge, Reply};
use koru_tests::support::documents::{Page, id, personal, text};
use koru_tests::support::home::Home;
use serde_json::{Value, json};

const READING: &[&str] = &[
    "get_documentation",
    "list_workspaces",
    "list_documents",
    "read_document",
    "list_document_links",
    "search_documents",
    "list_tags",
    "list_attributes",
    "list_files",
    "search_files",
    "get_file",
    "read_file",
    "list_document_versions",
    "read_document_version",
    "compare_document_versions",
];
const WRITING: &[&str] = &[
    "create_document",
    "edit_document",
    "ensure_file_note",
    "extract_to_document",
    "restore_document_version",
    "save_document_version",
];
/// What writes and may take something out of a document's present state.
const DESTRUCTIVE: &[&str] = &["edit_document", "extract_to_document", "restore_document_version"];

fn listed(bridge: &Bridge) -> Vec<Value> {
    let list = bridge.request("tools/list", json!({}));
    list["tools"].as_array().expect("a list of tools").clone()
}

fn names(tools: &[Value]) -> Vec<String> {
    tools.iter().map(|tool| text(&tool["name"])).collect()
}

#[test]
fn the_server_says_who_it_is_and_what_to_read_first() {
    let home = Home::new();
    let mut command = home.command();
    command.args(["serve", "--stdio"]);
    let bridge = Bridge::start(command);
    let said = bridge.initialize("surface");
    assert_eq!(said["serverInfo"]["name"], "koru");
    assert_eq!(said["serverInfo"]["title"], "Koru");
    assert_eq!(said["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    let instructions = text(&said["instructions"]);
    assert!(instructions.len() <= 1900 && instructions.contains("koru://docs/model"));
    let capabilities = said["capabilities"].as_object().expect("capabilities");
    let mut named: Vec<&str> = capabilities.keys().map(String::as_str).collect();
    named.sort_unstable();
    assert_eq!(named, ["resources", "tools"]);
    let resources = bridge.request("resources/list", json!({}));
    assert_eq!(resources["resources"][0]["uri"], "koru://docs/model");
    assert!(home.service_pids().is_empty(), "the catalogue needs no service");
}

#[test]
fn every_tool_is_listed_with_its_hints_within_the_budgets() {
    let home = Home::new();
    let tools = listed(&home.bridge());
    assert!(json!(tools).to_string().len() <= 28 * 1024);
    let mut all = [READING, WRITING].concat();
    all.sort_unstable();
    let mut found = names(&tools);
    found.sort();
    assert_eq!(found, all);
    for tool in &tools {
        let name = text(&tool["name"]);
        let hints = &tool["annotations"];
        assert_eq!(hints["readOnlyHint"], READING.contains(&name.as_str()), "{name}");
        assert_eq!(hints["destructiveHint"], DESTRUCTIVE.contains(&name.as_str()), "{name}");
        let idempotent = READING.contains(&name.as_str())
            || ["edit_document", "ensure_file_note", "restore_document_version"]
                .contains(&name.as_str());
        assert_eq!(hints["idempotentHint"], idempotent, "{name}");
        assert_eq!(hints["openWorldHint"], false, "{name}");
        assert!(tool.get("title").is_some() && tool.get("outputSchema").is_none(), "{name}");
        assert!(text(&tool["description"]).chars().count() <= 1000, "{name}");
        assert!(tool.to_string().len() <= 6700, "{name}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{name}");
    }
}

#[test]
fn the_list_comes_in_pages_where_asked_for() {
    let home = Home::new();
    let bridge = home.bridge_with(&["--tool-pages", "on"]);
    let mut cursor = None;
    let mut found = Vec::new();
    loop {
        let params = cursor.map_or_else(|| json!({}), |cursor: Value| json!({ "cursor": cursor }));
        let page = bridge.request("tools/list", params);
        assert!(page.to_string().len() < 7000);
        found.extend(names(page["tools"].as_array().expect("tools")));
        match page.get("nextCursor") {
            Some(next) => cursor = Some(next.clone()),
            None => break,
        }
    }
    assert_eq!(found, names(&listed(&home.bridge())));
    let refused = bridge.wait(bridge.post("tools/list", json!({ "cursor": "no such page" })));
    assert!(matches!(&refused, Reply::Protocol(error) if error["code"] == -32602), "{refused:?}");
}

#[test]
fn an_unknown_tool_or_method_is_a_protocol_error() {
    let home = Home::new();
    let bridge = home.bridge();
    assert!(matches!(bridge.call("delete_everything", json!({})), Reply::Protocol(_)));
    assert!(matches!(bridge.wait(bridge.post("no/such", json!({}))), Reply::Protocol(_)));
    assert_eq!(listed(&bridge).len(), READING.len() + WRITING.len(), "it goes on");
}

#[test]
fn a_reading_connection_neither_lists_nor_takes_what_writes() {
    let home = Home::new();
    let page = Page::of_lines(&home.bridge(), "Kept", 1);
    let bridge = home.bridge_with(&["--read-only"]);
    let mut found = names(&listed(&bridge));
    found.sort();
    let mut reading = READING.to_vec();
    reading.sort_unstable();
    assert_eq!(found, reading);
    let new = json!({ "workspace_id": page.workspace, "title": "New" });
    assert_eq!(bridge.err("create_document", new)["code"], "permission_denied");
    let saved = bridge.err("save_document_version", page.this());
    assert_eq!(saved["code"], "permission_denied");
    assert_eq!(page.texts(&bridge), ["line 0"]);
}

#[test]
fn a_connection_to_one_workspace_reaches_no_other() {
    let home = Home::new();
    let all = home.bridge();
    let page = Page::of_lines(&all, "Elsewhere", 1);
    let other = home.run(&["workspace", "create", "Work"]);
    assert!(other.status.success(), "{other:?}");
    let workspaces = all.ok("list_workspaces", json!({}));
    let work = workspaces["workspaces"]
        .as_array()
        .and_then(|list| list.iter().find(|workspace| workspace["name"] == "Work"))
        .map(|workspace| text(&workspace["id"]))
        .expect("the new workspace");
    let bridge = home.bridge_with(&["--workspace", &work]);
    assert_eq!(personal(&bridge), work);
    let refused = bridge.err("read_document", page.this());
    assert_eq!(refused["code"], "permission_denied");
    let unknown = bridge.err("list_documents", json!({ "workspace_id": id() }));
    assert_eq!(unknown["code"], "permission_denied");
    assert!(!refused.to_string().contains("line 0"), "nothing of the document is told");
}
