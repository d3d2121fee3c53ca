//! Reading documents: trees, links, history.

use std::sync::Arc;

use koru_model::document::crdt::SCHEMA_VERSION;
use koru_model::document::read::{self, Page, ReadFault, Reading};
use koru_model::document::{Document, Resolved, State};
use koru_model::ids::{DocumentId, NodeId, NodeRef};
use koru_model::inline::{Inline, Lifecycle};
use koru_model::limits;
use koru_model::protocol::error::{Code, ToolError};
use koru_model::protocol::tools::{ListDocumentVersions, ReadDocument};
use koru_model::revision::Revision;
use rusqlite::Connection;
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::change::base_revision;
use super::names::StoreNames;
use crate::errors::ServiceError;
use crate::service::Service;
use crate::session::Session;
use crate::store::documents::{self, DocumentRow};
use crate::store::history::{self, Entry};
use crate::store::placing::DocumentKey;
use crate::store::workspaces::WorkspaceKey;
use crate::store::{log, uses};

/// How many entries a page of history has where none is said.
const ENTRIES: u32 = 50;

/// The state of a document after one of its changes.
///
/// # Errors
/// Those of the storage, and when what is kept is damaged.
pub fn state_at(
    service: &Service,
    connection: &Connection,
    document: DocumentKey,
    seq: u64,
) -> Result<Arc<State>, ServiceError> {
    if let Some(state) = service.states.get(document, seq) {
        return Ok(state);
    }
    let trail = log::trail(connection, document, seq)?;
    let opened = Document::load(0, trail.keyframe.as_deref(), trail.updates)?;
    let state = Arc::new(opened.state().clone());
    service.states.put(document, seq, Arc::clone(&state));
    Ok(state)
}

/// Reads a document, or a page of it.
///
/// # Errors
/// When there is no such document, node or revision, or the result would be too large.
pub fn document(
    service: &Service,
    session: &Session,
    params: &ReadDocument,
) -> Result<Box<RawValue>, ServiceError> {
    service.store.read(|connection| {
        let workspace = session.reach(service, connection, params.workspace_id)?;
        let row = documents::find(connection, workspace, params.document_id)?;
        let revision = match &params.revision {
            Some(text) => base_revision(connection, &row, text)?,
            None => row.revision(),
        };
        let state = state_at(service, connection, row.key, revision.seq)?;
        let from = match &params.node_id {
            Some(name) => node(&state, "node_id", name, revision)?,
            None => state.root(),
        };
        let after = match &params.after_node_id {
            Some(name) => Some(node(&state, "after_node_id", name, revision)?),
            None => None,
        };
        let size = |number: Option<u32>| number.and_then(|number| usize::try_from(number).ok());
        let reading = Reading {
            from,
            max_depth: size(params.max_depth),
            after,
            page_size: size(params.page_size),
            compact: params.compact == Some(true),
        };
        let page = read_page(connection, workspace, &state, &reading)?;
        tree(row.id, revision, &state, page)
    })
}

/// The whole of a document that was just made; a page of it where the whole would be too large.
///
/// # Errors
/// Those of the storage.
pub fn made(
    service: &Service,
    session: &Session,
    params: &koru_model::protocol::tools::CreateDocument,
    id: DocumentId,
) -> Result<Box<RawValue>, ServiceError> {
    service.store.read(|connection| {
        let workspace = session.reach(service, connection, params.workspace_id)?;
        let row = documents::find(connection, workspace, id)?;
        let state = state_at(service, connection, row.key, row.head)?;
        let mut reading = Reading {
            from: state.root(),
            max_depth: None,
            after: None,
            page_size: None,
            compact: false,
        };
        let page = match read_page(connection, workspace, &state, &reading) {
            Err(ServiceError::TreeTooLarge) => {
                reading.page_size = Some(limits::DOCUMENT_NODES);
                read_page(connection, workspace, &state, &reading)?
            }
            page => page?,
        };
        tree(row.id, row.revision(), &state, page)
    })
}

fn read_page(
    connection: &Connection,
    workspace: WorkspaceKey,
    state: &State,
    reading: &Reading,
) -> Result<Page, ServiceError> {
    let mut names = StoreNames::new(connection, workspace);
    let page = read::read(state, reading, &mut names).map_err(|fault| match fault {
        ReadFault::TooLarge => ServiceError::TreeTooLarge,
        ReadFault::NotWithin => ServiceError::invalid(
            "after_node_id",
            "is not part of what is read; take next_after_node_id of the page before, with the same node_id",
        ),
    })?;
    names.finish()?;
    Ok(page)
}

/// The result of a read: the nodes are ready bytes and are not looked at again.
fn tree(
    id: DocumentId,
    revision: Revision,
    state: &State,
    page: Page,
) -> Result<Box<RawValue>, ServiceError> {
    let head = json!({
        "document_id": id,
        "root_node_id": state.root(),
        "revision": revision.to_string(),
        "schema_version": SCHEMA_VERSION,
    });
    let mut out = serde_json::to_vec(&head)?;
    out.pop();
    if let Some(ancestors) = &page.ancestors {
        out.extend_from_slice(b",\"ancestors\":");
        serde_json::to_writer(&mut out, ancestors)?;
    }
    out.extend_from_slice(b",\"nodes\":");
    out.extend_from_slice(&page.nodes);
    if let Some(next) = page.next_after {
        out.extend_from_slice(b",\"next_after_node_id\":");
        serde_json::to_writer(&mut out, &next)?;
    }
    out.push(b'}');
    let text =
        String::from_utf8(out).map_err(|_| ServiceError::Internal("a result is not UTF-8"))?;
    Ok(RawValue::from_string(text)?)
}

/// The live node of that name in a state.
fn node(
    state: &State,
    field: &'static str,
    name: &NodeRef,
    revision: Revision,
) -> Result<NodeId, ServiceError> {
    let (known, id) = match state.resolve(name) {
        Resolved::One(id) if state.live(id).is_some() => return Ok(id),
        Resolved::One(id) => (true, Some(id)),
        Resolved::Unknown => (false, None),
        Resolved::Several(candidates) => {
            let candidates: Vec<String> = candidates.iter().map(ToString::to_string).collect();
            return Err(ServiceError::invalid(
                field,
                format!(
                    "names several nodes; give more digits, or one of {}",
                    candidates.join(", ")
                ),
            ));
        }
    };
    let message = if known {
        format!("Node {name} was removed. Read the document without {field}.")
    } else {
        format!("The document never held a node {name}. Read the document without {field}.")
    };
    let node = id.map_or_else(|| name.to_string(), |id| id.to_string());
    Err(ToolError::new(Code::StaleNode, message)
        .with(json!({ "node_id": node, "known": known, "revision": revision.to_string() }))
        .into())
}

#[derive(Serialize)]
struct Outgoing {
    node_id: NodeId,
    document_id: DocumentId,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_node_id: Option<NodeId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    lifecycle: Lifecycle,
}

#[derive(Serialize)]
struct Incoming {
    document_id: DocumentId,
    title: String,
    node_id: NodeId,
    text: String,
    lifecycle: Lifecycle,
}

#[derive(Serialize)]
struct Links {
    outgoing: Vec<Outgoing>,
    incoming: Vec<Incoming>,
}

/// The links from a document and to it.
///
/// # Errors
/// When there is no such document.
pub fn links(
    service: &Service,
    session: &Session,
    params: &koru_model::protocol::tools::ListDocumentLinks,
) -> Result<Box<RawValue>, ServiceError> {
    let links = service.store.read(|connection| {
        let workspace = session.reach(service, connection, params.workspace_id)?;
        let row = documents::find(connection, workspace, params.document_id)?;
        Ok(Links {
            outgoing: outgoing(service, connection, workspace, &row)?,
            incoming: incoming(service, connection, workspace, row.id)?,
        })
    })?;
    Ok(serde_json::value::to_raw_value(&links)?)
}

fn outgoing(
    service: &Service,
    connection: &Connection,
    workspace: WorkspaceKey,
    row: &DocumentRow,
) -> Result<Vec<Outgoing>, ServiceError> {
    use koru_model::document::read::Names as _;
    let state = state_at(service, connection, row.key, row.head)?;
    let mut names = StoreNames::new(connection, workspace);
    let mut found = Vec::new();
    for id in state.subtree(state.root()) {
        let Some(node) = state.node(id) else { continue };
        for placed in node.inlines.iter() {
            let Inline::Document { document, node: target, label } = &placed.inline else {
                continue;
            };
            let link = names.link(*document, *target);
            found.push(Outgoing {
                node_id: id,
                document_id: *document,
                target_node_id: *target,
                label: label.clone(),
                title: link.title,
                lifecycle: link.lifecycle,
            });
        }
    }
    names.finish()?;
    Ok(found)
}

fn incoming(
    service: &Service,
    connection: &Connection,
    workspace: WorkspaceKey,
    target: DocumentId,
) -> Result<Vec<Incoming>, ServiceError> {
    let mut found = Vec::new();
    for (document_id, node_id) in uses::links_to(connection, workspace, target)? {
        let row = documents::find(connection, workspace, document_id)?;
        let state = state_at(service, connection, row.key, row.head)?;
        let Some(node) = state.live(node_id) else { continue };
        let (title, is_trashed) =
            documents::title(connection, workspace, document_id)?.unwrap_or_default();
        found.push(Incoming {
            document_id,
            title,
            node_id,
            text: node.text().into_owned(),
            lifecycle: if is_trashed { Lifecycle::Trash } else { Lifecycle::Live },
        });
    }
    Ok(found)
}

#[derive(Serialize)]
struct Entries {
    entries: Vec<Entry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_before_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_before_id: Option<koru_model::ids::EntryId>,
}

/// A page of a document's history, newest first.
///
/// # Errors
/// When there is no such document or entry.
pub fn versions(
    service: &Service,
    session: &Session,
    params: &ListDocumentVersions,
) -> Result<Box<RawValue>, ServiceError> {
    let before_at = match &params.before_at {
        Some(text) => text
            .parse::<jiff::Timestamp>()
            .map_err(|_| {
                ServiceError::invalid(
                    "before_at",
                    "is no time; take next_before_at of the page before, as 2026-12-24T18:00:00.000Z",
                )
            })?
            .as_millisecond(),
        None => i64::MAX,
    };
    let limit = usize::try_from(params.limit.unwrap_or(ENTRIES)).unwrap_or(1);
    let page = service.store.read(|connection| {
        let workspace = session.reach(service, connection, params.workspace_id)?;
        let row = documents::find(connection, workspace, params.document_id)?;
        // The entry says exactly where to go on; the time alone is for who has no entry.
        let (below, before_at) = match params.before_id {
            Some(id) => (history::version_of(connection, row.key, id)?, i64::MAX),
            None => (u64::MAX, before_at.saturating_sub(i64::from(before_at != i64::MAX))),
        };
        let mut entries = history::list(connection, row.key, below, before_at, limit)?;
        let more = entries.len() > limit;
        entries.truncate(limit);
        let last = entries.last().filter(|_| more);
        Ok(Entries {
            next_before_at: last.map(|entry| entry.recorded_at.clone()),
            next_before_id: last.map(|entry| entry.id),
            entries,
        })
    })?;
    Ok(serde_json::value::to_raw_value(&page)?)
}
