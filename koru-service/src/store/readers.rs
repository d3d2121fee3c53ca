//! The connections that only read.

use std::path::PathBuf;
use std::sync::{Condvar, Mutex, PoisonError};

use rusqlite::Connection;

use crate::errors::ServiceError;

/// The most connections that read at the same time.
const MOST: usize = 4;

/// A pool of read connections, opened when first needed.
#[derive(Debug)]
pub(super) struct Readers {
    path: PathBuf,
    pool: Mutex<Pool>,
    returned: Condvar,
}

#[derive(Debug, Default)]
struct Pool {
    idle: Vec<Connection>,
    lent: usize,
}

impl Readers {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, pool: Mutex::default(), returned: Condvar::new() }
    }

    /// Runs `job` on one state of the store, whatever is written meanwhile.
    pub(super) fn read<T>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, ServiceError>,
    ) -> Result<T, ServiceError> {
        let mut lent = self.lend()?;
        let Some(connection) = &lent.connection else {
            return Err(ServiceError::Internal("a reader without connection"));
        };
        let transaction = connection.unchecked_transaction()?;
        let result = job(&transaction);
        drop(transaction);
        lent.sound = connection.is_autocommit();
        result
    }

    /// Closes the connections that nobody uses.
    pub(super) fn close(&self) {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).idle.clear();
    }

    fn lend(&self) -> Result<Lent<'_>, ServiceError> {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        while pool.lent >= MOST {
            pool = self.returned.wait(pool).unwrap_or_else(PoisonError::into_inner);
        }
        pool.lent += 1;
        let idle = pool.idle.pop();
        drop(pool);
        let mut lent = Lent { readers: self, connection: idle, sound: false };
        if lent.connection.is_none() {
            lent.connection = Some(super::connection::for_reading(&self.path)?);
        }
        Ok(lent)
    }
}

/// A connection on loan; one on which a job panicked is closed instead of returned.
struct Lent<'a> {
    readers: &'a Readers,
    connection: Option<Connection>,
    sound: bool,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let mut pool = self.readers.pool.lock().unwrap_or_else(PoisonError::into_inner);
        pool.lent -= 1;
        if self.sound {
            pool.idle.extend(self.connection.take());
        }
        drop(pool);
        self.readers.returned.notify_one();
    }
}
