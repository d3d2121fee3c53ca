//! `read_document`: whole, in part, by pages, compact.

use koru_tests::support::documents::{Page, id, insert, nodes, paths, text};
use koru_tests::support::home::Home;
use serde_json::{Value, json};

/// Title, two sections, of which the first has a list of two levels.
fn tree(home: &Home) -> (Page, Vec<String>) {
    let bridge = home.bridge();
    let page = Page::new(&bridge, "Tree", &[("heading", "A"), ("heading", "B")]);
    let ids: Vec<String> = (0..4).map(|_| id()).collect();
    page.change(
        &bridge,
        &[
            insert(&ids[0], &page.nodes[0], "paragraph", "under A"),
            insert(&ids[1], &page.nodes[0], "listblock", "item"),
            insert(&ids[2], &ids[1], "task", "deep"),
            insert(&ids[3], &page.nodes[1], "divider", ""),
        ],
    );
    (page, ids)
}

fn said(read: &Value) -> Vec<String> {
    nodes(read).iter().map(|node| text(&node["text"])).collect()
}

#[test]
fn the_whole_tree_comes_parents_first() {
    let home = Home::new();
    let bridge = home.bridge();
    let (page, ids) = tree(&home);
    let read = page.read(&bridge);
    assert_eq!(read["document_id"], page.document);
    assert_eq!(read["root_node_id"], page.root);
    assert!(read["schema_version"].is_number() && read["revision"].is_string());
    assert_eq!(said(&read), ["Tree", "A", "under A", "item", "deep", "B", ""]);
    let all = nodes(&read);
    assert!(all[0].get("parent_id").is_none(), "the title has no parent");
    assert_eq!(all[4]["parent_id"], ids[1]);
    assert_eq!(all[4]["done"], false);
    assert_eq!(all[4]["kind"], "task");
}

#[test]
fn a_part_is_read_by_node_and_depth() {
    let home = Home::new();
    let bridge = home.bridge();
    let (page, _) = tree(&home);
    let part = bridge.ok("read_document", page.reading(json!({ "node_id": page.nodes[0] })));
    assert_eq!(said(&part), ["A", "under A", "item", "deep"]);
    let outline = bridge.ok("read_document", page.reading(json!({ "max_depth": 1 })));
    assert_eq!(said(&outline), ["Tree", "A", "B"]);
    assert_eq!(nodes(&outline)[1]["children_omitted"], 2);
    let top = bridge.ok("read_document", page.reading(json!({ "max_depth": 0 })));
    assert_eq!(nodes(&top)[0]["children_omitted"], 2);
}

#[test]
fn pages_show_one_state_whatever_happens_between_them() {
    let home = Home::new();
    let bridge = home.bridge();
    let (page, _) = tree(&home);
    let whole = page.read(&bridge);
    let mut found = Vec::new();
    let mut more = json!({ "page_size": 2 });
    loop {
        let read = bridge.ok("read_document", page.reading(more.clone()));
        assert!(nodes(&read).len() <= 2 && !nodes(&read).is_empty());
        found.extend(nodes(&read).to_vec());
        let Some(next) = read.get("next_after_node_id") else { break };
        more["after_node_id"] = next.clone();
        more["revision"] = whole["revision"].clone();
        page.change(&bridge, &[insert(&id(), &page.root, "paragraph", "meanwhile")]);
    }
    assert_eq!(found, nodes(&whole));
}

#[test]
fn the_compact_form_says_the_same_in_less() {
    let home = Home::new();
    let bridge = home.bridge();
    let (page, ids) = tree(&home);
    let read = bridge.ok("read_document", page.reading(json!({ "compact": true })));
    let all = nodes(&read);
    assert_eq!(said(&read), said(&page.read(&bridge)));
    assert!(all[1].get("depth").is_none(), "depth 1 is left out");
    assert_eq!(all[4]["depth"], 3);
    assert!(all.iter().all(|node| node.get("parent_id").is_none()));
    let tail = text(&all[4]["id"]);
    assert!(tail.len() >= 8 && ids[2].replace('-', "").ends_with(&tail));
    // A tail names the node wherever a call takes one.
    let edit = koru_tests::support::documents::replace(&tail, "deep", "deeper");
    page.change(&bridge, &[edit]);
    assert_eq!(page.node(&bridge, &tail)["text"], "deeper");
    let long = bridge.ok("read_document", page.reading(json!({ "compact": true, "page_size": 4 })));
    let next = page.reading(json!({ "compact": true, "page_size": 4, "revision": long["revision"],
        "after_node_id": long["next_after_node_id"] }));
    let second = bridge.ok("read_document", next);
    assert!(second["ancestors"].as_array().is_some_and(|list| !list.is_empty()), "{second}");
}

#[test]
fn what_is_not_there_is_refused() {
    let home = Home::new();
    let bridge = home.bridge();
    let (page, _) = tree(&home);
    let none = json!({ "workspace_id": page.workspace, "document_id": id() });
    assert_eq!(bridge.err("read_document", none)["code"], "not_found");
    let node = bridge.err("read_document", page.reading(json!({ "node_id": id() })));
    assert_eq!(node["code"], "stale_node");
    let revision = bridge.err(
        "read_document",
        page.reading(json!({ "after_node_id": page.nodes[0], "revision": "AAAA" })),
    );
    assert!(["revision_conflict", "invalid_request"].contains(&text(&revision["code"]).as_str()));
    let alone = bridge.err("read_document", page.reading(json!({ "after_node_id": page.root })));
    assert_eq!(paths(&alone), ["revision"]);
}
