//! New documents: visible only when whole.

use std::sync::Arc;

use koru_model::document::{CreateError, Document};
use koru_model::edit::Operation;
use koru_model::edit::batch::BatchError;
use koru_model::ids::{DocumentId, NodeId};
use koru_model::limits;
use koru_model::protocol::tools::{CreateDocument, DocumentKind};
use koru_model::revision::Chain;
use koru_model::text;
use rusqlite::Connection;

use super::change::{client_id, digest, document_of_key};
use super::facts::StoreFacts;
use super::refusal;
use super::residents::Residents;
use crate::errors::ServiceError;
use crate::search::index::{Indexing, Rewrite};
use crate::search::memory::DocumentEntry;
use crate::service::Service;
use crate::session::Session;
use crate::store::documents::{self, Kind, NewDocument};
use crate::store::history::{self, EntryKey, NewEntry, Reason, Receipt};
use crate::store::placing::{self, DocumentKey};
use crate::store::workspaces::WorkspaceKey;
use crate::store::{Transaction, actors, files, log, uses};

/// Makes a document, or finds the one that the same call made before.
///
/// # Errors
/// When the input is refused or cannot be written; nothing is made then.
pub fn create(
    service: &Arc<Service>,
    session: &Session,
    params: CreateDocument,
) -> Result<DocumentId, ServiceError> {
    let title = accept_title(&params)?;
    let session = session.clone();
    service.write(move |service, transaction| {
        create_in(service, &session, transaction, &params, &title)
    })
}

/// Makes many documents in one transaction, in their order: all or none. They are known by their own
/// idempotency keys, not by the call's.
///
/// # Errors
/// When the input of one is refused or they cannot be written; nothing is made then.
pub fn create_many(
    service: &Arc<Service>,
    session: &Session,
    all: Vec<CreateDocument>,
) -> Result<Vec<DocumentId>, ServiceError> {
    let titles = all.iter().map(accept_title).collect::<Result<Vec<_>, _>>()?;
    let session = Session { key: None, ..session.clone() };
    service.write(move |service, transaction| {
        all.iter()
            .zip(&titles)
            .map(|(params, title)| create_in(service, &session, transaction, params, title))
            .collect()
    })
}

fn accept_title(params: &CreateDocument) -> Result<String, ServiceError> {
    let accepted = text::accept_line(&params.title, limits::TITLE_CHARS)
        .map_err(|fault| ServiceError::invalid("title", fault.to_string()))?;
    Ok(accepted.into_owned())
}

fn create_in(
    service: &Service,
    session: &Session,
    transaction: &mut Transaction<'_, Residents>,
    params: &CreateDocument,
    title: &str,
) -> Result<DocumentId, ServiceError> {
    let connection = transaction.connection;
    let workspace = session.reach_to_write(service, connection, params.workspace_id)?;
    if let Some(made) = document_of_key(connection, session.key)? {
        return Ok(made);
    }
    let digest = digest(&normal(params))?;
    if let Some(key) = params.idempotency_key
        && let Some((before, made)) = history::creation(connection, workspace, key)?
    {
        let is_same = before == digest;
        return if is_same { Ok(made) } else { Err(ServiceError::KeyReused { document: made }) };
    }
    let parent = parent(connection, workspace, params.parent_document_id)?;
    let root = params.root_node_id.unwrap_or_else(|| NodeId(service.outside.new_id()));
    if let Some((owner, taken_by)) = documents::of_root(connection, root)? {
        let taken_by = (owner == workspace).then_some(taken_by);
        return Err(ServiceError::RootTaken { root, taken_by });
    }
    if files::is_root(connection, root)? {
        let reason = "is kept for the note of a file; choose a new UUID";
        return Err(ServiceError::invalid("root_node_id", reason));
    }

    let operations = params.initial_operations.as_deref().unwrap_or_default();
    let mut facts = StoreFacts::new(connection, workspace, None, &service.outside);
    let made = Document::create(client_id(service), root, title, operations, &mut facts);
    let (document, update) = match made {
        Ok(made) => made,
        Err(CreateError::Batch(BatchError::Facts(error))) => {
            return Err(ServiceError::from_facts(error));
        }
        Err(CreateError::Batch(BatchError::Refused(failures))) => {
            return Err(refusal::explain_initial(&failures, operations.len()).into());
        }
        Err(CreateError::Crdt(error)) => return Err(error.into()),
    };

    let page =
        NewPage { workspace, parent, kind: Kind::Page, root, title, document, update: &update };
    let (id, entry) = make(service, session, transaction, page)?;
    let key = documents::find(connection, workspace, id)?.key;
    if let Some(receipt_key) = session.key {
        history::keep_receipt(connection, receipt_key, &Receipt { document: key, digest, entry })?;
    }
    if let Some(idempotency) = params.idempotency_key {
        let now = service.outside.now();
        history::keep_creation(connection, workspace, idempotency, &digest, key, now)?;
    }
    Ok(id)
}

/// A document that is made but not written yet.
pub(super) struct NewPage<'a> {
    pub(super) workspace: WorkspaceKey,
    pub(super) parent: Option<DocumentKey>,
    pub(super) kind: Kind,
    pub(super) root: NodeId,
    pub(super) title: &'a str,
    pub(super) document: Document,
    pub(super) update: &'a [u8],
}

/// Writes a new document with its first change and its first entry.
pub(super) fn make(
    service: &Service,
    session: &Session,
    transaction: &mut Transaction<'_, Residents>,
    page: NewPage<'_>,
) -> Result<(DocumentId, EntryKey), ServiceError> {
    let connection = transaction.connection;
    let NewPage { workspace, parent, kind, root, title, document, update } = page;
    let id = DocumentId(service.outside.new_id());
    let nonce = *service.outside.new_id().as_bytes();
    let now = service.outside.now();
    let chain = Chain::start(id, &nonce).next(1, update);
    let state = document.state();
    let key = documents::insert(
        connection,
        &NewDocument {
            id,
            workspace,
            parent,
            position: placing::last_position(connection, workspace, parent)?,
            kind,
            root,
            title,
            nodes: state.live_nodes(),
            at: now,
            nonce,
            chain,
        },
    )?;
    log::append(connection, key, 1, update, chain)?;
    let search = &mut transaction.state.search;
    let mut indexing = Indexing::of(connection, search, workspace, key, state, Rewrite::Changed);
    for node in state.subtree(root).into_iter().filter_map(|id| state.node(id)) {
        let indexed = indexing.node(node)?;
        uses::index(connection, key, indexed, None, node)?;
    }
    search.document(key, DocumentEntry::live(workspace, parent, now));
    let entry = history::insert(
        connection,
        service.outside.new_id(),
        &NewEntry {
            document: key,
            version: 1,
            seq: 1,
            paired: false,
            reason: Reason::Created,
            at: now,
            actor: actors::find_or_create(connection, &session.client)?,
            label: None,
            message: None,
        },
    )?;
    transaction.state.moved_on(key, 1, Some(document));
    Ok((id, entry))
}

/// The input with what it leaves unsaid said, so that two ways of saying the same are the same.
fn normal(params: &CreateDocument) -> CreateDocument {
    let mut normal = params.clone();
    normal.kind = Some(DocumentKind::Page);
    for operation in normal.initial_operations.iter_mut().flatten() {
        if let Operation::Insert(insert) = operation {
            insert.at_end = insert.at_end.filter(|at_end| *at_end);
            insert.text = insert.text.take().filter(|text| !text.is_empty());
        }
    }
    normal
}

fn parent(
    connection: &Connection,
    workspace: WorkspaceKey,
    parent: Option<DocumentId>,
) -> Result<Option<DocumentKey>, ServiceError> {
    let Some(id) = parent else { return Ok(None) };
    let key = placing::find(connection, workspace, id)?;
    placing::refuse_trashed(connection, key, id)?;
    Ok(Some(key))
}
