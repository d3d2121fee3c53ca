//! The thread that brings the index up to date where it is behind: in stores of an earlier release, after
//! another tokenizer, after damage. It goes from the oldest document to the newest, in transactions so short
//! that writers hardly wait, and goes on where it stopped after a kill: what is left is marked in the
//! documents' rows. When all is quiet it merges the segments of the full-text tables.

use std::sync::{Arc, Weak};
use std::time::Duration;

use koru_model::document::{Document, Node, State};
use koru_model::ids::{NodeId, WorkspaceId};
use rusqlite::Connection;

use super::index::{Indexing, Rewrite};
use super::text::TOKENIZER_VERSION;
use super::wake::Wake;
use crate::errors::ServiceError;
use crate::service::Service;
use crate::store::documents;
use crate::store::placing::DocumentKey;
use crate::store::settings;
use crate::store::workspaces::WorkspaceKey;
use crate::store::{Transaction, log, uses};

/// Counts changes of what is written for a node, beside those of the tokenizer.
const LAYOUT_VERSION: u32 = 2;
/// Which version the index was begun with.
const VERSION: &str = "search.version";
/// There while the words of some rows may be those of another tokenizer.
const OLD_ROWS: &str = "search.old_rows";

/// The most nodes in one transaction, some 15 ms: longer ones would hold up writers.
const NODES: usize = 150;
/// The most bytes of text in one transaction.
const BYTES: usize = 512 * 1024;
/// How many parts are written before the thread lets go of the service, so that it can be dropped.
const PARTS: usize = 16;
/// How long to wait after a failure.
const AGAIN: Duration = Duration::from_secs(5);
/// After how long without a change segments are merged.
const QUIET: Duration = Duration::from_secs(2);
/// The pages that are written in one transaction then, some 5 ms.
const PAGES: i32 = 64;

/// Marks all documents where the index was made by another version.
///
/// # Errors
/// Those of the storage.
pub fn check_version(connection: &Connection) -> Result<(), ServiceError> {
    let version = format!("{LAYOUT_VERSION}.{TOKENIZER_VERSION}");
    let found: Option<String> = settings::get(connection, VERSION)?;
    if found.as_deref() == Some(&version) {
        return Ok(());
    }
    connection.execute("UPDATE document SET unindexed = unindexed + 1", ())?;
    settings::set(connection, VERSION, &version)?;
    let tokenizer = |version: &str| version.split_once('.').map(|(_, of)| of.to_owned());
    if found.is_some_and(|found| tokenizer(&found) != tokenizer(&version)) {
        settings::set(connection, OLD_ROWS, true)?;
    }
    Ok(())
}

/// What an edit has to write of the nodes that it touches: the thread leaves these alone where it is at work on their
/// document.
///
/// # Errors
/// Those of the storage.
pub fn rewrite(connection: &Connection, document: DocumentKey) -> Result<Rewrite, ServiceError> {
    let is_behind = connection
        .prepare_cached("SELECT 1 FROM document WHERE k = ?1 AND unindexed > 0")?
        .exists([document.0])?;
    Ok(match is_behind {
        false => Rewrite::Changed,
        true => of_behind(connection)?,
    })
}

/// What is to be written of a document that is behind.
fn of_behind(connection: &Connection) -> Result<Rewrite, ServiceError> {
    Ok(if rows_are_old(connection)? { Rewrite::All } else { Rewrite::Missing })
}

fn rows_are_old(connection: &Connection) -> Result<bool, ServiceError> {
    Ok(settings::get(connection, OLD_ROWS)?.unwrap_or(false))
}

/// No document is behind any more.
fn all_rows_are_new(service: &Arc<Service>) -> Result<(), ServiceError> {
    if service.store.read(rows_are_old)? {
        service.write(|_, transaction| {
            let sql = "DELETE FROM setting WHERE key = ?1 AND NOT EXISTS
                       (SELECT 1 FROM document INDEXED BY document_unindexed WHERE unindexed > 0)";
            transaction.connection.execute(sql, [OLD_ROWS])?;
            Ok(())
        })?;
    }
    Ok(())
}

/// The workspaces of which some documents are not wholly indexed.
///
/// # Errors
/// Those of the storage.
pub fn behind(connection: &Connection) -> Result<Vec<(WorkspaceKey, WorkspaceId)>, ServiceError> {
    let mut statement = connection.prepare_cached(
        "SELECT k, id FROM workspace WHERE k IN
           (SELECT workspace FROM document INDEXED BY document_unindexed WHERE unindexed > 0)
         ORDER BY position, k",
    )?;
    let rows = statement.query_map((), |row| {
        Ok((WorkspaceKey(row.get(0)?), WorkspaceId::from_bytes(row.get(1)?)))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Starts the thread; it ends with the service.
pub fn start(service: &Arc<Service>) {
    let weak = Arc::downgrade(service);
    let wake = Arc::clone(&service.search.wake);
    wake.wake();
    let spawned =
        std::thread::Builder::new().name("search".into()).spawn(move || run(&weak, &wake));
    if spawned.is_err() {
        tracing::warn!("no thread for the index of search");
    }
}

fn run(service: &Weak<Service>, wake: &Wake) {
    // The first search shall not wait for it.
    if let Some(service) = service.upgrade()
        && let Err(error) = service.search.memory.view(&service.store)
    {
        tracing::warn!(%error, "what searches look up could not be read yet");
    }
    let mut most = Duration::MAX;
    let mut commits = 0;
    loop {
        let before = std::mem::replace(&mut commits, wake.wait(most));
        let mut worked = repeat(service, wake, catch_up);
        let mut what = "brought up to date";
        if worked.is_ok() && most == QUIET && commits == before {
            what = "merged";
            worked = repeat(service, wake, |service| {
                let goes_on = wake.is_quiet(commits) && merge(service)?;
                if !goes_on {
                    wake.merged(commits);
                }
                Ok(goes_on)
            });
        }
        most = match worked {
            Ok(()) if wake.is_unmerged() => QUIET,
            Ok(()) => Duration::MAX,
            Err(ServiceError::Stopping) => return,
            Err(error) => {
                // What is left stays marked.
                tracing::warn!(%error, "the index of search could not be {what}");
                AGAIN
            }
        };
    }
}

/// Works until nothing is left to do. It keeps no service alive that others are done with.
///
/// # Errors
/// Those of the work; that the service stops.
fn repeat(
    service: &Weak<Service>,
    wake: &Wake,
    mut work: impl FnMut(&Arc<Service>) -> Result<bool, ServiceError>,
) -> Result<(), ServiceError> {
    loop {
        let service = service.upgrade().filter(|_| !wake.has_ended());
        if !work(&service.ok_or(ServiceError::Stopping)?)? {
            return Ok(());
        }
    }
}

/// Merges some segments of the tables, where that is due; whether it is to go on.
///
/// # Errors
/// Those of the storage.
pub fn merge(service: &Arc<Service>) -> Result<bool, ServiceError> {
    service.write(|_, transaction| transaction.state.search.merge(transaction.connection, PAGES))
}

/// A document whose index is behind, read outside the writing thread.
struct Behind {
    key: DocumentKey,
    workspace: WorkspaceKey,
    modified_at: i64,
    /// How often the index had fallen behind then.
    times: i64,
    seq: u64,
    state: State,
    nodes: Vec<NodeId>,
    rewrite: Rewrite,
}

/// Indexes some documents; whether there was anything to do. While a part of them is written, the next one is read.
///
/// # Errors
/// Those of the storage.
pub fn catch_up(service: &Arc<Service>) -> Result<bool, ServiceError> {
    let mut batch = service.store.read(|connection| gather(connection, None))?;
    if batch.is_empty() {
        all_rows_are_new(service)?;
        return Ok(false);
    }
    for part in 1..=PARTS {
        let after = batch.last().map(|last| (last.modified_at, last.key));
        let read = || service.store.read(|connection| gather(connection, after));
        batch = std::thread::scope(|scope| {
            let goes_on = part < PARTS && !service.search.wake.has_ended();
            let reader = goes_on.then(|| std::thread::Builder::new().spawn_scoped(scope, read));
            write(service, batch)?;
            match reader {
                None => Ok(Vec::new()),
                Some(Ok(reader)) => reader
                    .join()
                    .unwrap_or(Err(ServiceError::Internal("a document could not be read"))),
                Some(Err(_)) => read(),
            }
        })?;
        if batch.is_empty() {
            break;
        }
    }
    Ok(true)
}

/// Writes the index of one large document, or of several small ones.
fn write(service: &Arc<Service>, batch: Vec<Behind>) -> Result<(), ServiceError> {
    if let [large] = batch.as_slice()
        && large.nodes.len() > NODES
    {
        let batch = Arc::new(batch);
        let mut from = 0;
        let count = batch.first().map_or(0, |large| large.nodes.len());
        while from < count {
            let batch = Arc::clone(&batch);
            from = service.write(move |_, transaction| match batch.first() {
                Some(large) => {
                    let until = chunk(large, from);
                    index(transaction, large, from..until)?;
                    if until == count {
                        finish(transaction, large)?;
                    }
                    Ok(until)
                }
                None => Ok(count),
            })?;
        }
        return Ok(());
    }
    service.write(move |_, transaction| {
        for small in &batch {
            index(transaction, small, 0..small.nodes.len())?;
            finish(transaction, small)?;
        }
        Ok(())
    })
}

/// Where a transaction that begins with node `from` ends.
fn chunk(document: &Behind, from: usize) -> usize {
    let mut bytes = 0;
    let nodes = document.nodes.iter().enumerate().skip(from);
    for (index, id) in nodes {
        bytes += document.state.node(*id).map_or(0, |node| node.stored.len());
        if index > from && (index - from >= NODES || bytes > BYTES) {
            return index;
        }
    }
    document.nodes.len()
}

/// Reads some of the documents whose index is behind, of those that follow `after` in their order.
fn gather(
    connection: &Connection,
    after: Option<(i64, DocumentKey)>,
) -> Result<Vec<Behind>, ServiceError> {
    let rewrite = of_behind(connection)?;
    let mut statement = connection.prepare_cached(
        "SELECT k, unindexed, workspace, head, modified_at
         FROM document INDEXED BY document_unindexed
         WHERE unindexed > 0 AND (modified_at, k) > (?1, ?2) ORDER BY modified_at, k LIMIT 200",
    )?;
    let (modified_at, key) = after.map_or((i64::MIN, i64::MIN), |(at, key)| (at, key.0));
    let mut rows = statement.query((modified_at, key))?;
    let mut batch = Vec::new();
    let (mut nodes, mut bytes) = (0, 0);
    while let Some(row) = rows.next()? {
        let key = DocumentKey(row.get(0)?);
        let seq = row.get::<_, i64>(3)?.unsigned_abs();
        let trail = log::trail(connection, key, seq)?;
        let document = Document::load(0, trail.keyframe.as_deref(), trail.updates)?;
        let state = document.state().clone();
        let order = state.subtree(state.root());
        nodes += order.len();
        bytes += order
            .iter()
            .filter_map(|id| state.node(*id))
            .map(|node| node.stored.len())
            .sum::<usize>();
        if !batch.is_empty() && (nodes > NODES || bytes > BYTES) {
            break;
        }
        batch.push(Behind {
            key,
            workspace: WorkspaceKey(row.get(2)?),
            modified_at: row.get(4)?,
            times: row.get(1)?,
            seq,
            state,
            nodes: order,
            rewrite,
        });
        if nodes > NODES {
            break;
        }
    }
    Ok(batch)
}

/// Writes the index of some nodes. Those that were changed since the document was read are right already.
fn index(
    transaction: &mut Transaction<'_, crate::service::State>,
    behind: &Behind,
    range: std::ops::Range<usize>,
) -> Result<(), ServiceError> {
    let connection = transaction.connection;
    let changed = documents::nodes_touched_since(connection, behind.key, behind.seq)?;
    let mut indexing = Indexing::of(
        connection,
        &mut transaction.state.search,
        behind.workspace,
        behind.key,
        &behind.state,
        behind.rewrite,
    );
    let nodes = behind.nodes.get(range).unwrap_or_default();
    for node in
        nodes.iter().filter(|id| !changed.contains(id)).filter_map(|id| behind.state.node(*id))
    {
        let node: &Node = node;
        let key = indexing.node(node)?;
        uses::index(connection, behind.key, key, Some(node), node)?;
    }
    Ok(())
}

/// The document is indexed to its end; where the index fell behind again meanwhile it is indexed once more.
fn finish(
    transaction: &mut Transaction<'_, crate::service::State>,
    behind: &Behind,
) -> Result<(), ServiceError> {
    let connection = transaction.connection;
    let changed = documents::nodes_touched_since(connection, behind.key, behind.seq)?;
    Indexing::of(
        connection,
        &mut transaction.state.search,
        behind.workspace,
        behind.key,
        &behind.state,
        behind.rewrite,
    )
    .sweep(|id| changed.contains(&id))?;
    connection
        .prepare_cached("UPDATE document SET unindexed = 0 WHERE k = ?1 AND unindexed = ?2")?
        .execute((behind.key.0, behind.times))?;
    Ok(())
}
