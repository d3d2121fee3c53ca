//! What a workspace holds: documents, tags, attributes.

use koru_model::ids::WorkspaceId;
use koru_model::protocol::tools::ListDocuments;
use serde_json::json;
use serde_json::value::RawValue;

use super::ready;
use crate::errors::ServiceError;
use crate::service::Service;
use crate::session::Session;
use crate::store::{attributes, listing, tags};

/// The most documents of a page.
const PAGE_DOCUMENTS: u32 = 1_000;

pub(super) fn documents(
    service: &Service,
    session: &Session,
    params: &ListDocuments,
) -> Result<Box<RawValue>, ServiceError> {
    if params.page_size.is_some_and(|size| !(1..=PAGE_DOCUMENTS).contains(&size)) {
        let reason = format!("must be 1 to {PAGE_DOCUMENTS}");
        return Err(ServiceError::invalid("page_size", reason));
    }
    let page = service.store.read(|connection| {
        let workspace = session.reach(service, connection, params.workspace_id)?;
        listing::page(connection, workspace, params.page_size, params.after_document_id)
    })?;
    ready(&page)
}

pub(super) fn tags(
    service: &Service,
    session: &Session,
    workspace: WorkspaceId,
) -> Result<Box<RawValue>, ServiceError> {
    let all = service.store.read(|connection| {
        tags::list(connection, session.reach(service, connection, workspace)?)
    })?;
    ready(&json!({ "tags": all }))
}

pub(super) fn attributes(
    service: &Service,
    session: &Session,
    workspace: WorkspaceId,
) -> Result<Box<RawValue>, ServiceError> {
    let all = service.store.read(|connection| {
        attributes::list(connection, session.reach(service, connection, workspace)?)
    })?;
    ready(&json!({ "attributes": all }))
}
