//! The nodes of one document: their rows, parts and values.

use std::collections::HashMap;

use koru_model::document::{Node, State};
use koru_model::ids::NodeId;
use rusqlite::{Connection, OptionalExtension as _};

use super::{Posted, Writing};
use crate::errors::ServiceError;
use crate::search::memory::{Change, KindCode, NodeEntry, NodeKey, Source};
use crate::search::postings::Table;
use crate::search::render::{self, OfNode, PLACEHOLDER, Shown};
use crate::search::text;
use crate::store::placing::DocumentKey;
use crate::store::workspaces::WorkspaceKey;

/// Longer texts take several rows, in bytes of UTF-8.
pub const PART_BYTES: usize = 64 * 1024;

/// Which texts get new rows of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rewrite {
    /// Those that are others than before.
    Changed,
    /// These, and those whose rows are not there.
    Missing,
    /// All of them: their words were made by another tokenizer.
    All,
}

/// The index of one document, at one of its states.
pub struct Indexing<'a> {
    connection: &'a Connection,
    writing: &'a mut Writing,
    workspace: WorkspaceKey,
    document: DocumentKey,
    state: &'a State,
    rewrite: Rewrite,
    keys: HashMap<NodeId, NodeKey>,
}

/// A node as the index has it.
pub(super) struct Found {
    pub(super) key: NodeKey,
    pub(super) kind: KindCode,
    pub(super) parent: Option<u32>,
    pub(super) posted: Posted,
    pub(super) text: String,
}

struct FoundMore {
    row: u32,
    part: u32,
    text: String,
}

impl<'a> Indexing<'a> {
    /// The index of a document at `state`.
    #[must_use]
    pub fn of(
        connection: &'a Connection,
        writing: &'a mut Writing,
        workspace: WorkspaceKey,
        document: DocumentKey,
        state: &'a State,
        rewrite: Rewrite,
    ) -> Self {
        Self { connection, writing, workspace, document, state, rewrite, keys: HashMap::new() }
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

        let table = Table::of(kind.is_head());
        let is_same = found.as_ref().is_some_and(|found| found.text == first)
            && parts.len() <= 1
            // The same placeholders may show other names.
            && !first.contains(PLACEHOLDER)
            && more.iter().all(|more| more.part == 0);
        let posted = match &found {
            Some(found) if is_same && self.may_stay(table, found.posted)? => {
                self.counted(key, found.posted, first)
            }
            _ => {
                if let Some(found) = &found {
                    self.writing.take_out(table, found.posted.row);
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
        let is_same = old_values.map_or("", |old| &old.text) == values;
        if self.rewrite != Rewrite::Changed || !is_same {
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
                        "INSERT INTO search_node (k, document, node, kind, parent, row, words, text)
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                    )?
                    .execute((
                        key.0,
                        self.document.0,
                        node.id.as_bytes(),
                        kind.0,
                        parent,
                        posted.row,
                        posted.words,
                        first,
                    ))?;
            }
            Some(found)
                if (found.kind, found.parent, found.posted) != (kind, parent, posted)
                    || found.text != first =>
            {
                self.connection
                    .prepare_cached(
                        "UPDATE search_node SET kind = ?2, parent = ?3, row = ?4, words = ?5, text = ?6 WHERE k = ?1",
                    )?
                    .execute((key.0, kind.0, parent, posted.row, posted.words, first))?;
            }
            Some(_) => {}
        }
        if let Ok(document) = u32::try_from(self.document.0) {
            self.writing.pending.push(Change::Node(key, NodeEntry { document, kind }));
        }
        Ok(())
    }

    /// Whether the row of a text that is the same may stay.
    fn may_stay(&mut self, table: Table, posted: Posted) -> Result<bool, ServiceError> {
        match self.rewrite {
            Rewrite::Missing if posted.row > 0 => {
                self.writing.has(self.connection, table, posted.row)
            }
            Rewrite::Changed | Rewrite::Missing => Ok(true),
            Rewrite::All => Ok(false),
        }
    }

    /// A row that stays, with the number of its words where that is not known yet.
    fn counted(&mut self, key: NodeKey, posted: Posted, text: &str) -> Posted {
        if posted.row == 0 || posted.words > 0 {
            return posted;
        }
        self.writing.count((key, Source::Text), posted.row, &text::tokenize(text))
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
        let mut posted = self.writing.post(self.connection, table, (key, source), &shown)?;
        if posted.row == 0 {
            // It has no words, but is part of the text.
            posted.row = self.writing.new_row(self.connection)?;
        }
        self.connection
            .prepare_cached(
                "INSERT INTO search_more (row, node, part, inlines, words, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute((posted.row, key.0, part.number, part.inlines, posted.words, part.text))?;
        Ok(())
    }

    fn remove_more(&mut self, more: &FoundMore, table: Table) -> Result<(), ServiceError> {
        self.writing.take_out(table, more.row);
        self.connection
            .prepare_cached("DELETE FROM search_more WHERE row = ?1")?
            .execute([more.row])?;
        Ok(())
    }

    fn remove(&mut self, found: &Found) -> Result<(), ServiceError> {
        let table = Table::of(found.kind.is_head());
        self.writing.take_out(table, found.posted.row);
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

pub(super) fn find(
    connection: &Connection,
    document: DocumentKey,
    node: NodeId,
) -> Result<Option<Found>, ServiceError> {
    Ok(connection
        .prepare_cached(
            "SELECT k, kind, parent, row, words, text FROM search_node
             WHERE document = ?1 AND substr(node, 13) = substr(?2, 13) AND node = ?2",
        )?
        .query_row((document.0, node.as_bytes()), |row| {
            Ok(Found {
                key: NodeKey(row.get(0)?),
                kind: KindCode(row.get(1)?),
                parent: row.get(2)?,
                posted: Posted { row: row.get(3)?, words: row.get(4)? },
                text: row.get(5)?,
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
             WHERE document = ?1 AND substr(node, 13) = substr(?2, 13) AND node = ?2",
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
