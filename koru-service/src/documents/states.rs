//! States that were read or written lately, shared by all who read.
//!
//! A state is named by its document and the number of its change, so that none is ever stale: a
//! reader takes the number from its own transaction.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use koru_model::document::State;

use crate::store::placing::DocumentKey;

/// The most nodes of all documents together. A node takes about 2.6 kB with its CRDT and a third of
/// that without (design, model and store, section 2).
const NODES: usize = 128_000;
/// The most states of one document; they share what they have in common.
const STATES: usize = 8;

#[derive(Debug, Default)]
struct OfDocument {
    states: VecDeque<(u64, Arc<State>)>,
    nodes: usize,
    used: u64,
}

#[derive(Debug, Default)]
struct Shelf {
    documents: HashMap<DocumentKey, OfDocument>,
    nodes: usize,
    clock: u64,
}

/// A bounded number of states.
#[derive(Debug, Default)]
pub struct States(Mutex<Shelf>);

impl States {
    /// The state of a document after change `seq`, where it is here.
    #[must_use]
    pub fn get(&self, document: DocumentKey, seq: u64) -> Option<Arc<State>> {
        let mut shelf = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.clock += 1;
        let clock = shelf.clock;
        let found = shelf.documents.get_mut(&document)?;
        found.used = clock;
        found.states.iter().find(|(number, _)| *number == seq).map(|(_, state)| Arc::clone(state))
    }

    /// Keeps the state of a document after change `seq`.
    pub fn put(&self, document: DocumentKey, seq: u64, state: Arc<State>) {
        let mut shelf = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.clock += 1;
        let clock = shelf.clock;
        let nodes = state.all_nodes();
        let of_document = shelf.documents.entry(document).or_default();
        of_document.used = clock;
        if of_document.states.iter().any(|(number, _)| *number == seq) {
            return;
        }
        of_document.states.push_back((seq, state));
        if of_document.states.len() > STATES {
            of_document.states.pop_front();
        }
        let before = std::mem::replace(&mut of_document.nodes, nodes);
        shelf.nodes = shelf.nodes + nodes - before;
        while shelf.nodes > NODES && shelf.documents.len() > 1 {
            let oldest = shelf
                .documents
                .iter()
                .filter(|(key, _)| **key != document)
                .min_by_key(|(_, of)| of.used)
                .map(|(key, _)| *key);
            let Some(gone) = oldest.and_then(|key| shelf.documents.remove(&key)) else { break };
            shelf.nodes -= gone.nodes;
        }
    }
}
