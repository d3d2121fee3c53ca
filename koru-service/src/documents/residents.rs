//! The documents that are open for writing; they live on the writing thread.

use std::collections::HashMap;
use std::sync::Arc;

use koru_model::document::Document;
use rusqlite::Connection;

use super::states::States;
use crate::errors::ServiceError;
use crate::search::index::Writing;
use crate::store::documents::DocumentRow;
use crate::store::placing::DocumentKey;
use crate::store::{WriterState, log};

/// The most nodes of all open documents together, about 2 kB each.
const NODES: usize = 64_000;

struct Resident {
    document: Document,
    head: u64,
    used: u64,
}

/// The documents that are open for writing.
pub struct Residents {
    open: HashMap<DocumentKey, Resident>,
    changed: Vec<DocumentKey>,
    /// How many of them changed before the job that runs.
    changed_before: usize,
    /// Those that a job opened since the last commit: a job that panics may leave one ahead of its rows.
    opened: Vec<DocumentKey>,
    states: Arc<States>,
    clock: u64,
    /// The index of search, which moves on with them.
    pub search: Writing,
}

impl Residents {
    /// None yet; what is committed goes to `states`, for readers, and to the index.
    #[must_use]
    pub fn new(states: Arc<States>, search: Writing) -> Self {
        Self {
            open: HashMap::new(),
            changed: Vec::new(),
            changed_before: 0,
            opened: Vec::new(),
            states,
            clock: 0,
            search,
        }
    }

    /// The document, as it is after its newest change. `client` is a CRDT client ID never used before.
    ///
    /// # Errors
    /// Those of the storage, and when what is kept is damaged.
    pub fn open(
        &mut self,
        connection: &Connection,
        row: &DocumentRow,
        client: u64,
    ) -> Result<&mut Document, ServiceError> {
        self.clock += 1;
        if self.open.get(&row.key).is_none_or(|resident| resident.head != row.head) {
            let trail = log::trail(connection, row.key, row.head)?;
            let document = Document::load(client, trail.keyframe.as_deref(), trail.updates)?;
            self.open.insert(row.key, Resident { document, head: row.head, used: self.clock });
            self.make_room(row.key);
        }
        let resident = self
            .open
            .get_mut(&row.key)
            .ok_or(ServiceError::Internal("a document that was just opened is not open"))?;
        resident.used = self.clock;
        self.opened.push(row.key);
        Ok(&mut resident.document)
    }

    /// Takes in a new document, or notes that an open one has gone on to change `head`.
    pub fn moved_on(&mut self, key: DocumentKey, head: u64, new: Option<Document>) {
        self.clock += 1;
        if let Some(document) = new {
            self.open.insert(key, Resident { document, head, used: self.clock });
            self.make_room(key);
        } else if let Some(resident) = self.open.get_mut(&key) {
            resident.head = head;
        }
        self.changed.push(key);
        self.opened.push(key);
    }

    /// Forgets a document, whose memory may be ahead of its rows.
    pub fn drop_document(&mut self, key: DocumentKey) {
        self.open.remove(&key);
    }

    fn make_room(&mut self, keep: DocumentKey) {
        let mut nodes: usize =
            self.open.values().map(|resident| resident.document.state().all_nodes()).sum();
        while nodes > NODES && self.open.len() > 1 {
            let oldest = self
                .open
                .iter()
                .filter(|(key, _)| **key != keep)
                .min_by_key(|(_, resident)| resident.used)
                .map(|(key, _)| *key);
            let Some(gone) = oldest.and_then(|key| self.open.remove(&key)) else { break };
            nodes -= gone.document.state().all_nodes();
        }
    }
}

impl WriterState for Residents {
    fn committed(&mut self) {
        self.opened.clear();
        for key in std::mem::take(&mut self.changed) {
            if let Some(resident) = self.open.get(&key) {
                let state = Arc::new(resident.document.state().clone());
                self.states.put(key, resident.head, state);
            }
        }
        self.search.committed();
    }

    fn aborted(&mut self) {
        self.changed.clear();
        for key in std::mem::take(&mut self.opened) {
            self.open.remove(&key);
        }
        self.search.aborted();
    }

    fn begun(&mut self) {
        self.changed_before = self.changed.len();
        self.search.begun();
    }

    fn ending(&mut self, connection: &Connection) -> Result<(), ServiceError> {
        self.search.ending(connection)
    }

    fn mend(&mut self, connection: &Connection) -> Result<bool, ServiceError> {
        self.search.mend(connection)
    }

    /// What the job changed is ahead of the rows, and must not be handed to readers.
    fn undone(&mut self) {
        for key in self.changed.split_off(self.changed_before.min(self.changed.len())) {
            self.open.remove(&key);
        }
        self.search.undone();
    }
}
