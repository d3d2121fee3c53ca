//! Writing one change of a document: its rows, then the memory.

use koru_model::edit::plan::Plan;
use rusqlite::Connection;

use super::change::{Edited, client_id};
use super::packing;
use super::residents::Residents;
use crate::errors::ServiceError;
use crate::search::index::{self, Indexing};
use crate::search::memory::DocumentEntry;
use crate::search::worker;
use crate::service::Service;
use crate::session::Session;
use crate::store::documents::{self, DocumentRow, Head, Touched};
use crate::store::history::{self, EntryKey, NewEntry, Reason, Receipt};
use crate::store::{Transaction, actors, log, uses};

/// A change that is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Written {
    /// The document's row as the change left it.
    pub(super) row: DocumentRow,
    /// The row of history.
    pub(super) entry: EntryKey,
    /// The count of live nodes.
    nodes: usize,
}

impl Written {
    /// What the call is answered with.
    pub(super) fn edited(&self, connection: &Connection) -> Result<Edited, ServiceError> {
        let (history, _) = history::newest_marker(connection, self.entry)?;
        Ok(Edited { revision: self.row.revision().to_string(), history, replayed: false })
    }

    /// Keeps what makes a repeat of the call harmless.
    pub(super) fn keep_receipt(
        &self,
        service: &Service,
        session: &Session,
        connection: &Connection,
        digest: [u8; 16],
    ) -> Result<(), ServiceError> {
        let key = session.key.unwrap_or_else(|| service.outside.new_id());
        let receipt = Receipt { document: self.row.key, digest, entry: self.entry };
        history::keep_receipt(connection, key, &receipt)
    }

    /// The row, where a keyframe is due.
    pub(super) fn due(&self, connection: &Connection) -> Result<Vec<DocumentRow>, ServiceError> {
        if !packing::is_time_to_look(&self.row) {
            return Ok(Vec::new());
        }
        let tail = log::tail(connection, self.row.key)?;
        let is_due = packing::is_due(tail, self.nodes);
        Ok(is_due.then_some(self.row).into_iter().collect())
    }
}

/// Writes a change of a document. Where it fails the document is dropped from memory, which may be
/// ahead of the rows that are undone.
pub(super) fn commit(
    service: &Service,
    session: &Session,
    transaction: &mut Transaction<'_, Residents>,
    row: &DocumentRow,
    plan: Plan,
    reason: Reason,
) -> Result<Written, ServiceError> {
    let written = write(service, session, transaction, row, plan, reason);
    if written.is_err() {
        transaction.state.drop_document(row.key);
    }
    written
}

fn write(
    service: &Service,
    session: &Session,
    transaction: &mut Transaction<'_, Residents>,
    row: &DocumentRow,
    plan: Plan,
    reason: Reason,
) -> Result<Written, ServiceError> {
    let connection = transaction.connection;
    let now = service.outside.now();
    let actor = actors::find_or_create(connection, &session.client)?;
    let (workspace, parent) = documents::place(connection, row.key)?;
    let document = transaction.state.open(connection, row, client_id(service))?;
    let before = document.state().clone();
    let after = plan.state.clone();
    let touched: Vec<Touched> = plan
        .touched
        .iter()
        .map(|(node, property)| Touched { node: *node, property: property.name() })
        .collect();
    let update = document.carry_out(plan)?;

    let seq = row.head + 1;
    let chain = row.chain.next(seq, &update);
    log::append(connection, row.key, seq, &update, chain)?;
    documents::touch(connection, row.key, &touched, seq, actor, now)?;
    let mut nodes: Vec<_> = touched.iter().map(|one| one.node).collect();
    nodes.dedup();
    let search = &mut transaction.state.search;
    let rewrite = worker::rewrite(connection, row.key)?;
    let mut indexing = Indexing::of(connection, search, workspace, row.key, &after, rewrite);
    for node in nodes {
        if let Some(new) = after.node(node) {
            let key = indexing.node(new)?;
            uses::index(connection, row.key, key, before.node(node).map(AsRef::as_ref), new)?;
        }
    }
    let entry = history::insert(
        connection,
        service.outside.new_id(),
        &NewEntry {
            document: row.key,
            version: row.version + 1,
            seq,
            paired: true,
            reason,
            at: now,
            actor,
            label: None,
            message: None,
        },
    )?;
    let version = row.version + 2;
    let head =
        Head { seq, chain, version, title: after.title(), nodes: after.live_nodes(), at: now };
    documents::set_head(connection, row.key, &head)?;
    let search = &mut transaction.state.search;
    if before.title() != after.title() {
        index::renamed(connection, search, workspace, row.id)?;
    }
    search.document(row.key, DocumentEntry::live(workspace, parent, now));
    transaction.state.moved_on(row.key, seq, None);
    let row = DocumentRow { head: seq, chain, version, ..*row };
    Ok(Written { row, entry, nodes: after.live_nodes() })
}
