//! Section B, first part: what a call names, and what it expects to find there.

use koru_tests::support::documents::{
    Page, conflicts, id, insert, move_last, nodes, operation, remove, replace, text,
};
use koru_tests::support::home::Home;
use serde_json::json;

#[test]
fn c12_a_node_that_is_not_there_is_refused_and_nothing_is_made() {
    let home = Home::new();
    let bridge = home.bridge();
    let other = Page::of_lines(&bridge, "Other", 1);
    let page = Page::of_lines(&bridge, "Here", 2);
    page.change(&bridge, &[remove(&page.nodes[1], "line 1")]);
    let never = page.refused(&bridge, &[replace(&id(), "line 0", "x")]);
    assert_eq!(never["code"], "stale_node");
    assert_eq!(conflicts(&never)[0]["known"], false);
    let gone = page.refused(&bridge, &[replace(&page.nodes[1], "line 1", "x")]);
    assert_eq!(gone["code"], "stale_node");
    assert_ne!(conflicts(&gone)[0]["known"], false);
    let foreign = page.refused(&bridge, &[replace(&other.nodes[0], "line 0", "x")]);
    assert_eq!(conflicts(&foreign)[0]["known"], false);
    let parent = page.refused(&bridge, &[insert(&id(), &other.root, "paragraph", "x")]);
    assert_eq!(parent["code"], "stale_node");
}

#[test]
fn c13_near_is_not_good_enough() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Routing Test A", 1);
    let _near = Page::of_lines(&bridge, "Routing Test B", 1);
    let edit = |document: &str| {
        let mut call = page.edit(&page.revision, &[replace(&page.nodes[0], "line 0", "x")]);
        call["document_id"] = json!(document);
        bridge.err("edit_document", call)["code"].clone()
    };
    for wrong in ["Routing Test A", "routing test a", &format!(" {} ", page.document)] {
        assert_eq!(edit(wrong), "invalid_request", "{wrong}");
    }
    let last = if page.document.ends_with('0') { '1' } else { '0' };
    let mut near = page.document.clone();
    near.pop();
    near.push(last);
    assert_eq!(edit(&near), "not_found");
    // Upper case is the same ID.
    let mut call = page.edit(&page.revision, &[replace(&page.nodes[0], "line 0", "x")]);
    call["document_id"] = json!(page.document.to_uppercase());
    bridge.ok("edit_document", call);
}

#[test]
fn c14_equal_texts_are_told_apart_by_id() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::new(&bridge, "Todo", &[("listblock", "TODO"); 50]);
    page.change(&bridge, &[replace(&page.nodes[37], "TODO", "DONE")]);
    let texts = page.texts(&bridge);
    assert_eq!(texts.iter().filter(|text| *text == "DONE").count(), 1);
    assert_eq!(texts[37], "DONE");
    let empty = Page::new(&bridge, "Empty", &[("paragraph", ""), ("paragraph", "")]);
    empty.change(&bridge, &[replace(&empty.nodes[1], "", "x")]);
    assert_eq!(empty.texts(&bridge), ["", "x"]);
    let tables = Page::new(&bridge, "Tables", &[("table", "a\tb"), ("table", "a\tb")]);
    tables.change(&bridge, &[replace(&tables.nodes[1], "a\tb", "a\tc")]);
    assert_eq!(tables.texts(&bridge), ["a\tb", "a\tc"]);
}

#[test]
fn c15_ids_decide_where_places_have_changed() {
    let home = Home::new();
    let (one, two) = (home.bridge(), home.bridge());
    let page = Page::of_lines(&one, "Places", 7);
    let top = json!({ "op": "insert", "node_id": id(), "parent_id": page.root, "kind": "paragraph", "text": "top" });
    page.change(&one, &[top]);
    // The other still has the old revision, and means nodes, not places.
    let after = json!({ "op": "move", "node_id": page.nodes[0], "expected": "line 0",
        "parent_id": page.root, "after_node_id": page.nodes[5] });
    two.ok("edit_document", page.edit(&page.revision, &[remove(&page.nodes[3], "line 3"), after]));
    let expected = ["top", "line 1", "line 2", "line 4", "line 5", "line 0", "line 6"];
    assert_eq!(page.texts(&one), expected);
}

#[test]
fn c17_a_refusal_gives_what_a_retry_needs() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Retry", 10);
    page.change(&bridge, &[replace(&page.nodes[4], "line 4", "line four")]);
    let batch: Vec<_> = (0..10)
        .map(|number| {
            replace(&page.nodes[number], &format!("line {number}"), &format!("new {number}"))
        })
        .collect();
    let refused = page.refused(&bridge, &batch);
    let found = conflicts(&refused);
    assert_eq!(found.len(), 1, "those that fail only through an earlier one are left out");
    assert_eq!(found[0]["operation_index"], 4);
    assert_eq!(found[0]["actual"], "line four");
    assert_eq!(refused["details"]["revision"], page.now(&bridge));
    let long = "x".repeat(100_000);
    page.change(&bridge, &[replace(&page.nodes[4], "line four", &long)]);
    // `refused` checks the size of the error, too.
    let windowed = page.refused(&bridge, &[replace(&page.nodes[4], "line four", "y")]);
    assert!(text(&conflicts(&windowed)[0]["actual"]).chars().count() <= 220);
}

#[test]
fn c18_what_looks_like_markdown_stays_text() {
    let home = Home::new();
    let bridge = home.bridge();
    let code = "# Not a heading\n```\nfence\n```\n| a | b |";
    let lines = ["1. first", "---", "> quote", "[ ] task", "# x", "**bold** `code`"];
    let mut all: Vec<(&str, &str)> = vec![("code", code), ("table", "a|b\t`c`\n1\t2")];
    all.extend(lines.iter().map(|line| ("paragraph", *line)));
    let page = Page::new(&bridge, "Looks", &all);
    let read = page.read(&bridge);
    for (node, (kind, says)) in nodes(&read).iter().skip(1).zip(&all) {
        assert_eq!((&node["kind"], &node["text"]), (&json!(kind), &json!(says)));
    }
    assert_eq!(nodes(&read)[2]["rows"], json!([["a|b", "`c`"], ["1", "2"]]));
    page.change(&bridge, &[replace(&page.nodes[3], "---", "***")]);
    assert_eq!(nodes(&page.read(&bridge))[4]["kind"], "paragraph");
    let markdown = insert(&id(), &page.root, "table", "| a | b |\n|---|---|\n| 1 | 2 |");
    assert_eq!(page.refused(&bridge, &[markdown])["code"], "invalid_request");
}

#[test]
fn c19_a_second_text_operation_expects_what_the_first_left() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::new(&bridge, "Thrice", &[("task", "one two three")]);
    let n = &page.nodes[0];
    let original = [
        replace(n, "one two three", "1 two three"),
        replace(n, "one two three", "one 2 three"),
        replace(n, "one two three", "one two 3"),
    ];
    let refused = page.refused(&bridge, &original);
    assert_eq!(refused["code"], "precondition_failed");
    assert_eq!(conflicts(&refused)[0]["operation_index"], 1);
    let done = operation("set_done", n, "one two three", json!({ "done": true }));
    page.change(
        &bridge,
        &[
            replace(n, "one two three", "1 two three"),
            replace(n, "1 two three", "1 2 three"),
            done,
            replace(n, "1 2 three", "1 2 3"),
            move_last(n, "1 2 3", &page.root),
        ],
    );
    let node = page.node(&bridge, n);
    assert_eq!((&node["text"], &node["done"]), (&json!("1 2 3"), &json!(true)));
}
