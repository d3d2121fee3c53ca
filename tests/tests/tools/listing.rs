//! `list_workspaces` and `list_documents`.

use koru_tests::support::documents::{Page, id, paths, personal, text};
use koru_tests::support::home::Home;
use serde_json::json;

#[test]
fn a_fresh_home_has_one_workspace() {
    let home = Home::new();
    let bridge = home.bridge();
    let listed = bridge.ok("list_workspaces", json!({}));
    let workspace = &listed["workspaces"][0];
    assert_eq!(workspace["name"], "Personal");
    assert_eq!(workspace["archived"], false);
    assert_eq!(workspace["pinned"], false);
    assert!(text(&workspace["created_at"]).ends_with('Z'));
    assert!(workspace.get("deleted_at").is_none() && workspace["position"].is_number());
    let refused = bridge.err("list_workspaces", json!({ "name": "Personal" }));
    assert_eq!(refused["code"], "invalid_request");
    assert_eq!(paths(&refused), ["name"]);
}

#[test]
fn documents_come_in_tree_order_and_by_pages() {
    let home = Home::new();
    let bridge = home.bridge();
    let first = Page::of_lines(&bridge, "First", 2);
    let below = bridge.ok(
        "create_document",
        json!({ "workspace_id": first.workspace, "title": "Below", "parent_document_id": first.document }),
    );
    let second = Page::of_lines(&bridge, "Second", 0);
    let all = bridge.ok("list_documents", json!({ "workspace_id": first.workspace }));
    let rows = all["documents"].as_array().expect("documents").clone();
    let titles: Vec<String> = rows.iter().map(|row| text(&row["title"])).collect();
    assert_eq!(titles, ["First", "Below", "Second"]);
    assert_eq!(rows[0]["ordinal"], 0);
    assert_eq!(rows[0]["nodes"], 3);
    assert_eq!(rows[0]["kind"], "page");
    assert_eq!(rows[1]["id"], below["document_id"]);
    assert_eq!(rows[1]["parent"], first.document);
    assert_eq!(rows[2]["ordinal"], 1);
    assert!(rows[2].get("parent").is_none() && rows[2].get("trashed_at").is_none());

    let mut after = None;
    let mut paged = Vec::new();
    loop {
        let mut arguments = json!({ "workspace_id": first.workspace, "page_size": 1 });
        if let Some(after) = after {
            arguments["after_document_id"] = after;
        }
        let page = bridge.ok("list_documents", arguments);
        paged.extend(page["documents"].as_array().expect("documents").clone());
        match page.get("next_after_document_id") {
            Some(next) => after = Some(next.clone()),
            None => break,
        }
    }
    assert_eq!(paged, rows);
    assert_eq!(second.texts(&bridge), Vec::<String>::new());
}

#[test]
fn a_workspace_that_is_not_there_is_denied() {
    let home = Home::new();
    let bridge = home.bridge();
    let denied = bridge.err("list_documents", json!({ "workspace_id": id() }));
    assert_eq!(denied["code"], "permission_denied");
    let workspace = personal(&bridge);
    let wrong =
        json!({ "workspace_id": workspace, "page_size": 0, "after_document_id": "x", "sort": 1 });
    let refused = bridge.err("list_documents", wrong);
    let mut found = paths(&refused);
    found.sort();
    assert_eq!(found, ["after_document_id", "page_size", "sort"], "every fault is told");
}

#[test]
fn the_trash_is_listed_and_read_and_not_written() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Old", 1);
    let done = home.run(&["document", "trash", &page.document]);
    assert!(done.status.success(), "{done:?}");
    let listed = bridge.ok("list_documents", json!({ "workspace_id": page.workspace }));
    assert!(text(&listed["documents"][0]["trashed_at"]).ends_with('Z'));
    assert_eq!(page.texts(&bridge), ["line 0"]);
    for (tool, arguments) in [
        ("save_document_version", page.this()),
        (
            "edit_document",
            page.edit(
                &page.revision,
                &[koru_tests::support::documents::replace(&page.nodes[0], "line 0", "new")],
            ),
        ),
        (
            "create_document",
            json!({ "workspace_id": page.workspace, "title": "Below", "parent_document_id": page.document }),
        ),
    ] {
        assert_eq!(bridge.err(tool, arguments)["code"], "document_trashed", "{tool}");
    }
    let done = home.run(&["document", "untrash", &page.document]);
    assert!(done.status.success(), "{done:?}");
    bridge.ok("save_document_version", page.this());
}
