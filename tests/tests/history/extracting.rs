//! `extract_to_document`: case C40, blocks of every sort into new documents and those that exist.

use koru_tests::support::bridge::Bridge;
use koru_tests::support::documents::{Page, id, insert, nodes, operation, text};
use koru_tests::support::home::Home;
use serde_json::{Value, json};

use super::support::{
    changes, compare, entries, extracting, ids, into_new, into_page, made, newest, tail, version,
};

/// What a node says, wherever it stands.
fn content(node: &Value, top: &str) -> Value {
    let mut node = node.clone();
    if node["node_id"] == top {
        node.as_object_mut().expect("a node").remove("parent_id");
    }
    node
}

/// A page with something of every sort; its root's children in order.
fn rich(bridge: &Bridge, other: &Page) -> Page {
    let page = Page::new(
        bridge,
        "Rich",
        &[
            ("paragraph", "first"),
            ("listblock", "list"),
            ("heading", "Section"),
            ("task", "due"),
            ("paragraph", "last"),
        ],
    );
    let (a, b, c) = (id(), id(), id());
    let (s1, s2, s3) = (id(), id(), id());
    let link = json!({ "type": "document", "document_id": other.document, "node_id": other.nodes[0], "label": "over there" });
    page.change(
        bridge,
        &[
            insert(&a, &page.nodes[1], "listblock", "one"),
            insert(&b, &a, "listblock", "one one"),
            insert(&c, &page.nodes[1], "listblock", "two"),
            insert(&s1, &page.nodes[2], "table", "a\tb\nc\td"),
            insert(&s2, &page.nodes[2], "heading", "Below"),
            insert(&s3, &s2, "code", "fn main() {}"),
            operation("set_language", &s3, "fn main() {}", json!({ "language": "rust" })),
            operation(
                "set_attribute",
                &page.nodes[3],
                "due",
                json!({ "key": "koru.due", "value": { "kind": "date", "value": "2026-12-24" } }),
            ),
            operation("add_tag", &page.nodes[3], "due", json!({ "tag": "family/calls" })),
            operation("set_done", &page.nodes[3], "due", json!({ "done": true })),
            operation(
                "insert_inline",
                &page.nodes[3],
                "due",
                json!({ "at_utf8": 3, "inline": link }),
            ),
            operation(
                "set_attribute",
                &b,
                "one one",
                json!({ "key": "koru.list", "value": { "kind": "text", "value": "number" } }),
            ),
        ],
    );
    page
}

#[test]
fn blocks_of_every_sort_go_with_everything_that_is_on_them() {
    let home = Home::new();
    let bridge = home.bridge();
    let other = Page::of_lines(&bridge, "Other", 1);
    let target = Page::of_lines(&bridge, "Target", 1);
    let page = rich(&bridge, &other);
    let neighbour = Page::of_lines(&bridge, "Neighbour", 0);
    for is_new in [true, false] {
        let page = if is_new { page.clone() } else { rich(&bridge, &other) };
        let order = page.nodes.clone();
        for (place, node) in order.iter().enumerate() {
            let before = page.read(&bridge);
            let part = bridge.ok("read_document", page.reading(json!({ "node_id": node })));
            let (into, extracted) = if is_new {
                into_new(&bridge, &page, node, &format!("New {place}"))
            } else {
                (target.clone(), into_page(&bridge, &page, node, &target))
            };
            let there = bridge.ok("read_document", into.reading(json!({ "node_id": node })));
            let all =
                |read: &Value| nodes(read).iter().map(|one| content(one, node)).collect::<Vec<_>>();
            assert_eq!(all(&there), all(&part), "the same IDs, texts, marks");
            assert_eq!(nodes(&there)[0]["parent_id"], into.root);
            let after = page.read(&bridge);
            let link = text(&extracted["source_link_node_id"]);
            let left = nodes(&after).iter().find(|one| one["node_id"] == link).expect("the link");
            assert_eq!(
                (&left["kind"], &left["parent_id"]),
                (&json!("paragraph"), &json!(page.root))
            );
            assert_eq!(left["inlines"][0]["document_id"], into.document);
            assert_eq!(left["inlines"][0]["lifecycle"], "live");
            let expected: Vec<String> = ids(&before)
                .into_iter()
                .map(|one| if one == *node { link.clone() } else { one })
                .filter(|one| !ids(&part).contains(one))
                .collect();
            assert_eq!(ids(&after), expected, "it stands where the block stood");
            assert_eq!(extracted["source_revision"], after["revision"]);
            assert_eq!(extracted["document_revision"], json!(into.now(&bridge)));
            assert!(extracted.get("replayed").is_none());
            for (side, of) in [("source", &page), ("document", &into)] {
                let entry = &extracted["history"][side];
                assert_eq!(
                    (&entry["reason"], &entry["boundary"]),
                    (&json!("extract"), &json!("after"))
                );
                assert_eq!(entry, &entries(&bridge, of)[0]);
                assert_eq!(entry["document"], of.document);
            }
            let undone = entries(&bridge, &page);
            assert_eq!(version(&bridge, &page, &text(&undone[1]["id"]))["nodes"], before["nodes"]);
        }
    }
    let listed = bridge.ok("list_documents", json!({ "workspace_id": page.workspace }));
    let titles: Vec<String> = listed["documents"]
        .as_array()
        .expect("documents")
        .iter()
        .map(|one| text(&one["title"]))
        .collect();
    let place = |title: &str| titles.iter().position(|one| one == title);
    assert_eq!(place("New 4"), place("Rich").map(|place| place + 1), "a sibling behind the source");
    assert!(place("New 0") < place("Neighbour"), "{titles:?}");
    assert_eq!(neighbour.texts(&bridge).len(), 0);
}

#[test]
fn a_new_document_stands_beside_its_source_wherever_that_is() {
    let home = Home::new();
    let bridge = home.bridge();
    let above = Page::of_lines(&bridge, "Above", 0);
    let page = Page::of_lines(&bridge, "Below", 2);
    assert!(
        home.run(&["document", "move", &page.document, "--under", &above.document])
            .status
            .success()
    );
    let (new, extracted) = into_new(&bridge, &page, &page.nodes[0], "Beside");
    let listed = bridge.ok("list_documents", json!({ "workspace_id": page.workspace }));
    let found = listed["documents"]
        .as_array()
        .and_then(|all| all.iter().find(|one| one["id"] == new.document))
        .expect("the new one");
    assert_eq!(
        (&found["parent"], &found["ordinal"], &found["nodes"]),
        (&json!(above.document), &json!(1), &json!(2))
    );
    assert_eq!(found["kind"], "page");
    assert_eq!(extracted["history"]["document"]["version"], 3, "created, then extracted into");
}

#[test]
fn several_blocks_come_in_document_order_under_a_node_of_choice() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Source", 6);
    let target = Page::new(&bridge, "Target", &[("heading", "Here"), ("paragraph", "end")]);
    let within = id();
    target.change(&bridge, &[insert(&within, &target.nodes[0], "paragraph", "first")]);
    let under = tail(&target.nodes[0]);
    let call = extracting(
        &bridge,
        &page,
        &page.nodes[4],
        json!({
            "target_document_id": target.document, "under_node_id": under,
            "extra_source_node_ids": [page.nodes[1], tail(&page.nodes[2])],
        }),
    );
    let extracted = bridge.ok("extract_to_document", call);
    assert_eq!(target.texts(&bridge), ["Here", "first", "line 1", "line 2", "line 4", "end"]);
    let left = page.read(&bridge);
    let expected =
        [&page.nodes[0], &text(&extracted["source_link_node_id"]), &page.nodes[3], &page.nodes[5]];
    assert_eq!(ids(&left), expected.map(Clone::clone), "the link stands where the first one stood");
    assert_eq!(left["nodes"][2]["inlines"][0]["node_id"], page.nodes[1]);
    let before = entries(&bridge, &page)[1].clone();
    let seen = changes(&compare(&bridge, &page, &text(&before["id"]), None));
    let kinds: Vec<String> = seen.iter().map(|change| text(&change["change"])).collect();
    assert_eq!(kinds, ["removed", "removed", "added", "removed"]);
}

#[test]
fn all_nodes_and_five_hundred_of_them_leave_at_once() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Many", 500);
    let call = extracting(
        &bridge,
        &page,
        &page.nodes[0],
        json!({
            "new_document_title": "All", "extra_source_node_ids": page.nodes[1..],
        }),
    );
    let extracted = bridge.ok("extract_to_document", call);
    let all = made(&bridge, &page, &extracted);
    assert_eq!(all.nodes, page.nodes);
    assert_eq!(nodes(&page.read(&bridge)).len(), 2, "the title and the link");
    // And back, under the same IDs.
    let mut call =
        extracting(&bridge, &all, &page.nodes[0], json!({ "target_document_id": page.document }));
    call["extra_source_node_ids"] = json!(page.nodes[1..]);
    bridge.ok("extract_to_document", call);
    assert_eq!(ids(&page.read(&bridge))[1..], page.nodes);
    assert_eq!(page.texts(&bridge)[500], "line 499");
    home.stop_service();
    assert_eq!(ids(&page.read(&bridge))[1..], page.nodes);
    assert_eq!(nodes(&all.read(&bridge)).len(), 2);
}

#[test]
fn a_block_under_a_block_leaves_its_link_there() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Deep", 1);
    let chain: Vec<String> = (0..10).map(|_| id()).collect();
    let mut above = page.nodes[0].clone();
    let mut edits = Vec::new();
    for (level, node) in chain.iter().enumerate() {
        edits.push(insert(
            node,
            &above,
            if level % 2 == 0 { "task" } else { "listblock" },
            &format!("level {level}"),
        ));
        above.clone_from(node);
    }
    page.change(&bridge, &edits);
    let (new, extracted) = into_new(&bridge, &page, &chain[4], "Lower half");
    assert_eq!(new.nodes, chain[4..]);
    let left = page.node(&bridge, &text(&extracted["source_link_node_id"]));
    assert_eq!(left["parent_id"], chain[3]);
    // A target whose depth would be too great refuses, and changes nothing.
    let deep = Page::of_lines(&bridge, "Very deep", 1);
    let mut above = deep.nodes[0].clone();
    let edits: Vec<Value> = (0..44)
        .map(|_| {
            let node = id();
            let edit = insert(&node, &above, "paragraph", "x");
            above = node;
            edit
        })
        .collect();
    deep.change(&bridge, &edits);
    let before = (new.read(&bridge), deep.read(&bridge));
    let call = extracting(
        &bridge,
        &new,
        &chain[4],
        json!({ "target_document_id": deep.document, "under_node_id": above }),
    );
    let error = bridge.err("extract_to_document", call);
    assert_eq!(error["code"], "invalid_request", "{error}");
    assert!(error.to_string().contains("48"), "{error}");
    assert_eq!((new.read(&bridge), deep.read(&bridge)), before);
    // A heading goes only where headings stand.
    let section = Page::new(&bridge, "Section", &[("heading", "H")]);
    let call = extracting(
        &bridge,
        &section,
        &section.nodes[0],
        json!({ "target_document_id": deep.document, "under_node_id": above }),
    );
    assert_eq!(bridge.err("extract_to_document", call)["code"], "invalid_request");
}

/// A refused extraction into a new document leaves no document, not even in memory.
#[test]
fn what_is_refused_leaves_no_new_document_behind() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Source", 3);
    for _ in 0..3 {
        let mut call =
            extracting(&bridge, &page, &page.nodes[0], json!({ "new_document_title": "Never" }));
        call["expected"] = json!("other");
        assert_eq!(bridge.err("extract_to_document", call)["code"], "precondition_failed");
    }
    let (new, _) = into_new(&bridge, &page, &page.nodes[0], "Once");
    assert_eq!(new.texts(&bridge), ["line 0"]);
    let next = Page::of_lines(&bridge, "Next", 2);
    assert_eq!(next.texts(&bridge), ["line 0", "line 1"]);
    assert_eq!(entries(&bridge, &next).len(), 1);
    assert!(newest(&bridge, &next) != newest(&bridge, &new));
}
