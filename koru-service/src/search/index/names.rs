//! What a document or a file is called stands in the texts that point at it.

use koru_model::ids::{DocumentId, FileId, NodeId};
use rusqlite::Connection;

use super::Writing;
use super::document::find;
use crate::errors::ServiceError;
use crate::search::memory::Source;
use crate::search::postings::Table;
use crate::search::render::{self, OfRows, PLACEHOLDER};
use crate::store::placing::DocumentKey;
use crate::store::workspaces::WorkspaceKey;

/// The most nodes that a new name changes at once; where more point at what has it, they follow.
const RENAMED_AT_ONCE: usize = 500;

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
    let mut later: Vec<DocumentKey> =
        nodes.iter().skip(RENAMED_AT_ONCE).map(|(document, _)| *document).collect();
    later.dedup();
    for document in later {
        connection
            .prepare_cached("UPDATE document SET unindexed = unindexed + 1 WHERE k = ?1")?
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
        writing.take_out(table, found.posted.row);
        let shown = render::expand(&found.text, 0, &names)?;
        let posted = writing.post(connection, table, (found.key, Source::Text), &shown)?;
        connection
            .prepare_cached("UPDATE search_node SET row = ?2, words = ?3 WHERE k = ?1")?
            .execute((found.key.0, posted.row, posted.words))?;
    }
    let mut statement = connection.prepare_cached(
        "SELECT row, inlines, text FROM search_more WHERE node = ?1 AND part > 0",
    )?;
    let parts: Vec<(u32, usize, String)> = statement
        .query_map([found.key.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<Result<_, _>>()?;
    for (old, inlines, text) in parts.iter().filter(|part| part.2.contains(PLACEHOLDER)) {
        writing.take_out(table, *old);
        let shown = render::expand(text, *inlines, &names)?;
        let mut posted = writing.post(connection, table, (found.key, Source::Text), &shown)?;
        if posted.row == 0 {
            posted.row = writing.new_row(connection)?;
        }
        connection
            .prepare_cached("UPDATE search_more SET row = ?2, words = ?3 WHERE row = ?1")?
            .execute((old, posted.row, posted.words))?;
    }
    Ok(())
}
