//! `create_document`.

use koru_tests::support::documents::{Page, id, insert, nodes, paths, personal, text};
use koru_tests::support::home::Home;
use serde_json::json;

#[test]
fn a_page_comes_with_its_content() {
    let home = Home::new();
    let bridge = home.bridge();
    let (root, task, code) = (id(), id(), id());
    let made = bridge.ok(
        "create_document",
        json!({ "workspace_id": personal(&bridge), "title": "Trip", "kind": "page", "root_node_id": root,
            "initial_operations": [
                insert(&task, &root, "task", "Tickets"),
                { "op": "set_done", "node_id": task, "expected": "Tickets", "done": true },
                insert(&code, &root, "code", "fn main() {}"),
                { "op": "set_language", "node_id": code, "expected": "fn main() {}", "language": "rust" },
            ] }),
    );
    let all = nodes(&made);
    assert_eq!(made["root_node_id"], root);
    assert_eq!(all[0]["text"], "Trip");
    assert_eq!(all[1]["done"], true);
    assert_eq!(all[2]["language"], "rust");
}

#[test]
fn the_same_key_gives_the_same_document() {
    let home = Home::new();
    let bridge = home.bridge();
    let workspace = personal(&bridge);
    let mut call = json!({ "workspace_id": workspace, "title": "Once", "idempotency_key": id() });
    let first = bridge.ok("create_document", call.clone());
    let again = bridge.ok("create_document", call.clone());
    assert_eq!(first["document_id"], again["document_id"]);
    call["title"] = json!("Twice");
    assert_eq!(bridge.err("create_document", call)["code"], "idempotency_conflict");
    let listed = bridge.ok("list_documents", json!({ "workspace_id": workspace }));
    assert_eq!(listed["documents"].as_array().map(Vec::len), Some(1));
}

#[test]
fn nothing_is_made_where_something_is_wrong() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "There", 1);
    let workspace = &page.workspace;
    let taken = json!({ "workspace_id": workspace, "title": "New", "root_node_id": page.root });
    let refused = bridge.err("create_document", taken);
    assert!(refused.to_string().contains(&page.document), "it names the document: {refused}");
    let root = id();
    let half = json!({ "workspace_id": workspace, "title": "New", "root_node_id": root, "initial_operations": [
        insert(&id(), &root, "paragraph", "good"), insert(&id(), &id(), "paragraph", "nowhere")] });
    assert_eq!(bridge.err("create_document", half)["code"], "stale_node");
    let rootless = json!({ "workspace_id": workspace, "title": "New",
        "initial_operations": [insert(&id(), &root, "paragraph", "x")] });
    assert_eq!(paths(&bridge.err("create_document", rootless)), ["root_node_id"]);
    let lines = json!({ "workspace_id": workspace, "title": "two\nlines" });
    assert_eq!(bridge.err("create_document", lines)["code"], "invalid_request");
    let below = json!({ "workspace_id": workspace, "title": "New", "parent_document_id": id() });
    assert_eq!(bridge.err("create_document", below)["code"], "not_found");
    let kept = json!({ "workspace_id": workspace, "title": "New", "root_node_id": root,
        "initial_operations": [{ "op": "remove", "node_id": root, "expected": "New" }] });
    assert_eq!(bridge.err("create_document", kept)["code"], "invalid_request");
    let listed = bridge.ok("list_documents", json!({ "workspace_id": workspace }));
    assert_eq!(listed["documents"].as_array().map(Vec::len), Some(1));
    assert_eq!(text(&listed["documents"][0]["title"]), "There");
}
