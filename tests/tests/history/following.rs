//! Links to blocks that move between documents, and documents that are renamed, moved and trashed.

use koru_tests::support::bridge::Bridge;
use koru_tests::support::documents::{Page, id, insert, nodes, remove, replace, text};
use koru_tests::support::home::Home;
use serde_json::{Value, json};

use super::support::{into_new, into_page, newest, restore};

/// The first inline of a page's first block.
fn link(bridge: &Bridge, page: &Page) -> Value {
    page.node(bridge, &page.nodes[0])["inlines"][0].clone()
}

/// The nodes that link to a document.
fn incoming(bridge: &Bridge, page: &Page) -> Vec<String> {
    let links = bridge.ok("list_document_links", page.this());
    links["incoming"].as_array().expect("links").iter().map(|one| text(&one["node_id"])).collect()
}

fn outgoing(bridge: &Bridge, page: &Page) -> Value {
    bridge.ok("list_document_links", page.this())["outgoing"].clone()
}

#[test]
fn links_follow_a_block_however_often_it_moves() {
    let home = Home::new();
    let bridge = home.bridge();
    let a = Page::of_lines(&bridge, "A", 3);
    let (block, child) = (a.nodes[1].clone(), id());
    a.change(&bridge, &[insert(&child, &block, "paragraph", "inside")]);
    let to = |document: &Page, node: &str| format!("see [[document:{}#{node}]]", document.document);
    let here = Page::new(&bridge, "Here", &[("paragraph", &to(&a, &block))]);
    let inside = Page::new(&bridge, "Inside", &[("paragraph", &to(&a, &child))]);
    let plain =
        Page::new(&bridge, "Plain", &[("paragraph", &format!("[[document:{}]]", a.document))]);
    assert!(link(&bridge, &here).get("resolved").is_none());
    assert_eq!(incoming(&bridge, &a).len(), 3);

    let check = |now: &Page, gone: &[&Page]| {
        for (from, node) in [(&here, &block), (&inside, &child)] {
            let seen = link(&bridge, from);
            assert_eq!(seen["document_id"], a.document, "the link itself stays");
            assert_eq!(seen["node_id"], **node);
            assert_eq!(seen["lifecycle"], "live");
            let listed = &outgoing(&bridge, from)[0];
            assert_eq!(listed["target_node_id"], **node);
            if now.document == a.document {
                assert!(
                    seen.get("resolved").is_none() && listed.get("resolved").is_none(),
                    "{seen}"
                );
            } else {
                let resolved = json!({ "document_id": now.document, "node_id": node });
                assert_eq!(seen["resolved"], resolved);
                assert_eq!(listed["resolved"], resolved);
                let title = &now.read(&bridge)["nodes"][0]["text"];
                assert_eq!((&seen["title"], &listed["title"]), (title, title));
            }
            assert!(incoming(&bridge, now).contains(&from.nodes[0]), "shown where it is");
            for page in gone {
                assert!(!incoming(&bridge, page).contains(&from.nodes[0]), "and nowhere else");
            }
            let mut compact = from.this();
            compact["compact"] = json!(true);
            let read = bridge.ok("read_document", compact);
            assert_eq!(nodes(&read)[1]["inlines"][0].get("resolved"), seen.get("resolved"));
        }
        assert!(link(&bridge, &plain).get("resolved").is_none());
        assert!(incoming(&bridge, &a).contains(&plain.nodes[0]));
    };
    let (b, first) = into_new(&bridge, &a, &block, "B");
    check(&b, &[&a]);
    // The paragraph that was left is a link like any other.
    assert!(incoming(&bridge, &b).contains(&text(&first["source_link_node_id"])));
    let (c, second) = into_new(&bridge, &b, &block, "C");
    check(&c, &[&a, &b]);
    home.stop_service();
    check(&c, &[&a, &b]);
    into_page(&bridge, &c, &block, &a);
    check(&a, &[&b, &c]);
    assert!(text(&second["source_link_node_id"]) != text(&first["source_link_node_id"]));
    // A link that names a stop on the way follows, too.
    let way = Page::new(&bridge, "Way", &[("paragraph", &to(&b, &block))]);
    assert_eq!(link(&bridge, &way)["resolved"]["document_id"], a.document);
    assert!(incoming(&bridge, &a).contains(&way.nodes[0]));
    assert!(!incoming(&bridge, &b).contains(&way.nodes[0]));
    // Round once more: no ring.
    into_page(&bridge, &a, &block, &b);
    check(&b, &[&a, &c]);
    assert!(link(&bridge, &way).get("resolved").is_none());
    into_page(&bridge, &b, &block, &c);
    check(&c, &[&a, &b]);
    into_page(&bridge, &c, &block, &b);
    check(&b, &[&a, &c]);
    // Gone everywhere: the link falls back to the document that it names.
    b.change(&bridge, &[remove(&block, "line 1")]);
    let seen = link(&bridge, &here);
    assert!(seen.get("resolved").is_none(), "{seen}");
    assert_eq!((&seen["title"], &seen["lifecycle"]), (&json!("A"), &json!("live")));
    assert!(incoming(&bridge, &a).contains(&here.nodes[0]));
}

#[test]
fn a_link_reaches_the_block_that_was_restored_where_the_link_names_it() {
    let home = Home::new();
    let bridge = home.bridge();
    let a = Page::of_lines(&bridge, "A", 2);
    let created = newest(&bridge, &a);
    let says = format!("[[document:{}#{}]]", a.document, a.nodes[0]);
    let here = Page::new(&bridge, "Here", &[("paragraph", &says)]);
    let (b, _) = into_new(&bridge, &a, &a.nodes[0], "B");
    assert_eq!(link(&bridge, &here)["resolved"]["document_id"], b.document);
    restore(&bridge, &a, &created);
    assert!(link(&bridge, &here).get("resolved").is_none());
    assert!(incoming(&bridge, &a).contains(&here.nodes[0]));
    assert!(!incoming(&bridge, &b).contains(&here.nodes[0]));
    a.change(&bridge, &[remove(&a.nodes[0], "line 0")]);
    assert_eq!(link(&bridge, &here)["resolved"]["document_id"], b.document);
    // Where the block went is in the trash: the link says so.
    assert!(home.run(&["document", "trash", &b.document]).status.success());
    let seen = link(&bridge, &here);
    assert_eq!(
        (&seen["resolved"]["document_id"], &seen["lifecycle"]),
        (&json!(b.document), &json!("trash"))
    );
}

#[test]
fn blocks_that_link_to_each_other_keep_their_links() {
    let home = Home::new();
    let bridge = home.bridge();
    let a = Page::of_lines(&bridge, "A", 3);
    let to_other = format!("[[document:{}#{}]]", a.document, a.nodes[1]);
    a.change(&bridge, &[replace(&a.nodes[0], "line 0", &to_other)]);
    let (b, _) = into_new(&bridge, &a, &a.nodes[0], "B");
    assert!(b.node(&bridge, &a.nodes[0])["inlines"][0].get("resolved").is_none());
    assert!(incoming(&bridge, &a).contains(&a.nodes[0]));
    into_page(&bridge, &a, &a.nodes[1], &b);
    let seen = b.node(&bridge, &a.nodes[0])["inlines"][0].clone();
    assert_eq!(seen["resolved"], json!({ "document_id": b.document, "node_id": a.nodes[1] }));
    assert!(incoming(&bridge, &b).contains(&a.nodes[0]), "a link from the document to itself");
}

/// Case C37: ten documents link to one; it is renamed, moved, trashed and taken back.
#[test]
fn links_follow_by_id_and_tell_the_trash() {
    let home = Home::new();
    let bridge = home.bridge();
    let target = Page::of_lines(&bridge, "Target", 1);
    let above = Page::of_lines(&bridge, "Above", 0);
    let plain = format!("[[document:{}]]", target.document);
    let to_block = format!("[[document:{}#{}]]", target.document, target.nodes[0]);
    let pages: Vec<Page> = (0..10)
        .map(|number| {
            let page = Page::new(&bridge, &format!("From {number}"), &[("paragraph", "")]);
            let edit = match number % 3 {
                0 => replace(&page.nodes[0], "", &plain),
                1 => replace(&page.nodes[0], "", &to_block),
                _ => json!({ "op": "insert_inline", "node_id": page.nodes[0], "expected": "", "at_utf8": 0,
                    "inline": { "type": "document", "document_id": target.document, "label": "own words" } }),
            };
            page.change(&bridge, &[edit]);
            page
        })
        .collect();
    let check = |title: &str, lifecycle: &str| {
        for (number, page) in pages.iter().enumerate() {
            let seen = link(&bridge, page);
            assert_eq!(
                (&seen["title"], &seen["lifecycle"]),
                (&json!(title), &json!(lifecycle)),
                "{seen}"
            );
            assert_eq!(seen["document_id"], target.document);
            assert_eq!(seen.get("label").is_some(), number % 3 == 2);
        }
        assert_eq!(incoming(&bridge, &target).len(), 10);
    };
    check("Target", "live");
    target.change(&bridge, &[replace(&target.root, "Target", "Renamed")]);
    check("Renamed", "live");
    assert!(
        home.run(&["document", "move", &target.document, "--under", &above.document])
            .status
            .success()
    );
    check("Renamed", "live");
    assert!(home.run(&["document", "trash", &target.document]).status.success());
    check("Renamed", "trash");
    assert!(home.run(&["document", "untrash", &target.document]).status.success());
    check("Renamed", "live");
}

/// Case C38: a document that links to itself, and titles that look like marks.
#[test]
fn odd_titles_break_no_link() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Self", 2);
    let says = format!(
        "[[document:{}]] and [[document:{}#{}]]",
        page.document, page.document, page.nodes[1]
    );
    page.change(&bridge, &[replace(&page.nodes[0], "line 0", &says)]);
    let mut title = "Self".to_owned();
    for odd in
        ["Sprint #4", "A|B", "x]]y", "a/b", "..", &"long ".repeat(60), "🌍", "", "[[document:x]]"]
    {
        page.change(&bridge, &[replace(&page.root, &title, odd)]);
        odd.clone_into(&mut title);
        let node = page.node(&bridge, &page.nodes[0]);
        assert_eq!(node["text"], says);
        for inline in node["inlines"].as_array().expect("links") {
            assert_eq!(
                (&inline["document_id"], &inline["title"], &inline["lifecycle"]),
                (&json!(page.document), &json!(odd), &json!("live"))
            );
        }
        assert_eq!(incoming(&bridge, &page), [page.nodes[0].clone()]);
    }
    let (new, _) = into_new(&bridge, &page, &page.nodes[0], "x]]y #4 | [[document:z]]");
    assert_eq!(new.node(&bridge, &page.nodes[0])["text"], says);
    assert!(incoming(&bridge, &page).contains(&page.nodes[0]));
}

/// Case C41: replacing what links takes the links, never the targets.
#[test]
fn only_the_links_go_where_a_page_is_replaced() {
    let home = Home::new();
    let bridge = home.bridge();
    let targets: Vec<Page> =
        (0..3).map(|number| Page::of_lines(&bridge, &format!("T{number}"), 2)).collect();
    let texts: Vec<String> =
        targets.iter().map(|one| format!("[[document:{}]]", one.document)).collect();
    let blocks: Vec<(&str, &str)> = texts.iter().map(|says| ("paragraph", says.as_str())).collect();
    let page = Page::new(&bridge, "Page", &blocks);
    let mut edits: Vec<Value> =
        page.nodes.iter().zip(&texts).map(|(node, says)| remove(node, says)).collect();
    edits.push(insert(&id(), &page.root, "paragraph", "all new"));
    let entry = newest(&bridge, &page);
    page.change(&bridge, &edits);
    for target in &targets {
        assert_eq!(target.texts(&bridge), ["line 0", "line 1"]);
        assert!(incoming(&bridge, target).is_empty());
    }
    let listed = bridge.ok("list_documents", json!({ "workspace_id": page.workspace }));
    let documents = listed["documents"].as_array().expect("documents");
    assert!(documents.iter().all(|one| one.get("trashed_at").is_none()) && documents.len() == 4);
    // A node that others point at goes; the link falls back, and comes back with a restore.
    let says = format!("[[document:{}#{}]]", targets[0].document, targets[0].nodes[0]);
    let here = Page::new(&bridge, "Here", &[("paragraph", &says)]);
    let before = newest(&bridge, &targets[0]);
    targets[0].change(&bridge, &[remove(&targets[0].nodes[0], "line 0")]);
    assert_eq!(link(&bridge, &here)["lifecycle"], "live");
    restore(&bridge, &targets[0], &before);
    assert!(link(&bridge, &here).get("resolved").is_none());
    restore(&bridge, &page, &entry);
    assert!(targets.iter().all(|target| !incoming(&bridge, target).is_empty()));
}

/// Cases C42 and C43: order and depth are kept.
#[test]
fn order_is_kept_in_place_and_ten_levels_deep() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Order", 5);
    let n = &page.nodes;
    page.change(&bridge, &[replace(&n[2], "line 2", "new text")]);
    assert_eq!(super::support::ids(&page.read(&bridge)), *n, "order and ID are kept");
    let new = id();
    page.change(&bridge, &[
        json!({ "op": "insert", "node_id": new, "parent_id": page.root, "after_node_id": n[2], "kind": "heading", "text": "new text" }),
        remove(&n[2], "new text"),
        json!({ "op": "move", "node_id": n[0], "expected": "line 0", "parent_id": page.root, "after_node_id": n[1] }),
    ]);
    let expected = [&n[1], &n[0], &new, &n[3], &n[4]].map(Clone::clone);
    assert_eq!(super::support::ids(&page.read(&bridge)), expected);

    let root = id();
    let kinds = [
        "heading",
        "heading",
        "listblock",
        "task",
        "quote",
        "paragraph",
        "listblock",
        "task",
        "quote",
        "code",
    ];
    let mut above = root.clone();
    let operations: Vec<Value> = kinds
        .iter()
        .enumerate()
        .map(|(level, kind)| {
            let node = id();
            let edit = insert(&node, &above, kind, &format!("level {level}"));
            above = node;
            edit
        })
        .collect();
    let made = bridge.ok("create_document", json!({ "workspace_id": page.workspace, "title": "Deep", "root_node_id": root, "initial_operations": operations }));
    let all = nodes(&made);
    for (level, kind) in kinds.iter().enumerate() {
        assert_eq!(
            (&all[level + 1]["kind"], &all[level + 1]["parent_id"]),
            (&json!(kind), &all[level]["node_id"])
        );
    }
    let deep = super::support::made(&bridge, &page, &made);
    let (moved, _) = into_new(&bridge, &deep, &deep.nodes[0], "Moved");
    assert_eq!(moved.nodes, deep.nodes);
}
