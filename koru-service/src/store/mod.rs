//! The store: one SQLite database, one thread that writes, a few connections that read. SQL is below this folder, and that of the index below `search`.

pub mod actors;
pub mod attributes;
pub mod comparables;
mod connection;
pub mod documents;
pub mod extractions;
pub mod files;
pub mod history;
pub mod listing;
pub mod log;
pub mod migrations;
pub mod placing;
mod readers;
pub mod settings;
pub mod tag_changes;
pub mod tags;
pub mod uses;
pub mod workspaces;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;

use self::readers::Readers;
use self::writer::Writer;
pub use self::writer::{Counts, Stateless, Transaction, WriterState};
use crate::errors::{ServiceError, StoreError};

/// The store. `S` lives on the writing thread, beside the only connection that writes.
pub struct Store<S: WriterState> {
    path: PathBuf,
    writer: Writer<S>,
    readers: Readers,
    opened: Arc<workspaces::Opened>,
}

impl<S: WriterState> Store<S> {
    /// Opens the database, or makes it; its folder must exist.
    ///
    /// # Errors
    /// When it is damaged, of another program, of a newer release, or cannot be opened. It is unchanged then.
    pub fn open(database: &Path, state: S) -> Result<Self, StoreError> {
        let connection = connection::found(database)?;
        let opened = Arc::new(workspaces::Opened::default());
        let writer = Writer::start(database.into(), connection, state, Arc::clone(&opened))?;
        Ok(Self { path: database.into(), writer, readers: Readers::new(database.into()), opened })
    }

    /// Runs `job` on the writing thread and returns its result once what it changed is on disk.
    ///
    /// Blocks: call it from a thread that may. Jobs that wait together share one commit, each in a
    /// savepoint of its own: where `job` fails, nothing of it stays. A job may run twice, where
    /// SQLite undid the whole commit because of another job; the first run leaves nothing then.
    ///
    /// # Errors
    /// The job's own; [`ServiceError::Storage`] where nothing was applied; and
    /// [`ServiceError::OutcomeUnknown`] where the disk failed so that it could not be found out.
    pub fn write<T: Send + 'static>(
        &self,
        job: impl FnMut(&mut Transaction<'_, S>) -> Result<T, ServiceError> + Send + 'static,
    ) -> Result<T, ServiceError> {
        self.writer.write(job)
    }

    /// Runs `job` in a read transaction: it sees one state of the store.
    ///
    /// # Errors
    /// The job's own, and those of the storage.
    pub fn read<T>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, ServiceError>,
    ) -> Result<T, ServiceError> {
        self.readers.read(job)
    }

    /// Notes that a client read or wrote in a workspace; it reaches the disk with a later commit.
    pub fn note_opened(&self, workspace: workspaces::WorkspaceKey, now: i64) {
        self.opened.note(workspace, now);
    }

    /// When workspaces were last read or written, as far as it is not on disk yet.
    #[must_use]
    pub fn opened(&self) -> &workspaces::Opened {
        &self.opened
    }

    /// What was written since the store was opened.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.writer.counts()
    }

    /// Whether the last commit succeeded.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.writer.is_healthy()
    }

    /// The database.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many bytes the store takes on disk.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        ["sqlite", "sqlite-wal"]
            .iter()
            .filter_map(|extension| std::fs::metadata(self.path.with_extension(extension)).ok())
            .map(|found| found.len())
            .sum()
    }

    /// Finishes the writes that wait, empties the write-ahead log into the database, and closes it.
    /// Later writes are refused.
    pub fn close(&self) {
        self.readers.close();
        self.writer.close();
    }
}
