//! What the index adds to an edit of one node, on both sides.
//!
//! A commit that waits for the disk would drown it. So both sides write through a connection of this process with
//! `synchronous = OFF`, and each edit is done twice in turn: as a transaction with the index, and as one that differs
//! from it by the index alone. The difference is what the index costs, its part of the commit included.

use std::path::Path;
use std::time::{Duration, Instant};

use koru_model::document::{Document, Node};
use koru_model::ids::NodeId;
use koru_service::search::index::{Indexing, Rewrite, Writing};
use koru_service::store::log;
use koru_service::store::placing::DocumentKey;
use koru_service::store::workspaces::WorkspaceKey;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, params};

use super::measure::percentile;
use crate::kit::baseline::Baseline;
use crate::kit::random::Random;
use crate::kit::words::Vocabulary;
use crate::kit::{Outcome, text};

/// How many edits.
const EDITS: usize = 2_000;

/// What the index adds to an edit.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cost {
    pub(crate) mean: Duration,
    pub(crate) p50: Duration,
    pub(crate) p95: Duration,
    pub(crate) longest: Duration,
}

impl Cost {
    /// Of transactions with the index and without it.
    fn of(with: &[Duration], without: &[Duration]) -> Self {
        let sum = |all: &[Duration]| all.iter().sum::<Duration>();
        let mut each: Vec<Duration> =
            with.iter().zip(without).map(|(with, without)| with.saturating_sub(*without)).collect();
        let count = u32::try_from(each.len()).unwrap_or(1).max(1);
        Self {
            // Of the sums, so that a commit that happens to be slow counts on either side.
            mean: sum(with).saturating_sub(sum(without)) / count,
            p50: percentile(&mut each, 50),
            p95: percentile(&mut each, 95),
            longest: percentile(&mut each, 100),
        }
    }
}

/// A node whose text gets another word.
struct Edit {
    workspace: WorkspaceKey,
    document: DocumentKey,
    state: Document,
    node: Node,
}

/// Edits both sides: what the index costs in a copy of the store's database, and in the baseline.
pub(crate) fn measure(
    copy: &Path,
    mut writing: Writing,
    baseline: &Baseline,
    seed: u64,
) -> Outcome<(Cost, Cost)> {
    let mut random = Random::new(seed);
    let vocabulary = Vocabulary::new(seed);
    let connection = Connection::open(copy).map_err(text)?;
    connection
        .execute_batch(
            "PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -2048;",
        )
        .map_err(text)?;
    connection.set_prepared_statement_cache_capacity(128);
    // As the store's own connections are.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(text)?;
    baseline
        .connection
        .execute_batch("PRAGMA synchronous = OFF; PRAGMA cache_size = -2048;")
        .map_err(text)?;
    let most = |sql: &str, connection: &Connection| -> Outcome<usize> {
        connection.query_row(sql, (), |row| row.get(0)).map_err(text)
    };
    let nodes = most("SELECT max(k) FROM search_node", &connection)?;
    let rows = most("SELECT max(k) FROM node", &baseline.connection)?;
    let (mut ours, mut theirs) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for _ in 0..EDITS {
        let word = vocabulary.word(&mut random);
        let edit = of_store(&connection, random.within(1, nodes), word)?;
        ours[0].push(with_index(&connection, &mut writing, &edit)?);
        ours[1].push(without_index(&connection, &edit)?);
        let key = random.within(1, rows);
        theirs[0].push(plain(&baseline.connection, key, word, true)?);
        theirs[1].push(plain(&baseline.connection, key, word, false)?);
    }
    Ok((Cost::of(&ours[0], &ours[1]), Cost::of(&theirs[0], &theirs[1])))
}

fn of_store(connection: &Connection, key: usize, word: &str) -> Outcome<Edit> {
    let (document, workspace, head, node): (i64, i64, i64, [u8; 16]) = connection
        .prepare_cached(
            "SELECT d.k, d.workspace, d.head, n.node FROM search_node n JOIN document d ON d.k = n.document WHERE n.k = ?1",
        )
        .and_then(|mut statement| {
            statement.query_row([key], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        })
        .map_err(text)?;
    let document = DocumentKey(document);
    let trail = log::trail(connection, document, head.unsigned_abs()).map_err(text)?;
    let state = Document::load(0, trail.keyframe.as_deref(), trail.updates).map_err(text)?;
    let node =
        state.state().live(NodeId::from_bytes(node)).ok_or("a node of the index is not live")?;
    let mut node = Node::clone(node);
    node.stored = with_word(&node.stored, word).into();
    Ok(Edit { workspace: WorkspaceKey(workspace), document, state, node })
}

/// A text whose last word is another one.
fn with_word(text: &str, word: &str) -> String {
    text.rsplit_once(' ').map_or_else(|| word.to_owned(), |(before, _)| format!("{before} {word}"))
}

fn with_index(connection: &Connection, writing: &mut Writing, edit: &Edit) -> Outcome<Duration> {
    let began = Instant::now();
    begin(connection, edit)?;
    writing.begun();
    let Edit { workspace, document, state, node } = edit;
    Indexing::of(connection, writing, *workspace, *document, state.state(), Rewrite::Changed)
        .node(node)
        .map_err(text)?;
    writing.ending(connection).map_err(text)?;
    connection.execute_batch("COMMIT").map_err(text)?;
    writing.committed();
    Ok(began.elapsed())
}

fn without_index(connection: &Connection, edit: &Edit) -> Outcome<Duration> {
    let began = Instant::now();
    begin(connection, edit)?;
    connection.execute_batch("COMMIT").map_err(text)?;
    Ok(began.elapsed())
}

/// What an edit writes at the least, so that both transactions write.
fn begin(connection: &Connection, edit: &Edit) -> Outcome<()> {
    connection.execute_batch("BEGIN IMMEDIATE").map_err(text)?;
    connection
        .prepare_cached("UPDATE document SET modified_at = modified_at + 1 WHERE k = ?1")
        .and_then(|mut statement| statement.execute([edit.document.0]))
        .map_err(text)?;
    Ok(())
}

/// An edit of the baseline: the text in its table and, with the index, its entry taken out and put in again.
fn plain(connection: &Connection, key: usize, word: &str, is_indexed: bool) -> Outcome<Duration> {
    let old: String = connection
        .prepare_cached("SELECT text FROM node WHERE k = ?1")
        .and_then(|mut statement| statement.query_row([key], |row| row.get(0)))
        .map_err(text)?;
    // Without the index the text stays, so that the index stays right.
    let new = if is_indexed { with_word(&old, word) } else { old.clone() };
    let began = Instant::now();
    let run = |sql: &str, values: &[&dyn rusqlite::ToSql]| -> Outcome<()> {
        let ran =
            connection.prepare_cached(sql).and_then(|mut statement| statement.execute(values));
        ran.map(drop).map_err(text)
    };
    connection.execute_batch("BEGIN IMMEDIATE").map_err(text)?;
    if is_indexed {
        run("INSERT INTO plain (plain, rowid, text) VALUES ('delete', ?1, ?2)", params![key, old])?;
    }
    run("UPDATE node SET text = ?2 WHERE k = ?1", params![key, new])?;
    if is_indexed {
        run("INSERT INTO plain (rowid, text) VALUES (?1, ?2)", params![key, new])?;
    }
    connection.execute_batch("COMMIT").map_err(text)?;
    Ok(began.elapsed())
}
