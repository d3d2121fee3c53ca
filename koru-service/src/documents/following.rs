//! Links to blocks that left the document which the link names.

use koru_model::ids::{DocumentId, NodeId};
use rusqlite::Connection;

use super::reading::state_at;
use crate::errors::ServiceError;
use crate::service::Service;
use crate::store::workspaces::WorkspaceKey;
use crate::store::{documents, extractions};

/// A node that left more documents than this one after the other is not followed further.
const STEPS: usize = 64;

/// The document in which a node is live that left the one named. None: it is live there, or gone.
///
/// # Errors
/// Those of the storage.
pub(super) fn follow(
    service: &Service,
    connection: &Connection,
    workspace: WorkspaceKey,
    named: DocumentId,
    node: NodeId,
) -> Result<Option<DocumentId>, ServiceError> {
    // Most nodes never left, which one look-up tells without opening the document.
    let mut at = named;
    for _ in 0..STEPS {
        let Some(next) = extractions::departure(connection, node, at)? else { return Ok(None) };
        if at == named && is_live(service, connection, workspace, named, node)? {
            return Ok(None);
        }
        if is_live(service, connection, workspace, next, node)? {
            return Ok(Some(next));
        }
        at = next;
    }
    Ok(None)
}

fn is_live(
    service: &Service,
    connection: &Connection,
    workspace: WorkspaceKey,
    document: DocumentId,
    node: NodeId,
) -> Result<bool, ServiceError> {
    let row = match documents::find(connection, workspace, document) {
        Ok(row) => row,
        Err(ServiceError::NotFound { .. }) => return Ok(false),
        Err(error) => return Err(error),
    };
    Ok(state_at(service, connection, row.key, row.head)?.live(node).is_some())
}
