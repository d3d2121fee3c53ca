//! Case C45: who changed what.

use koru_tests::support::bridge::Bridge;
use koru_tests::support::documents::{Page, replace, text};
use koru_tests::support::home::Home;
use serde_json::json;

use super::support::{changes, compare, entries, into_new, newest, restore};

fn client(home: &Home, name: &str) -> Bridge {
    let mut command = home.command();
    command.args(["serve", "--stdio"]);
    let bridge = Bridge::start(command);
    bridge.initialize(name);
    bridge
}

#[test]
fn every_entry_names_the_client_that_caused_it() {
    let home = Home::new();
    let ada = client(&home, "Ada's agent");
    let bob = client(&home, "Bob's agent");
    let nameless = client(&home, "");
    let page = Page::of_lines(&ada, "Authors", 3);
    let left = newest(&ada, &page);
    page.change(&bob, &[replace(&page.nodes[0], "line 0", "Bob")]);
    page.change(&nameless, &[replace(&page.nodes[1], "line 1", "somebody")]);
    // A refused batch leaves no entry.
    let stale = page.edit(&page.revision, &[replace(&page.nodes[0], "line 0", "x")]);
    assert_eq!(ada.err("edit_document", stale)["code"], "precondition_failed");
    bob.ok("save_document_version", page.this());
    assert_eq!(changes(&compare(&ada, &page, &left, None)).len(), 2);
    restore(&ada, &page, &left);
    let (target, extracted) = into_new(&bob, &page, &page.nodes[2], "Bob's");
    let authors: Vec<(String, String)> = entries(&ada, &page)
        .iter()
        .map(|entry| (text(&entry["reason"]), text(&entry["author"])))
        .collect();
    let (a, b) = ("Ada's agent 1.0", "Bob's agent 1.0");
    let expected = [
        ("extract", b),
        ("extract", b),
        ("restore", a),
        ("restore", a),
        ("saved", b),
        ("edit", ""),
        ("edit", ""),
        ("edit", b),
        ("edit", b),
        ("created", a),
    ];
    assert_eq!(authors.len(), expected.len());
    for ((reason, author), (wanted, by)) in authors.iter().zip(expected) {
        assert_eq!(reason, wanted);
        if by.is_empty() {
            assert!(!author.is_empty() && author != a && author != b, "{author}");
        } else {
            assert_eq!(author, by);
        }
    }
    assert_eq!(extracted["history"]["source"]["author"], b);
    assert_eq!(extracted["history"]["document"]["author"], b);
    assert!(entries(&ada, &target).iter().all(|entry| entry["author"] == b));

    let shell = json!({ "workspace_id": page.workspace, "document_id": page.document }).to_string();
    assert!(home.run(&["call", "save_document_version", &shell]).status.success());
    assert!(text(&entries(&ada, &page)[0]["author"]).starts_with("koru-mcp"));
}
