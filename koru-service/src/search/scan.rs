//! Which rows hold words, the newest first.
//!
//! A full-text table gives row numbers at about 0.1 µs each in this order; ranking and joining inside SQLite would read
//! every match before the first one comes out (design, search, section 2).

use std::cell::Cell;

use rusqlite::Connection;

use super::filter::Mask;
use super::memory::{KindCode, NodeEntry, NodeKey, Source, View};
use super::postings::Table;
use super::shown;
use super::text::{Query, Term, Tokens, tokenize};
use crate::errors::ServiceError;

/// The most rows that one scan looks at: about 20 ms.
pub const SCANNED: usize = 200_000;
/// The most rows that one scan takes where hits are ranked.
pub const ACCEPTED: usize = 10_000;

/// What a search looks into.
#[derive(Clone, Copy)]
pub struct Scan<'a> {
    /// One state of the store.
    pub connection: &'a Connection,
    /// What rows belong to.
    pub view: &'a View,
    /// What may be shown.
    pub mask: &'a Mask,
    /// How the rows are found.
    pub way: Way<'a>,
}

/// How rows are found.
#[derive(Clone, Copy)]
pub enum Way<'a> {
    /// By the full-text tables, at most so many rows a scan; where that was too few, it is said.
    Tables(usize, &'a Cell<bool>),
    /// By reading the texts of all admitted documents: exact and dear, for few documents and frequent words.
    Texts,
}

/// What shall hold.
#[derive(Clone, Copy)]
pub enum Words<'a> {
    /// All terms of a query, in one row.
    All(&'a Query),
    /// One term.
    One(&'a Term),
}

impl Words<'_> {
    fn expression(&self) -> String {
        match self {
            Self::All(query) => query.expression(),
            Self::One(term) => term.expression(),
        }
    }

    fn hold_in(&self, tokens: &Tokens<'_>) -> bool {
        match self {
            Self::All(query) => query.terms.iter().all(|term| term.matches(tokens)),
            Self::One(term) => term.matches(tokens),
        }
    }
}

/// A row that holds the words, of a document that is admitted.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Its number.
    pub row: u32,
    /// The node.
    pub node: NodeKey,
    /// Which of the node's words it holds.
    pub source: Source,
    /// What is known of the node.
    pub entry: NodeEntry,
}

impl Row {
    /// What a match there is worth (design, search, section 4).
    #[must_use]
    pub fn weight(&self) -> f64 {
        use koru_model::node::Kind;
        match (self.source, self.entry.kind.kind()) {
            (Source::Values, _) => 1.5,
            (Source::Text, Kind::Title) => 6.0,
            (Source::Text, Kind::Heading) => 3.0,
            (Source::Text, Kind::Code) => 0.9,
            (Source::Text, _) => 1.0,
        }
    }
}

impl Scan<'_> {
    fn numbers(
        &self,
        table: Table,
        expression: &str,
        accepted: usize,
        mut take: impl FnMut(u32) -> bool,
    ) -> Result<bool, ServiceError> {
        let sql = match table {
            Table::Head => {
                "SELECT rowid FROM search_head WHERE search_head MATCH ?1 ORDER BY rowid DESC"
            }
            Table::Body => {
                "SELECT rowid FROM search_body WHERE search_body MATCH ?1 ORDER BY rowid DESC"
            }
        };
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([expression])?;
        let (mut scanned, mut taken) = (0, 0);
        while let Some(found) = rows.next()? {
            if taken == accepted {
                return Ok(true);
            }
            if let Way::Tables(most, was_too_few) = self.way
                && scanned >= most
            {
                was_too_few.set(true);
                return Ok(true);
            }
            scanned += 1;
            taken += usize::from(take(found.get(0)?));
        }
        Ok(false)
    }

    /// Hands over the documents in whose titles `expression` holds, whatever the mask says.
    ///
    /// # Errors
    /// Those of the storage.
    pub fn titles(
        &self,
        expression: &str,
        accepted: usize,
        mut take: impl FnMut(u32) -> bool,
    ) -> Result<bool, ServiceError> {
        self.numbers(Table::Head, expression, accepted, |row| {
            let Some((node, Source::Text)) = self.view.node_of(row) else { return false };
            let entry = self.view.node(node).filter(|entry| entry.kind == KindCode::TITLE);
            entry.is_some_and(|entry| take(entry.document))
        })
    }

    /// Hands over the rows of admitted documents in which the words hold, those of headlines first, until `accepted`
    /// were taken of each table; `take` says whether it took one. Whether there may be more.
    ///
    /// # Errors
    /// Those of the storage.
    pub fn rows(
        &self,
        words: Words<'_>,
        accepted: usize,
        mut take: impl FnMut(Row) -> bool,
    ) -> Result<bool, ServiceError> {
        if let Way::Texts = self.way {
            return self.texts(words, take).map(|()| false);
        }
        let expression = words.expression();
        let mut is_cut = false;
        for table in Table::ALL {
            is_cut |= self.numbers(table, &expression, accepted, |row| {
                let Some((node, source)) = self.view.node_of(row) else { return false };
                let Some(entry) = self.view.node(node) else { return false };
                self.mask.admits_document(entry.document) && take(Row { row, node, source, entry })
            })?;
        }
        Ok(is_cut)
    }

    fn texts(
        &self,
        words: Words<'_>,
        mut take: impl FnMut(Row) -> bool,
    ) -> Result<(), ServiceError> {
        for document in self.mask.documents() {
            shown::each_text(self.connection, self.view, document, |of, text| {
                if let Some(entry) = self.view.node(of.node)
                    && words.hold_in(&tokenize(text))
                {
                    take(Row { row: of.row, node: of.node, source: of.source, entry });
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}
