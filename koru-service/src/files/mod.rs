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

/// Removes contents that nothing names and that are older than a day by the service's clock; stops where
/// the service ends.
///
/// # Errors
/// Those of the storage.
pub fn sweep(service: &Arc<Service>) -> Result<(), ServiceError> {
    let stopping = service.stopping();
    let mut swept = 0;
    for folder in service.contents.folders() {
        let old = Contents::old(&folder, service.outside.now());
        let orphans = service.store.read(|connection| {
            let mut orphans = Vec::new();
            for hash in old {
                if !files::is_content(connection, hash)? {
                    orphans.push(hash);
                }
            }
            Ok(orphans)
        })?;
        for hash in orphans {
            if *stopping.borrow() {
                return Ok(());
            }
            removing::content(service, hash)?;
            swept += 1;
        }
    }
    if swept > 0 {
        tracing::info!(count = swept, "contents that nothing names were removed");
    }
    Ok(())
}
