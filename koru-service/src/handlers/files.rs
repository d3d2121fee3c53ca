//! The files of a workspace: their listing, and how they come and go.

use std::sync::Arc;

use koru_model::content::ContentHash;
use koru_model::ids::{FileId, WorkspaceId};
use koru_model::limits;
use koru_model::protocol::tools::{GetFile, ListFiles, SearchFiles};
use serde_json::json;
use serde_json::value::RawValue;

use super::ready;
use crate::errors::ServiceError;
use crate::files::{removing, upload};
use crate::service::Service;
use crate::session::Session;
use crate::store::files;

/// How many files a search gives where nothing is said.
const FOUND: u32 = 50;

fn within(field: &'static str, number: Option<u32>, most: u32) -> Result<(), ServiceError> {
    if number.is_some_and(|number| !(1..=most).contains(&number)) {
        return Err(ServiceError::invalid(field, format!("must be 1 to {most}")));
    }
    Ok(())
}

pub(super) fn list(
    service: &Service,
    session: &Session,
    params: &ListFiles,
) -> Result<Box<RawValue>, ServiceError> {
    within("page_size", params.page_size, limits::PAGE_FILES)?;
    let page = service.store.read(|connection| {
        let workspace = session.reach(service, connection, params.workspace_id)?;
        files::page(connection, workspace, params.page_size, params.after_file_id)
    })?;
    ready(&page)
}

pub(super) fn search(
    service: &Service,
    session: &Session,
    params: &SearchFiles,
) -> Result<Box<RawValue>, ServiceError> {
    within("limit", params.limit, limits::FOUND_FILES)?;
    let found = service.store.read(|connection| {
        let workspace = session.reach(service, connection, params.workspace_id)?;
        files::search(connection, workspace, &params.query, params.limit.unwrap_or(FOUND))
    })?;
    ready(&json!({ "files": found }))
}

pub(super) fn get(
    service: &Service,
    session: &Session,
    params: &GetFile,
) -> Result<Box<RawValue>, ServiceError> {
    let (file, _) = service.store.read(|connection| {
        let workspace = session.reach(service, connection, params.workspace_id)?;
        files::one(connection, workspace, params.file_id)
    })?;
    ready(&file)
}

pub(super) fn begin(
    service: &Arc<Service>,
    session: &Session,
    workspace: WorkspaceId,
    id: FileId,
    name: String,
    size: Option<u64>,
) -> Result<Box<RawValue>, ServiceError> {
    upload::begin(service, session, workspace, id, name, size)?;
    ready(&json!({ "received": 0 }))
}

pub(super) fn chunk(
    service: &Arc<Service>,
    session: &Session,
    id: FileId,
    offset: u64,
    bytes: &[u8],
) -> Result<Box<RawValue>, ServiceError> {
    let received = upload::chunk(service, session, id, offset, bytes)?;
    ready(&json!({ "received": received }))
}

pub(super) fn finish(
    service: &Arc<Service>,
    session: &Session,
    workspace: WorkspaceId,
    id: FileId,
    hash: ContentHash,
) -> Result<Box<RawValue>, ServiceError> {
    let file = upload::finish(service, session, workspace, id, hash)?;
    ready(&json!({ "file": file }))
}

pub(super) fn abort(
    service: &Arc<Service>,
    session: &Session,
    id: FileId,
) -> Result<Box<RawValue>, ServiceError> {
    upload::abort(service, session, id)?;
    ready(&json!({}))
}

pub(super) fn remove(
    service: &Arc<Service>,
    session: &Session,
    workspace: WorkspaceId,
    id: FileId,
    force: bool,
) -> Result<Box<RawValue>, ServiceError> {
    let removed = removing::remove(service, session, workspace, id, force)?;
    ready(&json!({ "removed": removed }))
}
