//! Uploads: a file comes in by pieces, and becomes one of its workspace when it is whole.
//!
//! An upload lives in memory and in one file of `incoming/`; it ends with the service. Its pieces go to
//! the disk on the thread that received them; only the row of the finished file passes the writing thread.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use koru_model::content::{ContentHash, ContentHasher};
use koru_model::file_name;
use koru_model::ids::{FileId, NodeId, WorkspaceId};
use koru_model::limits;

use super::contents::Held;
use super::{mime, refusal, removing};
use crate::errors::{ServiceError, StorageFault};
use crate::service::Service;
use crate::session::Session;
use crate::store::files::{self, Listed, NewContent, NewFile};

/// The most uploads at the same time.
pub const MOST: usize = 8;
/// After how long without a call an upload is given up, in milliseconds.
pub const IDLE_MS: i64 = 10 * 60 * 1000;
/// The same where no other upload could begin.
pub const QUIET_MS: i64 = 20 * 1000;

/// After how many bytes what was received is made to reach the disk.
const SYNC_BYTES: u64 = 64 * 1024 * 1024;

/// The uploads of this life of the service.
#[derive(Default)]
pub struct Uploads {
    all: Mutex<HashMap<FileId, Arc<Upload>>>,
}

struct Upload {
    workspace: WorkspaceId,
    name: String,
    size: Option<u64>,
    /// When it was last called for, in milliseconds since 1970 (UTC).
    touched: AtomicI64,
    stage: Mutex<Stage>,
}

enum Stage {
    /// Its bytes come in.
    Receiving { path: PathBuf, file: File, hasher: Box<ContentHasher>, head: Vec<u8> },
    /// Its content is in its place; the row is missing.
    Placed { content: NewContent, mime: String, held: Held },
    /// It is over, well or not.
    Over,
}

impl Uploads {
    fn all(&self) -> MutexGuard<'_, HashMap<FileId, Arc<Upload>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(
        &self,
        service: &Service,
        session: &Session,
        id: FileId,
    ) -> Result<Option<Arc<Upload>>, ServiceError> {
        let Some(upload) = self.all().get(&id).cloned() else { return Ok(None) };
        if !session.includes(upload.workspace) {
            return Err(ServiceError::WorkspaceOutOfReach(upload.workspace));
        }
        upload.touched.store(service.outside.now(), Ordering::Relaxed);
        Ok(Some(upload))
    }

    /// Forgets an upload, unless another one was begun under its ID.
    fn forget(&self, id: FileId, upload: &Arc<Upload>) {
        let mut all = self.all();
        if all.get(&id).is_some_and(|found| Arc::ptr_eq(found, upload)) {
            all.remove(&id);
        }
    }
}

impl Upload {
    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends an upload; what it left on the disk goes.
fn end(service: &Service, id: FileId, upload: &Arc<Upload>, stage: &mut Stage) {
    match std::mem::replace(stage, Stage::Over) {
        Stage::Receiving { path, file, .. } => {
            drop(file);
            // What the disk keeps is swept by the next start.
            let _ = service.contents.disk().remove(&path);
        }
        Stage::Placed { content, held, .. } => {
            drop(held);
            // Where this fails the content is an orphan, which is swept later.
            let _ = removing::content(service, content.hash);
        }
        Stage::Over => {}
    }
    service.uploads.forget(id, upload);
}

/// Begins an upload; one of the same ID begins anew.
///
/// # Errors
/// When the name is none, the ID is that of a file, too many uploads are under way, or the disk has no room.
pub fn begin(
    service: &Arc<Service>,
    session: &Session,
    workspace: WorkspaceId,
    id: FileId,
    name: String,
    size: Option<u64>,
) -> Result<(), ServiceError> {
    file_name::check(&name).map_err(|fault| ServiceError::invalid("name", fault.to_string()))?;
    service.store.read(|connection| {
        session.reach_to_write(service, connection, workspace)?;
        if files::is_taken(connection, id)? {
            let reason = "is the ID of a file; choose a new UUID";
            return Err(ServiceError::invalid("upload_id", reason));
        }
        Ok(())
    })?;
    if let (Some(size), Some(free)) = (size, crate::process::free_bytes(&service.home.store))
        && size > free
    {
        return Err(ServiceError::Storage(StorageFault::Full));
    }
    if let Some(before) = service.uploads.find(service, session, id)? {
        end(service, id, &before, &mut before.stage());
    }
    expire(service, IDLE_MS);
    if service.uploads.all().len() >= MOST {
        // Their clients may have been killed: one that lives sends a piece every moment.
        expire(service, QUIET_MS);
    }
    let upload = Arc::new(Upload {
        workspace,
        name,
        size,
        touched: AtomicI64::new(service.outside.now()),
        stage: Mutex::new(Stage::Over),
    });
    let mut stage = upload.stage();
    {
        let mut all = service.uploads.all();
        let count = all.len();
        match all.entry(id) {
            Entry::Occupied(_) => return Err(refusal::too_many_uploads()),
            Entry::Vacant(_) if count >= MOST => return Err(refusal::too_many_uploads()),
            Entry::Vacant(place) => place.insert(Arc::clone(&upload)),
        };
    }
    match service.contents.begin(id) {
        Ok((path, file)) => {
            let (hasher, head) = (Box::default(), Vec::new());
            *stage = Stage::Receiving { path, file, hasher, head };
            Ok(())
        }
        Err(error) => {
            end(service, id, &upload, &mut stage);
            Err(storage(&error))
        }
    }
}

/// Takes the next bytes; how many there are now.
///
/// # Errors
/// When there is no such upload, the bytes do not go on where it ends, or the disk refuses them; then it is over.
pub fn chunk(
    service: &Arc<Service>,
    session: &Session,
    id: FileId,
    offset: u64,
    bytes: &[u8],
) -> Result<u64, ServiceError> {
    let upload =
        service.uploads.find(service, session, id)?.ok_or_else(|| refusal::no_upload(id))?;
    let most = limits::FILE_PIECE_BYTES as usize;
    if !(1..=most).contains(&bytes.len()) {
        return Err(ServiceError::invalid("base64", format!("must hold 1 to {most} bytes")));
    }
    let mut stage = upload.stage();
    let Stage::Receiving { file, hasher, head, .. } = &mut *stage else {
        return Err(refusal::no_upload(id));
    };
    let received = hasher.bytes();
    let end_of_chunk = offset.saturating_add(bytes.len() as u64);
    if offset < received && end_of_chunk <= received {
        return Ok(received);
    }
    if offset != received {
        let reason = format!("is not where the upload goes on, which is {received}");
        return Err(ServiceError::invalid("offset", reason));
    }
    if upload.size.is_some_and(|size| end_of_chunk > size) {
        end(service, id, &upload, &mut stage);
        return Err(ServiceError::invalid("base64", "brings more bytes than size said"));
    }
    if let Err(error) = service.contents.disk().append(file, bytes) {
        end(service, id, &upload, &mut stage);
        return Err(storage(&error));
    }
    // Now and then, so that the last sync waits for little and a full disk is told early.
    let is_due = end_of_chunk / SYNC_BYTES > received / SYNC_BYTES;
    if is_due && let Err(error) = service.contents.disk().sync(file) {
        end(service, id, &upload, &mut stage);
        return Err(storage(&error));
    }
    hasher.update(bytes);
    let wanted = mime::HEAD_BYTES.saturating_sub(head.len()).min(bytes.len());
    head.extend_from_slice(bytes.get(..wanted).unwrap_or_default());
    Ok(hasher.bytes())
}

/// Makes an upload a file of its workspace.
///
/// # Errors
/// When there is no such upload, what was received is not what was sent, or the disk refuses; then it is over.
pub fn finish(
    service: &Arc<Service>,
    session: &Session,
    workspace: WorkspaceId,
    id: FileId,
    hash: ContentHash,
) -> Result<Listed, ServiceError> {
    let found = service.uploads.find(service, session, id)?;
    let Some(upload) = found.filter(|upload| upload.workspace == workspace) else {
        return finished(service, session, workspace, id, hash);
    };
    let mut stage = upload.stage();
    match &*stage {
        Stage::Over => {
            drop(stage);
            return finished(service, session, workspace, id, hash);
        }
        Stage::Receiving { .. } => place(service, id, &upload, &mut stage, hash)?,
        Stage::Placed { .. } => {}
    }
    let Stage::Placed { content, mime, .. } = &*stage else {
        return Err(refusal::no_upload(id));
    };
    match write_row(service, session, workspace, id, &upload.name, mime, content) {
        Ok(listed) => {
            *stage = Stage::Over;
            service.uploads.forget(id, &upload);
            Ok(listed)
        }
        // Once more in a moment, with what is there.
        Err(error @ (ServiceError::WritesQueued | ServiceError::Stopping)) => Err(error),
        Err(error @ ServiceError::OutcomeUnknown(_)) => {
            // The row may be there: its content stays.
            *stage = Stage::Over;
            service.uploads.forget(id, &upload);
            Err(error)
        }
        Err(error) => {
            end(service, id, &upload, &mut stage);
            Err(error)
        }
    }
}

/// The file that an upload became, for who asks again.
fn finished(
    service: &Arc<Service>,
    session: &Session,
    workspace: WorkspaceId,
    id: FileId,
    hash: ContentHash,
) -> Result<Listed, ServiceError> {
    let found = service.store.read(|connection| {
        let workspace = session.reach(service, connection, workspace)?;
        files::one(connection, workspace, id)
    });
    match found {
        Ok((file, _)) if file.hash == hash => Ok(file),
        Ok(_) => {
            Err(ServiceError::invalid("hash", "is not that of the file that this upload became"))
        }
        Err(ServiceError::NotFound { .. }) => Err(refusal::no_upload(id)),
        Err(error) => Err(error),
    }
}

/// Puts what was received in its place.
fn place(
    service: &Arc<Service>,
    id: FileId,
    upload: &Arc<Upload>,
    stage: &mut Stage,
    wanted: ContentHash,
) -> Result<(), ServiceError> {
    let Stage::Receiving { path, file, hasher, head } = std::mem::replace(stage, Stage::Over)
    else {
        return Err(refusal::no_upload(id));
    };
    let size = hasher.bytes();
    let (hash, pieces) = hasher.finish();
    let refused = if upload.size.is_some_and(|said| said != size) {
        Some(format!("{size} bytes were received, not as many as size said"))
    } else {
        (hash != wanted).then(|| format!("is not that of what was received, which is {hash}"))
    };
    let held = service.contents.hold(hash);
    let placed = match refused {
        Some(reason) => {
            drop(file);
            Err(ServiceError::invalid("hash", reason))
        }
        None => service.contents.place(file, &path, hash).map_err(|error| storage(&error)),
    };
    match placed {
        Ok(()) => {
            let mime = mime::of(&head, &upload.name);
            *stage = Stage::Placed { content: NewContent { hash, size, pieces }, mime, held };
            Ok(())
        }
        Err(error) => {
            drop(held);
            let _ = service.contents.disk().remove(&path);
            // It may have been renamed already.
            let _ = removing::content(service, hash);
            service.uploads.forget(id, upload);
            Err(error)
        }
    }
}

fn write_row(
    service: &Arc<Service>,
    session: &Session,
    workspace: WorkspaceId,
    id: FileId,
    name: &str,
    mime: &str,
    content: &NewContent,
) -> Result<Listed, ServiceError> {
    let (session, name, mime) = (session.clone(), name.to_owned(), mime.to_owned());
    let content = content.clone();
    service.write(move |service, tx| {
        let workspace = session.reach_to_write(service, tx.connection, workspace)?;
        let new = NewFile {
            id,
            name: &name,
            mime: &mime,
            content: &content,
            root: NodeId(service.outside.new_id()),
            at: service.outside.now(),
        };
        files::insert(tx.connection, workspace, &new)?;
        Ok(files::one(tx.connection, workspace, id)?.0)
    })
}

/// Gives an upload up; one that is not there is fine.
///
/// # Errors
/// When its workspace is out of reach.
pub fn abort(service: &Arc<Service>, session: &Session, id: FileId) -> Result<(), ServiceError> {
    if let Some(upload) = service.uploads.find(service, session, id)? {
        end(service, id, &upload, &mut upload.stage());
    }
    Ok(())
}

/// Gives up the uploads that nobody has called for in `idle` milliseconds.
pub fn expire(service: &Service, idle: i64) {
    let before = service.outside.now().saturating_sub(idle);
    let old: Vec<(FileId, Arc<Upload>)> = service
        .uploads
        .all()
        .iter()
        .filter(|(_, upload)| upload.touched.load(Ordering::Relaxed) <= before)
        .map(|(id, upload)| (*id, Arc::clone(upload)))
        .collect();
    for (id, upload) in old {
        // One that is at work just now is not idle.
        if let Ok(mut stage) = upload.stage.try_lock() {
            end(service, id, &upload, &mut stage);
        }
    }
}

fn storage(error: &io::Error) -> ServiceError {
    let fault = StorageFault::of_file(error);
    tracing::error!(kind = ?error.kind(), "a file could not be kept");
    ServiceError::Storage(fault)
}
