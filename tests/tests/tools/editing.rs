//! `edit_document`: each operation, sorting, refusals, repeats.

use koru_tests::support::documents::{
    Page, conflicts, id, insert, move_last, nodes, operation, remove, replace, text,
};
use koru_tests::support::home::Home;
use serde_json::json;

#[test]
fn every_operation_in_one_batch() {
    let home = Home::new();
    let bridge = home.bridge();
    let other = Page::of_lines(&bridge, "Other", 0);
    let page = Page::new(
        &bridge,
        "All",
        &[("paragraph", "say it"), ("task", "do it"), ("code", "x = 1"), ("quote", "gone")],
    );
    let (new, n) = (id(), &page.nodes);
    let link = json!({ "at_utf8": 4, "inline": { "type": "document", "document_id": other.document, "label": "there" } });
    let due = json!({ "key": "koru.due", "value": { "kind": "date", "value": "2026-12-24" } });
    let result = bridge.ok(
        "edit_document",
        page.edit(
            &page.revision,
            &[
                replace(&page.root, "All", "Everything"),
                replace(&n[0], "say it", "say  twice"),
                operation("insert_inline", &n[0], "say  twice", link),
                operation("set_done", &n[1], "do it", json!({ "done": true })),
                operation("set_attribute", &n[1], "do it", due),
                operation("add_tag", &n[1], "do it", json!({ "tag": "home/today" })),
                operation("set_language", &n[2], "x = 1", json!({ "language": "python" })),
                remove(&n[3], "gone"),
                insert(&new, &n[1], "paragraph", "how"),
                move_last(&n[0], &format!("say [[document:{}]] twice", other.document), &page.root),
            ],
        ),
    );
    assert_eq!(result["history"]["boundary"], "after");
    assert_eq!(result["history"]["reason"], "edit");
    assert!(text(&result["history"]["author"]).starts_with("koru-tests"), "{result}");
    let read = page.read(&bridge);
    assert_eq!(read["revision"], result["revision"]);
    let all = nodes(&read);
    let kinds: Vec<String> = all.iter().map(|node| text(&node["kind"])).collect();
    assert_eq!(kinds, ["title", "task", "paragraph", "code", "paragraph"]);
    assert_eq!(all[0]["text"], "Everything");
    assert_eq!(all[1]["done"], true);
    assert_eq!(all[1]["attributes"][0]["value"]["value"], "2026-12-24");
    assert_eq!(all[1]["tags"][0]["name"], "home/today");
    assert_eq!(all[3]["language"], "python");
    assert_eq!(all[4]["inlines"][0]["label"], "there");
    assert_eq!(all[4]["inlines"][0]["title"], "Other");
    assert_eq!(all[4]["inlines"][0]["lifecycle"], "live");

    let page = Page { revision: text(&result["revision"]), ..page };
    let back = [
        operation("clear_attribute", &page.nodes[1], "do it", json!({ "key": "koru.due" })),
        operation("remove_tag", &page.nodes[1], "do it", json!({ "tag": "HOME/today" })),
        operation("set_language", &page.nodes[2], "x = 1", json!({})),
    ];
    bridge.ok("edit_document", page.edit(&page.revision, &back));
    let task = page.node(&bridge, &page.nodes[1]);
    assert!(task.get("attributes").is_none_or(|list| list == &json!([])), "{task}");
    assert!(task.get("tags").is_none_or(|list| list == &json!([])), "{task}");
    assert!(page.node(&bridge, &page.nodes[2]).get("language").is_none());
}

#[test]
fn twenty_moves_sort_a_page() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Jokes", 20);
    let mut order: Vec<usize> = (0..20).collect();
    order.sort_by_key(|number| format!("line {number}"));
    let moves: Vec<_> = order
        .iter()
        .map(|&number| move_last(&page.nodes[number], &format!("line {number}"), &page.root))
        .collect();
    page.change(&bridge, &moves);
    let mut sorted: Vec<String> = (0..20).map(|number| format!("line {number}")).collect();
    sorted.sort();
    assert_eq!(page.texts(&bridge), sorted);
}

#[test]
fn a_stale_batch_is_refused_whole_and_the_retry_lands() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Stale", 3);
    page.change(&bridge, &[replace(&page.nodes[1], "line 1", "line one")]);
    let batch = |expected: &str| {
        [replace(&page.nodes[0], "line 0", "first"), replace(&page.nodes[1], expected, "second")]
    };
    let refused = bridge.err("edit_document", page.edit(&page.revision, &batch("line 1")));
    assert_eq!(refused["code"], "precondition_failed");
    let conflict = &conflicts(&refused)[0];
    assert_eq!(conflict["operation_index"], 1);
    assert_eq!(conflict["node_id"], page.nodes[1]);
    assert_eq!(conflict["actual"], "line one");
    assert_eq!(conflict["first_difference"]["at_utf8"], 5);
    assert_eq!(page.texts(&bridge), ["line 0", "line one", "line 2"]);
    let revision = text(&refused["details"]["revision"]);
    assert_eq!(revision, page.now(&bridge));
    bridge.ok("edit_document", page.edit(&revision, &batch("line one")));
    assert_eq!(page.texts(&bridge), ["first", "second", "line 2"]);
}

#[test]
fn the_same_batch_again_is_not_applied_twice() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Again", 2);
    let batch = page.edit(&page.revision, &[replace(&page.nodes[0], "line 0", "new")]);
    let first = bridge.ok("edit_document", batch.clone());
    page.change(&bridge, &[replace(&page.nodes[1], "line 1", "other")]);
    let second = bridge.ok("edit_document", batch.clone());
    assert_eq!(second["replayed"], true);
    assert_eq!((&second["revision"], &second["history"]), (&first["revision"], &first["history"]));
    page.change(&bridge, &[replace(&page.nodes[0], "new", "newer")]);
    assert_eq!(bridge.err("edit_document", batch)["code"], "precondition_failed");
}

#[test]
fn what_changes_nothing_writes_no_entry() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Still", 1);
    let before = bridge.ok("list_document_versions", page.this());
    let result = bridge.ok(
        "edit_document",
        page.edit(&page.revision, &[replace(&page.nodes[0], "line 0", "line 0")]),
    );
    assert_eq!(result["revision"], page.revision);
    assert_eq!(result["history"], before["entries"][0]);
    assert_eq!(bridge.ok("list_document_versions", page.this()), before);
}

#[test]
fn nothing_unseen_is_overwritten() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::new(&bridge, "Guards", &[("task", "t"), ("paragraph", "p")]);
    let set = |done: bool| operation("set_done", &page.nodes[0], "t", json!({ "done": done }));
    page.change(&bridge, &[set(true)]);
    let late = bridge.err("edit_document", page.edit(&page.revision, &[set(false)]));
    assert_eq!(late["code"], "precondition_failed");
    assert!(conflicts(&late)[0].get("changed_by").is_some(), "{late}");
    page.change(&bridge, &[insert(&id(), &page.nodes[1], "paragraph", "unread")]);
    let gone =
        bridge.err("edit_document", page.edit(&page.revision, &[remove(&page.nodes[1], "p")]));
    assert_eq!(gone["code"], "precondition_failed");
    let foreign = Page::of_lines(&bridge, "Else", 1);
    let base = bridge.err("edit_document", page.edit(&foreign.revision, &[set(false)]));
    assert_eq!(base["code"], "revision_conflict");
}
