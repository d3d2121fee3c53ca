//! Files: their bytes on the disk, how they come in, and how they are read.
//!
//! Invariants: a row in the database means whole bytes on the disk; nobody sees a file before its
//! last byte is there; the service never opens a path that a person or a client named.

mod contents;
pub mod disk;
pub mod mime;
pub mod reading;
mod refusal;
pub mod removing;
pub mod upload;
pub mod verify;

pub use contents::{Contents, Damage};
pub use upload::Uploads;

use std::sync::Arc;

use crate::errors::ServiceError;
use crate::service::Service;
use crate::store::files;

/// Removes contents that nothing names and that are older than a day by the service's clock.
///
/// # Errors
/// Those of the storage.
pub fn sweep(service: &Arc<Service>) -> Result<(), ServiceError> {
    let mut orphans = service.contents.old(service.outside.now());
    service.store.read(|connection| {
        let mut from = files::ContentKey(0);
        while !orphans.is_empty()
            && let Some(content) = files::next_content(connection, from)?
        {
            orphans.remove(&content.hash);
            from = files::ContentKey(content.key.0 + 1);
        }
        Ok(())
    })?;
    for hash in &orphans {
        removing::content(service, *hash)?;
    }
    if !orphans.is_empty() {
        tracing::info!(count = orphans.len(), "contents that nothing names were removed");
    }
    Ok(())
}
