//! `list_document_links`.

use koru_tests::support::documents::{Page, id, replace, text};
use koru_tests::support::home::Home;
use serde_json::json;

#[test]
fn links_are_seen_from_both_ends_and_follow_renames() {
    let home = Home::new();
    let bridge = home.bridge();
    let target = Page::of_lines(&bridge, "Target", 1);
    let says = format!("see [[document:{}]] now", target.document);
    let source = Page::new(&bridge, "Source", &[("paragraph", &says)]);
    target.change(&bridge, &[replace(&target.root, "Target", "Renamed")]);
    let from = bridge.ok("list_document_links", source.this());
    let link = &from["outgoing"][0];
    assert_eq!(link["node_id"], source.nodes[0]);
    assert_eq!(link["document_id"], target.document);
    assert_eq!(link["title"], "Renamed");
    assert_eq!(link["lifecycle"], "live");
    assert_eq!(from["incoming"], json!([]));
    let to = bridge.ok("list_document_links", target.this());
    let link = &to["incoming"][0];
    assert_eq!(link["document_id"], source.document);
    assert_eq!(link["title"], "Source");
    assert!(text(&link["text"]).contains("see"));
    assert!(home.run(&["document", "trash", &target.document]).status.success());
    let from = bridge.ok("list_document_links", source.this());
    assert_eq!(from["outgoing"][0]["lifecycle"], "trash");
    source.change(&bridge, &[replace(&source.nodes[0], &says, "nothing")]);
    assert_eq!(bridge.ok("list_document_links", source.this())["outgoing"], json!([]));
}

#[test]
fn a_document_that_is_not_there_has_none() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Here", 0);
    let none = json!({ "workspace_id": page.workspace, "document_id": id() });
    assert_eq!(bridge.err("list_document_links", none)["code"], "not_found");
}
