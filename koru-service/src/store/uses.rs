//! Which live nodes link, have files attached, carry tags and attributes: rows that follow from the documents, so that
//! listings open none.

use koru_model::document::Node;
use koru_model::ids::{DocumentId, NodeId};
use koru_model::inline::Inline;
use rusqlite::Connection;

use super::comparables::{self, Columns};
use super::placing::DocumentKey;
use super::workspaces::WorkspaceKey;
use crate::errors::ServiceError;
use crate::search::memory::NodeKey;

/// Makes the rows of a node what the node says; none where it is removed. `key` is the node's in the index of search.
///
/// # Errors
/// Those of the storage.
pub fn index(
    connection: &Connection,
    document: DocumentKey,
    key: Option<NodeKey>,
    old: Option<&Node>,
    new: &Node,
) -> Result<(), ServiceError> {
    let node = new.id;
    if let Some(old) = old.filter(|old| old.is_live()) {
        if !old.inlines.is_empty() {
            for sql in [
                "DELETE FROM link WHERE document = ?1 AND node = ?2",
                "DELETE FROM attachment WHERE document = ?1 AND node = ?2",
            ] {
                connection.prepare_cached(sql)?.execute((document.0, node.as_bytes()))?;
            }
        }
        for tag in &old.tags {
            connection
                .prepare_cached(
                    "DELETE FROM tag_use WHERE tag = ?1 AND document = ?2 AND node = ?3",
                )?
                .execute((tag.as_bytes(), document.0, node.as_bytes()))?;
        }
        for key in old.attributes.keys() {
            connection
                .prepare_cached(
                    "DELETE FROM attribute_use WHERE key = ?1 AND document = ?2 AND node = ?3",
                )?
                .execute((key, document.0, node.as_bytes()))?;
        }
    }
    let Some(NodeKey(n)) = key.filter(|_| new.is_live()) else { return Ok(()) };
    for (place, placed) in new.inlines.iter().enumerate() {
        match &placed.inline {
            Inline::Document { document: target, node: target_node, label } => {
                connection
                    .prepare_cached(
                        "INSERT INTO link (document, node, place, target, target_node, label)
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                    )?
                    .execute((
                        document.0,
                        node.as_bytes(),
                        place,
                        target.as_bytes(),
                        target_node.map(|node| *node.as_bytes()),
                        label,
                    ))?;
            }
            Inline::Attachment { file, label } => {
                connection
                    .prepare_cached(
                        "INSERT INTO attachment (document, node, place, file, label)
                         VALUES (?1, ?2, ?3, ?4, ?5)",
                    )?
                    .execute((document.0, node.as_bytes(), place, file.as_bytes(), label))?;
            }
        }
    }
    for tag in &new.tags {
        connection
            .prepare_cached("INSERT INTO tag_use (tag, document, node, n) VALUES (?1, ?2, ?3, ?4)")?
            .execute((tag.as_bytes(), document.0, node.as_bytes(), n))?;
    }
    for (key, value) in &new.attributes {
        let Columns { kind, value, exact } = comparables::columns(value);
        connection
            .prepare_cached(
                "INSERT INTO attribute_use (key, document, node, n, kind, value, exact)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute((key, document.0, node.as_bytes(), n, kind, value, exact))?;
    }
    Ok(())
}

/// The nodes of the workspace that link to a document, by document in the order of the listing.
///
/// # Errors
/// Those of the storage.
pub fn links_to(
    connection: &Connection,
    workspace: WorkspaceKey,
    target: DocumentId,
) -> Result<Vec<(DocumentId, NodeId)>, ServiceError> {
    let mut statement = connection.prepare_cached(
        "SELECT DISTINCT d.id, l.node FROM link l JOIN document d ON d.k = l.document
         WHERE l.target = ?1 AND d.workspace = ?2 ORDER BY d.k, l.node",
    )?;
    let rows = statement.query_map((target.as_bytes(), workspace.0), |row| {
        Ok((DocumentId::from_bytes(row.get(0)?), NodeId::from_bytes(row.get(1)?)))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
