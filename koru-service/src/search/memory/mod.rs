//! What a search looks up for every row that it passes: to which node and document a row belongs, and which
//! documents may be shown. It follows from the store and is filled from it when it may have missed something.
//!
//! It moves on with each commit and before its answer, so a search that begins after an answer knows of
//! the change. A search may meet newer entries than its snapshot of the store holds; it looks into the
//! snapshot before it shows a node.

mod entries;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

pub use self::entries::{DocumentEntry, KindCode, NodeEntry, NodeKey, RowEntry, Source};
use crate::errors::ServiceError;
use crate::store::{Store, WriterState};

const CHUNK: usize = 1 << 14;

/// A growing array of numbers that readers share with the one who writes; 0: nothing is there.
#[derive(Debug)]
struct Numbers<T>(Vec<Arc<[T]>>);

impl<T> Clone for Numbers<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Default> Numbers<T> {
    fn cell(&self, index: u32) -> Option<&T> {
        let index = index as usize;
        self.0.get(index / CHUNK)?.get(index % CHUNK)
    }

    fn grown(&mut self, index: u32) -> Option<&T> {
        while self.0.len() <= index as usize / CHUNK {
            self.0.push((0..CHUNK).map(|_| T::default()).collect());
        }
        self.cell(index)
    }
}

#[derive(Debug, Default)]
struct Tables {
    rows: Numbers<AtomicU64>,
    nodes: Numbers<AtomicU64>,
    most_nodes: u32,
    documents: Arc<Vec<DocumentEntry>>,
    are_places_stale: bool,
    is_filled: bool,
    /// While the store is read: what was taken in meanwhile.
    missed: Option<Vec<Change>>,
}

/// A change of the index that reached the disk.
#[derive(Debug, Clone, Copy)]
pub enum Change {
    /// A node is there, or has become another.
    Node(NodeKey, NodeEntry),
    /// A node is there no more.
    NoNode(NodeKey),
    /// A row holds words of a node: of its text, or of its attributes' values.
    Row(u32, RowEntry),
    /// A document is there, or was changed; it is not in the trash.
    Document(u32, DocumentEntry),
    /// Documents were moved, or went into the trash or out of it.
    Places,
}

/// The tables, shared by the writing thread and all who search.
#[derive(Debug, Default)]
pub struct Memory {
    tables: Mutex<Tables>,
    /// Held by the one who reads the store; whoever has a connection to read with never waits for it.
    filling: Mutex<()>,
    is_stale: AtomicBool,
}

/// The tables as one search sees them.
#[derive(Debug, Clone)]
pub struct View {
    rows: Numbers<AtomicU64>,
    nodes: Numbers<AtomicU64>,
    most_nodes: u32,
    documents: Arc<Vec<DocumentEntry>>,
}

impl Memory {
    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something may have been missed: all is read again before the next search.
    pub fn distrust(&self) {
        self.is_stale.store(true, Ordering::Release);
    }

    /// Takes in what a commit changed.
    pub fn take_in(&self, changes: impl Iterator<Item = Change>) {
        let mut tables = self.tables();
        for change in changes {
            if let Some(missed) = &mut tables.missed {
                missed.push(change);
            }
            if tables.is_filled {
                tables.take_in(change);
            }
        }
    }

    /// The tables, filled from the store where needed. What commits meanwhile is taken in once more afterwards, so it is
    /// in what is read or follows it.
    ///
    /// # Errors
    /// Those of the storage.
    pub fn view<S: WriterState>(&self, store: &Store<S>) -> Result<View, ServiceError> {
        if let Some(view) = self.whole() {
            return Ok(view);
        }
        let _filling = self.filling.lock().unwrap_or_else(PoisonError::into_inner);
        let is_filled = {
            let mut tables = self.tables();
            if self.is_stale.swap(false, Ordering::AcqRel) {
                *tables = Tables::default();
            }
            if tables.is_filled && !tables.are_places_stale {
                return Ok(tables.view());
            }
            tables.missed = Some(Vec::new());
            tables.is_filled
        };
        let read = store.read(|connection| match is_filled {
            true => Ok((None, documents(connection)?)),
            false => Ok((Some(Tables::read(connection)?), documents(connection)?)),
        });
        let mut tables = self.tables();
        let missed = tables.missed.take().unwrap_or_default();
        let (read, documents) = read?;
        if let Some(read) = read {
            *tables = read;
        }
        tables.documents = Arc::new(documents);
        tables.are_places_stale = false;
        for change in missed {
            tables.take_in(change);
        }
        Ok(tables.view())
    }

    /// The tables as they are now. A search takes them once it sees its state of the store: then they hold every row of
    /// it. None: they must be read again, which the next [`Memory::view`] does.
    #[must_use]
    pub fn now(&self) -> Option<View> {
        let tables = self.tables();
        let is_there = tables.is_filled && !self.is_stale.load(Ordering::Acquire);
        is_there.then(|| tables.view())
    }

    /// The tables where nothing must be read.
    fn whole(&self) -> Option<View> {
        let are_places_stale = self.tables().are_places_stale;
        self.now().filter(|_| !are_places_stale)
    }
}

impl Tables {
    fn view(&self) -> View {
        View {
            rows: self.rows.clone(),
            nodes: self.nodes.clone(),
            most_nodes: self.most_nodes,
            documents: Arc::clone(&self.documents),
        }
    }

    fn set_row(&mut self, row: u32, entry: RowEntry) {
        if let Some(cell) = self.rows.grown(row) {
            cell.store(entry.packed(), Ordering::Relaxed);
        }
    }

    fn set_node(&mut self, key: NodeKey, entry: Option<NodeEntry>) {
        let packed = entry.map_or(0, NodeEntry::packed);
        if let Some(cell) = self.nodes.grown(key.0) {
            cell.store(packed, Ordering::Relaxed);
        }
        self.most_nodes = self.most_nodes.max(key.0);
    }

    fn take_in(&mut self, change: Change) {
        match change {
            Change::Node(key, entry) => self.set_node(key, Some(entry)),
            Change::NoNode(key) => self.set_node(key, None),
            Change::Row(row, entry) => self.set_row(row, entry),
            Change::Document(key, entry) => {
                let documents = Arc::make_mut(&mut self.documents);
                let index = key as usize;
                if documents.len() <= index {
                    documents.resize(index + 1, DocumentEntry::default());
                }
                if let Some(slot) = documents.get_mut(index) {
                    *slot = entry;
                }
            }
            Change::Places => self.are_places_stale = true,
        }
    }

    /// All but the documents.
    fn read(connection: &Connection) -> Result<Self, ServiceError> {
        let mut tables = Self { is_filled: true, ..Self::default() };
        let mut nodes =
            connection.prepare("SELECT k, document, kind, row, words FROM search_node")?;
        let mut found = nodes.query(())?;
        while let Some(row) = found.next()? {
            let key = NodeKey(row.get(0)?);
            tables.set_node(
                key,
                Some(NodeEntry { document: row.get(1)?, kind: KindCode(row.get(2)?) }),
            );
            let posting: u32 = row.get(3)?;
            if posting > 0 {
                let words = row.get(4)?;
                tables.set_row(posting, RowEntry { node: key, source: Source::Text, words });
            }
        }
        let mut more = connection.prepare("SELECT row, node, part, words FROM search_more")?;
        let mut found = more.query(())?;
        while let Some(row) = found.next()? {
            let source = if row.get::<_, u32>(2)? == 0 { Source::Values } else { Source::Text };
            let (node, words) = (NodeKey(row.get(1)?), row.get(3)?);
            tables.set_row(row.get(0)?, RowEntry { node, source, words });
        }
        Ok(tables)
    }
}

/// All documents by key, with what the trash above them says of them.
fn documents(connection: &Connection) -> Result<Vec<DocumentEntry>, ServiceError> {
    let mut statement = connection.prepare(
        "SELECT k, workspace, parent, trashed_at IS NOT NULL, modified_at FROM document ORDER BY k",
    )?;
    let mut rows = statement.query(())?;
    let mut all: Vec<DocumentEntry> = vec![DocumentEntry::default()];
    while let Some(row) = rows.next()? {
        let key: u32 = row.get(0)?;
        all.resize(key as usize, DocumentEntry::default());
        all.push(DocumentEntry {
            workspace: row.get(1)?,
            parent: row.get::<_, Option<u32>>(2)?.unwrap_or(0),
            trashed: row.get(3)?,
            modified_at: row.get(4)?,
        });
    }
    spread_trash(&mut all);
    Ok(all)
}

/// Marks what stands under a trashed document; each document is walked up from once.
fn spread_trash(all: &mut [DocumentEntry]) {
    let mut is_settled = vec![false; all.len()];
    let mut path = Vec::new();
    for start in 0..all.len() {
        let mut at = start;
        let trashed = loop {
            let Some(entry) = all.get(at) else { break false };
            if entry.trashed || entry.parent == 0 || is_settled.get(at) == Some(&true) {
                break entry.trashed;
            }
            path.push(at);
            at = entry.parent as usize;
        };
        for below in path.drain(..) {
            if let (Some(entry), Some(settled)) = (all.get_mut(below), is_settled.get_mut(below)) {
                entry.trashed |= trashed;
                *settled = true;
            }
        }
    }
}

impl View {
    /// What is known of a row.
    #[must_use]
    pub fn row(&self, row: u32) -> Option<RowEntry> {
        RowEntry::unpacked(self.rows.cell(row)?.load(Ordering::Relaxed))
    }

    /// What is known of a node.
    #[must_use]
    pub fn node(&self, key: NodeKey) -> Option<NodeEntry> {
        NodeEntry::unpacked(self.nodes.cell(key.0)?.load(Ordering::Relaxed))
    }

    /// All nodes, by key.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeKey, NodeEntry)> + '_ {
        let cells = self.nodes.0.iter().flat_map(|chunk| chunk.iter());
        (0..=self.most_nodes).zip(cells).filter_map(|(key, cell)| {
            NodeEntry::unpacked(cell.load(Ordering::Relaxed)).map(|entry| (NodeKey(key), entry))
        })
    }

    /// What is known of a document.
    #[must_use]
    pub fn document(&self, key: u32) -> Option<&DocumentEntry> {
        self.documents.get(key as usize).filter(|entry| entry.workspace > 0)
    }

    /// All documents, by key; those without workspace are none.
    #[must_use]
    pub fn documents(&self) -> &[DocumentEntry] {
        &self.documents
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_under_trash_is_trash() {
        let entry =
            |parent, trashed| DocumentEntry { workspace: 1, parent, trashed, modified_at: 0 };
        // 5 under 4 under 2 (in the trash); 3 beside it.
        let mut all = [
            DocumentEntry::default(),
            entry(0, false),
            entry(1, true),
            entry(1, false),
            entry(2, false),
            entry(4, false),
        ];
        spread_trash(&mut all);
        assert_eq!(all.map(|entry| entry.trashed), [false, false, true, false, true, true]);
    }

    #[test]
    fn a_view_sees_what_is_taken_in_later() {
        let memory = Memory::default();
        memory.tables().is_filled = true;
        let entry = NodeEntry { document: 7, kind: KindCode::TITLE };
        let row = RowEntry { node: NodeKey(40_000), source: Source::Values, words: 12 };
        let changes = [Change::Node(NodeKey(40_000), entry), Change::Row(9, row)];
        memory.take_in(changes.into_iter());
        let tables = memory.tables();
        let view = View {
            rows: tables.rows.clone(),
            nodes: tables.nodes.clone(),
            most_nodes: tables.most_nodes,
            documents: Arc::default(),
        };
        drop(tables);
        assert_eq!(view.row(9), Some(row));
        assert_eq!(view.row(8), None);
        assert_eq!(view.node(row.node), Some(entry));
        memory.take_in([Change::NoNode(NodeKey(40_000))].into_iter());
        assert_eq!(view.node(NodeKey(40_000)), None);
    }
}
