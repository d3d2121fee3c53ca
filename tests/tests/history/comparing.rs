//! `compare_document_versions`: each kind of change, and paging of the entries that it takes.

use koru_tests::support::documents::{
    Page, id, insert, move_last, operation, remove, replace, text,
};
use koru_tests::support::home::Home;
use serde_json::{Value, json};

use super::support::{changes, compare, entries, newest};

fn of<'a>(all: &'a [Value], node: &str) -> Vec<&'a Value> {
    all.iter().filter(|change| change["node_id"] == node).collect()
}

#[test]
fn every_kind_of_change_is_told() {
    let home = Home::new();
    let bridge = home.bridge();
    let other = Page::of_lines(&bridge, "Other", 1);
    let page = Page::new(
        &bridge,
        "Compare",
        &[
            ("paragraph", "the quick brown fox"),
            ("task", "do"),
            ("code", "x"),
            ("paragraph", "goes"),
            ("paragraph", "wanders"),
            ("paragraph", "back"),
            ("paragraph", "stays"),
        ],
    );
    let left = newest(&bridge, &page);
    let n = &page.nodes;
    let new = id();
    let set = json!({ "key": "koru.due", "value": { "kind": "date", "value": "2026-12-24" } });
    let link = json!({ "type": "document", "document_id": other.document, "label": "there" });
    page.change(
        &bridge,
        &[
            replace(&n[0], "the quick brown fox", "the slow brown fox"),
            operation("set_done", &n[1], "do", json!({ "done": true })),
            operation("add_tag", &n[1], "do", json!({ "tag": "a/b" })),
            operation("set_attribute", &n[1], "do", set),
            operation("set_language", &n[2], "x", json!({ "language": "rust" })),
            remove(&n[3], "goes"),
            move_last(&n[4], "wanders", &n[1]),
            replace(&n[4], "wanders", "wandered"),
            json!({ "op": "move", "node_id": n[5], "expected": "back", "parent_id": page.root }),
            insert(&new, &n[0], "quote", "new"),
            operation("insert_inline", &n[6], "stays", json!({ "at_utf8": 0, "inline": link })),
        ],
    );
    let compared = compare(&bridge, &page, &left, None);
    let all = changes(&compared);
    let words = of(&all, &n[0]);
    assert_eq!(words.len(), 1);
    assert_eq!((&words[0]["change"], &words[0]["kind"]), (&json!("modified"), &json!("paragraph")));
    assert_eq!(
        words[0]["text"]["segments"],
        json!([
            { "op": "equal", "text": "the " },
            { "op": "delete", "text": "quick" },
            { "op": "insert", "text": "slow" },
            { "op": "equal", "text": " brown fox" },
        ])
    );
    let task = of(&all, &n[1])[0];
    assert_eq!(task["done"], json!({ "left": false, "right": true }));
    assert_eq!(task["tags"]["added"][0]["name"], "a/b");
    assert_eq!(task["tags"]["removed"], json!([]));
    assert_eq!(
        task["attributes"]["added"],
        json!([{ "key": "koru.due", "value": { "kind": "date", "value": "2026-12-24" } }])
    );
    assert!(task.get("text").is_none() && task.get("language").is_none());
    assert_eq!(of(&all, &n[2])[0]["language"], json!({ "left": null, "right": "rust" }));
    let gone = of(&all, &n[3])[0];
    assert_eq!(
        (&gone["change"], &gone["node"]["text"], &gone["parent_id"], &gone["after_node_id"]),
        (&json!("removed"), &json!("goes"), &json!(page.root), &json!(n[2]))
    );
    let wandered = of(&all, &n[4]);
    assert_eq!(wandered.len(), 2, "moved and modified: one change each");
    assert_eq!(wandered[0]["change"], "moved");
    assert_eq!(wandered[0]["from"], json!({ "parent_id": page.root, "after_node_id": n[3] }));
    assert_eq!(wandered[0]["to"], json!({ "parent_id": n[1] }));
    assert_eq!(wandered[1]["change"], "modified");
    let reordered: Vec<&Value> =
        all.iter().filter(|change| change["change"] == "reordered").collect();
    assert_eq!(reordered.len(), 1, "the fewest that explain the order");
    assert_eq!(reordered[0]["node_id"], n[5]);
    assert_eq!(reordered[0]["to"], json!({ "parent_id": page.root }));
    let added = of(&all, &new)[0];
    assert_eq!(
        (&added["change"], &added["node"]["kind"], &added["parent_id"]),
        (&json!("added"), &json!("quote"), &json!(n[0]))
    );
    assert!(added.get("after_node_id").is_none());
    let linked = of(&all, &n[6])[0];
    assert_eq!(linked["inlines"]["left"], json!([]));
    assert_eq!(linked["inlines"]["right"][0]["label"], "there");
    assert_eq!(compared["unchanged_nodes"], 1, "the title");
    let order: Vec<&Value> = all.iter().map(|change| &change["node_id"]).collect();
    let place = |node: &str| order.iter().position(|one| **one == node);
    assert!(
        place(&n[5]) < place(&n[0]) && place(&n[0]) < place(&new) && place(&n[2]) < place(&n[3])
    );

    let backwards = changes(&compare(&bridge, &page, &newest(&bridge, &page), Some(&left)));
    assert_eq!(backwards.len(), all.len());
}

/// What is listed by pages is what was there when the listing began.
#[test]
fn pages_of_entries_are_stable_while_entries_arrive() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Pages", 1);
    for round in 0..10 {
        let says = page.texts(&bridge);
        page.change(&bridge, &[replace(&page.nodes[0], &says[0], &format!("{round}"))]);
    }
    bridge.ok("save_document_version", page.reading(json!({ "label": "ten" })));
    let before = entries(&bridge, &page);
    let mut all = Vec::new();
    let mut more = json!({ "limit": 3 });
    let mut round = 100;
    loop {
        let listed = bridge.ok("list_document_versions", page.reading(more.clone()));
        all.extend(listed["entries"].as_array().expect("entries").clone());
        let Some(next) = listed.get("next_before_id") else { break };
        more["before_id"] = next.clone();
        more["before_at"] = listed["next_before_at"].clone();
        let says = page.texts(&bridge);
        page.change(&bridge, &[replace(&page.nodes[0], &says[0], &format!("{round}"))]);
        bridge.ok("save_document_version", page.this());
        round += 1;
    }
    assert_eq!(all, before);
    assert_eq!(before.len(), 22);
    let versions: Vec<u64> = before.iter().filter_map(|entry| entry["version"].as_u64()).collect();
    assert_eq!(versions, (1..=22).rev().collect::<Vec<u64>>());
    assert_eq!(text(&before[0]["label"]), "ten");
}

#[test]
fn what_is_too_large_says_how_to_go_on() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Large", 0);
    let created = newest(&bridge, &page);
    let large = "x".repeat(1 << 20);
    let mut halfway = String::new();
    for number in 0..9 {
        page.change(&bridge, &[insert(&id(), &page.root, "paragraph", &large)]);
        if number == 4 {
            halfway = newest(&bridge, &page);
        }
    }
    let mut all = json!({ "workspace_id": page.workspace, "left_entry_id": created });
    let error = bridge.err("compare_document_versions", all.clone());
    assert_eq!(error["code"], "too_large");
    assert!(text(&error["message"]).contains("nearer"), "{error}");
    all["left_entry_id"] = json!(halfway);
    assert_eq!(changes(&bridge.ok("compare_document_versions", all)).len(), 4);
    let mut read = json!({ "workspace_id": page.workspace, "entry_id": newest(&bridge, &page) });
    let error = bridge.err("read_document_version", read.clone());
    assert_eq!(error["code"], "too_large");
    assert!(!text(&error["message"]).contains("revision"), "{error}");
    read["page_size"] = json!(2);
    let mut seen = 0;
    loop {
        let page = bridge.ok("read_document_version", read.clone());
        seen += page["nodes"].as_array().map_or(0, Vec::len);
        let Some(next) = page.get("next_after_node_id") else { break };
        read["after_node_id"] = next.clone();
    }
    assert_eq!(seen, 10);
}
