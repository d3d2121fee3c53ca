//! What a change of a document makes of the index, in the transaction of the change.
//!
//! A node keeps its key as long as it lives; its text gets a new row whenever it changes, so that the newest texts have
//! the highest rows. Nothing is written where nothing that is searched has changed.

use std::collections::HashMap;
use std::sync::Arc;

use koru_model::document::{Node, State};
use koru_model::ids::{DocumentId, FileId, NodeId};
use rusqlite::{Connection, OptionalExtension as _};

use super::memory::{Change, DocumentEntry, KindCode, Memory, NodeEntry, NodeKey, Source};
use super::postings::{self, Table};
use super::render::{self, OfNode, OfRows, PLACEHOLDER, Shown};
use super::text;
use super::words::Words;
use super::worker::Wake;
use crate::errors::ServiceError;
use crate::store::placing::DocumentKey;
use crate::store::workspaces::WorkspaceKey;

/// Longer texts take several rows, in bytes of UTF-8.
pub const PART_BYTES: usize = 64 * 1024;
/// The most nodes that a new title changes at once; where more point at the document, they follow.
const RENAMED_AT_ONCE: usize = 500;

/// What the writing thread keeps of the index between its transactions.
pub struct Writing {
    memory: Arc<Memory>,
    words: Arc<Words>,
    wake: Arc<Wake>,
    next: Option<Next>,
    pending: Vec<Change>,
    pending_before: usize,
    is_work_due: bool,
    /// Whether a job met damage in the tables.
    is_damaged: bool,
}

#[derive(Debug, Clone, Copy)]
struct Next {
    row: u32,
    node: u32,
}

impl Writing {
    /// Writes beside `memory`; `wake` is told when the index is behind.
    #[must_use]
    pub fn new(memory: Arc<Memory>, words: Arc<Words>, wake: Arc<Wake>) -> Self {
        Self {
            memory,
            words,
            wake,
            next: None,
            pending: Vec::new(),
            pending_before: 0,
            is_work_due: false,
            is_damaged: false,
        }
    }

    /// A job begins.
    pub fn begun(&mut self) {
        self.pending_before = self.pending.len();
    }

    /// The job ends well: its words go to the tables now, where damage can still be met, and not with the commit.
    ///
    /// # Errors
    /// Those of the storage.
    pub fn ending(&mut self, connection: &Connection) -> Result<(), ServiceError> {
        if self.pending.len() == self.pending_before {
            return Ok(());
        }
        self.met(postings::flush(connection))
    }

    /// Makes the tables anew where the job that failed met damage in them; it can run again then.
    ///
    /// # Errors
    /// Those of the storage.
    pub fn mend(&mut self, connection: &Connection) -> Result<bool, ServiceError> {
        let is_damaged = std::mem::take(&mut self.is_damaged);
        if is_damaged {
            self.reset(connection)?;
        }
        Ok(is_damaged)
    }

    /// Notes damage in the tables. What they keep in memory can only be dropped with the job as a whole.
    fn met(&mut self, result: Result<(), rusqlite::Error>) -> Result<(), ServiceError> {
        self.is_damaged |= result.as_ref().is_err_and(postings::is_damage);
        Ok(result?)
    }

    /// What the job changed is undone.
    pub fn undone(&mut self) {
        self.pending.truncate(self.pending_before);
    }

    /// All that was changed is on the disk.
    pub fn committed(&mut self) {
        if !self.pending.is_empty() {
            self.words.note_written(self.pending.len() as u64);
            self.memory.take_in(self.pending.drain(..));
        }
        if std::mem::take(&mut self.is_work_due) {
            self.wake.wake();
        }
    }

    /// Nobody knows yet what is on the disk.
    pub fn aborted(&mut self) {
        self.pending.clear();
        self.memory.distrust();
        self.next = None;
        self.is_work_due = true;
    }

    /// A document was made or changed; it is not in the trash.
    pub fn document(&mut self, key: DocumentKey, entry: DocumentEntry) {
        if let Ok(key) = u32::try_from(key.0) {
            self.pending.push(Change::Document(key, entry));
        }
    }

    /// Documents were moved, or went into the trash or out of it.
    pub fn places(&mut self) {
        self.pending.push(Change::Places);
    }

    fn next(&mut self, connection: &Connection) -> Result<&mut Next, ServiceError> {
        let next = match self.next {
            Some(next) => next,
            None => {
                let (row, node) = postings::used(connection)?;
                Next { row, node }
            }
        };
        Ok(self.next.insert(next))
    }

    fn new_row(&mut self, connection: &Connection) -> Result<u32, ServiceError> {
        let next = self.next(connection)?;
        next.row += 1;
        Ok(next.row)
    }

    fn new_node(&mut self, connection: &Connection) -> Result<NodeKey, ServiceError> {
        let next = self.next(connection)?;
        next.node += 1;
        Ok(NodeKey(next.node))
    }

    /// Writes a text's words; returns its row, 0 where it has none.
    fn post(
        &mut self,
        connection: &Connection,
        table: Table,
        (key, source): (NodeKey, Source),
        text: &str,
    ) -> Result<u32, ServiceError> {
        let words = text::indexed(text);
        if words.is_empty() {
            return Ok(0);
        }
        let row = self.new_row(connection)?;
        self.met(postings::add(connection, table, row, &words))?;
        self.pending.push(Change::Row(row, key, source));
        Ok(row)
    }

    fn take_out(
        &mut self,
        connection: &Connection,
        table: Table,
        row: u32,
    ) -> Result<(), ServiceError> {
        if row == 0 {
            return Ok(());
        }
        self.met(postings::remove(connection, table, row))?;
        self.pending.push(Change::NoRow(row));
        Ok(())
    }

    /// Makes the full-text tables anew, which takes the words of all nodes away until they are indexed again.
    ///
    /// # Errors
    /// Those of the storage.
    pub fn reset(&mut self, connection: &Connection) -> Result<(), ServiceError> {
        let used = self.next(connection)?.row;
        postings::reset(connection, used)?;
        self.is_work_due = true;
        Ok(())
    }
}

/// The index of one document, at one of its states.
pub struct Indexing<'a> {
    connection: &'a Connection,
    writing: &'a mut Writing,
    workspace: WorkspaceKey,
    document: DocumentKey,
    state: &'a State,
    /// Whether nodes are written that look unchanged.
    all: bool,
    keys: HashMap<NodeId, NodeKey>,
}

/// A node as the index has it.
struct Found {
    key: NodeKey,
    kind: KindCode,
    parent: Option<u32>,
    row: u32,
    text: String,
}

struct FoundMore {
    row: u32,
    part: u32,
    text: String,
}

impl<'a> Indexing<'a> {
    /// The index of a document at `state`; `all`: also of nodes that look unchanged.
    #[must_use]
    pub fn of(
        connection: &'a Connection,
        writing: &'a mut Writing,
        workspace: WorkspaceKey,
        document: DocumentKey,
        state: &'a State,
        all: bool,
    ) -> Self {
        Self { connection, writing, workspace, document, state, all, keys: HashMap::new() }
    }

    /// Makes the index say what the node says; returns the node's key, none where it is removed.
    ///
    /// # Errors
    /// Those of the storage.
    pub fn node(&mut self, node: &Node) -> Result<Option<NodeKey>, ServiceError> {
        let found = find(self.connection, self.document, node.id)?;
        if !node.is_live() {
            if let Some(found) = found {
                self.remove(&found)?;
            }
            return Ok(None);
        }
        let parent = match node.shown_parent() {
            Some(parent) => self.key_of(parent)?,
            None => None,
        };
        let key = match &found {
            Some(found) => found.key,
            None => self.writing.new_node(self.connection)?,
        };
        self.keys.insert(node.id, key);
        self.write(node, key, parent, found)?;
        Ok(Some(key))
    }

    /// The key of a node that is shown; it is indexed where it is not yet.
    fn key_of(&mut self, id: NodeId) -> Result<Option<NodeKey>, ServiceError> {
        if let Some(key) = self.keys.get(&id) {
            return Ok(Some(*key));
        }
        if let Some(found) = key_at(self.connection, self.document, id)? {
            self.keys.insert(id, found);
            return Ok(Some(found));
        }
        match self.state.live(id).cloned() {
            Some(node) => self.node(&node),
            None => Ok(None),
        }
    }

    fn write(
        &mut self,
        node: &Node,
        key: NodeKey,
        parent: Option<NodeKey>,
        found: Option<Found>,
    ) -> Result<(), ServiceError> {
        let stored = render::stored(node);
        let parts = parts(&stored);
        let first = parts.first().map_or("", |part| part.text);
        let values = render::values(node);
        let kind = render::code(node);
        let more = more_of(self.connection, key)?;
        let names = OfNode { connection: self.connection, workspace: self.workspace, node };

        let is_same_text = found.as_ref().is_some_and(|found| found.text == first)
            && parts.len() <= 1
            && !self.all
            && more.iter().all(|more| more.part == 0);
        let row = match &found {
            Some(found) if is_same_text => found.row,
            _ => {
                let table = Table::of(kind.is_head());
                if let Some(found) = &found {
                    self.writing.take_out(self.connection, table, found.row)?;
                }
                for old in more.iter().filter(|old| old.part > 0) {
                    self.remove_more(old, table)?;
                }
                for part in parts.iter().skip(1) {
                    self.add_more(key, part, table, &names)?;
                }
                let shown = render::expand(first, 0, &names)?;
                self.writing.post(self.connection, table, (key, Source::Text), &shown)?
            }
        };
        let old_values = more.iter().find(|more| more.part == 0);
        if self.all || old_values.map_or("", |old| &old.text) != values {
            if let Some(old) = old_values {
                self.remove_more(old, Table::Head)?;
            }
            if !values.is_empty() {
                let part = Part { number: 0, inlines: 0, text: &values };
                self.add_more(key, &part, Table::Head, &names)?;
            }
        }

        let parent = parent.map(|parent| parent.0);
        match found {
            None => {
                self.connection
                    .prepare_cached(
                        "INSERT INTO search_node (k, document, node, kind, parent, row, text)
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    )?
                    .execute((
                        key.0,
                        self.document.0,
                        node.id.as_bytes(),
                        kind.0,
                        parent,
                        row,
                        first,
                    ))?;
            }
            Some(found)
                if (found.kind, found.parent, found.row) != (kind, parent, row)
                    || found.text != first =>
            {
                self.connection
                    .prepare_cached(
                        "UPDATE search_node SET kind = ?2, parent = ?3, row = ?4, text = ?5 WHERE k = ?1",
                    )?
                    .execute((key.0, kind.0, parent, row, first))?;
            }
            Some(_) => {}
        }
        if let Ok(document) = u32::try_from(self.document.0) {
            self.writing.pending.push(Change::Node(key, NodeEntry { document, kind }));
        }
        Ok(())
    }

    fn add_more(
        &mut self,
        key: NodeKey,
        part: &Part<'_>,
        table: Table,
        names: &impl Shown,
    ) -> Result<(), ServiceError> {
        let shown = render::expand(part.text, part.inlines, names)?;
        let source = if part.number == 0 { Source::Values } else { Source::Text };
        let row = match self.writing.post(self.connection, table, (key, source), &shown)? {
            // It has no words, but is part of the text.
            0 => self.writing.new_row(self.connection)?,
            row => row,
        };
        self.connection
            .prepare_cached(
                "INSERT INTO search_more (row, node, part, inlines, text) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute((row, key.0, part.number, part.inlines, part.text))?;
        Ok(())
    }

    fn remove_more(&mut self, more: &FoundMore, table: Table) -> Result<(), ServiceError> {
        self.writing.take_out(self.connection, table, more.row)?;
        self.connection
            .prepare_cached("DELETE FROM search_more WHERE row = ?1")?
            .execute([more.row])?;
        Ok(())
    }

    fn remove(&mut self, found: &Found) -> Result<(), ServiceError> {
        let table = Table::of(found.kind.is_head());
        self.writing.take_out(self.connection, table, found.row)?;
        for more in more_of(self.connection, found.key)? {
            self.remove_more(&more, if more.part == 0 { Table::Head } else { table })?;
        }
        self.connection
            .prepare_cached("DELETE FROM search_node WHERE k = ?1")?
            .execute([found.key.0])?;
        self.writing.pending.push(Change::NoNode(found.key));
        Ok(())
    }

    /// Takes out what the index has of nodes that are not live in the state, but for those that
    /// `spared` names.
    ///
    /// # Errors
    /// Those of the storage.
    pub fn sweep(&mut self, spared: impl Fn(NodeId) -> bool) -> Result<(), ServiceError> {
        let mut statement =
            self.connection.prepare_cached("SELECT node FROM search_node WHERE document = ?1")?;
        let nodes: Vec<NodeId> = statement
            .query_map([self.document.0], |row| Ok(NodeId::from_bytes(row.get(0)?)))?
            .collect::<Result<_, _>>()?;
        for id in nodes {
            if self.state.live(id).is_none()
                && !spared(id)
                && let Some(found) = find(self.connection, self.document, id)?
            {
                self.remove(&found)?;
            }
        }
        Ok(())
    }
}

/// A document has another title: the texts that show it say so, too.
///
/// # Errors
/// Those of the storage.
pub fn renamed(
    connection: &Connection,
    writing: &mut Writing,
    workspace: WorkspaceKey,
    id: DocumentId,
) -> Result<(), ServiceError> {
    names_changed(connection, writing, workspace, id.as_bytes())
}

/// A file is gone: the texts that showed its name do so no more.
///
/// # Errors
/// Those of the storage.
pub fn file_gone(
    connection: &Connection,
    writing: &mut Writing,
    workspace: WorkspaceKey,
    id: FileId,
) -> Result<(), ServiceError> {
    names_changed(connection, writing, workspace, id.as_bytes())
}

/// What `target` is called has changed: the texts that show it say so, too.
fn names_changed(
    connection: &Connection,
    writing: &mut Writing,
    workspace: WorkspaceKey,
    target: &[u8; 16],
) -> Result<(), ServiceError> {
    let mut statement = connection.prepare_cached(
        "SELECT l.document, l.node FROM link l JOIN document d ON d.k = l.document
         WHERE l.target = ?1 AND l.label IS NULL AND d.workspace = ?2
         UNION
         SELECT a.document, a.node FROM attachment a JOIN document d ON d.k = a.document
         WHERE a.file = ?1 AND a.label IS NULL AND d.workspace = ?2",
    )?;
    let nodes: Vec<(DocumentKey, NodeId)> = statement
        .query_map((target, workspace.0), |row| {
            Ok((DocumentKey(row.get(0)?), NodeId::from_bytes(row.get(1)?)))
        })?
        .collect::<Result<_, _>>()?;
    for (document, node) in nodes.iter().take(RENAMED_AT_ONCE) {
        post_again(connection, writing, workspace, *document, *node)?;
    }
    for (document, _) in nodes.iter().skip(RENAMED_AT_ONCE) {
        connection
            .prepare_cached("UPDATE document SET unindexed = 1 WHERE k = ?1 AND unindexed = 0")?
            .execute([document.0])?;
        writing.is_work_due = true;
    }
    Ok(())
}

/// Writes the words of a node again, whose text is the same but for the names that it shows.
fn post_again(
    connection: &Connection,
    writing: &mut Writing,
    workspace: WorkspaceKey,
    document: DocumentKey,
    node: NodeId,
) -> Result<(), ServiceError> {
    let Some(found) = find(connection, document, node)? else { return Ok(()) };
    let names = OfRows { connection, workspace, document, node };
    let table = Table::of(found.kind.is_head());
    if found.text.contains(PLACEHOLDER) {
        writing.take_out(connection, table, found.row)?;
        let shown = render::expand(&found.text, 0, &names)?;
        let row = writing.post(connection, table, (found.key, Source::Text), &shown)?;
        connection
            .prepare_cached("UPDATE search_node SET row = ?2 WHERE k = ?1")?
            .execute((found.key.0, row))?;
    }
    let mut statement = connection.prepare_cached(
        "SELECT row, inlines, text FROM search_more WHERE node = ?1 AND part > 0",
    )?;
    let parts: Vec<(u32, usize, String)> = statement
        .query_map([found.key.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<Result<_, _>>()?;
    for (old, inlines, text) in parts.iter().filter(|part| part.2.contains(PLACEHOLDER)) {
        writing.take_out(connection, table, *old)?;
        let shown = render::expand(text, *inlines, &names)?;
        let row = match writing.post(connection, table, (found.key, Source::Text), &shown)? {
            0 => writing.new_row(connection)?,
            row => row,
        };
        connection
            .prepare_cached("UPDATE search_more SET row = ?2 WHERE row = ?1")?
            .execute((old, row))?;
    }
    Ok(())
}

/// A stretch of a text that has a row of its own.
struct Part<'a> {
    number: u32,
    /// How many placeholders the node has in front of it.
    inlines: usize,
    text: &'a str,
}

fn parts(text: &str) -> Vec<Part<'_>> {
    if text.len() <= PART_BYTES {
        return vec![Part { number: 0, inlines: 0, text }];
    }
    let ranges = text::parts(text, PART_BYTES);
    (0_u32..)
        .zip(ranges)
        .filter_map(|(number, range)| {
            let before = text.get(..range.start)?;
            let inlines = before.matches(PLACEHOLDER).count();
            Some(Part { number, inlines, text: text.get(range)? })
        })
        .collect()
}

fn find(
    connection: &Connection,
    document: DocumentKey,
    node: NodeId,
) -> Result<Option<Found>, ServiceError> {
    Ok(connection
        .prepare_cached(
            "SELECT k, kind, parent, row, text FROM search_node
             WHERE document = ?1 AND substr(node, 11) = substr(?2, 11) AND node = ?2",
        )?
        .query_row((document.0, node.as_bytes()), |row| {
            Ok(Found {
                key: NodeKey(row.get(0)?),
                kind: KindCode(row.get(1)?),
                parent: row.get(2)?,
                row: row.get(3)?,
                text: row.get(4)?,
            })
        })
        .optional()?)
}

/// The key of a live node that is indexed.
///
/// # Errors
/// Those of the storage.
pub fn key_at(
    connection: &Connection,
    document: DocumentKey,
    node: NodeId,
) -> Result<Option<NodeKey>, ServiceError> {
    Ok(connection
        .prepare_cached(
            "SELECT k FROM search_node
             WHERE document = ?1 AND substr(node, 11) = substr(?2, 11) AND node = ?2",
        )?
        .query_row((document.0, node.as_bytes()), |row| Ok(NodeKey(row.get(0)?)))
        .optional()?)
}

fn more_of(connection: &Connection, key: NodeKey) -> Result<Vec<FoundMore>, ServiceError> {
    let mut statement = connection
        .prepare_cached("SELECT row, part, text FROM search_more WHERE node = ?1 ORDER BY part")?;
    let rows = statement.query_map([key.0], |row| {
        Ok(FoundMore { row: row.get(0)?, part: row.get(1)?, text: row.get(2)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
