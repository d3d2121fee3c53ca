//! `get_documentation` and the resource with the same text.

use koru_tests::support::documents::{Page, insert, operation, paths, personal, text};
use koru_tests::support::home::Home;
use serde_json::{Value, json};

#[test]
fn the_tool_and_the_resource_say_the_same() {
    let home = Home::new();
    let bridge = home.bridge();
    let told = bridge.ok("get_documentation", json!({ "uri": "koru://docs/model" }));
    assert_eq!(told["mime_type"], "text/markdown");
    assert_eq!(told["uri"], "koru://docs/model");
    let missing = bridge.err("get_documentation", json!({}));
    assert_eq!(paths(&missing), ["uri"]);
    let resource = bridge.request("resources/read", json!({ "uri": "koru://docs/model" }));
    assert_eq!(resource["contents"][0]["text"], told["text"]);
    assert!(text(&told["text"]).contains("replace_text"));
    assert!(home.service_pids().is_empty(), "the documentation needs no service");
}

#[test]
fn another_address_is_refused() {
    let home = Home::new();
    let refused = home.bridge().err("get_documentation", json!({ "uri": "koru://docs/else" }));
    assert_eq!(refused["code"], "invalid_request");
    assert_eq!(paths(&refused), ["uri"]);
}

/// Every example of an operation, tried on a page with the IDs that the examples name.
#[test]
fn the_examples_work() {
    const ROOT: &str = "0198c2f0-7a3b-7c1d-9e2f-000000000001";
    const TASK: &str = "0198c2f0-7a3b-7c1d-9e2f-4b5a6c7d8e9f";
    const CODE: &str = "0198c2f0-7a3b-7c1d-9e2f-4b5aaa00bb11";
    const LINKED: &str = "0198c2f0-7a3b-7c1d-9e2f-0000000000d0";
    let home = Home::new();
    let bridge = home.bridge();
    let told = text(&bridge.ok("get_documentation", json!({ "uri": "koru://docs/model" }))["text"]);
    let blocks: Vec<&str> = told
        .split("```")
        .skip(1)
        .step_by(2)
        .map(|block| block.trim_start_matches("json"))
        .collect();
    let workspace = personal(&bridge);

    // The page that is created by example, then one for the operations under the same kind of IDs.
    let creation = blocks.iter().find(|block| block.contains("initial_operations")).expect("one");
    let creation: Value = serde_json::from_str(&creation.replace('…', &workspace)).expect("JSON");
    let other = bridge.ok("create_document", creation.clone());
    assert_eq!(other["nodes"][2]["kind"], "task");
    assert_eq!(bridge.ok("create_document", creation)["document_id"], other["document_id"]);
    let linked = text(&other["document_id"]);

    let mut tried = 0;
    let operations = blocks.iter().flat_map(|block| block.lines());
    for line in operations.filter(|line| line.starts_with("{\"op\":")) {
        let operation: Value = serde_json::from_str(&line.replace(LINKED, &linked)).expect("JSON");
        let root = ROOT.replacen("0198", &format!("{tried:04}"), 1);
        let task = operation["expected"].as_str().filter(|_| operation["node_id"] != "aa00bb11");
        let made = bridge.ok(
            "create_document",
            json!({ "workspace_id": workspace, "title": "Try", "root_node_id": root, "initial_operations": [
                insert(TASK, &root, "task", task.unwrap_or("Call back")),
                insert(CODE, &root, "code", "fn main() {}"),
            ] }),
        );
        let mut edit = json!({ "workspace_id": workspace, "document_id": made["document_id"],
            "base_revision": made["revision"], "operations": [operation] });
        bridge.ok("edit_document", edit.clone());
        edit["base_revision"] = json!("x");
        assert_eq!(bridge.err("edit_document", edit)["code"], "revision_conflict");
        if operation["op"] == "insert_inline" {
            let read = json!({ "workspace_id": workspace, "document_id": made["document_id"], "compact": true });
            let compact = bridge.ok("read_document", read);
            let node = &compact["nodes"][1];
            assert_eq!(node["text"], format!("Call [[document:{linked}]] back"));
            let shown =
                json!([{ "at_utf8": 5, "type": "document", "label": "Ada", "title": "Trip" }]);
            assert_eq!(node["inlines"], shown, "no IDs, and no lifecycle where it is live");
        }
        tried += 1;
    }
    assert!(tried >= 11, "{tried} examples");
}

/// The two forms of a node, as the documentation shows them.
#[test]
fn the_forms_are_as_shown() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::new(&bridge, "Forms", &[("task", "Call back"), ("table", "a\tb")]);
    let set = json!({ "key": "koru.due", "value": { "kind": "date", "value": "2026-12-24" } });
    page.change(
        &bridge,
        &[
            operation("set_attribute", &page.nodes[0], "Call back", set),
            operation("add_tag", &page.nodes[0], "Call back", json!({ "tag": "family/calls" })),
        ],
    );
    let keys = |node: &Value| -> Vec<String> {
        node.as_object().expect("a node").keys().cloned().collect()
    };
    let full = page.read(&bridge);
    let shown = ["node_id", "parent_id", "kind", "text", "done", "inlines", "attributes", "tags"];
    assert_eq!(keys(&full["nodes"][1]), shown);
    assert!(full["nodes"][1]["tags"][0]["tag_id"].is_string());
    assert!(full["nodes"][2]["rows"].is_array());
    let compact = bridge.ok("read_document", page.reading(json!({ "compact": true })));
    assert_eq!(keys(&compact["nodes"][1]), ["id", "kind", "text", "done", "attributes", "tags"]);
    assert_eq!(compact["nodes"][1]["tags"], json!(["family/calls"]));
    assert_eq!(keys(&compact["nodes"][2]), ["id", "kind", "text"]);
    assert_eq!(compact["nodes"][0]["depth"], 0);
}
