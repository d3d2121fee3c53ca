//! What every test needs. These helpers fail by panicking, as a test does.

pub mod bridge;
pub mod documents;
pub mod files;
pub mod home;
pub mod markdown;
pub mod programs;
pub mod service;

use std::time::{Duration, Instant};

/// How long a test waits for what must come.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Looks until there is something to see.
///
/// # Panics
/// When it does not come within [`PATIENCE`].
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        // A pause between two looks, not a wait for something to have happened.
        std::thread::park_timeout(Duration::from_millis(2));
    }
}
