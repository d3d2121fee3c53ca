//! Where blocks went that left a document, and what extractions were answered with.

use koru_model::ids::{DocumentId, NodeId};
use rusqlite::{Connection, OptionalExtension as _};

use super::history::EntryKey;
use super::placing::DocumentKey;
use super::workspaces::WorkspaceKey;
use crate::errors::ServiceError;

/// Notes that nodes left one document for another.
///
/// # Errors
/// Those of the storage.
pub fn note_departures(
    connection: &Connection,
    nodes: &[NodeId],
    source: DocumentId,
    target: DocumentId,
) -> Result<(), ServiceError> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO departure (node, source, target) VALUES (?1, ?2, ?3)
         ON CONFLICT DO UPDATE SET target = excluded.target",
    )?;
    for node in nodes {
        statement.execute((node.as_bytes(), source.as_bytes(), target.as_bytes()))?;
    }
    Ok(())
}

/// Where a node went that left a document.
///
/// # Errors
/// Those of the storage.
pub fn departure(
    connection: &Connection,
    node: NodeId,
    source: DocumentId,
) -> Result<Option<DocumentId>, ServiceError> {
    Ok(connection
        .prepare_cached("SELECT target FROM departure WHERE node = ?1 AND source = ?2")?
        .query_row((node.as_bytes(), source.as_bytes()), |row| {
            Ok(DocumentId::from_bytes(row.get(0)?))
        })
        .optional()?)
}

/// The nodes of a workspace with links to a node that once came to `target`, each with the document
/// that it stands in; the links may name any document that the node left.
///
/// # Errors
/// Those of the storage.
pub fn links_that_may_follow_to(
    connection: &Connection,
    workspace: WorkspaceKey,
    target: DocumentId,
) -> Result<Vec<(DocumentId, NodeId)>, ServiceError> {
    let mut statement = connection.prepare_cached(
        "SELECT DISTINCT d.id, l.node FROM departure p
         JOIN link l ON l.target_node = p.node AND l.target <> ?1
         JOIN document d ON d.k = l.document
         WHERE p.target = ?1 AND d.workspace = ?2 ORDER BY d.k, l.node",
    )?;
    let rows = statement.query_map((target.as_bytes(), workspace.0), |row| {
        Ok((DocumentId::from_bytes(row.get(0)?), NodeId::from_bytes(row.get(1)?)))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// What an extraction was answered with, besides its source's entry.
#[derive(Debug, Clone, Copy)]
pub struct Answered {
    /// The document that the blocks went to.
    pub target: DocumentKey,
    /// Its row of history.
    pub target_entry: EntryKey,
    /// The paragraph that was left.
    pub link: NodeId,
}

/// Keeps what an extraction was answered with.
///
/// # Errors
/// Those of the storage.
pub fn keep_answer(
    connection: &Connection,
    entry: EntryKey,
    answered: &Answered,
) -> Result<(), ServiceError> {
    connection
        .prepare_cached(
            "INSERT INTO extraction (entry, target, target_entry, link) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute((
            entry.bytes(),
            answered.target.0,
            answered.target_entry.bytes(),
            answered.link.as_bytes(),
        ))?;
    Ok(())
}

/// What an extraction was answered with.
///
/// # Errors
/// Those of the storage, and when the entry is of no extraction.
pub fn answer(connection: &Connection, entry: EntryKey) -> Result<Answered, ServiceError> {
    Ok(connection
        .prepare_cached("SELECT target, target_entry, link FROM extraction WHERE entry = ?1")?
        .query_row([entry.bytes()], |row| {
            Ok(Answered {
                target: DocumentKey(row.get(0)?),
                target_entry: EntryKey::of_bytes(row.get(1)?),
                link: NodeId::from_bytes(row.get(2)?),
            })
        })?)
}
