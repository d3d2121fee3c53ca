//! Which rows hold words, the newest first.
//!
//! A full-text table gives row numbers at about 0.1 µs each in this order; ranking and joining inside SQLite would read
//! every match before the first one comes out (design, search, section 2).

use std::cell::Cell;

use rusqlite::Connection;

use super::filter::Mask;
use super::memory::{KindCode, NodeEntry, NodeKey, RowEntry, Source, View};
use super::names::{self, Terms};
use super::postings::Table;
use super::shown::{self, Origin};
use super::text::{Query, Term, tokenize};
use crate::errors::ServiceError;

/// The most rows that one scan looks at: about 20 ms.
pub const SCANNED: usize = 200_000;
/// The most rows that one scan takes of both tables where hits are ranked, see [`Scan::rows`].
pub const ACCEPTED: usize = 6_000;
/// The part of them that the second table has at least, one in so many.
const OF_SECOND: usize = 4;
/// How many rows are read before what is known of them is looked up: memory answers many at once sooner than one by one.
const AT_ONCE: usize = 128;

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
    /// By the full-text tables.
    Tables {
        /// The most rows that a scan looks at.
        most: usize,
        /// Set where that was too few.
        was_too_few: &'a Cell<bool>,
        /// Whether the search runs by the texts then, so that nothing more is to be looked for.
        is_first_try: bool,
    },
    /// By the texts of all admitted documents, see [`Scan::texts`].
    Texts(&'a [(Row, Terms)]),
}

/// What shall hold.
#[derive(Clone, Copy)]
pub enum Words<'a> {
    /// All terms of a query, in one row.
    All(&'a Query),
    /// One term, by its number.
    One(&'a Query, usize),
}

impl Words<'_> {
    fn term(&self) -> Option<&Term> {
        match self {
            Self::All(_) => None,
            Self::One(query, index) => query.terms.get(*index),
        }
    }

    fn expression(&self) -> String {
        match self {
            Self::All(query) => query.expression(),
            Self::One(..) => self.term().map(Term::expression).unwrap_or_default(),
        }
    }

    fn whole_expression(&self) -> Option<String> {
        match self {
            Self::All(query) => query.whole_expression(),
            Self::One(..) => self.term().and_then(Term::whole_expression),
        }
    }

    fn terms(&self) -> Terms {
        match self {
            Self::All(query) => names::all_terms(query),
            Self::One(_, index) => 1 << index,
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
    /// How many.
    pub words: u16,
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
    /// Hands over the rows of a table that are known, the newest first, until `accepted` were taken; whether there may be
    /// more.
    fn newest(
        &self,
        table: Table,
        expression: &str,
        accepted: usize,
        mut take: impl FnMut(&Row) -> bool,
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
        let mut numbers: Vec<u32> = Vec::with_capacity(AT_ONCE);
        let mut known: Vec<Option<Row>> = Vec::with_capacity(AT_ONCE);
        loop {
            numbers.clear();
            while numbers.len() < AT_ONCE
                && let Some(found) = rows.next()?
            {
                numbers.push(found.get(0)?);
            }
            if numbers.is_empty() {
                return Ok(false);
            }
            known.clear();
            known.extend(numbers.iter().map(|row| self.look_up(*row)));
            for row in &known {
                if taken == accepted {
                    return Ok(true);
                }
                if let Way::Tables { most, was_too_few, .. } = self.way
                    && scanned >= most
                {
                    was_too_few.set(true);
                    return Ok(true);
                }
                scanned += 1;
                taken += usize::from(row.as_ref().is_some_and(&mut take));
            }
        }
    }

    fn look_up(&self, row: u32) -> Option<Row> {
        let RowEntry { node, source, words } = self.view.row(row)?;
        let entry = self.view.node(node)?;
        Some(Row { row, node, source, words, entry })
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
        self.newest(Table::Head, expression, accepted, |row| {
            let is_title = row.entry.kind == KindCode::TITLE && row.source == Source::Text;
            is_title && take(row.entry.document)
        })
    }

    /// Hands over the rows of admitted documents in which the words hold, those of headlines first, until `accepted`
    /// were taken; `take` says whether it took one. Whether there may be more.
    ///
    /// Of the beginnings of words those come first that are whole words, where FTS5 would have to merge the lists of all
    /// words that begin so before it names the first row.
    ///
    /// # Errors
    /// Those of the storage.
    pub fn rows(
        &self,
        words: Words<'_>,
        accepted: usize,
        mut take: impl FnMut(Row) -> bool,
    ) -> Result<bool, ServiceError> {
        match self.way {
            Way::Texts(texts) => {
                let wanted = words.terms();
                for (row, _) in texts.iter().filter(|(_, terms)| terms & wanted == wanted) {
                    take(*row);
                }
                return Ok(false);
            }
            Way::Tables { was_too_few, is_first_try, .. } if is_first_try && was_too_few.get() => {
                return Ok(true);
            }
            Way::Tables { .. } => {}
        }
        let expression = words.expression();
        let whole = words.whole_expression().filter(|_| accepted < usize::MAX);
        let taken = Cell::new(0);
        let mut hand = |row: &Row| {
            let is_taken = self.mask.admits_document(row.entry.document) && take(*row);
            taken.set(taken.get() + usize::from(is_taken));
            is_taken
        };
        let mut is_cut = false;
        for table in Table::ALL {
            let until = accepted.max(taken.get().saturating_add(accepted / OF_SECOND));
            let left = || until - taken.get();
            // Both scans name rows in the same order.
            let mut handed = Vec::new();
            if let Some(whole) = &whole {
                let is_full = self.newest(table, whole, left(), |row| {
                    handed.push(row.row);
                    hand(row)
                })?;
                if is_full {
                    is_cut = true;
                    continue;
                }
            }
            let mut handed = handed.into_iter().peekable();
            is_cut |= self.newest(table, &expression, left(), |row| {
                // One may have gone since.
                while handed.next_if(|handed| *handed > row.row).is_some() {}
                handed.next_if_eq(&row.row).is_none() && hand(row)
            })?;
        }
        Ok(is_cut)
    }

    /// The rows of all admitted documents in which terms of a query hold, and which: exact and dear, for few documents
    /// and frequent words.
    ///
    /// # Errors
    /// Those of the storage.
    pub fn texts(&self, query: &Query) -> Result<Vec<(Row, Terms)>, ServiceError> {
        let mut found = Vec::new();
        for document in self.mask.documents() {
            shown::each_text(self.connection, self.view, document, |of, text| {
                let tokens = tokenize(text);
                let terms = names::terms_of(query, &tokens);
                if terms != 0
                    && let Some(entry) = self.view.node(of.node)
                {
                    let words = u16::try_from(tokens.len()).unwrap_or(u16::MAX);
                    let Origin { node, row, source } = of;
                    found.push((Row { row, node, source, words, entry }, terms));
                }
                Ok(())
            })?;
        }
        Ok(found)
    }
}
