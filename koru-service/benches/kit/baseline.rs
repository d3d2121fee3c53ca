//! The same texts in a plain full-text index of SQLite: `unicode61`, prefix indexes, the texts in a table beside it.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, params};

use super::corpus::Page;
use super::{Outcome, text};

/// The plain index. Documents are numbered as their pages are.
pub(crate) struct Baseline {
    pub(crate) connection: Connection,
    documents: usize,
}

const SEARCH: &str = "SELECT n.document, snippet(plain, 0, '[', ']', '…', 16) FROM plain JOIN node n ON n.k = plain.rowid
     WHERE plain MATCH ?1 ORDER BY plain.rank LIMIT ?2";

impl Baseline {
    /// An empty one, as durable as the store.
    pub(crate) fn new(file: &Path) -> Outcome<Self> {
        let connection = Connection::open(file).map_err(text)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(text)?;
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY;
                 CREATE TABLE node (k INTEGER PRIMARY KEY, document INTEGER NOT NULL, kind INTEGER NOT NULL, text TEXT NOT NULL);
                 CREATE VIRTUAL TABLE plain USING fts5 (text, content = 'node', content_rowid = 'k', tokenize = 'unicode61', prefix = '2 3');
                 CREATE VIRTUAL TABLE word USING fts5vocab (plain, row);",
            )
            .map_err(text)?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(Self { connection, documents: 0 })
    }

    /// Gives it a page cache of so many KiB (where negative) or pages.
    pub(crate) fn set_cache(&self, size: i64) -> Outcome<()> {
        self.connection.pragma_update(None, "cache_size", size).map_err(text)
    }

    /// Adds pages in one transaction; how many bytes of text they have.
    pub(crate) fn add(&mut self, pages: &[Page]) -> Outcome<usize> {
        let mut bytes = 0;
        let transaction = self.connection.transaction().map_err(text)?;
        {
            let mut node = transaction
                .prepare_cached("INSERT INTO node (document, kind, text) VALUES (?1, ?2, ?3)")
                .map_err(text)?;
            let mut words = transaction
                .prepare_cached("INSERT INTO plain (rowid, text) VALUES (?1, ?2)")
                .map_err(text)?;
            for page in pages {
                let blocks =
                    page.blocks.iter().map(|block| (block.kind as u8, block.text.as_str()));
                for (kind, said) in std::iter::once((0, page.title.as_str())).chain(blocks) {
                    let key = node.insert(params![self.documents, kind, said]).map_err(text)?;
                    words.execute(params![key, said]).map_err(text)?;
                    bytes += said.len();
                }
                self.documents += 1;
            }
        }
        transaction.commit().map_err(text)?;
        Ok(bytes)
    }

    /// Merges all segments of the index, and empties the write-ahead log.
    pub(crate) fn optimize(&self) -> Outcome<()> {
        self.connection
            .execute_batch(
                "INSERT INTO plain (plain) VALUES ('optimize'); PRAGMA wal_checkpoint(TRUNCATE);",
            )
            .map_err(text)
    }

    /// The first rows of a search with their snippets, by document.
    pub(crate) fn search(&self, expression: &str, rows: usize) -> Outcome<Vec<(usize, String)>> {
        let mut statement = self.connection.prepare_cached(SEARCH).map_err(text)?;
        let found = statement
            .query_map(params![expression, rows], |row| Ok((row.get(0)?, row.get(1)?)))
            .map_err(text)?;
        found.collect::<Result<_, _>>().map_err(text)
    }

    /// The documents that hold all words of a query in one row, the best first, at most 20.
    pub(crate) fn found(&self, query: &str) -> Outcome<Vec<usize>> {
        let mut documents = Vec::new();
        for (document, _) in self.search(&all_of(query), 200)? {
            if !documents.contains(&document) && documents.len() < 20 {
                documents.push(document);
            }
        }
        Ok(documents)
    }

    /// All words of plain Latin letters with the number of rows that hold them, the most frequent ones first.
    pub(crate) fn words(&self) -> Outcome<Vec<(String, usize)>> {
        let mut statement = self
            .connection
            .prepare(
                "SELECT term, doc FROM word WHERE term NOT GLOB '*[^a-z]*' AND length(term) > 1
                 ORDER BY doc DESC, term",
            )
            .map_err(text)?;
        let found = statement.query_map((), |row| Ok((row.get(0)?, row.get(1)?))).map_err(text)?;
        found.collect::<Result<_, _>>().map_err(text)
    }
}

/// The expression for all words of a query; each is a text, not syntax.
pub(crate) fn all_of(query: &str) -> String {
    let words = query.split_whitespace().filter(|word| word.contains(char::is_alphanumeric));
    let words: Vec<String> = words.map(quoted).collect();
    words.join(" AND ")
}

/// A text as one phrase.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', ""))
}
