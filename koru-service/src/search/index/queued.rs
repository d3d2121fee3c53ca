//! What a job changes of one full-text table, until the job ends.
//!
//! A full-text table keeps new words in memory only as long as the numbers of their rows go up: a deletion of an older row
//! writes them all as a segment of their own. So a job's deletions are made first, then its insertions; node by node, a
//! job would leave a segment for each.

use rusqlite::Connection;

use crate::search::postings::{self, Table};

/// Rows that go and rows that come.
#[derive(Debug, Default)]
pub(super) struct QueuedRows {
    removed: Vec<u32>,
    /// In the order of their numbers, which go up.
    added: Vec<(u32, String)>,
}

impl QueuedRows {
    /// Adds a row of folded words with a number above all before it.
    pub(super) fn add(&mut self, row: u32, words: String) {
        self.added.push((row, words));
    }

    /// Takes out a row, one that this job added as well as one that the table has.
    pub(super) fn remove(&mut self, row: u32) {
        match self.added.binary_search_by_key(&row, |(added, _)| *added) {
            Ok(index) => drop(self.added.remove(index)),
            Err(_) => self.removed.push(row),
        }
    }

    /// Whether the job adds a row.
    pub(super) fn adds(&self, row: u32) -> bool {
        self.added.binary_search_by_key(&row, |(added, _)| *added).is_ok()
    }

    /// Forgets all of it.
    pub(super) fn clear(&mut self) {
        self.removed.clear();
        self.added.clear();
    }

    /// Changes the table; whether there was anything to change.
    ///
    /// # Errors
    /// Those of the storage.
    pub(super) fn write(
        &mut self,
        connection: &Connection,
        table: Table,
    ) -> Result<bool, rusqlite::Error> {
        let has_changed = !self.removed.is_empty() || !self.added.is_empty();
        self.removed.sort_unstable();
        for row in self.removed.drain(..) {
            postings::remove(connection, table, row)?;
        }
        for (row, words) in self.added.drain(..) {
            postings::add(connection, table, row, &words)?;
        }
        Ok(has_changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_came_and_went_leaves_nothing() {
        let mut queued = QueuedRows::default();
        queued.add(7, "seven".into());
        queued.add(9, "nine".into());
        assert!(queued.adds(7) && !queued.adds(8));
        queued.remove(7);
        queued.remove(3);
        assert!(!queued.adds(7));
        assert_eq!((queued.removed.as_slice(), queued.added.len()), ([3].as_slice(), 1));
        queued.remove(9);
        assert!(queued.added.is_empty());
        queued.clear();
        assert!(queued.removed.is_empty());
    }
}
