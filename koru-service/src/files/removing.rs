//! Taking a file out of its workspace.

use std::sync::Arc;

use koru_model::content::ContentHash;
use koru_model::ids::{FileId, WorkspaceId};

use super::refusal;
use crate::errors::ServiceError;
use crate::search::index;
use crate::service::Service;
use crate::session::Session;
use crate::store::files::{self, Listed};

/// Removes a file; its content goes where no other file holds it. Attachments of it are missing then.
///
/// # Errors
/// When there is no such file, or, without `force`, when nodes of the workspace have it attached.
pub fn remove(
    service: &Arc<Service>,
    session: &Session,
    workspace: WorkspaceId,
    id: FileId,
    force: bool,
) -> Result<Listed, ServiceError> {
    let session = session.clone();
    let (file, content_went) = service.write(move |service, tx| {
        let workspace = session.reach_to_write(service, tx.connection, workspace)?;
        let (row, content) = files::find(tx.connection, workspace, id)?;
        let uses = files::uses(tx.connection, workspace, id)?;
        if !force && !uses.is_empty() {
            return Err(refusal::used(id, &uses));
        }
        let (file, _) = files::one(tx.connection, workspace, id)?;
        let content_went = files::remove(tx.connection, row, content)?;
        index::file_gone(tx.connection, &mut tx.state.search, workspace, id)?;
        Ok((file, content_went))
    })?;
    // Readers keep what they have opened. Where the disk keeps the content, it is swept later.
    if content_went && content(service, file.hash).is_err() {
        tracing::warn!("a content that nothing names was not removed");
    }
    Ok(file)
}

/// Removes a content where nothing names it.
pub(super) fn content(service: &Service, hash: ContentHash) -> Result<(), ServiceError> {
    service
        .contents
        .remove(hash, || service.store.read(|connection| files::is_content(connection, hash)))
}
