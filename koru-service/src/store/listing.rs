//! The documents of a workspace, as a tree.

use std::collections::HashMap;

use koru_model::ids::DocumentId;
use koru_model::limits;
use rusqlite::Connection;
use serde::Serialize;

use super::workspaces::WorkspaceKey;
use crate::errors::ServiceError;
use crate::outside::rfc3339;

/// A document as `list_documents` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// Its ID.
    pub id: DocumentId,
    /// The document that it stands under.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<DocumentId>,
    /// Its place among its siblings, from 0.
    pub ordinal: usize,
    /// Its title.
    pub title: String,
    /// What it is.
    pub kind: String,
    /// Since when it, or the nearest one above it that is, is in the trash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trashed_at: Option<String>,
    /// Who put it there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trashed_by: Option<String>,
    /// When it was last changed.
    pub modified_at: String,
    /// How many nodes it has.
    pub nodes: i64,
}

/// A page of the listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Page {
    /// The documents, in tree order.
    pub documents: Vec<Listed>,
    /// Where the next page continues; none: nothing follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_after_document_id: Option<DocumentId>,
}

struct Row {
    key: i64,
    id: DocumentId,
    title: String,
    kind: String,
    trashed: Option<Trashed>,
    modified_at: i64,
    nodes: i64,
}

#[derive(Clone)]
struct Trashed {
    at: i64,
    by: Option<String>,
}

/// All documents of a workspace in tree order, the trash included.
///
/// # Errors
/// Those of the storage.
pub fn tree(connection: &Connection, workspace: WorkspaceKey) -> Result<Vec<Listed>, ServiceError> {
    let mut statement = connection.prepare_cached(
        "SELECT d.k, d.parent, d.id, d.title, d.kind, d.trashed_at, a.name, d.modified_at, d.nodes
         FROM document d LEFT JOIN actor a ON a.k = d.trashed_by
         WHERE d.workspace = ?1 ORDER BY d.position, d.k",
    )?;
    let mut rows = statement.query([workspace.0])?;
    let mut below: HashMap<Option<i64>, Vec<Row>> = HashMap::new();
    let mut count = 0;
    while let Some(row) = rows.next()? {
        let trashed_at: Option<i64> = row.get(5)?;
        let by: Option<String> = row.get(6)?;
        count += 1;
        below.entry(row.get(1)?).or_default().push(Row {
            key: row.get(0)?,
            id: DocumentId::from_bytes(row.get(2)?),
            title: row.get(3)?,
            kind: row.get(4)?,
            trashed: trashed_at.map(|at| Trashed { at, by }),
            modified_at: row.get(7)?,
            nodes: row.get(8)?,
        });
    }
    Ok(in_order(below, count))
}

/// Walks the tree without recursion: nothing bounds how deep documents stand.
fn in_order(mut below: HashMap<Option<i64>, Vec<Row>>, count: usize) -> Vec<Listed> {
    struct Level {
        parent: Option<DocumentId>,
        trashed: Option<Trashed>,
        rows: std::iter::Enumerate<std::vec::IntoIter<Row>>,
    }
    let mut level = |key, parent, trashed| Level {
        parent,
        trashed,
        rows: below.remove(&key).unwrap_or_default().into_iter().enumerate(),
    };
    let mut listed = Vec::with_capacity(count);
    let mut levels = vec![level(None, None, None)];
    while let Some(current) = levels.last_mut() {
        let Some((ordinal, row)) = current.rows.next() else {
            levels.pop();
            continue;
        };
        let trashed = row.trashed.or_else(|| current.trashed.clone());
        let parent = current.parent;
        levels.push(level(Some(row.key), Some(row.id), trashed.clone()));
        listed.push(Listed {
            id: row.id,
            parent,
            ordinal,
            title: row.title,
            kind: row.kind,
            trashed_at: trashed.as_ref().map(|trashed| rfc3339(trashed.at)),
            trashed_by: trashed.and_then(|trashed| trashed.by),
            modified_at: rfc3339(row.modified_at),
            nodes: row.nodes,
        });
    }
    listed
}

/// A page of the documents of a workspace, in tree order. Where `page_size` is given it ends at
/// [`limits::PAGE_BYTES`] too, but holds at least one document.
///
/// # Errors
/// When the workspace holds no document `after`.
pub fn page(
    connection: &Connection,
    workspace: WorkspaceKey,
    page_size: Option<u32>,
    after: Option<DocumentId>,
) -> Result<Page, ServiceError> {
    let mut documents = tree(connection, workspace)?;
    if let Some(after) = after {
        let index = documents
            .iter()
            .position(|document| document.id == after)
            .ok_or_else(|| ServiceError::no_document(after))?;
        documents.drain(..=index);
    }
    let kept = match page_size {
        None => documents.len(),
        Some(size) => fitting(&documents, size as usize)?,
    };
    let next_after_document_id = if kept < documents.len() {
        documents.get(kept.wrapping_sub(1)).map(|d| d.id)
    } else {
        None
    };
    documents.truncate(kept);
    Ok(Page { documents, next_after_document_id })
}

/// How many of the first items make a page of at most `size` items and [`limits::PAGE_BYTES`].
pub(super) fn fitting<T: Serialize>(items: &[T], size: usize) -> Result<usize, ServiceError> {
    let mut bytes = 0;
    for (count, item) in items.iter().take(size).enumerate() {
        bytes += serde_json::to_vec(item)?.len() + 1;
        if count > 0 && bytes > limits::PAGE_BYTES {
            return Ok(count);
        }
    }
    Ok(size.min(items.len()))
}

/// One document as the listing shows it.
///
/// # Errors
/// When the workspace holds no such document.
pub fn one(
    connection: &Connection,
    workspace: WorkspaceKey,
    id: DocumentId,
) -> Result<Listed, ServiceError> {
    tree(connection, workspace)?
        .into_iter()
        .find(|document| document.id == id)
        .ok_or_else(|| ServiceError::no_document(id))
}
