//! `list_document_versions` and `save_document_version`.

use koru_tests::support::documents::{Page, id, paths, replace, text};
use koru_tests::support::home::Home;
use serde_json::json;

#[test]
fn every_edit_writes_two_entries_and_a_saved_one_is_pinned() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "History", 1);
    let revision = page.change(&bridge, &[replace(&page.nodes[0], "line 0", "line one")]);
    let saved = bridge.ok(
        "save_document_version",
        page.reading(json!({ "label": "Good", "message": "as agreed" })),
    );
    assert_eq!(saved["pinned"], true);
    assert_eq!(saved["reason"], "saved");
    assert_eq!(saved["label"], "Good");
    assert_eq!(saved["message"], "as agreed");
    assert_eq!(page.now(&bridge), revision, "saving changes no revision");
    let listed = bridge.ok("list_document_versions", page.this());
    let entries = listed["entries"].as_array().expect("entries").clone();
    let seen: Vec<(u64, String)> = entries
        .iter()
        .map(|entry| (entry["version"].as_u64().unwrap_or_default(), text(&entry["reason"])))
        .collect();
    let expected = [(4, "saved"), (3, "edit"), (2, "edit"), (1, "created")];
    assert_eq!(seen, expected.map(|(version, reason)| (version, reason.to_owned())));
    assert_eq!(entries[1]["boundary"], "after");
    assert_eq!(entries[2]["boundary"], "before");
    assert!(entries[3].get("boundary").is_none());

    let mut more = json!({ "limit": 1 });
    let mut paged = Vec::new();
    loop {
        let page = bridge.ok("list_document_versions", page.reading(more.clone()));
        paged.extend(page["entries"].as_array().expect("entries").clone());
        let Some(next) = page.get("next_before_id") else { break };
        more["before_id"] = next.clone();
        more["before_at"] = page["next_before_at"].clone();
    }
    assert_eq!(paged, entries);
}

#[test]
fn what_is_wrong_is_refused() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "History", 0);
    let lines = page.reading(json!({ "label": "two\nlines" }));
    assert_eq!(bridge.err("save_document_version", lines)["code"], "invalid_request");
    let none = json!({ "workspace_id": page.workspace, "document_id": id() });
    assert_eq!(bridge.err("save_document_version", none.clone())["code"], "not_found");
    assert_eq!(bridge.err("list_document_versions", none)["code"], "not_found");
    let limit = bridge.err("list_document_versions", page.reading(json!({ "limit": 201 })));
    assert_eq!(paths(&limit), ["limit"]);
}
