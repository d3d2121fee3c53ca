//! The note of a file: a document about it, made when it is first asked for.

use std::sync::Arc;

use koru_model::document::{CreateError, Document};
use koru_model::edit::batch::BatchError;
use koru_model::file_name;
use koru_model::ids::DocumentId;
use koru_model::inline::Lifecycle;
use koru_model::protocol::tools::EnsureFileNote;
use serde::Serialize;

use super::change::{client_id, digest, document_of_key};
use super::create::{NewPage, make};
use super::facts::StoreFacts;
use super::residents::Residents;
use crate::errors::ServiceError;
use crate::service::Service;
use crate::session::Session;
use crate::store::documents::Kind;
use crate::store::history::{self, Receipt};
use crate::store::{Transaction, documents, files, placing};

/// The note of a file.
#[derive(Debug, Serialize)]
pub struct Note {
    note_id: DocumentId,
    created: bool,
    lifecycle: Lifecycle,
}

/// Gives the note of a file, and makes it where there is none.
///
/// # Errors
/// When there is no such file, or the note cannot be written; nothing is made then.
pub fn ensure(
    service: &Arc<Service>,
    session: &Session,
    params: EnsureFileNote,
) -> Result<Note, ServiceError> {
    let session = session.clone();
    service.write(move |service, transaction| ensure_in(service, &session, transaction, &params))
}

fn ensure_in(
    service: &Service,
    session: &Session,
    transaction: &mut Transaction<'_, Residents>,
    params: &EnsureFileNote,
) -> Result<Note, ServiceError> {
    let connection = transaction.connection;
    let workspace = session.reach_to_write(service, connection, params.workspace_id)?;
    let (row, _) = files::find(connection, workspace, params.file_id)?;
    let (file, _) = files::one(connection, workspace, params.file_id)?;
    if let Some(note_id) = file.note_id {
        // The same call once more, whose answer was lost, made the note.
        let created = document_of_key(connection, session.key)? == Some(note_id);
        let found = documents::title(connection, workspace, note_id)?;
        let lifecycle = match found {
            Some((_, false)) => Lifecycle::Live,
            Some((_, true)) => Lifecycle::Trash,
            None => Lifecycle::Missing,
        };
        return Ok(Note { note_id, created, lifecycle });
    }
    let title = file_name::title(&file.name);
    let mut facts = StoreFacts::new(connection, workspace, None, &service.outside);
    let made = Document::create(client_id(service), file.root_node_id, &title, &[], &mut facts);
    let (document, update) = made.map_err(|error| match error {
        CreateError::Batch(BatchError::Facts(error)) => ServiceError::from_facts(error),
        CreateError::Batch(BatchError::Refused(_)) => {
            ServiceError::Internal("a note without content was refused")
        }
        CreateError::Crdt(error) => error.into(),
    })?;
    let page = NewPage {
        workspace,
        parent: None,
        kind: Kind::FileNote,
        root: file.root_node_id,
        title: &title,
        document,
        update: &update,
    };
    let (note_id, entry) = make(service, session, transaction, page)?;
    let key = placing::find(connection, workspace, note_id)?;
    files::set_note(connection, row, key)?;
    if let Some(receipt_key) = session.key {
        let digest = digest(params)?;
        history::keep_receipt(connection, receipt_key, &Receipt { document: key, digest, entry })?;
    }
    Ok(Note { note_id, created: true, lifecycle: Lifecycle::Live })
}
