//! Search: an index that moves on with every change, and ranking over it.
//!
//! SQLite's full-text tables are used as posting lists alone: they tell which rows hold a word, the newest first. What
//! a row belongs to stands in memory, filters are masks of documents and nodes, and scores are made here
//! (design, search, section 4, with the figures that led to this shape).

pub mod filter;
pub mod index;
pub mod memory;
pub mod postings;
pub mod render;
pub mod text;
pub mod worker;

use std::sync::Arc;

use self::index::Writing;
use self::memory::Memory;
use self::worker::Wake;

/// What all searches share.
#[derive(Debug, Default)]
pub struct Search {
    /// What rows, nodes and documents belong to.
    pub memory: Arc<Memory>,
    /// Wakes the thread that brings the index up to date.
    pub wake: Arc<Wake>,
}

impl Search {
    /// What the writing thread keeps.
    #[must_use]
    pub fn writing(&self) -> Writing {
        Writing::new(Arc::clone(&self.memory), Arc::clone(&self.wake))
    }
}
