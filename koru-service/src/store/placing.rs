//! Where documents stand: their parent, their order, and the trash.

use koru_model::ids::DocumentId;
use rusqlite::{Connection, OptionalExtension as _};

use super::actors::ActorKey;
use super::workspaces::WorkspaceKey;
use crate::errors::ServiceError;

/// The row of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentKey(pub i64);

/// Where a document shall stand among those of its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// First.
    First,
    /// Behind this sibling.
    After(DocumentId),
    /// Last.
    Last,
}

/// The row of a document of the workspace, in the trash or not.
///
/// # Errors
/// When the workspace holds no such document.
pub fn find(
    connection: &Connection,
    workspace: WorkspaceKey,
    id: DocumentId,
) -> Result<DocumentKey, ServiceError> {
    connection
        .prepare_cached("SELECT k FROM document WHERE id = ?1 AND workspace = ?2")?
        .query_row((id.as_bytes(), workspace.0), |row| Ok(DocumentKey(row.get(0)?)))
        .optional()?
        .ok_or_else(|| ServiceError::no_document(id))
}

/// Whether the document, or one above it, is in the trash.
///
/// # Errors
/// Those of the storage.
pub fn is_trashed(connection: &Connection, document: DocumentKey) -> Result<bool, ServiceError> {
    Ok(connection
        .prepare_cached(
            "WITH RECURSIVE above (parent, trashed) AS (
               SELECT parent, trashed_at IS NOT NULL FROM document WHERE k = ?1
               UNION ALL
               SELECT d.parent, d.trashed_at IS NOT NULL FROM document d JOIN above a ON d.k = a.parent
             ) SELECT coalesce(max(trashed), 0) FROM above",
        )?
        .query_row([document.0], |row| row.get(0))?)
}

/// The position behind all documents under `parent`, for a new one.
///
/// # Errors
/// Those of the storage.
pub fn last_position(
    connection: &Connection,
    workspace: WorkspaceKey,
    parent: Option<DocumentKey>,
) -> Result<i64, ServiceError> {
    Ok(connection
        .prepare_cached(
            "SELECT coalesce(max(position) + 1, 0) FROM document WHERE workspace = ?1 AND parent IS ?2",
        )?
        .query_row((workspace.0, parent.map(|key| key.0)), |row| row.get(0))?)
}

/// Moves a document, and all under it, to another place of its workspace.
///
/// # Errors
/// When one of the documents is unknown or in the trash, when the place lies under the document
/// itself, or when the sibling does not stand there.
pub fn move_to(
    connection: &Connection,
    workspace: WorkspaceKey,
    id: DocumentId,
    parent: Option<DocumentId>,
    place: Place,
) -> Result<(), ServiceError> {
    let document = find(connection, workspace, id)?;
    refuse_trashed(connection, document, id)?;
    let parent = match parent {
        None => None,
        Some(parent_id) => {
            let parent = find(connection, workspace, parent_id)?;
            refuse_trashed(connection, parent, parent_id)?;
            if is_at_or_below(connection, parent, document)? {
                let reason = "a document cannot stand under itself or under one that is below it";
                return Err(ServiceError::invalid("parent_document_id", reason));
            }
            Some(parent)
        }
    };
    let mut siblings = children(connection, workspace, parent)?;
    siblings.retain(|sibling| *sibling != document);
    let index = match place {
        Place::First => 0,
        Place::Last => siblings.len(),
        Place::After(sibling_id) if sibling_id == id => {
            let reason = "a document cannot stand behind itself";
            return Err(ServiceError::invalid("after_document_id", reason));
        }
        Place::After(sibling_id) => {
            let sibling = find(connection, workspace, sibling_id)?;
            match siblings.iter().position(|found| *found == sibling) {
                Some(index) => index + 1,
                None => {
                    let parent = parent_of(connection, sibling)?;
                    return Err(ServiceError::NotASibling { sibling: sibling_id, parent });
                }
            }
        }
    };
    siblings.insert(index, document);
    connection
        .prepare_cached("UPDATE document SET parent = ?2 WHERE k = ?1 AND parent IS NOT ?2")?
        .execute((document.0, parent.map(|key| key.0)))?;
    number(connection, &siblings)
}

/// Puts a document, and with it all under it, into the trash. One that has a mark of its own keeps it.
///
/// # Errors
/// When the workspace holds no such document.
pub fn trash(
    connection: &Connection,
    workspace: WorkspaceKey,
    id: DocumentId,
    actor: ActorKey,
    now: i64,
) -> Result<(), ServiceError> {
    let document = find(connection, workspace, id)?;
    connection.execute(
        "UPDATE document SET trashed_at = ?2, trashed_by = ?3 WHERE k = ?1 AND trashed_at IS NULL",
        (document.0, now, actor.0),
    )?;
    Ok(())
}

/// Takes a document out of the trash, with all under it that has no mark of its own. From under
/// a trashed parent it goes to the root of its workspace.
///
/// # Errors
/// When the workspace holds no such document.
pub fn untrash(
    connection: &Connection,
    workspace: WorkspaceKey,
    id: DocumentId,
) -> Result<(), ServiceError> {
    let document = find(connection, workspace, id)?;
    connection.execute(
        "UPDATE document SET trashed_at = NULL, trashed_by = NULL WHERE k = ?1 AND trashed_at IS NOT NULL",
        [document.0],
    )?;
    if is_trashed(connection, document)? {
        let last = last_position(connection, workspace, None)?;
        connection.execute(
            "UPDATE document SET parent = NULL, position = ?2 WHERE k = ?1",
            (document.0, last),
        )?;
    }
    Ok(())
}

/// Refuses to go on where the document, or one above it, is in the trash.
///
/// # Errors
/// [`ServiceError::DocumentTrashed`], and those of the storage.
pub fn refuse_trashed(
    connection: &Connection,
    document: DocumentKey,
    id: DocumentId,
) -> Result<(), ServiceError> {
    if is_trashed(connection, document)? { Err(ServiceError::DocumentTrashed(id)) } else { Ok(()) }
}

fn parent_of(
    connection: &Connection,
    document: DocumentKey,
) -> Result<Option<DocumentId>, ServiceError> {
    let sql = "SELECT p.id FROM document d LEFT JOIN document p ON p.k = d.parent WHERE d.k = ?1";
    let parent: Option<[u8; 16]> =
        connection.prepare_cached(sql)?.query_row([document.0], |row| row.get(0))?;
    Ok(parent.map(DocumentId::from_bytes))
}

fn is_at_or_below(
    connection: &Connection,
    document: DocumentKey,
    top: DocumentKey,
) -> Result<bool, ServiceError> {
    Ok(connection
        .prepare_cached(
            "WITH RECURSIVE above (k, parent) AS (
               SELECT k, parent FROM document WHERE k = ?1
               UNION ALL
               SELECT d.k, d.parent FROM document d JOIN above a ON d.k = a.parent
             ) SELECT EXISTS (SELECT 1 FROM above WHERE k = ?2)",
        )?
        .query_row((document.0, top.0), |row| row.get(0))?)
}

fn children(
    connection: &Connection,
    workspace: WorkspaceKey,
    parent: Option<DocumentKey>,
) -> Result<Vec<DocumentKey>, ServiceError> {
    let mut statement = connection.prepare_cached(
        "SELECT k FROM document WHERE workspace = ?1 AND parent IS ?2 ORDER BY position, k",
    )?;
    let rows = statement
        .query_map((workspace.0, parent.map(|key| key.0)), |row| Ok(DocumentKey(row.get(0)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn number(connection: &Connection, siblings: &[DocumentKey]) -> Result<(), ServiceError> {
    let mut statement = connection
        .prepare_cached("UPDATE document SET position = ?2 WHERE k = ?1 AND position <> ?2")?;
    for (position, document) in (0_i64..).zip(siblings) {
        statement.execute((document.0, position))?;
    }
    Ok(())
}
