//! Versions: read, compared, restored.

use std::sync::Arc;

use koru_model::compare;
use koru_model::limits;
use koru_model::protocol::error::{Code, ToolError};
use koru_model::protocol::tools::{
    CompareDocumentVersions, ReadDocumentVersion, RestoreDocumentVersion,
};
use koru_model::restore;
use rusqlite::Connection;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::change::{
    Edited, answer_again, base_revision, client_id, digest, receipt_of_key, repeat, write,
};
use super::commit::commit;
use super::facts::StoreFacts;
use super::names::StoreNames;
use super::reading::{Part, Shows, read_page, state_at, tree};
use super::residents::Residents;
use crate::errors::ServiceError;
use crate::outside::rfc3339;
use crate::service::Service;
use crate::session::Session;
use crate::store::documents::{self, DocumentRow};
use crate::store::history::{self, Reason};
use crate::store::{Transaction, placing};

/// The most changes that a refused restore lists.
const LISTED: usize = 10;

/// Reads a document as it was at a history entry.
///
/// # Errors
/// When there is no such entry or node, or the result would be too large.
pub fn read_version(
    service: &Service,
    session: &Session,
    params: &ReadDocumentVersion,
) -> Result<Box<RawValue>, ServiceError> {
    service.store.read(|connection| {
        let workspace = session.reach(service, connection, params.workspace_id)?;
        let found = history::find(connection, workspace, params.entry_id)?;
        let state = state_at(service, connection, found.document, found.seq)?;
        let part = Part {
            node_id: params.node_id.as_ref(),
            max_depth: params.max_depth,
            after_node_id: params.after_node_id.as_ref(),
            page_size: params.page_size,
            compact: params.compact,
        };
        let reading = part.of(&state, None)?;
        let page = read_page(service, connection, workspace, &state, &reading).map_err(by_pages)?;
        tree(found.entry.document, Shows::Entry(found.entry), &state, page)
    })
}

/// Tells what leads from one version of a document to another, or to the document as it is now.
///
/// # Errors
/// When there is no such entry, or the two are of different documents.
pub fn compare_versions(
    service: &Service,
    session: &Session,
    params: &CompareDocumentVersions,
) -> Result<Box<RawValue>, ServiceError> {
    service.store.read(|connection| {
        let workspace = session.reach(service, connection, params.workspace_id)?;
        let left = history::find(connection, workspace, params.left_entry_id)?;
        let seq = match params.right_entry_id {
            None => documents::find(connection, workspace, left.entry.document)?.head,
            Some(id) => {
                let right = history::find(connection, workspace, id)?;
                if right.document != left.document {
                    return Err(ServiceError::invalid(
                        "right_entry_id",
                        "is an entry of another document; list_document_versions gives those of one document",
                    ));
                }
                right.seq
            }
        };
        let before = state_at(service, connection, left.document, left.seq)?;
        let after = state_at(service, connection, left.document, seq)?;
        let mut names = StoreNames::new(service, connection, workspace);
        let found = compare::compare(&before, &after, &mut names);
        names.finish()?;
        let told = to_raw_value(&found)?;
        if told.get().len() > limits::RESULT_BYTES {
            return Err(too_large(
                "The comparison is larger than the limit of 8 MiB a result. Compare entries nearer to each other, or read both versions by pages: read_document_version with page_size.",
            ));
        }
        Ok(told)
    })
}

fn too_large(message: &str) -> ServiceError {
    ToolError::new(Code::TooLarge, message).with(json!({ "limit": limits::RESULT_BYTES })).into()
}

/// A version wants no revision to go on with.
fn by_pages(error: ServiceError) -> ServiceError {
    match error {
        ServiceError::TreeTooLarge => too_large(
            "The version is larger than the limit of 8 MiB a result. Read it by pages: page_size, then after_node_id; or a part of it by node_id and max_depth.",
        ),
        other => other,
    }
}

/// Makes a document show what it showed at a history entry.
///
/// # Errors
/// When there is no such entry of the document, or anything was changed after the base revision.
pub fn restore_version(
    service: &Arc<Service>,
    session: &Session,
    params: RestoreDocumentVersion,
) -> Result<Edited, ServiceError> {
    write(service, session, move |service, session, transaction| {
        restore_in(service, session, transaction, &params)
    })
}

fn restore_in(
    service: &Service,
    session: &Session,
    transaction: &mut Transaction<'_, Residents>,
    params: &RestoreDocumentVersion,
) -> Result<(Edited, Vec<DocumentRow>), ServiceError> {
    let connection = transaction.connection;
    let workspace = session.reach_to_write(service, connection, params.workspace_id)?;
    if let Some(found) = receipt_of_key(connection, session)? {
        return Ok((answer_again(connection, found, false)?, Vec::new()));
    }
    let row = documents::find(connection, workspace, params.document_id)?;
    placing::refuse_trashed(connection, row.key, row.id)?;
    let then = history::find(connection, workspace, params.entry_id)?;
    if then.document != row.key {
        return Err(ServiceError::invalid(
            "entry_id",
            "is an entry of another document; list_document_versions gives those of this one",
        ));
    }
    let base = base_revision(connection, &row, "base_revision", &params.base_revision)?;
    let digest = digest(&("restore", base.seq, params.entry_id))?;
    let document = transaction.state.open(connection, &row, client_id(service))?;
    if base.seq < row.head {
        // A restore names no nodes: it is a repeat only where nothing came after it.
        let found = repeat(connection, &row, &digest, document.state(), &[])?;
        if let Some(found) = found
            && history::newest_marker(connection, found.entry)?.1 == row.head
        {
            return Ok((answer_again(connection, found, true)?, Vec::new()));
        }
        return Err(changed_since(connection, &row, base.seq)?);
    }
    let earlier = state_at(service, connection, row.key, then.seq)?;
    let mut facts = StoreFacts::new(connection, workspace, Some(row.key), &service.outside);
    let Some(plan) = restore::restore(document.state(), &earlier, &mut facts) else {
        let history = history::newest(connection, row.key)?;
        let revision = row.revision().to_string();
        return Ok((Edited { revision, history, replayed: false }, Vec::new()));
    };
    let written = commit(service, session, transaction, &row, plan, Reason::Restore)?;
    written.keep_receipt(service, session, connection, digest)?;
    Ok((written.edited(connection)?, written.due(connection)?))
}

/// What was changed after a revision, and by whom.
fn changed_since(
    connection: &Connection,
    row: &DocumentRow,
    seq: u64,
) -> Result<ServiceError, ServiceError> {
    let touches = documents::touched_since(connection, row.key, seq, LISTED)?;
    let conflicts: Vec<_> = touches
        .listed
        .iter()
        .map(|touch| {
            json!({
                "node_id": touch.node,
                "code": Code::PreconditionFailed.name(),
                "property": touch.property,
                "changed_by": touch.by,
                "changed_at": rfc3339(touch.at),
            })
        })
        .collect();
    let mut details = json!({ "revision": row.revision().to_string(), "conflicts": conflicts });
    if touches.all > touches.listed.len() {
        details["conflicts_omitted"] = (touches.all - touches.listed.len()).into();
    }
    Ok(ToolError::new(
        Code::PreconditionFailed,
        "Nothing was changed: the document was changed after base_revision, and a restore would take those changes back unseen. Compare the entry with the document as it is now, and restore with base_revision = details.revision if it shall be all the same.",
    )
    .with(details)
    .into())
}
