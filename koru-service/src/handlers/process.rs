//! The service itself: how it is, and its end.

use koru_model::protocol::wire::{BUILD, Hello, RELEASE};
use serde_json::json;
use serde_json::value::RawValue;

use super::ready;
use crate::errors::ServiceError;
use crate::service::Service;
use crate::store::migrations::SCHEMA;

pub(super) fn status(service: &Service) -> Result<Box<RawValue>, ServiceError> {
    let store = &service.store;
    ready(&json!({
        "pid": std::process::id(),
        "version": RELEASE,
        "build": BUILD,
        "uptime_s": service.uptime(),
        "connections": service.connections(),
        "store": {
            "path": store.path(),
            "schema": SCHEMA,
            "bytes": store.bytes(),
            "free_bytes": free_bytes(&service.home.store),
            "healthy": store.is_healthy(),
        },
    }))
}

/// The answer still goes out: calls in flight are finished before the end.
pub(super) fn stop(service: &Service) -> Result<Box<RawValue>, ServiceError> {
    service.stop();
    ready(&json!({ "stopping": true }))
}

pub(super) fn make_room(
    service: &Service,
    release: String,
    build: String,
) -> Result<Box<RawValue>, ServiceError> {
    let own = service.hello();
    if !(Hello { release, build, ..own.clone() }).is_newer_than(&own) {
        return Err(ServiceError::NotNewer);
    }
    stop(service)
}

/// How much room is left on the disk of the folder; none where the system does not tell.
#[cfg(unix)]
fn free_bytes(folder: &std::path::Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(not(unix))]
fn free_bytes(_: &std::path::Path) -> Option<u64> {
    None
}
