//! The two full-text tables. A damaged one never stops a write: both are made anew and all documents are
//! indexed again.

use rusqlite::{Connection, ErrorCode};

use crate::errors::{ServiceError, StorageFault};
use crate::store::settings;

/// What [`reset`] leaves for the next start: rows up to here were used in tables that are gone.
const FLOOR: &str = "search.row_floor";

/// The highest row when all segments were merged last.
const MERGED: &str = "search.merged_row";
/// Fewer rows are not worth a merge.
const LEAST_MERGED: u32 = 1_000;

/// Which table a row stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// Titles, headings, attributes' values.
    Head,
    /// All other texts.
    Body,
}

impl Table {
    /// Both, those first that weigh more.
    pub const ALL: [Self; 2] = [Self::Head, Self::Body];

    /// The table's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Head => "search_head",
            Self::Body => "search_body",
        }
    }

    /// The table of a text: attributes' values and headlines are in the small one.
    #[must_use]
    pub fn of(is_head: bool) -> Self {
        if is_head { Self::Head } else { Self::Body }
    }
}

/// Adds a row of folded words, parted by spaces.
///
/// # Errors
/// Those of the storage.
pub fn add(
    connection: &Connection,
    table: Table,
    row: u32,
    words: &str,
) -> Result<(), rusqlite::Error> {
    let sql = match table {
        Table::Head => "INSERT INTO search_head (rowid, t) VALUES (?1, ?2)",
        Table::Body => "INSERT INTO search_body (rowid, t) VALUES (?1, ?2)",
    };
    connection.prepare_cached(sql)?.execute((row, words)).map(drop)
}

/// Takes a row out; one that is not there is no error.
///
/// # Errors
/// Those of the storage.
pub fn remove(connection: &Connection, table: Table, row: u32) -> Result<(), rusqlite::Error> {
    let sql = match table {
        Table::Head => "DELETE FROM search_head WHERE rowid = ?1",
        Table::Body => "DELETE FROM search_body WHERE rowid = ?1",
    };
    connection.prepare_cached(sql)?.execute([row]).map(drop)
}

/// Whether a table has a row.
///
/// # Errors
/// Those of the storage.
pub fn has(connection: &Connection, table: Table, row: u32) -> Result<bool, rusqlite::Error> {
    let sql = match table {
        Table::Head => "SELECT 1 FROM search_head_docsize WHERE id = ?1",
        Table::Body => "SELECT 1 FROM search_body_docsize WHERE id = ?1",
    };
    connection.prepare_cached(sql)?.exists([row])
}

/// Writes what both tables still keep in memory.
///
/// # Errors
/// Those of the storage.
pub fn flush(connection: &Connection) -> Result<(), rusqlite::Error> {
    for sql in [
        "INSERT INTO search_head (search_head) VALUES ('flush')",
        "INSERT INTO search_body (search_body) VALUES ('flush')",
    ] {
        connection.prepare_cached(sql)?.execute(())?;
    }
    Ok(())
}

/// Begins to merge all segments of a table into one, or goes on with it, and writes about so many of its pages; whether
/// there was anything to merge.
///
/// # Errors
/// Those of the storage.
pub fn merge(
    connection: &Connection,
    table: Table,
    begins: bool,
    pages: i32,
) -> Result<bool, rusqlite::Error> {
    let sql = match table {
        Table::Head => "INSERT INTO search_head (search_head, rank) VALUES ('merge', ?1)",
        Table::Body => "INSERT INTO search_body (search_body, rank) VALUES ('merge', ?1)",
    };
    let before = connection.total_changes();
    connection.prepare_cached(sql)?.execute([if begins { -pages } else { pages }])?;
    // The statement itself counts as one change (FTS5, "The 'merge' Command").
    Ok(connection.total_changes() - before >= 2)
}

/// Whether so much was written since all segments were merged that it is time again: a quarter as many rows as there
/// were ever nodes, so that a page is written some five times in its life. `rows` and `nodes` are what [`used`] says.
///
/// # Errors
/// Those of the storage.
pub fn is_merge_due(
    connection: &Connection,
    (rows, nodes): (u32, u32),
) -> Result<bool, rusqlite::Error> {
    let merged: Option<u32> = settings::get(connection, MERGED)?;
    Ok(rows.saturating_sub(merged.unwrap_or(0)) >= LEAST_MERGED.max(nodes / 4))
}

/// All segments are merged, with rows up to `rows` in them.
///
/// # Errors
/// Those of the storage.
pub fn merged(connection: &Connection, rows: u32) -> Result<(), rusqlite::Error> {
    settings::set(connection, MERGED, rows)
}

/// Whether a row that is not there was there since the tables were made.
///
/// # Errors
/// Those of the storage.
pub fn is_lost(connection: &Connection, row: u32) -> Result<bool, rusqlite::Error> {
    let floor: Option<u32> = settings::get(connection, FLOOR)?;
    Ok(row > floor.unwrap_or(0))
}

/// Whether an error says that a table is damaged. Rows that collide do, too: a row is never used again, and the
/// tables' own pages collide where the list of them is lost.
#[must_use]
pub fn is_damage(error: &rusqlite::Error) -> bool {
    StorageFault::of(error) == Some(StorageFault::Damaged)
        || error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}

/// Makes both tables anew, without rows, and has all documents indexed again; rows up to `used`, and all that a node
/// names, stay used. Returns the highest of them.
///
/// # Errors
/// Those of the storage.
pub fn reset(connection: &Connection, used: u32) -> Result<u32, ServiceError> {
    tracing::error!("the index of search is damaged; it is made again from the documents");
    // Statements that were made before would look at the tables that go.
    connection.flush_prepared_statement_cache();
    // Without its version a table cannot even be dropped.
    for config in ["search_head_config", "search_body_config"] {
        let _ = connection
            .execute(&format!("INSERT OR IGNORE INTO {config} (k, v) VALUES ('version', 4)"), ());
    }
    connection.execute_batch(
        "DROP TABLE IF EXISTS search_words;
         DROP TABLE IF EXISTS search_head_words;
         DROP TABLE IF EXISTS search_head;
         DROP TABLE IF EXISTS search_body;
         CREATE VIRTUAL TABLE search_head USING fts5 (t, content = '', contentless_delete = 1, prefix = '1 2 3', tokenize = 'ascii');
         CREATE VIRTUAL TABLE search_body USING fts5 (t, content = '', contentless_delete = 1, prefix = '2 3', tokenize = 'ascii');
         CREATE VIRTUAL TABLE search_words USING fts5vocab (search_body, row);
         CREATE VIRTUAL TABLE search_head_words USING fts5vocab (search_head, row);
         UPDATE document SET unindexed = unindexed + 1;",
    )?;
    let named: u32 = connection.query_row(
        "SELECT max((SELECT coalesce(max(row), 0) FROM search_node),
                    (SELECT coalesce(max(row), 0) FROM search_more))",
        (),
        |row| row.get(0),
    )?;
    let used = used.max(named);
    settings::set(connection, FLOOR, used)?;
    Ok(used)
}

/// The highest row that was ever used and could still be named, and the highest node.
///
/// # Errors
/// Those of the storage.
pub fn used(connection: &Connection) -> Result<(u32, u32), ServiceError> {
    let row = connection.query_row(
        "SELECT max(
           (SELECT coalesce(max(id), 0) FROM search_head_docsize),
           (SELECT coalesce(max(id), 0) FROM search_body_docsize),
           (SELECT coalesce(max(row), 0) FROM search_more),
           coalesce((SELECT value FROM setting WHERE key = ?1), 0))",
        [FLOOR],
        |row| row.get(0),
    )?;
    let node = connection
        .query_row("SELECT coalesce(max(k), 0) FROM search_node", (), |row| row.get(0))?;
    Ok((row, node))
}
