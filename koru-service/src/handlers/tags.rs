//! What a person does with tags. The result of a change is the tag as the listing shows it.

use std::sync::Arc;

use koru_model::ids::{TagId, WorkspaceId};
use rusqlite::Connection;
use serde_json::json;
use serde_json::value::RawValue;

use super::ready;
use crate::errors::ServiceError;
use crate::service::Service;
use crate::session::Session;
use crate::store::workspaces::WorkspaceKey;
use crate::store::{tag_changes, tags};

pub(super) fn rename(
    service: &Arc<Service>,
    session: &Session,
    workspace: WorkspaceId,
    tag: TagId,
    name: String,
) -> Result<Box<RawValue>, ServiceError> {
    change(service, session, workspace, move |service, connection, key| {
        tag_changes::rename(connection, key, tag, &name, || service.outside.new_id())
    })
}

pub(super) fn merge(
    service: &Arc<Service>,
    session: &Session,
    workspace: WorkspaceId,
    source: TagId,
    target: TagId,
) -> Result<Box<RawValue>, ServiceError> {
    change(service, session, workspace, move |_, connection, key| {
        tag_changes::merge(connection, key, source, target)
    })
}

pub(super) fn remove(
    service: &Arc<Service>,
    session: &Session,
    workspace: WorkspaceId,
    tag: TagId,
    force: bool,
) -> Result<Box<RawValue>, ServiceError> {
    let session = session.clone();
    let uses = service.write(move |service, tx| {
        let key = session.reach_to_write(service, tx.connection, workspace)?;
        tag_changes::remove(tx.connection, key, tag, force)
    })?;
    ready(&json!({ "removed": tag, "uses": uses }))
}

fn change(
    service: &Arc<Service>,
    session: &Session,
    workspace: WorkspaceId,
    mut change: impl FnMut(&Service, &Connection, WorkspaceKey) -> Result<TagId, ServiceError>
    + Send
    + 'static,
) -> Result<Box<RawValue>, ServiceError> {
    let session = session.clone();
    let listed = service.write(move |service, tx| {
        let key = session.reach_to_write(service, tx.connection, workspace)?;
        let changed = change(service, tx.connection, key)?;
        tags::one(tx.connection, key, changed)
    })?;
    ready(&json!({ "tag": listed }))
}
