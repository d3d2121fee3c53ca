//! The one way to change a document.
//!
//! A repeat of an earlier call? Then its answer. Else a copy, the operations on it, and where they
//! all hold: the update, the chain, the history entry, the receipt and all that follows from the
//! document in one transaction. The answer is given after the commit; the memory moves on with it.

use std::sync::Arc;

use koru_model::document::{Resolved, State};
use koru_model::edit::Operation;
use koru_model::edit::batch::{self, BatchError};
use koru_model::ids::{DocumentId, NodeRef};
use koru_model::protocol::tools::{EditDocument, SaveDocumentVersion};
use koru_model::revision::Revision;
use koru_model::{limits, text};
use rusqlite::Connection;
use serde::Serialize;
use uuid::Uuid;

use super::commit::commit;
use super::facts::StoreFacts;
use super::residents::Residents;
use super::{packing, refusal};
use crate::errors::ServiceError;
use crate::service::Service;
use crate::session::Session;
use crate::store::documents::{self, DocumentRow};
use crate::store::history::{self, Entry, NewEntry, Reason, Receipt};
use crate::store::{Transaction, actors, placing};

/// The answer to a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Edited {
    /// The revision that it made, or found where it changed nothing.
    pub revision: String,
    /// Its entry, or the newest one.
    pub history: Entry,
    /// Whether an earlier call with the same input made it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
}

/// Applies a batch to a document.
///
/// # Errors
/// When the batch is refused or cannot be written; nothing is changed then.
pub fn edit(
    service: &Arc<Service>,
    session: &Session,
    params: EditDocument,
) -> Result<Edited, ServiceError> {
    write(service, session, move |service, session, transaction| {
        edit_in(service, session, transaction, &params)
    })
}

/// Runs a job that changes documents on the writing thread. The documents that it returns beside its
/// result, whose log has become long, are packed afterwards.
pub(super) fn write<T: Send + 'static>(
    service: &Arc<Service>,
    session: &Session,
    mut job: impl FnMut(
        &Service,
        &Session,
        &mut Transaction<'_, Residents>,
    ) -> Result<(T, Vec<DocumentRow>), ServiceError>
    + Send
    + 'static,
) -> Result<T, ServiceError> {
    let session = session.clone();
    let (result, due) =
        service.write(move |service, transaction| job(service, &session, transaction))?;
    for row in due {
        packing::start(service, row);
    }
    Ok(result)
}

fn edit_in(
    service: &Service,
    session: &Session,
    transaction: &mut Transaction<'_, Residents>,
    params: &EditDocument,
) -> Result<(Edited, Vec<DocumentRow>), ServiceError> {
    let connection = transaction.connection;
    let workspace = session.reach_to_write(service, connection, params.workspace_id)?;
    if let Some(found) = receipt_of_key(connection, session)? {
        return Ok((answer_again(connection, found, false)?, Vec::new()));
    }
    let row = documents::find(connection, workspace, params.document_id)?;
    placing::refuse_trashed(connection, row.key, row.id)?;
    let base = base_revision(connection, &row, "base_revision", &params.base_revision)?;
    let digest = digest(&(base.seq, &params.operations))?;
    let document = transaction.state.open(connection, &row, client_id(service))?;
    if base.seq < row.head {
        let named: Vec<NodeRef> = params.operations.iter().map(Operation::node).collect();
        let found = repeat(connection, &row, &digest, document.state(), &named)?;
        if let Some(found) = found {
            return Ok((answer_again(connection, found, true)?, Vec::new()));
        }
    }

    let mut facts = StoreFacts::new(connection, workspace, Some(row.key), &service.outside);
    let plan = batch::apply(document.state(), base.seq, row.head, &params.operations, &mut facts);
    let plan = match plan {
        Ok(Some(plan)) => plan,
        Ok(None) => {
            let history = history::newest(connection, row.key)?;
            let revision = row.revision().to_string();
            return Ok((Edited { revision, history, replayed: false }, Vec::new()));
        }
        Err(BatchError::Facts(error)) => return Err(ServiceError::from_facts(error)),
        Err(BatchError::Refused(failures)) => {
            let count = params.operations.len();
            return Err(refusal::explain(&failures, count, row.revision(), document.state()).into());
        }
    };
    facts.make_tags(&plan)?;
    let written = commit(service, session, transaction, &row, plan, Reason::Edit)?;
    written.keep_receipt(service, session, connection, digest)?;
    Ok((written.edited(connection)?, written.due(connection)?))
}

/// The revision that a call is based on, once it is known to be of the document's history.
pub(super) fn base_revision(
    connection: &Connection,
    row: &DocumentRow,
    field: &'static str,
    text: &str,
) -> Result<Revision, ServiceError> {
    let conflict =
        || ServiceError::RevisionConflict { field, revision: row.revision().to_string() };
    let base: Revision = text.parse().map_err(|_| conflict())?;
    match documents::chain_at(connection, row.key, base.seq)? {
        Some(chain) if base.is_of(chain) => Ok(base),
        _ => Err(conflict()),
    }
}

/// The digest of an input.
pub(super) fn digest(input: &impl Serialize) -> Result<[u8; 16], ServiceError> {
    let hash = koru_model::revision::digest(&serde_json::to_vec(input)?);
    Ok(hash)
}

/// A CRDT client ID that no replica ever had: the random bits of a new UUID.
pub(super) fn client_id(service: &Service) -> u64 {
    service.outside.new_id().as_bytes().last_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

pub(super) fn receipt_of_key(
    connection: &Connection,
    session: &Session,
) -> Result<Option<Receipt>, ServiceError> {
    match session.key {
        Some(key) => history::receipt(connection, key),
        None => Ok(None),
    }
}

/// The first answer of a call that was applied before.
pub(super) fn answer_again(
    connection: &Connection,
    found: Receipt,
    replayed: bool,
) -> Result<Edited, ServiceError> {
    let (history, seq) = history::newest_marker(connection, found.entry)?;
    let chain = documents::chain_at(connection, found.document, seq)?
        .ok_or(ServiceError::Internal("a change without chain"))?;
    Ok(Edited { revision: Revision::new(seq, chain).to_string(), history, replayed })
}

/// The receipt of an earlier call with this input, where no change after its own touched a node that
/// the call names.
pub(super) fn repeat(
    connection: &Connection,
    row: &DocumentRow,
    digest: &[u8; 16],
    state: &State,
    named: &[NodeRef],
) -> Result<Option<Receipt>, ServiceError> {
    let Some(found) = history::receipt_of_digest(connection, row.key, digest)? else {
        return Ok(None);
    };
    let (_, seq) = history::newest_marker(connection, found.entry)?;
    for name in named {
        if let Resolved::One(node) = state.resolve(name)
            && let Some((last, ..)) = documents::last_touch(connection, row.key, node, None)?
            && last > seq
        {
            return Ok(None);
        }
    }
    Ok(Some(found))
}

/// Saves the present state of a document as a pinned entry.
///
/// # Errors
/// When the document is unknown or in the trash, or it cannot be written.
pub fn save_version(
    service: &Arc<Service>,
    session: &Session,
    params: SaveDocumentVersion,
) -> Result<Entry, ServiceError> {
    let line = |field: &'static str, given: Option<&str>, limit: usize, one_line: bool| {
        let Some(given) = given.filter(|given| !given.is_empty()) else { return Ok(None) };
        let accepted = if one_line {
            text::accept_line(given, limit)
        } else {
            text::accept(given).and_then(|text| match text.chars().count() {
                chars if chars > limit => Err(text::TextFault::TooManyChars { chars, limit }),
                _ => Ok(text),
            })
        };
        accepted
            .map(|text| Some(text.into_owned()))
            .map_err(|fault| ServiceError::invalid(field, fault.to_string()))
    };
    let label = line("label", params.label.as_deref(), limits::ENTRY_LABEL_CHARS, true)?;
    let message = line("message", params.message.as_deref(), limits::ENTRY_MESSAGE_CHARS, false)?;
    let session = session.clone();
    service.write(move |service, transaction| {
        let connection = transaction.connection;
        let workspace = session.reach_to_write(service, connection, params.workspace_id)?;
        if let Some(found) = receipt_of_key(connection, &session)? {
            return Ok(history::newest_marker(connection, found.entry)?.0);
        }
        let row = documents::find(connection, workspace, params.document_id)?;
        placing::refuse_trashed(connection, row.key, row.id)?;
        let entry = history::insert(
            connection,
            service.outside.new_id(),
            &NewEntry {
                document: row.key,
                version: row.version + 1,
                seq: row.head,
                paired: false,
                reason: Reason::Saved,
                at: service.outside.now(),
                actor: actors::find_or_create(connection, &session.client)?,
                label: label.as_deref(),
                message: message.as_deref(),
            },
        )?;
        documents::set_version(connection, row.key, row.version + 1)?;
        if let Some(key) = session.key {
            let digest = digest(&("saved", row.head))?;
            history::keep_receipt(connection, key, &Receipt { document: row.key, digest, entry })?;
        }
        Ok(history::newest_marker(connection, entry)?.0)
    })
}

/// The ID of the document that a call with this key changed, where there was one.
pub(super) fn document_of_key(
    connection: &Connection,
    key: Option<Uuid>,
) -> Result<Option<DocumentId>, ServiceError> {
    let Some(key) = key else { return Ok(None) };
    match history::receipt(connection, key)? {
        Some(found) => Ok(Some(history::document_id(connection, found.document)?)),
        None => Ok(None),
    }
}
