//! The service itself: how it is, and its end.

use koru_model::protocol::wire::{BUILD, Hello, RELEASE};
use serde_json::json;
use serde_json::value::RawValue;

use super::ready;
use crate::errors::ServiceError;
use crate::process::free_bytes;
use crate::service::Service;
use crate::store::files;
use crate::store::migrations::SCHEMA;

pub(super) fn status(service: &Service) -> Result<Box<RawValue>, ServiceError> {
    let store = &service.store;
    let in_files = store.read(files::bytes).unwrap_or_default();
    ready(&json!({
        "pid": std::process::id(),
        "version": RELEASE,
        "build": BUILD,
        "uptime_s": service.uptime(),
        "connections": service.connections(),
        "store": {
            "path": store.path(),
            "schema": SCHEMA,
            "bytes": store.bytes() + in_files,
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
