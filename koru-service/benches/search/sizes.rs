//! How many bytes the index takes, by `dbstat`, which counts whole pages.

use std::collections::BTreeMap;

use rusqlite::Connection;

use crate::kit::{Outcome, text};

/// What the names of the full-text tables begin with.
const FULL_TEXT: [&str; 2] = ["search_head", "search_body"];

/// The bytes of both sides.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sizes {
    /// The texts of all nodes, in bytes of UTF-8.
    pub(crate) text: u64,
    /// The full-text tables, the rows beside them without the texts that they repeat, and their indexes.
    pub(crate) index: u64,
    /// The full-text tables alone.
    pub(crate) postings: u64,
    /// The same with all segments merged into one.
    pub(crate) merged: u64,
    /// The texts that the rows repeat.
    pub(crate) copy: u64,
    /// The whole store.
    pub(crate) store: u64,
    /// The baseline's full-text table.
    pub(crate) baseline: u64,
}

fn pages(connection: &Connection) -> Outcome<BTreeMap<String, u64>> {
    let mut statement = connection
        .prepare("SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE")
        .map_err(text)?;
    let rows = statement
        .query_map((), |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs())))
        .map_err(text)?;
    rows.collect::<Result<_, _>>().map_err(text)
}

/// Merges all segments of a store's full-text tables; the bytes of those.
pub(crate) fn merged(store: &Connection) -> Outcome<u64> {
    store
        .execute_batch(
            "INSERT INTO search_head (search_head) VALUES ('optimize');
             INSERT INTO search_body (search_body) VALUES ('optimize');",
        )
        .map_err(text)?;
    let all = pages(store)?;
    let counted =
        all.iter().filter(|(name, _)| FULL_TEXT.iter().any(|begin| name.starts_with(begin)));
    Ok(counted.map(|(_, bytes)| bytes).sum())
}

fn bytes(connection: &Connection, sql: &str) -> Outcome<u64> {
    connection.query_row(sql, (), |row| row.get::<_, i64>(0)).map(i64::unsigned_abs).map_err(text)
}

/// Counts both sides; `text` bytes of UTF-8 went in.
pub(crate) fn count(store: &Connection, baseline: &Connection, text: u64) -> Outcome<Sizes> {
    let ours = pages(store)?;
    let sum = |begins: &[&str]| -> u64 {
        let counted =
            ours.iter().filter(|(name, _)| begins.iter().any(|begin| name.starts_with(begin)));
        counted.map(|(_, bytes)| bytes).sum()
    };
    // The baseline's texts stand in a table of their own, too, which is not counted.
    let copy = bytes(
        store,
        "SELECT coalesce(sum(octet_length(text) + octet_length(node)), 0) FROM search_node",
    )? + bytes(store, "SELECT coalesce(sum(octet_length(text)), 0) FROM search_more")?;
    let theirs = pages(baseline)?;
    Ok(Sizes {
        text,
        index: sum(&["search_"]).saturating_sub(copy),
        postings: sum(&FULL_TEXT),
        merged: 0,
        copy,
        store: ours.values().sum(),
        baseline: theirs
            .iter()
            .filter(|(name, _)| name.starts_with("plain_"))
            .map(|(_, bytes)| bytes)
            .sum(),
    })
}
