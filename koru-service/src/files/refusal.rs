//! What a client is told of a call about files that is refused.

use koru_model::ids::{DocumentId, FileId, NodeId};
use koru_model::limits;
use koru_model::protocol::error::{Code, ToolError};
use serde_json::json;

use super::{Damage, upload};
use crate::errors::ServiceError;

/// There is no such upload.
pub(super) fn no_upload(id: FileId) -> ServiceError {
    ToolError::new(
        Code::NotFound,
        format!(
            "There is no upload {id} (any more): it was given up, or the service was started again. Begin anew."
        ),
    )
    .into()
}

/// Too many uploads are under way.
pub(super) fn too_many_uploads() -> ServiceError {
    ToolError::new(
        Code::Busy,
        format!(
            "The limit of {} uploads at the same time is reached. Nothing was changed; try again when one of them is finished.",
            upload::MOST
        ),
    )
    .into()
}

/// The file is attached to these nodes.
pub(super) fn used(file: FileId, uses: &[(DocumentId, NodeId)]) -> ServiceError {
    let shown: Vec<_> = uses
        .iter()
        .take(limits::CONFLICTS)
        .map(|(document, node)| json!({ "document_id": document, "node_id": node }))
        .collect();
    ToolError::new(
        Code::PreconditionFailed,
        format!(
            "File {file} is attached to {} nodes, the trash included. Nothing was changed; take it out there first, or force it.",
            uses.len()
        ),
    )
    .with(json!({ "uses": uses.len(), "attached": shown }))
    .into()
}

/// The content of the file is not what it was.
pub(super) fn damaged(file: FileId, damage: Damage) -> ServiceError {
    let mut details = json!({ "file_id": file, "problem": damage.name() });
    if let Some(offset) = damage.offset() {
        details["offset"] = offset.into();
    }
    ToolError::new(
        Code::StorageFailed,
        format!(
            "The content of file {file} is damaged on the disk and is not given. Ask the user to run `koru-mcp file verify`, and to add the same file again, which repairs it."
        ),
    )
    .with(details)
    .into()
}
