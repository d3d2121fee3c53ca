//! `search_documents`.

use koru_tests::support::bridge::Bridge;
use koru_tests::support::documents::{Page, id, paths, personal, text};
use koru_tests::support::home::Home;
use serde_json::{Value, json};

fn documents(found: &Value) -> Vec<String> {
    let hits = found["hits"].as_array().expect("hits");
    hits.iter().map(|hit| text(&hit["document"])).collect()
}

fn second_workspace(home: &Home, bridge: &Bridge) -> String {
    let made = home.run(&["workspace", "create", "Work"]);
    assert!(made.status.success(), "{made:?}");
    let listed = bridge.ok("list_workspaces", json!({}));
    let all = listed["workspaces"].as_array().expect("workspaces");
    let work = all.iter().find(|workspace| workspace["name"] == "Work").expect("the new one");
    text(&work["id"])
}

#[test]
fn a_hit_says_where_it_is_and_what_to_open() {
    let home = Home::new();
    let bridge = home.bridge();
    let workspace = personal(&bridge);
    let garden = Page::new(&bridge, "Garden", &[]);
    let root = id();
    let (heading, task) = (id(), id());
    let made = bridge.ok(
        "create_document",
        json!({ "workspace_id": workspace, "title": "Plan", "parent_document_id": garden.document,
            "root_node_id": root, "initial_operations": [
            { "op": "insert", "node_id": heading, "parent_id": root, "kind": "heading", "text": "Spring" },
            { "op": "insert", "node_id": task, "parent_id": heading, "kind": "task", "text": "Cut the climbing roses" },
        ] }),
    );
    let found = bridge.ok("search_documents", json!({ "query": "garden climbing ros" }));
    assert_eq!(found["updating_workspaces"], json!([]));
    assert!(found["next_offset"].is_null() && found["corrected_query"].is_null(), "{found}");
    let hit = &found["hits"][0];
    for (field, wanted) in [
        ("workspace", json!(workspace)),
        ("workspace_name", json!("Personal")),
        ("document", made["document_id"].clone()),
        ("node", json!(task)),
        ("document_kind", json!("page")),
        ("kind", json!("task")),
        ("field", json!("text")),
        ("title", json!("Plan")),
        ("breadcrumb", json!(["Garden", "Spring"])),
        ("snippet", json!("Cut the climbing roses")),
        (
            "spans",
            json!([{ "start_utf8": 8, "end_utf8": 16 }, { "start_utf8": 17, "end_utf8": 22 }]),
        ),
        ("lifecycle", json!("live")),
    ] {
        assert_eq!(hit[field], wanted, "{field}");
    }
    assert!(hit["score"].as_f64().is_some_and(|score| score > 0.0));
    let read = bridge.ok(
        "read_document",
        json!({ "workspace_id": hit["workspace"], "document_id": hit["document"], "node_id": hit["node"] }),
    );
    assert_eq!(read["nodes"][0]["text"], hit["snippet"]);
    // A title has no node.
    let found = bridge.ok("search_documents", json!({ "query": "plan" }));
    assert_eq!(found["hits"][0]["field"], "title");
    assert!(found["hits"][0]["node"].is_null());
}

#[test]
fn wrong_arguments_are_refused_and_say_what_is_right() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Page", 1);
    let refused = |arguments: Value| bridge.err("search_documents", arguments);
    for size in [0, 201, 1000] {
        let error = refused(json!({ "query": "x", "page_size": size }));
        assert_eq!(
            (&error["code"], paths(&error)),
            (&json!("invalid_request"), vec!["page_size".into()])
        );
    }
    assert_eq!(paths(&refused(json!({}))), ["query"]);
    assert_eq!(paths(&refused(json!({ "query": "x", "kinds": ["tasks"] }))), ["kinds[0]"]);
    let between = json!({ "key": "koru.due", "op": "between", "values": ["2026-12-24"] });
    let error = refused(json!({ "query": "x", "attributes": [between] }));
    assert_eq!(paths(&error), ["attributes[0].values"]);
    let unknown = json!({ "key": "koru.du", "op": "exists" });
    let error = refused(json!({ "query": "x", "attributes": [unknown] }));
    assert_eq!(error["code"], "unknown_attribute");
    assert_eq!(error["details"]["nearest"], "koru.due");
    assert!(error["details"]["known"].as_array().is_some_and(|known| known.len() >= 4), "{error}");
    let error = refused(json!({ "query": "x", "document_id": id() }));
    assert_eq!(error["code"], "not_found");
    let error = refused(json!({ "query": "x", "workspace_ids": [page.workspace, id()] }));
    assert_eq!(error["code"], "permission_denied");
}

#[test]
fn a_connection_to_one_workspace_searches_no_other() {
    let home = Home::new();
    let all = home.bridge();
    let here = Page::new(&all, "Shared word here", &[("paragraph", "a secret here")]);
    let work = second_workspace(&home, &all);
    let there = Page::new_in(&all, &work, "Shared word there", &[("paragraph", "a secret there")]);
    let everywhere = all.ok("search_documents", json!({ "query": "shared word" }));
    assert_eq!(documents(&everywhere).len(), 2);
    let one = all.ok("search_documents", json!({ "query": "shared", "workspace_ids": [work] }));
    assert_eq!(documents(&one), std::slice::from_ref(&there.document));

    let bound = home.bridge_with(&["--workspace", &work, "--read-only"]);
    for query in ["shared word", "secret", "\"secret\"", "here"] {
        let found = bound.ok("search_documents", json!({ "query": query }));
        assert!(documents(&found).iter().all(|found| *found == there.document), "{query}: {found}");
    }
    // Not even by a correction, or a document's ID.
    let near = bound.ok("search_documents", json!({ "query": "heer " }));
    assert!(documents(&near).iter().all(|found| *found == there.document), "{near}");
    let outside = json!({ "query": "secret", "workspace_ids": [here.workspace] });
    assert_eq!(bound.err("search_documents", outside)["code"], "permission_denied");
    let by_id = json!({ "query": "secret", "document_id": here.document });
    assert_eq!(bound.err("search_documents", by_id)["code"], "not_found");
}
