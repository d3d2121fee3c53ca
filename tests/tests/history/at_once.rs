//! Edits, restores and extractions of several clients at once: what is acknowledged is there, once, and the
//! memory is what the disk says.

use std::collections::BTreeSet;

use koru_tests::support::bridge::{Bridge, Reply};
use koru_tests::support::documents::{Page, id, insert, nodes, replace, text};
use koru_tests::support::home::Home;
use serde_json::{Value, json};

use super::support::{entries, newest, restoring, version};

const ROUNDS: usize = 40;

/// One call of a client, on what it last read; whether it was taken.
fn call(bridge: &Bridge, pages: &[Page], entries: &[String], number: usize) -> bool {
    let (from, to) = (number % pages.len(), (number / 2 + 1) % pages.len());
    let (page, target) = (&pages[from], &pages[to]);
    let read = page.read(bridge);
    let base = text(&read["revision"]);
    let all = nodes(&read);
    let node = &all[1 + number * 7 % (all.len() - 1)];
    let (name, says) = (text(&node["node_id"]), text(&node["text"]));
    let reply = match number % 5 {
        0 => bridge.call("restore_document_version", restoring(page, &entries[from], &base)),
        1 | 2 if from != to => bridge.call(
            "extract_to_document",
            json!({ "workspace_id": page.workspace, "source_document_id": page.document, "base_revision": base,
                "source_node_id": name, "expected": says, "target_document_id": target.document }),
        ),
        3 => bridge.call("edit_document", page.edit(&base, &[replace(&name, &says, &format!("{says}."))])),
        _ => bridge.call("edit_document", page.edit(&base, &[insert(&id(), &page.root, "task", "new")])),
    };
    match reply {
        Reply::Ok(_) => true,
        Reply::Refused(error) => {
            let code = text(&error["code"]);
            let stale = ["precondition_failed", "stale_node", "invalid_request"];
            assert!(stale.contains(&code.as_str()), "{error}");
            false
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn many_clients_at_once_leave_what_the_disk_says() {
    let home = Home::new();
    let bridges: Vec<Bridge> = (0..3).map(|_| home.bridge()).collect();
    let pages: Vec<Page> =
        (0..3).map(|number| Page::of_lines(&bridges[0], &format!("P{number}"), 12)).collect();
    let first: Vec<String> = pages.iter().map(|page| newest(&bridges[0], page)).collect();
    let taken: usize = std::thread::scope(|scope| {
        let clients: Vec<_> = bridges
            .iter()
            .enumerate()
            .map(|(client, bridge)| {
                let (pages, first) = (&pages, &first);
                scope.spawn(move || {
                    (0..ROUNDS)
                        .filter(|round| call(bridge, pages, first, round * 3 + client * 17))
                        .count()
                })
            })
            .collect();
        clients.into_iter().map(|client| client.join().expect("a client that ends")).sum()
    });
    assert!(taken > ROUNDS, "{taken} calls were taken");
    let seen = |bridge: &Bridge| -> Vec<(Value, Vec<Value>)> {
        pages.iter().map(|page| (page.read(bridge), entries(bridge, page))).collect()
    };
    let before = seen(&bridges[0]);
    for ((read, entries), page) in before.iter().zip(&pages) {
        let ids: BTreeSet<String> = nodes(read).iter().map(|node| text(&node["node_id"])).collect();
        assert_eq!(ids.len(), nodes(read).len(), "every node once");
        let versions: Vec<u64> =
            entries.iter().filter_map(|entry| entry["version"].as_u64()).collect();
        assert_eq!(versions, (1..=versions.len() as u64).rev().collect::<Vec<u64>>());
        assert_eq!(version(&bridges[1], page, &text(&entries[0]["id"]))["nodes"], read["nodes"]);
    }
    home.kill_service();
    assert_eq!(seen(&bridges[2]), before, "the memory was what the disk says");
}

/// Line ends in `expected` are those that a client has; the store's are LF.
#[test]
fn line_ends_of_expected_are_no_difference() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::new(&bridge, "Lines", &[("paragraph", "a\r\nb"), ("paragraph", "stays")]);
    let call = json!({ "workspace_id": page.workspace, "source_document_id": page.document, "base_revision": page.revision,
        "source_node_id": page.nodes[0], "expected": "a\r\nb", "new_document_title": "New" });
    bridge.ok("extract_to_document", call);
}
