//! What the service takes from outside: time, new IDs and the disk under the files, handed in at boot so that tests can fix them.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use uuid::Uuid;

use crate::files::disk::{Disk, RealDisk};

/// Tells the time, in milliseconds since 1970 (UTC).
pub type Clock = Box<dyn Fn() -> i64 + Send + Sync>;
/// Makes a new ID.
pub type Ids = Box<dyn Fn() -> Uuid + Send + Sync>;

/// Time, new IDs, and the disk under the files.
pub struct Outside {
    clock: Clock,
    ids: Ids,
    disk: Arc<dyn Disk>,
}

impl Outside {
    /// The computer's clock, and version 7 UUIDs.
    #[must_use]
    pub fn real() -> Self {
        let clock = || {
            let age = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            i64::try_from(age.as_millis()).unwrap_or(i64::MAX)
        };
        Self::of(Box::new(clock), Box::new(Uuid::now_v7))
    }

    /// The given clock and IDs, and the computer's disk.
    #[must_use]
    pub fn of(clock: Clock, ids: Ids) -> Self {
        Self { clock, ids, disk: Arc::new(RealDisk) }
    }

    /// The same with another disk under the files.
    #[must_use]
    pub fn with_disk(mut self, disk: Arc<dyn Disk>) -> Self {
        self.disk = disk;
        self
    }

    /// The disk under the files.
    #[must_use]
    pub fn disk(&self) -> Arc<dyn Disk> {
        Arc::clone(&self.disk)
    }

    /// The time, in milliseconds since 1970 (UTC).
    #[must_use]
    pub fn now(&self) -> i64 {
        (self.clock)()
    }

    /// A new ID.
    #[must_use]
    pub fn new_id(&self) -> Uuid {
        (self.ids)()
    }
}

impl std::fmt::Debug for Outside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Outside")
    }
}

/// A time as results show it: RFC 3339 in UTC, with milliseconds.
#[must_use]
pub fn rfc3339(milliseconds: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(milliseconds).unwrap_or_default();
    format!("{time:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_with_milliseconds() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(1_766_577_600_050), "2025-12-24T12:00:00.050Z");
    }
}
