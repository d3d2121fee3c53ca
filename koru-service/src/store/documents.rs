//! The rows of documents: what a change reads first and writes last.

use std::collections::HashSet;

use koru_model::ids::{DocumentId, NodeId};
use koru_model::revision::{Chain, Revision};
use rusqlite::{Connection, OptionalExtension as _, Row};

use super::actors::ActorKey;
use super::placing::DocumentKey;
use super::workspaces::WorkspaceKey;
use crate::errors::ServiceError;

/// A document's row, as far as a change or a read needs it.
#[derive(Debug, Clone, Copy)]
pub struct DocumentRow {
    /// Its key.
    pub key: DocumentKey,
    /// Its ID.
    pub id: DocumentId,
    /// The number of its newest change.
    pub head: u64,
    /// The chain at its newest change.
    pub chain: Chain,
    /// The number of the change of its newest keyframe; 0: none.
    pub key_seq: u64,
    /// The version number of its newest history entry.
    pub version: u64,
}

impl DocumentRow {
    /// The revision that its newest change made.
    #[must_use]
    pub fn revision(&self) -> Revision {
        Revision::new(self.head, self.chain)
    }
}

/// A number of SQLite, which has no unsigned ones.
pub(super) fn number(row: &Row<'_>, column: &str) -> rusqlite::Result<u64> {
    Ok(row.get::<_, i64>(column)?.unsigned_abs())
}

/// A number for SQLite.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The row of a document of the workspace, in the trash or not.
///
/// # Errors
/// When the workspace holds no such document.
pub fn find(
    connection: &Connection,
    workspace: WorkspaceKey,
    id: DocumentId,
) -> Result<DocumentRow, ServiceError> {
    connection
        .prepare_cached(
            "SELECT k, head, chain, key_seq, version FROM document WHERE id = ?1 AND workspace = ?2",
        )?
        .query_row((id.as_bytes(), workspace.0), |row| {
            Ok(DocumentRow {
                key: DocumentKey(row.get("k")?),
                id,
                head: number(row, "head")?,
                chain: Chain(row.get("chain")?),
                key_seq: number(row, "key_seq")?,
                version: number(row, "version")?,
            })
        })
        .optional()?
        .ok_or_else(|| ServiceError::no_document(id))
}

/// The chain at a change of the document; none where it has no such change.
///
/// # Errors
/// Those of the storage.
pub fn chain_at(
    connection: &Connection,
    document: DocumentKey,
    seq: u64,
) -> Result<Option<Chain>, ServiceError> {
    Ok(connection
        .prepare_cached("SELECT chain FROM change WHERE document = ?1 AND seq = ?2")?
        .query_row((document.0, signed(seq)), |row| Ok(Chain(row.get(0)?)))
        .optional()?)
}

/// What a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A page of nodes.
    Page,
    /// The note of a file.
    FileNote,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::FileNote => "file_note",
        }
    }
}

/// What a new document's row says.
#[derive(Debug)]
pub struct NewDocument<'a> {
    /// Its ID.
    pub id: DocumentId,
    /// Its workspace.
    pub workspace: WorkspaceKey,
    /// The document that it stands under.
    pub parent: Option<DocumentKey>,
    /// Its place among the siblings.
    pub position: i64,
    /// What it is.
    pub kind: Kind,
    /// Its title node.
    pub root: NodeId,
    /// Its title.
    pub title: &'a str,
    /// The count of its live nodes.
    pub nodes: usize,
    /// When it is made, in milliseconds since 1970 (UTC).
    pub at: i64,
    /// What its chain begins with.
    pub nonce: [u8; 16],
    /// The chain after its first change.
    pub chain: Chain,
}

/// Makes the row of a new document, whose first change and first entry have the number 1.
///
/// # Errors
/// Those of the storage.
pub fn insert(connection: &Connection, new: &NewDocument<'_>) -> Result<DocumentKey, ServiceError> {
    connection
        .prepare_cached(
            "INSERT INTO document (id, workspace, parent, position, kind, root, title, nodes, created_at,
               modified_at, nonce, head, chain, version, unindexed)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?10, 1, ?11, 1, 0)",
        )?
        .execute((
            new.id.as_bytes(),
            new.workspace.0,
            new.parent.map(|key| key.0),
            new.position,
            new.kind.name(),
            new.root.as_bytes(),
            new.title,
            new.nodes,
            new.at,
            new.nonce,
            new.chain.0,
        ))?;
    Ok(DocumentKey(connection.last_insert_rowid()))
}

/// The document whose title node has that ID.
///
/// # Errors
/// Those of the storage.
pub fn of_root(
    connection: &Connection,
    root: NodeId,
) -> Result<Option<(WorkspaceKey, DocumentId)>, ServiceError> {
    Ok(connection
        .prepare_cached("SELECT workspace, id FROM document WHERE root = ?1")?
        .query_row([root.as_bytes()], |row| {
            Ok((WorkspaceKey(row.get(0)?), DocumentId::from_bytes(row.get(1)?)))
        })
        .optional()?)
}

/// What a change makes of the row.
#[derive(Debug)]
pub struct Head<'a> {
    /// The number of the change.
    pub seq: u64,
    /// The chain there.
    pub chain: Chain,
    /// The version number of the newest entry.
    pub version: u64,
    /// The title.
    pub title: &'a str,
    /// The count of live nodes.
    pub nodes: usize,
    /// When, in milliseconds since 1970 (UTC).
    pub at: i64,
}

/// Moves a document's row on to its newest change.
///
/// # Errors
/// Those of the storage.
pub fn set_head(
    connection: &Connection,
    document: DocumentKey,
    head: &Head<'_>,
) -> Result<(), ServiceError> {
    connection
        .prepare_cached(
            "UPDATE document SET head = ?2, chain = ?3, version = ?4, title = ?5, nodes = ?6,
               modified_at = ?7 WHERE k = ?1",
        )?
        .execute((
            document.0,
            signed(head.seq),
            head.chain.0,
            signed(head.version),
            head.title,
            head.nodes,
            head.at,
        ))?;
    Ok(())
}

/// Counts a history entry that no change made.
///
/// # Errors
/// Those of the storage.
pub fn set_version(
    connection: &Connection,
    document: DocumentKey,
    version: u64,
) -> Result<(), ServiceError> {
    connection
        .prepare_cached("UPDATE document SET version = ?2 WHERE k = ?1")?
        .execute((document.0, signed(version)))?;
    Ok(())
}

/// The workspace of a document, and the document that it stands under.
///
/// # Errors
/// Those of the storage.
pub fn place(
    connection: &Connection,
    document: DocumentKey,
) -> Result<(WorkspaceKey, Option<DocumentKey>), ServiceError> {
    Ok(connection
        .prepare_cached("SELECT workspace, parent FROM document WHERE k = ?1")?
        .query_row([document.0], |row| {
            Ok((WorkspaceKey(row.get(0)?), row.get::<_, Option<i64>>(1)?.map(DocumentKey)))
        })?)
}

/// The count of a document's live nodes; 0 where there is none of that key.
///
/// # Errors
/// Those of the storage.
pub fn live_nodes(connection: &Connection, document: u32) -> Result<u64, ServiceError> {
    Ok(connection
        .prepare_cached("SELECT nodes FROM document WHERE k = ?1")?
        .query_row([document], |row| number(row, "nodes"))
        .optional()?
        .unwrap_or(0))
}

/// The title of a document of the workspace, and whether it lies in the trash.
///
/// # Errors
/// Those of the storage.
pub fn title(
    connection: &Connection,
    workspace: WorkspaceKey,
    id: DocumentId,
) -> Result<Option<(String, bool)>, ServiceError> {
    let found: Option<(i64, String)> = connection
        .prepare_cached("SELECT k, title FROM document WHERE id = ?1 AND workspace = ?2")?
        .query_row((id.as_bytes(), workspace.0), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((key, title)) = found else { return Ok(None) };
    Ok(Some((title, super::placing::is_trashed(connection, DocumentKey(key))?)))
}

/// A property of a node that a change touched.
#[derive(Debug)]
pub struct Touched {
    /// The node.
    pub node: NodeId,
    /// The property's name.
    pub property: String,
}

/// Notes what a change touched.
///
/// # Errors
/// Those of the storage.
pub fn touch(
    connection: &Connection,
    document: DocumentKey,
    touched: &[Touched],
    seq: u64,
    actor: ActorKey,
    at: i64,
) -> Result<(), ServiceError> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO touched (document, node, property, seq, actor, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT DO UPDATE SET seq = excluded.seq, actor = excluded.actor, at = excluded.at",
    )?;
    for one in touched {
        statement.execute((
            document.0,
            one.node.as_bytes(),
            &one.property,
            signed(seq),
            actor.0,
            at,
        ))?;
    }
    Ok(())
}

/// The last change of a property of a node; of any of its properties where none is named.
///
/// # Errors
/// Those of the storage.
pub fn last_touch(
    connection: &Connection,
    document: DocumentKey,
    node: NodeId,
    property: Option<&str>,
) -> Result<Option<(u64, String, i64)>, ServiceError> {
    Ok(connection
        .prepare_cached(
            "SELECT t.seq, a.name, t.at FROM touched t JOIN actor a ON a.k = t.actor
             WHERE t.document = ?1 AND t.node = ?2 AND (?3 IS NULL OR t.property = ?3)
             ORDER BY t.seq DESC LIMIT 1",
        )?
        .query_row((document.0, node.as_bytes(), property), |row| {
            Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get(1)?, row.get(2)?))
        })
        .optional()?)
}

/// The nodes of a document of which anything was changed after change `seq`.
///
/// # Errors
/// Those of the storage.
pub fn nodes_touched_since(
    connection: &Connection,
    document: DocumentKey,
    seq: u64,
) -> Result<HashSet<NodeId>, ServiceError> {
    let mut statement = connection
        .prepare_cached("SELECT DISTINCT node FROM touched WHERE document = ?1 AND seq > ?2")?;
    let rows = statement
        .query_map((document.0, signed(seq)), |row| Ok(NodeId::from_bytes(row.get(0)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// A property that was changed, and by whom.
#[derive(Debug)]
pub struct Touch {
    /// The node.
    pub node: NodeId,
    /// The property's name.
    pub property: String,
    /// The number of the change.
    pub seq: u64,
    /// The client.
    pub by: String,
    /// When, in milliseconds since 1970 (UTC).
    pub at: i64,
}

/// What was changed after a change of a document.
#[derive(Debug)]
pub struct Touches {
    /// The first ones.
    pub listed: Vec<Touch>,
    /// How many there are.
    pub all: usize,
}

/// What was changed after change `seq`, at most `limit` of it listed.
///
/// # Errors
/// Those of the storage.
pub fn touched_since(
    connection: &Connection,
    document: DocumentKey,
    seq: u64,
    limit: usize,
) -> Result<Touches, ServiceError> {
    let all = connection
        .prepare_cached("SELECT count(*) FROM touched WHERE document = ?1 AND seq > ?2")?
        .query_row((document.0, signed(seq)), |row| row.get(0))?;
    let mut statement = connection.prepare_cached(
        "SELECT t.node, t.property, t.seq, a.name, t.at FROM touched t JOIN actor a ON a.k = t.actor
         WHERE t.document = ?1 AND t.seq > ?2 ORDER BY t.seq DESC, t.node LIMIT ?3",
    )?;
    let most = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement.query_map((document.0, signed(seq), most), |row| {
        Ok(Touch {
            node: NodeId::from_bytes(row.get(0)?),
            property: row.get(1)?,
            seq: number(row, "seq")?,
            by: row.get(3)?,
            at: row.get(4)?,
        })
    })?;
    Ok(Touches { listed: rows.collect::<Result<_, _>>()?, all })
}
