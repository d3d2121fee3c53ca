//! Keyframes and packed log, made beside the work of others.
//!
//! The state is built and compressed on a thread of its own, so that the writing thread only writes
//! the result.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use koru_model::document::Document;

use crate::errors::ServiceError;
use crate::service::Service;
use crate::store::documents::DocumentRow;
use crate::store::log::{self, Tail};

/// After so many changes behind the newest keyframe a new one is due, or after one for every
/// sixteenth node: what is replayed then costs less than the keyframe.
const CHANGES: u64 = 256;
const NODES_PER_CHANGE: usize = 16;
/// After so many bytes of log behind the newest keyframe a new one is due, or after as many as it
/// takes itself: keyframes then take no more than the log.
const BYTES: u64 = 64 * 1024;

/// The one who packs. One document at a time: what is due meanwhile is found due again later.
#[derive(Debug, Default)]
pub struct Packing(AtomicBool);

/// How often the log is looked at, in changes: counting it costs more than many an edit.
const LOOK: u64 = 16;

/// Whether it is time to look how long the log has become.
pub(super) fn is_time_to_look(row: &DocumentRow) -> bool {
    (row.head - row.key_seq).is_multiple_of(LOOK)
}

/// Whether the log behind the newest keyframe is long enough, for a document of so many nodes.
pub(super) fn is_due(tail: Tail, nodes: usize) -> bool {
    let changes = u64::try_from(nodes / NODES_PER_CHANGE).unwrap_or(u64::MAX).max(CHANGES);
    tail.changes >= changes || tail.bytes >= tail.keyframe_bytes.max(BYTES)
}

/// Makes a keyframe of the document's present state, and packs the log in front of it.
pub(super) fn start(service: &Arc<Service>, row: DocumentRow) {
    if service.packing.0.swap(true, Ordering::AcqRel) {
        return;
    }
    let service = Arc::clone(service);
    let packer = Arc::clone(&service);
    let spawned = std::thread::Builder::new().name("packing".into()).spawn(move || {
        // Given back however the thread ends.
        let _turn = Turn(&service.packing);
        match pack(&service, row) {
            Ok(()) => {}
            // The log is whole without it; a later change tries again.
            Err(error) => tracing::warn!(%error, "a keyframe could not be made"),
        }
    });
    if spawned.is_err() {
        packer.packing.0.store(false, Ordering::Release);
        tracing::warn!("no thread for a keyframe");
    }
}

/// The turn of the thread that packs.
struct Turn<'a>(&'a Packing);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.0.store(false, Ordering::Release);
    }
}

fn pack(service: &Arc<Service>, row: DocumentRow) -> Result<(), ServiceError> {
    let trail = service.store.read(|connection| log::trail(connection, row.key, row.head))?;
    let (from, updates) = (trail.from, trail.updates);
    let document = Document::load(0, trail.keyframe.as_deref(), &updates)?;
    let packed = log::pack(from, &updates, &document.replica().encode()?)?;
    service.write(move |_, transaction| {
        let has_moved = log::newest_keyframe(transaction.connection, row.key)? != from;
        if has_moved { Ok(()) } else { log::write_packed(transaction.connection, row.key, &packed) }
    })
}
