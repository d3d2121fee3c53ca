//! The same answers as a real FTS5, whatever is asked.

use rusqlite::Connection;

use super::texts::{Chance, query, setting, text};
use super::{covered, shown};
use crate::search::text::{GAP, Match, Query, SNIPPET_CHARS, Tokens, indexed, tokenize};

const ROWS: usize = 12;
const QUERIES: u64 = 400;

/// The two kinds of tables that search uses, filled with random texts.
struct Table {
    connection: Connection,
    texts: Vec<String>,
}

impl Table {
    fn of(chance: &mut Chance) -> Self {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE VIRTUAL TABLE head USING fts5(t, content='', contentless_delete=1, prefix='1 2 3', tokenize='ascii');
                 CREATE VIRTUAL TABLE body USING fts5(t, content='', contentless_delete=1, prefix='2 3', tokenize='ascii');
                 CREATE VIRTUAL TABLE words USING fts5vocab(body, instance);
                 BEGIN;",
            )
            .unwrap();
        let texts: Vec<String> = (0..ROWS).map(|_| text(chance, 14)).collect();
        for (row, text) in texts.iter().enumerate() {
            for table in ["head", "body"] {
                let insert = format!("INSERT INTO {table}(rowid, t) VALUES (?1, ?2)");
                let mut insert = connection.prepare_cached(&insert).unwrap();
                insert.execute((row as i64, indexed(text))).unwrap();
            }
        }
        connection.execute_batch("COMMIT").unwrap();
        Self { connection, texts }
    }

    fn rows(&self, table: &str, expression: &str) -> Vec<usize> {
        let select = format!("SELECT rowid FROM {table} WHERE {table} MATCH ?1 ORDER BY rowid");
        let mut select = self.connection.prepare_cached(&select).unwrap();
        select
            .query_map([expression], |row| row.get(0))
            .unwrap()
            .map(|row| row.unwrap_or_else(|error| panic!("{expression:?}: {error}")))
            .collect()
    }
}

#[test]
fn positions_are_those_of_fts5() {
    let seed = setting("KORU_SEED", 1);
    for case in 0..setting("KORU_CASES", 64) {
        let table = Table::of(&mut Chance(seed.wrapping_add(case)));
        for (row, text) in table.texts.iter().enumerate() {
            let mut select = table
                .connection
                .prepare_cached("SELECT term FROM words WHERE doc = ?1 ORDER BY offset")
                .unwrap();
            let stored: Vec<String> = select
                .query_map([row as i64], |row| row.get(0))
                .unwrap()
                .map(Result::unwrap)
                .collect();
            let tokens = tokenize(text);
            let own: Vec<&str> = tokens.iter().map(|token| token.text).collect();
            let (words, forms) = stored.split_at(own.len());
            assert_eq!(words, own, "{text:?}");
            assert!(forms.iter().step_by(2).all(|form| form == GAP), "{text:?}");
            assert!(forms.iter().skip(1).step_by(2).all(|form| form != GAP), "{text:?}");
            assert!(tokens.iter().zip(0..).all(|(token, position)| token.position == position));
        }
    }
}

#[test]
fn hostile_queries_find_what_a_scan_finds_and_are_shown_where_they_match() {
    let seed = setting("KORU_SEED", 1);
    // 200,000 queries.
    let (mut asked, mut found) = (0_usize, 0_usize);
    for case in 0..setting("KORU_CASES", 500) {
        let mut chance = Chance(seed.wrapping_add(case).wrapping_mul(7_919));
        let table = Table::of(&mut chance);
        let tokens: Vec<Tokens<'_>> = table.texts.iter().map(|text| tokenize(text)).collect();
        for number in 0..QUERIES {
            let typed = query(&mut chance, &table.texts);
            let place = format!("seed {seed} case {case} query {number} {typed:?}");
            let query = Query::parse(&typed);
            let name = if number % 2 == 0 { "head" } else { "body" };
            let mut in_all = [true; ROWS];
            for term in &query.terms {
                let scanned: Vec<usize> =
                    (0..ROWS).filter(|row| term.matches(&tokens[*row])).collect();
                assert_eq!(table.rows(name, &term.expression()), scanned, "{place} {term:?}");
                asked += 1;
                found += usize::from(!scanned.is_empty());
                for (row, all) in in_all.iter_mut().enumerate() {
                    *all &= scanned.contains(&row);
                }
            }
            if query.terms.len() > 1 && number % 4 == 0 {
                let all: Vec<usize> = (0..ROWS).filter(|row| in_all[*row]).collect();
                assert_eq!(table.rows(name, &query.expression()), all, "{place}");
            }
            check_snippet(&table.texts[chance.below(ROWS)], &query, &place);
        }
    }
    assert!(found * 4 > asked, "too few of {asked} queries find anything: {found}");
}

/// Spans stand between characters, are sorted and disjoint, and cover exactly what matches.
fn check_snippet(text: &str, query: &Query, place: &str) {
    let tokens = tokenize(text);
    let shown = super::snippet(&tokens, query);
    assert!(shown.text.chars().count() <= SNIPPET_CHARS, "{place} {shown:?}");
    assert!(!shown.text.chars().any(char::is_control), "{place} {shown:?}");
    let mut before = None;
    for span in &shown.spans {
        assert!(span.start_utf8 < span.end_utf8, "{place} {shown:?}");
        assert!(before.is_none_or(|before| before < span.start_utf8), "{place} {shown:?}");
        before = Some(span.end_utf8);
    }
    let mut matches: Vec<Match> = query.terms.iter().flat_map(|term| term.find(&tokens)).collect();
    matches.sort_unstable_by_key(|found| (found.start, found.end));
    for found in &matches {
        assert!(found.first <= found.last && found.start < found.end, "{place} {found:?}");
        assert!(text.get(found.start as usize..found.end as usize).is_some(), "{place} {found:?}");
    }
    let spans = covered(&shown);
    assert_eq!(spans.is_empty(), matches.is_empty(), "{place} {shown:?}");
    for span in &spans {
        let part = tokenize(span);
        assert!(
            query.terms.iter().any(|term| term.matches(&part))
                || text.chars().count() > SNIPPET_CHARS,
            "{place} {span:?}"
        );
    }
    if text.chars().count() <= SNIPPET_CHARS {
        let visible =
            |part: &str| part.chars().filter(|c| !c.is_control() && *c != ' ').collect::<String>();
        let mut expected = String::new();
        let mut at = 0;
        for found in matches {
            let start = found.start.max(at);
            if start < found.end {
                expected += &visible(text.get(start as usize..found.end as usize).unwrap());
                at = found.end;
            }
        }
        assert_eq!(visible(&spans.concat()), expected, "{place} {shown:?}");
    }
}

#[test]
fn the_queries_that_broke_other_products_are_plain_words() {
    let mut table = Table::of(&mut Chance(1));
    for (index, text) in
        ["title x", "a near b", "the unclosed note", "x", "^a", "- x"].into_iter().enumerate()
    {
        let row = (ROWS + index) as i64;
        table
            .connection
            .execute("INSERT INTO head(rowid, t) VALUES (?1, ?2)", (row, indexed(text)))
            .unwrap();
        table.texts.push(text.to_owned());
    }
    for (query, row) in
        [("title:x", 0), ("a NEAR b", 1), ("\"unclosed", 2), ("x*", 3), ("^a", 4), ("- x", 5)]
    {
        let rows = table.rows("head", &Query::parse(query).expression());
        assert!(rows.contains(&(ROWS + row)), "{query:?}: {rows:?}");
    }
    assert_eq!(covered(&shown("a near b", "a NEAR b")), ["a", "near", "b"]);
}
