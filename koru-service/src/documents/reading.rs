//! Reading documents: trees, links, history.

use std::sync::Arc;

use koru_model::document::crdt::SCHEMA_VERSION;
use koru_model::document::read::{self, Page, ReadFault, Reading};
use koru_model::document::{Document, Node, Resolved, State};
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
use super::following;
use super::names::StoreNames;
use crate::errors::ServiceError;
use crate::service::Service;
use crate::session::Session;
use crate::store::documents::{self, DocumentRow};
use crate::store::history::{self, Entry};
use crate::store::placing::DocumentKey;
use crate::store::workspaces::WorkspaceKey;
use crate::store::{extractions, log, uses};

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

/// Which part of a tree a call asks for, and in which form.
pub(super) struct Part<'a> {
    pub(super) node_id: Option<&'a NodeRef>,
    pub(super) max_depth: Option<u32>,
    pub(super) after_node_id: Option<&'a NodeRef>,
    pub(super) page_size: Option<u32>,
    pub(super) compact: Option<bool>,
}

impl Part<'_> {
    /// The part of a state, once the nodes that it names are found there.
    pub(super) fn of(
        &self,
        state: &State,
        revision: Option<Revision>,
    ) -> Result<Reading, ServiceError> {
        let named = |field, name| match name {
            Some(name) => node(state, field, name, revision).map(Some),
            None => Ok(None),
        };
        let size = |number: Option<u32>| number.and_then(|number| usize::try_from(number).ok());
        Ok(Reading {
            from: named("node_id", self.node_id)?.unwrap_or_else(|| state.root()),
            max_depth: size(self.max_depth),
            after: named("after_node_id", self.after_node_id)?,
            page_size: size(self.page_size),
            compact: self.compact == Some(true),
        })
    }
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
            Some(text) => base_revision(connection, &row, "revision", text)?,
            None => row.revision(),
        };
        let state = state_at(service, connection, row.key, revision.seq)?;
        let part = Part {
            node_id: params.node_id.as_ref(),
            max_depth: params.max_depth,
            after_node_id: params.after_node_id.as_ref(),
            page_size: params.page_size,
            compact: params.compact,
        };
        let reading = part.of(&state, Some(revision))?;
        let page = read_page(service, connection, workspace, &state, &reading)?;
        tree(row.id, Shows::Revision(revision), &state, page)
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
        let page = match read_page(service, connection, workspace, &state, &reading) {
            Err(ServiceError::TreeTooLarge) => {
                reading.page_size = Some(limits::DOCUMENT_NODES);
                read_page(service, connection, workspace, &state, &reading)?
            }
            page => page?,
        };
        tree(row.id, Shows::Revision(row.revision()), &state, page)
    })
}

pub(super) fn read_page(
    service: &Service,
    connection: &Connection,
    workspace: WorkspaceKey,
    state: &State,
    reading: &Reading,
) -> Result<Page, ServiceError> {
    let mut names = StoreNames::new(service, connection, workspace);
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

/// What stands in front of the nodes in the result of a read.
#[derive(Serialize)]
struct TreeHead {
    document_id: DocumentId,
    root_node_id: NodeId,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<String>,
    schema_version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<Entry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ancestors: Option<Vec<String>>,
}

/// Which state of a document a read shows.
pub(super) enum Shows {
    /// The state of a revision.
    Revision(Revision),
    /// The state of a history entry.
    Entry(Entry),
}

/// The result of a read: the nodes are ready bytes and are not looked at again.
pub(super) fn tree(
    id: DocumentId,
    shows: Shows,
    state: &State,
    page: Page,
) -> Result<Box<RawValue>, ServiceError> {
    let (revision, entry) = match shows {
        Shows::Revision(revision) => (Some(revision.to_string()), None),
        Shows::Entry(entry) => (None, Some(entry)),
    };
    let head = TreeHead {
        document_id: id,
        root_node_id: state.root(),
        revision,
        schema_version: SCHEMA_VERSION,
        entry,
        ancestors: page.ancestors,
    };
    let mut out = serde_json::to_vec(&head)?;
    out.pop();
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
    revision: Option<Revision>,
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
        .with(json!({
            "node_id": node,
            "known": known,
            "revision": revision.map(|revision| revision.to_string()),
        }))
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
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved: Option<ResolvedTo>,
}

/// Where a block went that left the document which the link names.
#[derive(Serialize)]
struct ResolvedTo {
    document_id: DocumentId,
    node_id: NodeId,
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
    let mut names = StoreNames::new(service, connection, workspace);
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
                resolved: link
                    .resolved
                    .map(|(document_id, node_id)| ResolvedTo { document_id, node_id }),
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
    let direct = uses::links_to(connection, workspace, target)?;
    let mut all = extractions::links_that_may_follow_to(connection, workspace, target)?;
    all.retain(|one| !direct.contains(one));
    all.extend(direct);
    all.sort_unstable();
    for (document_id, node_id) in all {
        let row = documents::find(connection, workspace, document_id)?;
        let state = state_at(service, connection, row.key, row.head)?;
        let Some(node) = state.live(node_id) else { continue };
        if !reaches(service, connection, workspace, node, target)? {
            continue;
        }
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

/// Whether a link of the node reaches the document, by its name or by following a block there.
fn reaches(
    service: &Service,
    connection: &Connection,
    workspace: WorkspaceKey,
    node: &Node,
    target: DocumentId,
) -> Result<bool, ServiceError> {
    for placed in node.inlines.iter() {
        let Inline::Document { document, node: to, .. } = &placed.inline else { continue };
        let went_to = match to {
            Some(to) => following::follow(service, connection, workspace, *document, *to)?,
            None => None,
        };
        if went_to.unwrap_or(*document) == target {
            return Ok(true);
        }
    }
    Ok(false)
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
            Some(id) => {
                let found = history::find(connection, workspace, id)?;
                if found.document != row.key {
                    return Err(ServiceError::invalid(
                        "before_id",
                        "is an entry of another document",
                    ));
                }
                (found.entry.version, i64::MAX)
            }
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
