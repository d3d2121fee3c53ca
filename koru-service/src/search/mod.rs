//! Search: an index that moves on with every change, and ranking over it.
//!
//! SQLite's full-text tables are used as posting lists alone: they tell which rows hold a word, the newest first. What
//! a row belongs to stands in memory, filters are masks of documents and nodes, and scores are made here
//! (design, search, section 4, with the figures that led to this shape).

pub mod by_document;
pub mod by_node;
pub mod candidates;
pub mod filter;
pub mod find;
pub mod hits;
pub mod index;
pub mod lists;
pub mod memory;
pub mod names;
pub mod postings;
pub mod rank;
pub mod render;
pub mod scan;
pub mod shown;
pub mod text;
pub mod wake;
pub mod words;
pub mod worker;

use std::sync::Arc;

use self::index::Writing;
use self::lists::Lists;
use self::memory::Memory;
use self::wake::Wake;
use self::words::Words;

/// What all searches share.
#[derive(Debug, Default)]
pub struct Search {
    /// What rows, nodes and documents belong to.
    pub memory: Arc<Memory>,
    /// Wakes the thread that brings the index up to date.
    pub wake: Arc<Wake>,
    /// The lists of the last searches.
    pub lists: Lists,
    /// The words of the index.
    pub words: Arc<Words>,
}

impl Search {
    /// What the writing thread keeps.
    #[must_use]
    pub fn writing(&self) -> Writing {
        Writing::new(Arc::clone(&self.memory), Arc::clone(&self.words), Arc::clone(&self.wake))
    }
}
