//! Workspaces: the listing, and what a person does with them.

use std::sync::Arc;

use koru_model::ids::WorkspaceId;
use serde_json::json;
use serde_json::value::RawValue;

use super::ready;
use crate::errors::ServiceError;
use crate::service::Service;
use crate::session::Session;
use crate::store::workspaces::{self, WorkspaceKey};

pub(super) fn list(service: &Service, session: &Session) -> Result<Box<RawValue>, ServiceError> {
    let mut all =
        service.store.read(|connection| workspaces::list(connection, service.store.opened()))?;
    all.retain(|workspace| session.includes(workspace.id));
    ready(&json!({ "workspaces": all }))
}

pub(super) fn create(
    service: &Arc<Service>,
    session: &Session,
    id: WorkspaceId,
    name: String,
) -> Result<Box<RawValue>, ServiceError> {
    if !session.scope.workspaces.is_empty() {
        return Err(ServiceError::BoundConnection);
    }
    let key = service.write(move |service, tx| {
        workspaces::create(tx.connection, id, &name, service.outside.now())
    })?;
    show(service, key)
}

pub(super) fn rename(
    service: &Arc<Service>,
    session: &Session,
    id: WorkspaceId,
    name: String,
) -> Result<Box<RawValue>, ServiceError> {
    let session = session.clone();
    let key = service.write(move |service, tx| {
        let key = session.reach_to_write(service, tx.connection, id)?;
        workspaces::rename(tx.connection, key, &name)?;
        Ok(key)
    })?;
    show(service, key)
}

pub(super) fn archive(
    service: &Arc<Service>,
    session: &Session,
    id: WorkspaceId,
    archived: bool,
) -> Result<Box<RawValue>, ServiceError> {
    let session = session.clone();
    let key = service.write(move |service, tx| {
        let key = session.reach_to_write(service, tx.connection, id)?;
        workspaces::archive(tx.connection, key, archived)?;
        Ok(key)
    })?;
    show(service, key)
}

pub(super) fn delete(
    service: &Arc<Service>,
    session: &Session,
    id: WorkspaceId,
    deleted: bool,
) -> Result<Box<RawValue>, ServiceError> {
    let session = session.clone();
    let key = service.write(move |service, tx| {
        let key = session.reach_to_mark(tx.connection, id)?;
        workspaces::delete(tx.connection, key, deleted, service.outside.now())?;
        Ok(key)
    })?;
    show(service, key)
}

fn show(service: &Service, key: WorkspaceKey) -> Result<Box<RawValue>, ServiceError> {
    let workspace = service
        .store
        .read(|connection| workspaces::one(connection, key, service.store.opened()))?;
    ready(&json!({ "workspace": workspace }))
}
