//! Section C, second part: writers that move and remove what others use.

use koru_tests::support::documents::{
    Page, id, insert, move_last, nodes, operation, remove, replace, text,
};
use koru_tests::support::home::Home;
use serde_json::json;

#[test]
fn c30_two_writers_cannot_make_a_ring() {
    let home = Home::new();
    let (one, two) = (home.bridge(), home.bridge());
    let page = Page::of_lines(&one, "Ring", 3);
    let n = &page.nodes;
    one.ok("edit_document", page.edit(&page.revision, &[move_last(&n[0], "line 0", &n[1])]));
    let back = page.edit(&page.revision, &[move_last(&n[1], "line 1", &n[0])]);
    two.err("edit_document", back);
    assert_eq!(page.texts(&one), ["line 1", "line 0", "line 2"]);
    let ring = [move_last(&n[1], "line 1", &n[2]), move_last(&n[2], "line 2", &n[0])];
    page.refused(&one, &ring);
}

#[test]
fn c31_a_node_moves_neither_into_itself_nor_below_itself() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Below", 2);
    let mut chain = vec![page.nodes[0].clone()];
    for depth in 1..=10 {
        let node = id();
        let parent = chain.last().cloned().unwrap_or_default();
        page.change(&bridge, &[insert(&node, &parent, "paragraph", &format!("deep {depth}"))]);
        chain.push(node);
    }
    for below in [&chain[0], &chain[1], &chain[10]] {
        page.refused(&bridge, &[move_last(&chain[0], "line 0", below)]);
    }
    let after_child = json!({ "op": "move", "node_id": chain[0], "expected": "line 0",
        "parent_id": page.root, "after_node_id": chain[1] });
    page.refused(&bridge, &[after_child]);
    page.change(
        &bridge,
        &[
            move_last(&chain[0], "line 0", &page.nodes[1]),
            move_last(&chain[1], "deep 1", &page.root),
        ],
    );
    assert_eq!(nodes(&page.read(&bridge)).len(), 13);
}

#[test]
fn c32_a_move_that_cannot_land_leaves_the_node_where_it_was() {
    let home = Home::new();
    let bridge = home.bridge();
    let other = Page::of_lines(&bridge, "Other", 1);
    let page = Page::new(
        &bridge,
        "Here",
        &[("paragraph", "a"), ("divider", ""), ("code", "c"), ("paragraph", "d")],
    );
    let n = &page.nodes;
    let tags: Vec<_> = (0..4)
        .map(|tag| operation("add_tag", &n[0], "a", json!({ "tag": format!("t{tag}") })))
        .collect();
    let both = json!({ "op": "move", "node_id": n[3], "expected": "d", "parent_id": page.root,
        "after_node_id": n[0], "at_end": true });
    for bad in [
        move_last(&n[3], "d", &id()),
        move_last(&n[3], "d", &other.root),
        move_last(&n[3], "d", &n[1]),
        move_last(&n[3], "d", &n[2]),
        both,
        move_last(&page.root, "Here", &n[0]),
    ] {
        let mut batch = tags.clone();
        batch.push(bad);
        batch.push(replace(&n[0], "a", "b"));
        page.refused(&bridge, &batch);
    }
    let listed = bridge.ok("list_tags", json!({ "workspace_id": page.workspace }));
    assert_eq!(listed["tags"], json!([]), "not even a tag was made");
    // A neighbour that lives elsewhere is named with its parent.
    page.change(&bridge, &[move_last(&n[3], "d", &n[0])]);
    let neighbour = json!({ "op": "insert", "node_id": id(), "parent_id": page.root,
        "after_node_id": n[3], "kind": "paragraph", "text": "x" });
    let refused = page.refused(&bridge, &[neighbour]);
    assert_eq!(refused["code"], "precondition_failed");
    assert!(refused.to_string().contains(&n[0]), "{refused}");
}

#[test]
fn c33_a_parent_removed_meanwhile_takes_nothing_unread_along() {
    let home = Home::new();
    let (one, two) = (home.bridge(), home.bridge());
    let make = |title: &str| {
        let page = Page::of_lines(&one, title, 1);
        let child = id();
        let revision = page.change(&one, &[insert(&child, &page.nodes[0], "paragraph", "child")]);
        (Page { revision, ..page }, child)
    };
    let (page, child) = make("Removed first");
    one.ok("edit_document", page.edit(&page.revision, &[remove(&page.nodes[0], "line 0")]));
    for late in [
        replace(&child, "child", "x"),
        insert(&id(), &page.nodes[0], "paragraph", "x"),
        move_last(&child, "child", &page.root),
    ] {
        let refused = two.err("edit_document", page.edit(&page.revision, &[late]));
        assert_eq!(refused["code"], "stale_node");
        assert!(refused.to_string().contains("koru-tests"), "it names who: {refused}");
    }
    for change in 0..2 {
        let (page, child) = make("Changed first");
        let edit = if change == 0 {
            replace(&child, "child", "x")
        } else {
            insert(&id(), &page.nodes[0], "paragraph", "x")
        };
        one.ok("edit_document", page.edit(&page.revision, &[edit]));
        let removal = page.edit(&page.revision, &[remove(&page.nodes[0], "line 0")]);
        assert_eq!(two.err("edit_document", removal)["code"], "precondition_failed");
    }
}

#[test]
fn c34_a_revision_of_one_document_is_none_of_another() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Same title", 1);
    assert!(home.run(&["document", "trash", &page.document]).status.success());
    let new = Page::of_lines(&bridge, "Same title", 1);
    let edit = new.edit(&page.revision, &[replace(&new.nodes[0], "line 0", "x")]);
    assert_eq!(bridge.err("edit_document", edit)["code"], "revision_conflict");
    assert_ne!(text(&json!(new.revision)), page.revision);
}
