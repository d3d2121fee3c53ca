//! One commit: its jobs, its failure, and finding out afterwards what is on disk.
//!
//! A failed commit is not always a lost one: its pages may stand in the write-ahead log, and the next
//! recovery may find them. So each commit writes a mark, its number. After a failure the
//! connection is dropped, the log emptied into the database (which settles what it held), and
//! the mark tells whether the commit is there. Every caller gets a true answer, whatever it wrote.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _};

use super::{Boxed, Fate, Gauges, Transaction, WriterState};
use crate::errors::{ServiceError, StorageFault};
use crate::store::workspaces::Opened;

/// What the writing thread owns.
pub(super) struct Writing<S> {
    pub(super) path: PathBuf,
    /// None after a failure from which it could not be opened again.
    pub(super) connection: Option<Connection>,
    /// The number of the newest commit.
    pub(super) mark: i64,
    pub(super) state: S,
    pub(super) opened: Arc<Opened>,
    pub(super) gauges: Arc<Gauges>,
}

/// How far a commit came.
enum Course {
    /// It is on disk, or changed nothing; each job has its own result.
    Done,
    /// It could not begin, or failed before its end; nothing of it is on disk.
    Failed(StorageFault),
    /// SQLite undid all of it because of one job.
    Lost,
    /// The commit itself failed.
    Unsettled(StorageFault),
}

impl<S: WriterState> Writing<S> {
    /// Runs the jobs in one commit and answers them.
    pub(super) fn process(&mut self, mut group: Vec<Boxed<S>>) {
        if let Err(fault) = self.ready() {
            return answer(group, Some(Fate::Failed(fault)));
        }
        match self.attempt(&mut group) {
            Course::Done => answer(group, None),
            Course::Failed(fault) => answer(group, Some(Fate::Failed(fault))),
            Course::Unsettled(fault) => {
                let fate = self.settle(fault);
                answer(group, fate);
            }
            Course::Lost if group.len() > 1 => {
                // One of them broke all; each by itself shows which, and the others pass.
                for job in group {
                    self.process(vec![job]);
                }
            }
            Course::Lost => answer(group, None),
        }
    }

    /// Writes when workspaces were last opened, where no other write took it along; whether it wrote.
    pub(super) fn flush_opened(&mut self) -> bool {
        if self.opened.is_empty() || self.ready().is_err() {
            return false;
        }
        let Some(connection) = &self.connection else { return false };
        match self.opened.write(connection) {
            Ok(news) => {
                self.opened.written(&news);
                self.gauges.commits.fetch_add(1, Ordering::Relaxed);
                true
            }
            Err(_) => false,
        }
    }

    /// Empties the write-ahead log into the database; whether nothing is left in it.
    pub(super) fn checkpoint(&self, wait: Duration) -> bool {
        let Some(connection) = &self.connection else { return false };
        let before = Duration::from_secs(5);
        let emptied = connection.busy_timeout(wait).is_ok() && truncate_log(connection).is_ok();
        connection.busy_timeout(before).is_ok() && emptied
    }

    /// Opens the connection again where a failure left none.
    fn ready(&mut self) -> Result<(), StorageFault> {
        if self.connection.is_some() {
            return Ok(());
        }
        let connection = reopen(&self.path, None)?;
        self.mark = last_mark(&connection).map_err(|error| fault_of(&error))?;
        self.connection = Some(connection);
        self.gauges.unhealthy.store(false, Ordering::Relaxed);
        Ok(())
    }

    fn attempt(&mut self, group: &mut [Boxed<S>]) -> Course {
        let Some(connection) = &self.connection else {
            return Course::Failed(StorageFault::Refused);
        };
        if let Err(error) = connection.execute_batch("BEGIN IMMEDIATE") {
            return Course::Failed(fault_of(&error));
        }
        let mut edits = 0;
        for job in group.iter_mut() {
            match run_job(connection, &mut self.state, job) {
                Ok(changed) => edits += u64::from(changed),
                Err(fault) => {
                    self.state.aborted();
                    if connection.is_autocommit() {
                        return Course::Lost;
                    }
                    let _ = connection.execute_batch("ROLLBACK");
                    return Course::Failed(fault);
                }
            }
        }
        if edits == 0 {
            // Nothing to keep, so nothing to sync.
            let _ = connection.execute_batch("ROLLBACK");
            self.state.committed();
            return Course::Done;
        }
        let opened = self.opened.write(connection).unwrap_or_default();
        if let Err(error) = set_mark(connection, self.mark + 1) {
            let _ = connection.execute_batch("ROLLBACK");
            self.state.aborted();
            return Course::Failed(fault_of(&error));
        }
        if let Err(error) = connection.execute_batch("COMMIT") {
            return Course::Unsettled(fault_of(&error));
        }
        self.mark += 1;
        self.state.committed();
        self.opened.written(&opened);
        self.gauges.commits.fetch_add(1, Ordering::Relaxed);
        self.gauges.edits.fetch_add(edits, Ordering::Relaxed);
        Course::Done
    }

    /// Finds out whether a failed commit is on disk.
    fn settle(&mut self, fault: StorageFault) -> Option<Fate> {
        tracing::error!(%fault, "a commit failed");
        self.connection = None;
        let found = reopen(&self.path, Some(fault)).and_then(|connection| {
            let mark = last_mark(&connection).map_err(|error| fault_of(&error))?;
            Ok((connection, mark))
        });
        // Not before: whoever reads the store again must see what its log holds.
        self.state.aborted();
        match found {
            Ok((connection, mark)) => {
                let landed = mark == self.mark + 1;
                self.connection = Some(connection);
                self.mark = mark;
                (!landed).then_some(Fate::Failed(fault))
            }
            Err(again) => {
                tracing::error!(fault = %again, "the store could not be opened again; it can only be read");
                self.gauges.unhealthy.store(true, Ordering::Relaxed);
                Some(Fate::Unknown(fault))
            }
        }
    }
}

/// Runs one job in a savepoint; whether it changed something that stays. Fails where the commit as a whole is lost.
fn run_job<S: WriterState>(
    connection: &Connection,
    state: &mut S,
    job: &mut Boxed<S>,
) -> Result<bool, StorageFault> {
    let before = connection.total_changes();
    if try_job(connection, state, job)? {
        return Ok(connection.total_changes() != before);
    }
    // What was undone counts as changed rows, too.
    let before = connection.total_changes();
    let was_mended = match try_mend(connection, state)? {
        Ok(was_mended) => was_mended,
        Err(error) => {
            job.spoil(error);
            false
        }
    };
    let succeeded = was_mended && try_job(connection, state, job)?;
    Ok(was_mended || (succeeded && connection.total_changes() != before))
}

/// Mends what made a job fail, or leaves all as it was. Fails where the commit as a whole is lost.
fn try_mend<S: WriterState>(
    connection: &Connection,
    state: &mut S,
) -> Result<Result<bool, ServiceError>, StorageFault> {
    let fault = |error| fault_of(&error);
    connection.execute_batch("SAVEPOINT mend").map_err(fault)?;
    let mended = state.mend(connection);
    if connection.is_autocommit() {
        return Err(StorageFault::Refused);
    }
    let end = if mended.is_ok() { "RELEASE mend" } else { "ROLLBACK TO mend; RELEASE mend" };
    connection.execute_batch(end).map_err(fault)?;
    Ok(mended)
}

/// Runs a job once; where it fails, nothing of it stays.
fn try_job<S: WriterState>(
    connection: &Connection,
    state: &mut S,
    job: &mut Boxed<S>,
) -> Result<bool, StorageFault> {
    let fault = |error| fault_of(&error);
    connection.execute_batch("SAVEPOINT job").map_err(fault)?;
    state.begun();
    let mut transaction = Transaction { connection, state };
    let succeeded = catch_unwind(AssertUnwindSafe(|| {
        job.run(&mut transaction)
            && match transaction.state.ending(connection) {
                Ok(()) => true,
                Err(error) => {
                    job.spoil(error);
                    false
                }
            }
    }));
    if connection.is_autocommit() {
        if matches!(succeeded, Ok(true)) {
            // It overlooked the error that undid everything.
            job.spoil(ServiceError::Storage(StorageFault::Refused));
        }
        return Err(StorageFault::Refused);
    }
    if let Ok(true) = succeeded {
        connection.execute_batch("RELEASE job").map_err(fault)?;
        return Ok(true);
    }
    connection.execute_batch("ROLLBACK TO job; RELEASE job").map_err(fault)?;
    if succeeded.is_err() {
        state.aborted();
        job.spoil(ServiceError::Internal("a job panicked"));
    } else {
        state.undone();
    }
    Ok(false)
}

fn answer<S>(group: Vec<Boxed<S>>, fate: Option<Fate>) {
    for mut job in group {
        match fate {
            None => {}
            Some(Fate::Failed(fault)) => job.spoil(ServiceError::Storage(fault)),
            Some(Fate::Unknown(fault)) => job.spoil(ServiceError::OutcomeUnknown(fault)),
        }
        job.answer();
    }
}

/// Opens the store again and settles what its log holds.
///
/// On a full disk emptying the log may fail as well. That alone is no doubt: the write that
/// found no room was not the end of a commit, so recovery cannot take it for one.
fn reopen(path: &std::path::Path, after: Option<StorageFault>) -> Result<Connection, StorageFault> {
    let connection = crate::store::connection::again(path).map_err(|error| match error {
        crate::errors::StoreError::Sqlite { source, .. } => fault_of(&source),
        crate::errors::StoreError::Damaged { .. } => StorageFault::Damaged,
        crate::errors::StoreError::File { .. }
        | crate::errors::StoreError::Newer { .. }
        | crate::errors::StoreError::Foreign { .. }
        | crate::errors::StoreError::Pragma { .. } => StorageFault::Io,
    })?;
    match truncate_log(&connection) {
        Ok(()) => Ok(connection),
        Err(_) if after == Some(StorageFault::Full) => Ok(connection),
        Err(fault) => Err(fault),
    }
}

fn truncate_log(connection: &Connection) -> Result<(), StorageFault> {
    let busy = connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |row| row.get::<_, i64>(0))
        .map_err(|error| fault_of(&error))?;
    if busy == 0 { Ok(()) } else { Err(StorageFault::Locked) }
}

fn set_mark(connection: &Connection, mark: i64) -> Result<(), rusqlite::Error> {
    connection
        .prepare_cached(
            "INSERT INTO setting (key, value) VALUES ('commit', ?1)
             ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        )?
        .execute([mark])
        .map(drop)
}

/// The number of the newest commit that is on disk.
pub(super) fn last_mark(connection: &Connection) -> Result<i64, rusqlite::Error> {
    let mark = connection
        .query_row("SELECT value FROM setting WHERE key = 'commit'", (), |row| row.get(0))
        .optional()?;
    Ok(mark.unwrap_or(0))
}

fn fault_of(error: &rusqlite::Error) -> StorageFault {
    StorageFault::of(error).unwrap_or(StorageFault::Refused)
}
