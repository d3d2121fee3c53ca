//! Keyframes and packed log, made beside the work of others.
//!
//! The state is built and compressed on a thread of its own, so that the writing thread only writes
//! the result.

use std::sync::Arc;

use koru_model::document::Document;

use crate::errors::ServiceError;
use crate::service::Service;
use crate::store::documents::DocumentRow;
use crate::store::log;

/// After so many changes behind the newest keyframe a new one is due.
const CHANGES: u64 = 256;
/// After so many bytes of log behind the newest keyframe a new one is due.
const BYTES: u64 = 64 * 1024;
/// Where so little was logged, the size alone is no reason.
const FEW: u64 = 32;

/// Whether the log behind the newest keyframe is long enough.
pub(super) fn is_due(changes: u64, bytes: u64, is_first: bool) -> bool {
    changes >= CHANGES || (bytes >= BYTES && (is_first || changes >= FEW))
}

/// Makes a keyframe of the document's present state, and packs the log in front of it.
pub(super) fn start(service: &Arc<Service>, row: DocumentRow) {
    let service = Arc::clone(service);
    let spawned = std::thread::Builder::new().name("packing".into()).spawn(move || {
        match pack(&service, row) {
            Ok(()) => {}
            // The log is whole without it; a later change tries again.
            Err(error) => tracing::warn!(%error, "a keyframe could not be made"),
        }
    });
    if spawned.is_err() {
        tracing::warn!("no thread for a keyframe");
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
