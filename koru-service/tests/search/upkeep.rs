//! The index in the long run: segments are merged when all is quiet, and what is made again is only what must be.

use std::time::Instant;

use koru_service::search::text::TOKENIZER_VERSION;
use koru_service::search::worker;
use serde_json::json;

use super::equality::check;
use super::support::{DEADLINE, Fixture};

fn segments(koru: &Fixture) -> i64 {
    let sql = "SELECT max((SELECT count(DISTINCT segid) FROM search_head_idx),
                          (SELECT count(DISTINCT segid) FROM search_body_idx))";
    koru.database().query_row(sql, (), |row| row.get(0)).unwrap()
}

fn rows(koru: &Fixture) -> Vec<(i64, i64)> {
    let database = koru.database();
    let mut statement =
        database.prepare("SELECT row, words FROM search_node ORDER BY row").unwrap();
    let rows = statement.query_map((), |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

#[test]
fn segments_are_merged_when_all_is_quiet() {
    let koru = Fixture::filled();
    assert!(segments(&koru) > 1);
    let deadline = Instant::now() + DEADLINE;
    while segments(&koru) > 1 {
        assert!(Instant::now() < deadline, "nothing was merged");
        std::thread::yield_now();
    }
    check(&koru);
    // A few more are not worth it.
    let doc = koru.page("One more", &["paragraph common"]);
    koru.change(&doc, "common", "replace_text", &json!({ "text": "common again" }));
    while worker::merge(&koru.service).unwrap() {}
    assert!(segments(&koru) > 1);
    check(&koru);
}

#[test]
fn a_merge_that_is_interrupted_begins_again() {
    let koru = Fixture::filled();
    koru.service.search.wake.end();
    let merge = || {
        let step = koru
            .service
            .write(|_, transaction| transaction.state.search.merge(transaction.connection, 1));
        step.unwrap()
    };
    assert!(merge());
    for number in 0..3 {
        koru.page(&format!("Between {number}"), &["paragraph common"]);
    }
    while merge() {}
    assert_eq!(segments(&koru), 1);
    assert!(!merge());
    check(&koru);
}

#[test]
fn another_layout_keeps_the_rows_that_are_there_and_counts_their_words() {
    let mut koru = Fixture::filled();
    let before = rows(&koru);
    let other_layout = |database: &rusqlite::Connection| {
        let version = format!("0.{TOKENIZER_VERSION}");
        database
            .execute("UPDATE setting SET value = ?1 WHERE key = 'search.version'", [&version])
            .unwrap();
        database.execute("UPDATE search_node SET words = 0", ()).unwrap();
    };
    koru.again(other_layout);
    koru.until_indexed();
    assert_eq!(rows(&koru), before);
    check(&koru);
    // A row that is lost is damage: the tables are made anew.
    koru.again(|database| {
        other_layout(database);
        let lost = before[600].0;
        database.execute("DELETE FROM search_body_docsize WHERE id = ?1", [lost]).unwrap();
    });
    koru.until_indexed();
    assert!(rows(&koru).first().unwrap().0 > before.last().unwrap().0);
    check(&koru);
}

#[test]
fn another_tokenizer_gives_all_texts_new_rows() {
    let mut koru = Fixture::filled();
    let last = rows(&koru).last().unwrap().0;
    koru.again(|database| {
        database
            .execute("UPDATE setting SET value = '0.0' WHERE key = 'search.version'", ())
            .unwrap();
    });
    koru.until_indexed();
    assert!(rows(&koru).iter().all(|(row, _)| *row > last));
    check(&koru);
    let deadline = Instant::now() + DEADLINE;
    let is_noted = || {
        let sql = "SELECT 1 FROM setting WHERE key = 'search.old_rows'";
        koru.database().prepare(sql).unwrap().exists(()).unwrap()
    };
    while is_noted() {
        assert!(Instant::now() < deadline, "rows still count as old");
        std::thread::yield_now();
    }
}
