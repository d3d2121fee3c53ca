//! What the thread of [`worker`](super::worker) is told of others' work.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Wakes the thread.
#[derive(Debug, Default)]
pub struct Wake {
    due: Mutex<Due>,
    changed: Condvar,
    has_ended: AtomicBool,
}

/// What there is to do.
#[derive(Debug, Default)]
struct Due {
    /// The index may be behind.
    is_behind: bool,
    /// Changes were written since the start, or since it was last seen to whether segments are to be merged.
    is_unmerged: bool,
    /// How many commits changed the index.
    commits: u64,
}

impl Wake {
    fn due(&self) -> MutexGuard<'_, Due> {
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// There is work.
    pub fn wake(&self) {
        self.due().is_behind = true;
        self.changed.notify_all();
    }

    /// A commit changed the index.
    pub fn written(&self) {
        let mut due = self.due();
        due.commits += 1;
        if !due.is_unmerged {
            due.is_unmerged = true;
            due.is_behind = true;
            self.changed.notify_all();
        }
    }

    /// No more work is wanted.
    pub fn end(&self) {
        self.has_ended.store(true, Ordering::Release);
        self.wake();
    }

    pub(super) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }

    /// Waits for work, at most so long; how many commits there were then.
    pub(super) fn wait(&self, most: Duration) -> u64 {
        let (mut due, _) = self
            .changed
            .wait_timeout_while(self.due(), most, |due| !due.is_behind)
            .unwrap_or_else(PoisonError::into_inner);
        due.is_behind = false;
        due.commits
    }

    /// Whether nothing was written since so many commits.
    pub(super) fn is_quiet(&self, commits: u64) -> bool {
        self.due().commits == commits
    }

    /// Whether changes are to be merged once there are no more.
    pub(super) fn is_unmerged(&self) -> bool {
        self.due().is_unmerged
    }

    /// All segments are merged, where nothing was written since so many commits.
    pub(super) fn merged(&self, commits: u64) {
        let mut due = self.due();
        due.is_unmerged = due.commits != commits;
    }
}
