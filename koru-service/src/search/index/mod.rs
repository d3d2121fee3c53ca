//! What a change of a document makes of the index, in the transaction of the change.
//!
//! A node keeps its key as long as it lives; its text gets a new row whenever it changes, so that the newest texts have
//! the highest rows. Nothing is written where nothing that is searched has changed.

mod document;
mod names;
mod queued;

use std::sync::Arc;

use rusqlite::Connection;

pub use self::document::{Indexing, PART_BYTES, Rewrite, key_at};
pub use self::names::{file_gone, renamed};
use self::queued::QueuedRows;
use super::memory::{Change, DocumentEntry, Memory, NodeKey, RowEntry, Source};
use super::postings::{self, Table};
use super::text::{self, Tokens};
use super::wake::Wake;
use super::words::Words;
use crate::errors::{ServiceError, StorageFault};
use crate::store::placing::DocumentKey;

/// What the writing thread keeps of the index between its transactions.
pub struct Writing {
    memory: Arc<Memory>,
    words: Arc<Words>,
    wake: Arc<Wake>,
    next: Option<Next>,
    pending: Vec<Change>,
    pending_before: usize,
    /// What the job changes of the tables, by [`Table`].
    queued: [QueuedRows; Table::ALL.len()],
    is_work_due: bool,
    /// While segments are merged: the highest row at the last step.
    merging: Option<u32>,
    /// Whether the job met damage in the tables.
    is_damaged: bool,
    /// Whether changes of the commit at hand were forgotten.
    is_doubtful: bool,
}

/// A row that was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Posted {
    /// Its number; 0: there are no words.
    row: u32,
    words: u16,
}

#[derive(Debug, Clone, Copy)]
struct Next {
    row: u32,
    node: u32,
}

impl Writing {
    /// Writes beside `memory`; `wake` is told when the index is behind.
    #[must_use]
    pub fn new(memory: Arc<Memory>, words: Arc<Words>, wake: Arc<Wake>) -> Self {
        Self {
            memory,
            words,
            wake,
            next: None,
            pending: Vec::new(),
            pending_before: 0,
            queued: Default::default(),
            is_work_due: false,
            merging: None,
            is_damaged: false,
            is_doubtful: false,
        }
    }

    /// A job begins.
    pub fn begun(&mut self) {
        self.pending_before = self.pending.len();
        self.queued.iter_mut().for_each(QueuedRows::clear);
        self.is_damaged = false;
    }

    /// The job ends well: its words go to the tables now, where damage can still be met, and not with the commit.
    ///
    /// # Errors
    /// Those of the storage.
    pub fn ending(&mut self, connection: &Connection) -> Result<(), ServiceError> {
        let queued = Table::ALL.into_iter().zip(&mut self.queued);
        let written = queued
            .map(|(table, queued)| queued.write(connection, table))
            .try_fold(false, |before, written| Ok(written? || before));
        let has_written = written.as_ref().is_ok_and(|has_written| *has_written);
        self.met(written.map(drop))?;
        if !has_written {
            return Ok(());
        }
        // A row is never used again, so it may be known too early, but not too late: a search may see the commit
        // before memory moves on with it.
        let rows = self.pending.iter().skip(self.pending_before);
        self.memory.take_in(rows.filter(|change| matches!(change, Change::Row(..))).copied());
        self.met(postings::flush(connection))
    }

    /// Makes the tables anew where the job that failed met damage in them; it can run again then.
    ///
    /// # Errors
    /// Those of the storage.
    pub fn mend(&mut self, connection: &Connection) -> Result<bool, ServiceError> {
        let is_damaged = std::mem::take(&mut self.is_damaged);
        if is_damaged {
            self.reset(connection)?;
        }
        Ok(is_damaged)
    }

    /// Notes damage in the tables. What they keep in memory can only be dropped with the job as a whole.
    fn met(&mut self, result: Result<(), rusqlite::Error>) -> Result<(), ServiceError> {
        self.is_damaged |= result.as_ref().is_err_and(postings::is_damage);
        Ok(result?)
    }

    /// What the job changed is undone.
    pub fn undone(&mut self) {
        self.pending.truncate(self.pending_before);
        self.queued.iter_mut().for_each(QueuedRows::clear);
        self.merging = None;
    }

    /// All that was changed is on the disk.
    pub fn committed(&mut self) {
        // Memory may have been read again before this commit, and what it lacks is not known any more.
        if std::mem::take(&mut self.is_doubtful) {
            self.memory.distrust();
        }
        if !self.pending.is_empty() {
            self.words.note_written(self.pending.len() as u64);
            self.wake.written();
            self.memory.take_in(self.pending.drain(..));
        }
        if std::mem::take(&mut self.is_work_due) {
            self.wake.wake();
        }
    }

    /// Nobody knows yet what is on the disk.
    pub fn aborted(&mut self) {
        self.pending.clear();
        self.memory.distrust();
        self.is_doubtful = true;
        self.merging = None;
        self.is_work_due = true;
    }

    /// A document was made or changed; it is not in the trash.
    pub fn document(&mut self, key: DocumentKey, entry: DocumentEntry) {
        if let Ok(key) = u32::try_from(key.0) {
            self.pending.push(Change::Document(key, entry));
        }
    }

    /// Documents were moved, or went into the trash or out of it.
    pub fn places(&mut self) {
        self.pending.push(Change::Places);
    }

    fn next(&mut self, connection: &Connection) -> Result<&mut Next, ServiceError> {
        let next = match self.next {
            Some(next) => next,
            None => {
                let (row, node) = postings::used(connection)?;
                Next { row, node }
            }
        };
        Ok(self.next.insert(next))
    }

    fn new_row(&mut self, connection: &Connection) -> Result<u32, ServiceError> {
        let next = self.next(connection)?;
        next.row += 1;
        Ok(next.row)
    }

    fn new_node(&mut self, connection: &Connection) -> Result<NodeKey, ServiceError> {
        let next = self.next(connection)?;
        next.node += 1;
        Ok(NodeKey(next.node))
    }

    /// Writes a text's words into a row of their own, where it has any.
    fn post(
        &mut self,
        connection: &Connection,
        table: Table,
        (node, source): (NodeKey, Source),
        text: &str,
    ) -> Result<Posted, ServiceError> {
        let tokens = text::tokenize(text);
        if tokens.is_empty() {
            return Ok(Posted::default());
        }
        let row = self.new_row(connection)?;
        self.queued(table).add(row, tokens.indexed());
        Ok(self.count((node, source), row, &tokens))
    }

    /// Notes what a row holds.
    fn count(
        &mut self,
        (node, source): (NodeKey, Source),
        row: u32,
        tokens: &Tokens<'_>,
    ) -> Posted {
        let words = u16::try_from(tokens.len()).unwrap_or(u16::MAX);
        self.pending.push(Change::Row(row, RowEntry { node, source, words }));
        Posted { row, words }
    }

    /// Whether the table has a row, or gets it when the job ends. One that is lost is damage.
    fn has(
        &mut self,
        connection: &Connection,
        table: Table,
        row: u32,
    ) -> Result<bool, ServiceError> {
        if self.queued(table).adds(row) {
            return Ok(true);
        }
        let found = postings::has(connection, table, row);
        let has = found.as_ref().is_ok_and(|has| *has);
        self.met(found.map(drop))?;
        if !has && postings::is_lost(connection, row)? {
            self.is_damaged = true;
            return Err(ServiceError::Storage(StorageFault::Damaged));
        }
        Ok(has)
    }

    /// Takes a row out; 0 is none.
    fn take_out(&mut self, table: Table, row: u32) {
        if row > 0 {
            self.queued(table).remove(row);
        }
    }

    fn queued(&mut self, table: Table) -> &mut QueuedRows {
        let [head, body] = &mut self.queued;
        match table {
            Table::Head => head,
            Table::Body => body,
        }
    }

    /// Merges the segments of the full-text tables, about so many pages of them, where much was written since they were
    /// merged last; whether it is to go on.
    ///
    /// # Errors
    /// Those of the storage.
    pub fn merge(&mut self, connection: &Connection, pages: i32) -> Result<bool, ServiceError> {
        let Next { row, node } = *self.next(connection)?;
        if self.merging.is_none() && !postings::is_merge_due(connection, (row, node))? {
            return Ok(false);
        }
        // What was written since has segments of its own, which a merge that goes on would leave out.
        let begins = self.merging.replace(row) != Some(row);
        let mut goes_on = false;
        for table in Table::ALL {
            let merged = postings::merge(connection, table, begins, pages);
            goes_on |= merged.as_ref().is_ok_and(|has_merged| *has_merged);
            self.met(merged.map(drop))?;
        }
        if !goes_on {
            self.merging = None;
            postings::merged(connection, row)?;
        }
        Ok(goes_on)
    }

    /// Makes the full-text tables anew, which takes the words of all nodes away until they are indexed again.
    ///
    /// # Errors
    /// Those of the storage.
    pub fn reset(&mut self, connection: &Connection) -> Result<(), ServiceError> {
        let used = self.next(connection)?.row;
        let used = postings::reset(connection, used)?;
        self.next(connection)?.row = used;
        self.is_work_due = true;
        Ok(())
    }
}
