//! What the tests about history say in few words.

use koru_tests::support::bridge::Bridge;
use koru_tests::support::documents::{Page, nodes, text};
use serde_json::{Value, json};

/// The entries of a document, newest first.
pub(super) fn entries(bridge: &Bridge, page: &Page) -> Vec<Value> {
    let mut all = Vec::new();
    let mut arguments = page.reading(json!({ "limit": 200 }));
    loop {
        let listed = bridge.ok("list_document_versions", arguments.clone());
        all.extend(listed["entries"].as_array().expect("entries").clone());
        let Some(next) = listed.get("next_before_id") else { return all };
        arguments["before_id"] = next.clone();
        arguments["before_at"] = listed["next_before_at"].clone();
    }
}

/// The ID of the newest entry.
pub(super) fn newest(bridge: &Bridge, page: &Page) -> String {
    let listed = bridge.ok("list_document_versions", page.reading(json!({ "limit": 1 })));
    text(&listed["entries"][0]["id"])
}

/// The nodes of a version.
pub(super) fn version(bridge: &Bridge, page: &Page, entry: &str) -> Value {
    bridge.ok("read_document_version", json!({ "workspace_id": page.workspace, "entry_id": entry }))
}

/// What leads from one entry to another, or to now.
pub(super) fn compare(bridge: &Bridge, page: &Page, left: &str, right: Option<&str>) -> Value {
    let mut arguments = json!({ "workspace_id": page.workspace, "left_entry_id": left });
    if let Some(right) = right {
        arguments["right_entry_id"] = json!(right);
    }
    bridge.ok("compare_document_versions", arguments)
}

/// The changes of a comparison.
pub(super) fn changes(compared: &Value) -> Vec<Value> {
    compared["changes"].as_array().expect("changes").clone()
}

/// The arguments of a restore.
pub(super) fn restoring(page: &Page, entry: &str, base: &str) -> Value {
    page.reading(json!({ "entry_id": entry, "base_revision": base }))
}

/// Restores at the present revision.
pub(super) fn restore(bridge: &Bridge, page: &Page, entry: &str) -> Value {
    bridge.ok("restore_document_version", restoring(page, entry, &page.now(bridge)))
}

/// The arguments of an extraction of one block at the present revision.
pub(super) fn extracting(bridge: &Bridge, page: &Page, node: &str, more: Value) -> Value {
    let read = bridge.ok("read_document", page.reading(json!({ "node_id": node, "max_depth": 0 })));
    let mut arguments = json!({
        "workspace_id": page.workspace,
        "source_document_id": page.document,
        "base_revision": read["revision"],
        "source_node_id": node,
        "expected": nodes(&read)[0]["text"],
    });
    let Value::Object(more) = more else { return arguments };
    for (name, value) in more {
        arguments[name] = value;
    }
    arguments
}

/// Extracts into a new document; it and the answer.
pub(super) fn into_new(bridge: &Bridge, page: &Page, node: &str, title: &str) -> (Page, Value) {
    let arguments = extracting(bridge, page, node, json!({ "new_document_title": title }));
    let extracted = bridge.ok("extract_to_document", arguments);
    (made(bridge, page, &extracted), extracted)
}

/// Extracts into a document that is there.
pub(super) fn into_page(bridge: &Bridge, page: &Page, node: &str, target: &Page) -> Value {
    let arguments =
        extracting(bridge, page, node, json!({ "target_document_id": target.document }));
    bridge.ok("extract_to_document", arguments)
}

/// The document that an extraction went to.
pub(super) fn made(bridge: &Bridge, source: &Page, extracted: &Value) -> Page {
    let document = text(&extracted["document_id"]);
    let read = bridge
        .ok("read_document", json!({ "workspace_id": source.workspace, "document_id": document }));
    Page {
        workspace: source.workspace.clone(),
        document,
        root: text(&read["root_node_id"]),
        revision: text(&read["revision"]),
        nodes: nodes(&read).iter().skip(1).map(|node| text(&node["node_id"])).collect(),
    }
}

/// The IDs of a read in document order, without the title.
pub(super) fn ids(read: &Value) -> Vec<String> {
    nodes(read).iter().skip(1).map(|node| text(&node["node_id"])).collect()
}

/// The tail of an ID, as the short form of a read names nodes.
pub(super) fn tail(node: &str) -> String {
    node.chars().skip(28).collect()
}
