//! The index equals the documents, after whatever happened.

use std::collections::{BTreeMap, BTreeSet};

use koru_model::document::{Document, State};
use koru_model::ids::DocumentId;
use koru_service::search::memory::NodeKey;
use koru_service::search::text;
use koru_service::search::{render, shown};
use koru_service::store::log;
use koru_service::store::placing::DocumentKey;
use koru_service::store::workspaces::WorkspaceKey;
use rusqlite::Connection;
use serde_json::json;

use super::support::Fixture;

type Counts = BTreeMap<String, (i64, i64)>;

fn count(counts: &mut Counts, words: &str) {
    let mut in_row: BTreeMap<&str, i64> = BTreeMap::new();
    for word in words.split(' ').filter(|word| !word.is_empty()) {
        *in_row.entry(word).or_default() += 1;
    }
    for (word, times) in in_row {
        let entry = counts.entry(word.to_owned()).or_default();
        entry.0 += 1;
        entry.1 += times;
    }
}

fn kept(connection: &Connection, table: &str) -> Counts {
    connection
        .execute_batch(&format!(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.words_of_{table} USING fts5vocab(main, {table}, row)"
        ))
        .unwrap();
    let mut statement =
        connection.prepare(&format!("SELECT term, doc, cnt FROM temp.words_of_{table}")).unwrap();
    let rows =
        statement.query_map((), |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?)))).unwrap();
    rows.map(Result::unwrap).collect()
}

pub(crate) fn states(
    connection: &Connection,
) -> Vec<(DocumentKey, DocumentId, WorkspaceKey, State)> {
    let mut statement = connection.prepare("SELECT k, id, workspace, head FROM document").unwrap();
    let rows: Vec<_> = statement
        .query_map((), |row| {
            Ok((
                DocumentKey(row.get(0)?),
                DocumentId::from_bytes(row.get(1)?),
                WorkspaceKey(row.get(2)?),
                row.get::<_, i64>(3)?.unsigned_abs(),
            ))
        })
        .unwrap()
        .map(Result::unwrap)
        .collect();
    rows.into_iter()
        .map(|(key, id, workspace, head)| {
            let trail = log::trail(connection, key, head).unwrap();
            let document = Document::load(0, trail.keyframe.as_deref(), trail.updates).unwrap();
            (key, id, workspace, document.state().clone())
        })
        .collect()
}

/// Compares the whole index with what the documents say, word by word, and asks FTS5 for its own check.
pub(crate) fn check(koru: &Fixture) {
    let connection = koru.database();
    let mut head = Counts::new();
    let mut body = Counts::new();
    let mut nodes = 0;
    for (key, _, workspace, state) in states(&connection) {
        for node in state.nodes().filter(|node| node.is_live()) {
            nodes += 1;
            let found = koru_service::search::index::key_at(&connection, key, node.id).unwrap();
            let NodeKey(k) = found.unwrap_or_else(|| panic!("{} is not indexed", node.id));
            let parent = node.shown_parent().map(|parent| {
                koru_service::search::index::key_at(&connection, key, parent).unwrap().unwrap().0
            });
            let (kind, kept_parent): (u8, Option<u32>) = connection
                .query_row("SELECT kind, parent FROM search_node WHERE k = ?1", [k], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })
                .unwrap();
            assert_eq!((kind, kept_parent), (render::code(node).0, parent));
            let names = render::OfNode { connection: &connection, workspace, node };
            let stored = render::stored(node);
            let counts = if render::code(node).is_head() { &mut head } else { &mut body };
            if stored.len() <= koru_service::search::index::PART_BYTES {
                count(counts, &text::indexed(&render::expand(&stored, 0, &names).unwrap()));
            } else {
                for range in text::parts(&stored, koru_service::search::index::PART_BYTES) {
                    count(counts, &text::indexed(stored.get(range).unwrap()));
                }
            }
            count(&mut head, &text::indexed(&render::values(node)));
            for (table, wanted) in
                [("tag_use", node.tags.len()), ("attribute_use", node.attributes.len())]
            {
                let uses: usize = connection
                    .query_row(
                        &format!("SELECT count(*) FROM {table} WHERE document = ?1 AND node = ?2 AND n = ?3"),
                        (key.0, node.id.as_bytes(), k),
                        |row| row.get(0),
                    )
                    .unwrap();
                assert_eq!(uses, wanted, "{table}");
            }
        }
    }
    let indexed: i64 =
        connection.query_row("SELECT count(*) FROM search_node", (), |row| row.get(0)).unwrap();
    assert_eq!(indexed, nodes, "nodes that are gone are indexed");
    for (table, wanted) in [("search_head", head), ("search_body", body)] {
        let found = kept(&connection, table);
        let words: BTreeSet<&String> = found.keys().chain(wanted.keys()).collect();
        let differing: Vec<_> = words
            .into_iter()
            .filter(|word| found.get(*word) != wanted.get(*word))
            .map(|word| (word, found.get(word), wanted.get(word)))
            .take(20)
            .collect();
        assert!(differing.is_empty(), "{table}: word, found, wanted: {differing:?}");
    }
    for table in ["search_head", "search_body"] {
        connection
            .execute(&format!("INSERT INTO {table} ({table}) VALUES ('integrity-check')"), ())
            .unwrap();
    }
    check_memory(koru, &connection);
}

/// What is kept in memory equals what a new service would read.
fn check_memory(koru: &Fixture, connection: &Connection) {
    let view = koru.service.search.memory.view(&koru.service.store).unwrap();
    let fresh = koru_service::search::memory::Memory::default().view(&koru.service.store).unwrap();
    assert_eq!(view.documents(), fresh.documents());
    assert!(view.nodes().eq(fresh.nodes()));
    let most: u32 = connection
        .query_row("SELECT max((SELECT coalesce(max(row), 0) FROM search_node), (SELECT coalesce(max(row), 0) FROM search_more))", (), |row| row.get(0))
        .unwrap();
    for row in 0..=most {
        // Rows that are gone may still be known: none is ever used again.
        if let Some(wanted) = fresh.row(row) {
            assert_eq!(view.row(row), Some(wanted), "row {row}");
        }
    }
    let mut words = 0;
    for (document, _) in (0_u32..).zip(view.documents()) {
        shown::each_text(connection, &view, document, |_, text| {
            words += text.len();
            Ok(())
        })
        .unwrap();
    }
    assert!(words > 0);
}

#[test]
fn the_index_follows_every_kind_of_change() {
    let koru = Fixture::new();
    let ada = koru.page("Ada", &[]);
    let linking =
        format!("paragraph To [[document:{}]] and [[document:{}]]", ada.id, koru.new_id());
    let doc = koru.page(
        "All kinds",
        &[
            "heading One",
            ">task open",
            ">table a\tb\n1\t2",
            ">code let x_y = 1;",
            "quote q",
            "divider",
            "contact Ada\nphone: 1",
            "listblock outer",
            ">listblock inner",
            &linking,
        ],
    );
    check(&koru);
    koru.change(&doc, "open", "set_done", &json!({ "done": true }));
    koru.change(&doc, "open", "add_tag", &json!({ "tag": "a/b" }));
    koru.change(
        &doc,
        "open",
        "set_attribute",
        &json!({ "key": "koru.due", "value": { "kind": "date", "value": "2026-12-24" } }),
    );
    check(&koru);
    koru.change(
        &doc,
        "open",
        "set_attribute",
        &json!({ "key": "koru.due", "value": { "kind": "date", "value": "2026-12-25" } }),
    );
    koru.change(&doc, "open", "remove_tag", &json!({ "tag": "a/b" }));
    koru.change(&ada, "Ada", "replace_text", &json!({ "text": "Ada King" }));
    check(&koru);
    let (quote, _) = koru.node(&doc, "q");
    koru.change(&doc, "One", "move", &json!({ "parent_id": doc.root, "after_node_id": quote }));
    koru.change(&doc, "open", "clear_attribute", &json!({ "key": "koru.due" }));
    check(&koru);
    let versions = koru.ok(
        "list_document_versions",
        &json!({ "workspace_id": koru.workspace, "document_id": doc.id }),
    );
    let first = versions["entries"].as_array().unwrap().last().unwrap()["id"].clone();
    koru.change(&doc, "One", "remove", &json!({}));
    check(&koru);
    let revision = koru.read(&doc)["revision"].clone();
    koru.ok(
        "restore_document_version",
        &json!({ "workspace_id": koru.workspace, "document_id": doc.id,
        "entry_id": first, "base_revision": revision }),
    );
    check(&koru);
    let (outer, text) = koru.node(&doc, "outer");
    let revision = koru.read(&doc)["revision"].clone();
    koru.ok("extract_to_document", &json!({ "workspace_id": koru.workspace, "source_document_id": doc.id,
        "base_revision": revision, "source_node_id": outer, "expected": text, "new_document_title": "Taken out" }));
    check(&koru);
    koru.admin("document.trash", &doc, &json!({}));
    koru.admin("document.untrash", &doc, &json!({}));
    check(&koru);
}

#[test]
fn long_texts_are_found_to_their_end_and_leave_nothing_behind() {
    let koru = Fixture::new();
    let ada = koru.page("Ada Lovelace", &[]);
    let filler = "word and word and ".repeat(12_000);
    let text = format!("paragraph {filler} [[document:{}]] middle {filler} zebra", ada.id);
    let doc = koru.page("Long", &[&text]);
    assert_eq!(koru.titles("zebra"), ["Long"]);
    assert_eq!(koru.titles("\"ada lovelace middle\""), ["Long"]);
    koru.change(&ada, "Ada", "replace_text", &json!({ "text": "Ada King" }));
    assert_eq!(koru.titles("\"ada king middle\""), ["Long"]);
    koru.change(&doc, "word", "replace_text", &json!({ "text": "short" }));
    assert_eq!(koru.titles("zebra"), Vec::<String>::new());
    check(&koru);
}
