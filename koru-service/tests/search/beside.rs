//! Searches beside writers: nothing is lost, counted twice or waited for in a circle.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use koru_model::protocol::tools::{Lifecycles, SearchDocuments};
use koru_service::search::filter::{Mask, Scope};
use koru_service::search::memory::Change;
use koru_service::search::scan::{ACCEPTED, SCANNED, Scan, Way, Words};
use koru_service::search::text::Query;
use koru_service::search::worker;
use koru_service::store::workspaces::WorkspaceKey;
use serde_json::json;

use super::equality::check;
use super::support::{DEADLINE, Fixture};

/// A node that goes between the scan for whole words and the one for beginnings must not shift what was handed over.
#[test]
fn a_row_that_goes_during_a_search_is_no_reason_to_count_others_twice() {
    let koru = Fixture::new();
    let lines: Vec<String> = (0..300).map(|line| format!("paragraph market {line}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    koru.page("Lines", &lines);
    let memory = &koru.service.search.memory;
    let view = memory.view(&koru.service.store).unwrap();
    let params: SearchDocuments = serde_json::from_value(json!({ "query": "market" })).unwrap();
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    let search = |connection: &rusqlite::Connection| {
        let workspaces = vec![WorkspaceKey(1)];
        let scope = Scope { workspaces, lifecycle: Lifecycles::All, document: None };
        let mask = Mask::of(connection, &view, &scope, &params, &jiff::tz::TimeZone::UTC)?;
        let was_too_few = Cell::new(false);
        let way = Way::Tables { most: SCANNED, was_too_few: &was_too_few, is_first_try: false };
        let scan = Scan { connection, view: &view, mask: &mask, way };
        scan.rows(Words::All(&Query::parse("market")), ACCEPTED, |row| {
            if counts.is_empty() {
                memory.take_in([Change::NoNode(row.node)].into_iter());
            }
            *counts.entry(row.row).or_default() += 1;
            true
        })
    };
    koru.service.store.read(search).unwrap();
    assert_eq!((counts.len(), counts.values().max()), (300, Some(&1)));
}

/// The thread leaves nodes alone that were touched since it read their document, so the edit must see to them.
#[test]
fn an_edit_of_a_document_that_is_behind_writes_the_rows_that_are_missing() {
    let koru = Fixture::new();
    let doc = koru.page("Page", &["task one thing", "paragraph other"]);
    koru.until_indexed();
    // From here on the index is made by this test.
    koru.service.search.wake.end();
    koru.service
        .write(|_, transaction| transaction.state.search.reset(transaction.connection))
        .unwrap();
    koru.change(&doc, "one", "set_done", &json!({ "done": true }));
    assert_eq!(koru.titles("thing"), ["Page"]);
    assert!(koru.titles("other").is_empty());
    while worker::catch_up(&koru.service).unwrap() {}
    assert_eq!(koru.titles("other"), ["Page"]);
    check(&koru);
}

/// A parent is indexed with its child where that comes first, and once more in its own turn.
#[test]
fn a_node_may_be_indexed_twice_in_one_edit_of_a_document_that_is_behind() {
    let koru = Fixture::new();
    let doc = koru.page("Page", &["paragraph other"]);
    koru.until_indexed();
    koru.service.search.wake.end();
    let reset = |koru: &Fixture| {
        let reset = koru
            .service
            .write(|_, transaction| transaction.state.search.reset(transaction.connection));
        reset.unwrap();
    };
    reset(&koru);
    let floor = || -> i64 {
        let sql = "SELECT value FROM setting WHERE key = 'search.row_floor'";
        koru.database().query_row(sql, (), |row| row.get(0)).unwrap()
    };
    let before = floor();
    let (child, text) = koru.node(&doc, "other");
    let parent = koru.new_id();
    koru.edit(
        &doc,
        &json!([
            { "op": "replace_text", "node_id": child, "expected": text, "text": "lower part" },
            { "op": "insert", "node_id": parent, "parent_id": doc.root, "at_end": true,
              "kind": "heading", "text": "Upper part" },
            { "op": "move", "node_id": child, "expected": "lower part", "parent_id": parent,
              "at_end": true },
        ]),
    );
    assert_eq!(floor(), before, "that was taken for damage");
    assert_eq!(koru.titles("upper lower"), ["Page"]);
    while worker::catch_up(&koru.service).unwrap() {}
    check(&koru);
}

#[test]
fn edits_during_a_rebuild_leave_the_index_equal() {
    let koru = Fixture::new();
    let texts: Vec<String> = (0..60).map(|number| format!("task thing{number}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let docs: Vec<_> = (0..30).map(|number| koru.page(&format!("Page {number}"), &texts)).collect();
    koru.until_indexed();
    koru.service
        .write(|_, transaction| transaction.state.search.reset(transaction.connection))
        .unwrap();
    for (number, doc) in docs.iter().enumerate().rev() {
        koru.change(doc, &format!("thing{number}"), "set_done", &json!({ "done": true }));
    }
    koru.until_indexed();
    check(&koru);
}

/// Whoever reads the store for memory waits for a connection; whoever has one must not wait for him.
#[test]
fn many_searches_beside_moves_to_the_trash_all_come_to_an_end() {
    const SEARCHES: u64 = 400;
    let koru = Fixture::new();
    let docs: Vec<_> =
        (0..20).map(|number| koru.page(&format!("Page {number}"), &["paragraph common"])).collect();
    let done = AtomicU64::new(0);
    let deadline = Instant::now() + DEADLINE;
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while done.fetch_add(1, Ordering::Relaxed) < SEARCHES {
                    koru.search("common");
                }
            });
        }
        scope.spawn(|| {
            for doc in docs.iter().cycle() {
                if done.load(Ordering::Relaxed) >= SEARCHES {
                    break;
                }
                koru.admin("document.trash", doc, &json!({}));
                koru.admin("document.untrash", doc, &json!({}));
            }
        });
        while done.load(Ordering::Relaxed) < SEARCHES {
            // A circle of waits cannot be left but by the end of the process.
            if Instant::now() > deadline {
                std::process::abort();
            }
            std::thread::yield_now();
        }
    });
}

#[test]
fn later_pages_find_the_documents_in_which_frequent_words_are_spread() {
    let koru = Fixture::new();
    koru.page("Rare", &["paragraph alpha here", "paragraph zebra there"]);
    for number in 0..50 {
        koru.page(&format!("Spread {number}"), &["paragraph alpha here", "paragraph beta there"]);
    }
    let lines: Vec<String> = (0..700)
        .flat_map(|line| [format!("paragraph alpha {line}"), format!("paragraph beta {line}")])
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    for number in 0..9 {
        koru.page(&format!("Big {number}"), &lines);
    }
    for number in 0..210 {
        koru.page(&format!("Close {number}"), &["paragraph alpha beta"]);
    }
    let mut all = Vec::new();
    let mut offset = json!(0);
    while !offset.is_null() {
        let found = koru
            .search_with(&json!({ "query": "alpha beta ", "page_size": 100, "offset": offset }));
        all.extend(super::support::titles(&found));
        assert_eq!(found["incomplete"], json!(null));
        offset = found["next_offset"].clone();
    }
    // Beside a rare word the newest rows of the frequent one are not enough either.
    let found = koru.search("zebra alpha ");
    assert_eq!(super::support::titles(&found), ["Rare"]);
    assert_eq!(found["incomplete"], json!(null));
    let spread = all.iter().filter(|title| title.starts_with("Spread")).count();
    assert_eq!((all.len(), spread), (269, 50));
}
