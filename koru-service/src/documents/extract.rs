//! Blocks that leave one document for another: both change, or neither.

use std::sync::Arc;

use koru_model::document::Document;
use koru_model::edit::draft::Draft;
use koru_model::extract::{self, Selection};
use koru_model::ids::{DocumentId, NodeId, NodeRef};
use koru_model::inline::Inline;
use koru_model::limits;
use koru_model::protocol::error::Problem;
use koru_model::protocol::tools::ExtractToDocument;
use koru_model::text;
use rusqlite::Connection;
use serde::Serialize;

use super::change::{
    answer_again, base_revision, client_id, digest, receipt_of_key, repeat, write,
};
use super::commit::{Written, commit};
use super::create::{NewPage, make};
use super::facts::StoreFacts;
use super::refusal;
use super::residents::Residents;
use crate::errors::ServiceError;
use crate::service::Service;
use crate::session::Session;
use crate::store::Transaction;
use crate::store::documents::{self, DocumentRow, Kind};
use crate::store::extractions::{self, Answered};
use crate::store::history::{self, Entry, Reason, Receipt};
use crate::store::placing::{self, Place};
use crate::store::workspaces::WorkspaceKey;

/// The entries of both documents.
#[derive(Debug, Clone, Serialize)]
pub struct Histories {
    /// The entry of the document that the blocks went to.
    pub document: Entry,
    /// The entry of the document that they left.
    pub source: Entry,
}

/// The answer to an extraction.
#[derive(Debug, Clone, Serialize)]
pub struct Extracted {
    /// The document that the blocks went to.
    pub document_id: DocumentId,
    /// Its revision.
    pub document_revision: String,
    /// The revision of the document that they left.
    pub source_revision: String,
    /// The paragraph that was left.
    pub source_link_node_id: NodeId,
    /// The entries of both.
    pub history: Histories,
    /// Whether an earlier call with the same input made it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
}

/// Moves blocks to another document.
///
/// # Errors
/// When the blocks, the place or the input is refused, or it cannot be written; nothing is changed then.
pub fn extract(
    service: &Arc<Service>,
    session: &Session,
    params: ExtractToDocument,
) -> Result<Extracted, ServiceError> {
    check(&params)?;
    write(service, session, move |service, session, transaction| {
        extract_in(service, session, transaction, &params)
    })
}

/// What the schema cannot say.
fn check(params: &ExtractToDocument) -> Result<(), ServiceError> {
    let mut problems = Vec::new();
    if params.new_document_title.is_some() == params.target_document_id.is_some() {
        problems.push(Problem::new(
            "new_document_title",
            "give exactly one of new_document_title and target_document_id",
        ));
    }
    if params.under_node_id.is_some() && params.target_document_id.is_none() {
        problems.push(Problem::new(
            "under_node_id",
            "is a node of target_document_id; a new document has only its title",
        ));
    }
    if params.target_document_id == Some(params.source_document_id) {
        problems.push(Problem::new(
            "target_document_id",
            "is the source; within one document use edit_document with move",
        ));
    }
    if problems.is_empty() { Ok(()) } else { Err(ServiceError::Invalid(problems)) }
}

fn extract_in(
    service: &Service,
    session: &Session,
    transaction: &mut Transaction<'_, Residents>,
    params: &ExtractToDocument,
) -> Result<(Extracted, Vec<DocumentRow>), ServiceError> {
    let connection = transaction.connection;
    let workspace = session.reach_to_write(service, connection, params.workspace_id)?;
    if let Some(found) = receipt_of_key(connection, session)? {
        return Ok((again(connection, found, false)?, Vec::new()));
    }
    let row = documents::find(connection, workspace, params.source_document_id)?;
    placing::refuse_trashed(connection, row.key, row.id)?;
    let base = base_revision(connection, &row, "base_revision", &params.base_revision)?;
    let digest = digest(&("extract", base.seq, params))?;
    let extras = params.extra_source_node_ids.as_deref().unwrap_or_default();
    let state = transaction.state.open(connection, &row, client_id(service))?.state().clone();
    if base.seq < row.head {
        let mut named: Vec<NodeRef> = vec![params.source_node_id.clone()];
        named.extend_from_slice(extras);
        if let Some(found) = repeat(connection, &row, &digest, &state, &named)? {
            return Ok((again(connection, found, true)?, Vec::new()));
        }
    }

    let refused = |fault| match fault {
        koru_model::edit::fault::Fault::Facts(error) => ServiceError::from_facts(error),
        fault => refusal::explain_call(fault, row.revision(), &state).into(),
    };
    let mut facts = StoreFacts::new(connection, workspace, Some(row.key), &service.outside);
    let mut draft = Draft::new(&state, base.seq, row.head, &mut facts);
    let selection =
        Selection { source: &params.source_node_id, extras, expected: &params.expected };
    let blocks = extract::select(&mut draft, selection).map_err(refused)?;
    let first = blocks.first().map(|node| node.id);
    let nodes: Vec<NodeId> = blocks.nodes().map(|node| node.id).collect();

    let target = target(service, session, transaction, workspace, &row, params)?;
    let into = transaction.state.open(connection, &target, client_id(service))?.state().clone();
    let mut target_facts =
        StoreFacts::new(connection, workspace, Some(target.key), &service.outside);
    let entering = extract::enter(&into, params.under_node_id.as_ref(), &blocks, &mut target_facts)
        .map_err(refused)?;
    let link_id = NodeId(service.outside.new_id());
    let link = Inline::Document {
        document: target.id,
        node: first.filter(|_| params.target_document_id.is_some()),
        label: None,
    };
    let leaving = extract::leave(draft, &blocks, link_id, link);
    let (Some(entering), Some(leaving)) = (entering, leaving) else {
        return Err(ServiceError::Internal("an extraction that changes nothing"));
    };

    let entered = commit(service, session, transaction, &target, entering, Reason::Extract)?;
    // Where anything fails from here on, both are undone, in memory too (`Residents::undone`).
    let left = commit(service, session, transaction, &row, leaving, Reason::Extract)?;
    finish(service, session, connection, &left, &entered, digest, link_id)?;
    extractions::note_departures(connection, &nodes, row.id, target.id)?;
    let extracted = again(connection, receipt(&left, digest), false)?;
    let due = [entered.due(connection)?, left.due(connection)?].concat();
    Ok((extracted, due))
}

fn receipt(left: &Written, digest: [u8; 16]) -> Receipt {
    Receipt { document: left.row.key, digest, entry: left.entry }
}

/// Keeps what makes a repeat of the call harmless.
fn finish(
    service: &Service,
    session: &Session,
    connection: &Connection,
    left: &Written,
    entered: &Written,
    digest: [u8; 16],
    link: NodeId,
) -> Result<(), ServiceError> {
    left.keep_receipt(service, session, connection, digest)?;
    let answered = Answered { target: entered.row.key, target_entry: entered.entry, link };
    extractions::keep_answer(connection, left.entry, &answered)
}

/// The document that the blocks go to; a new one is made and stands behind the source.
fn target(
    service: &Service,
    session: &Session,
    transaction: &mut Transaction<'_, Residents>,
    workspace: WorkspaceKey,
    source: &DocumentRow,
    params: &ExtractToDocument,
) -> Result<DocumentRow, ServiceError> {
    let connection = transaction.connection;
    if let Some(id) = params.target_document_id {
        let row = documents::find(connection, workspace, id)?;
        placing::refuse_trashed(connection, row.key, row.id)?;
        return Ok(row);
    }
    let title = params.new_document_title.as_deref().unwrap_or_default();
    let title = text::accept_line(title, limits::TITLE_CHARS)
        .map_err(|fault| ServiceError::invalid("new_document_title", fault.to_string()))?;
    let root = NodeId(service.outside.new_id());
    let mut facts = StoreFacts::new(connection, workspace, None, &service.outside);
    let (document, update) = Document::create(client_id(service), root, &title, &[], &mut facts)
        .map_err(|_| ServiceError::Internal("an empty document could not be made"))?;
    let parent = placing::parent(connection, source.key)?;
    let page = NewPage {
        workspace,
        parent,
        kind: Kind::Page,
        root,
        title: &title,
        document,
        update: &update,
    };
    let (id, _) = make(service, session, transaction, page)?;
    let parent_id = parent.map(|key| history::document_id(connection, key)).transpose()?;
    placing::move_to(connection, workspace, id, parent_id, Place::After(source.id))?;
    documents::find(connection, workspace, id)
}

/// The answer of an extraction that is written.
fn again(
    connection: &Connection,
    found: Receipt,
    replayed: bool,
) -> Result<Extracted, ServiceError> {
    let source = answer_again(connection, found, false)?;
    let answered = extractions::answer(connection, found.entry)?;
    let target = Receipt { document: answered.target, entry: answered.target_entry, ..found };
    let target = answer_again(connection, target, false)?;
    Ok(Extracted {
        document_id: target.history.document,
        document_revision: target.revision,
        source_revision: source.revision,
        source_link_node_id: answered.link,
        history: Histories { document: target.history, source: source.history },
        replayed,
    })
}
