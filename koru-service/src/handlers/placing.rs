//! Moving documents, and the trash. Each result is the document as the listing shows it.

use std::sync::Arc;

use koru_model::ids::{DocumentId, WorkspaceId};
use serde_json::json;
use serde_json::value::RawValue;

use super::ready;
use crate::errors::ServiceError;
use crate::service::Service;
use crate::session::Session;
use crate::store::placing::{self, Place};
use crate::store::workspaces::WorkspaceKey;
use crate::store::{actors, listing};

pub(super) fn place(after: Option<DocumentId>, at_end: bool) -> Result<Place, ServiceError> {
    match (after, at_end) {
        (None, false) => Ok(Place::First),
        (None, true) => Ok(Place::Last),
        (Some(sibling), false) => Ok(Place::After(sibling)),
        (Some(_), true) => {
            Err(ServiceError::invalid("at_end", "excludes after_document_id; give one of them"))
        }
    }
}

pub(super) fn move_to(
    service: &Arc<Service>,
    session: &Session,
    workspace: WorkspaceId,
    id: DocumentId,
    parent: Option<DocumentId>,
    place: Place,
) -> Result<Box<RawValue>, ServiceError> {
    change(service, session, workspace, id, move |_, tx, key| {
        placing::move_to(tx, key, id, parent, place)
    })
}

pub(super) fn trash(
    service: &Arc<Service>,
    session: &Session,
    workspace: WorkspaceId,
    id: DocumentId,
) -> Result<Box<RawValue>, ServiceError> {
    let client = session.client.clone();
    change(service, session, workspace, id, move |service, connection, key| {
        let actor = actors::find_or_create(connection, &client)?;
        placing::trash(connection, key, id, actor, service.outside.now())
    })
}

pub(super) fn untrash(
    service: &Arc<Service>,
    session: &Session,
    workspace: WorkspaceId,
    id: DocumentId,
) -> Result<Box<RawValue>, ServiceError> {
    change(service, session, workspace, id, move |_, connection, key| {
        placing::untrash(connection, key, id)
    })
}

fn change(
    service: &Arc<Service>,
    session: &Session,
    workspace: WorkspaceId,
    id: DocumentId,
    mut change: impl FnMut(&Service, &rusqlite::Connection, WorkspaceKey) -> Result<(), ServiceError>
    + Send
    + 'static,
) -> Result<Box<RawValue>, ServiceError> {
    let session = session.clone();
    let listed = service.write(move |service, tx| {
        let key = session.reach_to_write(service, tx.connection, workspace)?;
        change(service, tx.connection, key)?;
        tx.state.search.places();
        listing::one(tx.connection, key, id)
    })?;
    ready(&json!({ "document": listed }))
}
