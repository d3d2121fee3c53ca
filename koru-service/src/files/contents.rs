//! The contents of files, each once, under its hash: `files/ab/abcd…`. No name of a person's ever becomes a path.
//!
//! A content is written whole and is on the disk, its folders included, before the database names it.
//! It goes after the last row that named it. What a crash leaves between the two is swept.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::UNIX_EPOCH;

use koru_model::content::{ContentHash, PIECE_BYTES, PieceValue, piece_value, pieces_of};
use koru_model::ids::FileId;

use super::disk::Disk;
use crate::errors::ServiceError;
use crate::store::files::Content;

/// How old a content is that nobody names, before it is swept, in milliseconds.
const ORPHAN_MS: i64 = 24 * 60 * 60 * 1000;

/// A content is not what it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// It is not there.
    Missing,
    /// It has another length.
    Length,
    /// The piece that begins at this byte is another.
    Piece(u64),
    /// The disk does not give it.
    Unreadable,
}

impl Damage {
    /// Its name, for programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Length => "length",
            Self::Piece(_) => "damaged",
            Self::Unreadable => "unreadable",
        }
    }

    /// Where the damaged piece begins, in bytes.
    #[must_use]
    pub fn offset(self) -> Option<u64> {
        match self {
            Self::Piece(start) => Some(start),
            Self::Missing | Self::Length | Self::Unreadable => None,
        }
    }
}

/// The folder of contents.
pub struct Contents {
    folder: PathBuf,
    disk: Arc<dyn Disk>,
    prepared: Mutex<bool>,
    /// Contents that are about to get a row, with how many uploads bring them.
    held: Mutex<HashMap<ContentHash, usize>>,
}

/// While it lives, its content is not removed.
pub(super) struct Held {
    contents: Arc<Contents>,
    hash: ContentHash,
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut held = self.contents.held();
        if let Some(count) = held.get_mut(&self.hash) {
            *count -= 1;
            if *count == 0 {
                held.remove(&self.hash);
            }
        }
    }
}

impl Contents {
    /// The contents below the folder of the store; nothing is touched.
    #[must_use]
    pub fn new(store: &Path, disk: Arc<dyn Disk>) -> Self {
        Self {
            folder: store.join("files"),
            disk,
            prepared: Mutex::new(false),
            held: Mutex::default(),
        }
    }

    fn held(&self) -> MutexGuard<'_, HashMap<ContentHash, usize>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn incoming(&self) -> PathBuf {
        self.folder.join("incoming")
    }

    fn place_of(&self, hash: ContentHash) -> (PathBuf, PathBuf) {
        let name = hash.hex();
        let folder = self.folder.join(name.get(..2).unwrap_or_default());
        let path = folder.join(name);
        (folder, path)
    }

    /// The disk.
    pub(super) fn disk(&self) -> &dyn Disk {
        &*self.disk
    }

    /// Makes an empty file for what an upload brings.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn begin(&self, upload: FileId) -> io::Result<(PathBuf, File)> {
        self.prepare()?;
        let path = self.incoming().join(upload.to_string());
        match self.disk.remove(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = self.disk.create(&path)?;
        Ok((path, file))
    }

    /// Makes the folders, once in the life of the service, whatever the one before left half done.
    fn prepare(&self) -> io::Result<()> {
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if !*prepared {
            self.disk.make_folder(&self.folder)?;
            self.disk.make_folder(&self.incoming())?;
            self.disk.sync_folder(&self.folder)?;
            if let Some(store) = self.folder.parent() {
                self.disk.sync_folder(store)?;
            }
            *prepared = true;
        }
        Ok(())
    }

    /// Keeps a content from being removed.
    pub(super) fn hold(self: &Arc<Self>, hash: ContentHash) -> Held {
        *self.held().entry(hash).or_default() += 1;
        Held { contents: Arc::clone(self), hash }
    }

    /// Puts a whole file where the contents are; it is on the disk then, under its hash.
    ///
    /// One that is there already is replaced: the bytes are the same, or were damaged.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn place(&self, file: File, from: &Path, hash: ContentHash) -> io::Result<()> {
        self.disk.sync(&file)?;
        drop(file);
        let (folder, path) = self.place_of(hash);
        self.disk.make_folder(&folder)?;
        self.disk.rename(from, &path)?;
        self.disk.sync_folder(&folder)?;
        // The folder may be new, now or by a life of the service that ended before this step.
        self.disk.sync_folder(&self.folder)
    }

    /// Removes a content where nothing names it; `is_named` looks into the database.
    ///
    /// # Errors
    /// Those of `is_named`. That the disk keeps it is none: it is swept later.
    pub(super) fn remove(
        &self,
        hash: ContentHash,
        is_named: impl FnOnce() -> Result<bool, ServiceError>,
    ) -> Result<(), ServiceError> {
        // Who holds it now is about to name it; who holds it later puts it there again.
        let held = self.held();
        if !held.contains_key(&hash) && !is_named()? {
            let _ = self.disk.remove(&self.place_of(hash).1);
        }
        drop(held);
        Ok(())
    }

    /// Removes what uploads of earlier lives of the service left. Nothing may be uploaded meanwhile.
    pub(crate) fn sweep_incoming(&self) {
        for entry in std::fs::read_dir(self.incoming()).into_iter().flatten().flatten() {
            let _ = self.disk.remove(&entry.path());
        }
    }

    /// The folders that contents stand in.
    pub(super) fn folders(&self) -> impl Iterator<Item = PathBuf> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.filter(|entry| entry.file_name().len() == 2).map(|entry| entry.path())
    }

    /// The contents of one of these folders that are older than a day at `now` (milliseconds since 1970, UTC).
    pub(super) fn old(folder: &Path, now: i64) -> Vec<ContentHash> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let is_old = |entry: &std::fs::DirEntry| {
            let written = entry.metadata().and_then(|found| found.modified()).ok();
            let age = written.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
            let written = age.and_then(|age| i64::try_from(age.as_millis()).ok());
            written.is_some_and(|at| at.saturating_add(ORPHAN_MS) <= now)
        };
        entries
            .filter(is_old)
            .filter_map(|entry| ContentHash::from_hex(entry.file_name().to_str()?))
            .collect()
    }

    /// Opens a content for reading.
    ///
    /// # Errors
    /// When it is missing, or has another length than it should.
    pub(super) fn open(&self, content: &Content) -> Result<Opened, Damage> {
        let file =
            File::open(self.place_of(content.hash).1).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => Damage::Missing,
                _ => Damage::Unreadable,
            })?;
        let found = file.metadata().map_err(|_| Damage::Unreadable)?;
        if found.len() != content.size {
            return Err(Damage::Length);
        }
        Ok(Opened { file, size: content.size })
    }
}

/// A content that is read piece by piece.
pub(super) struct Opened {
    file: File,
    size: u64,
}

impl Opened {
    /// Reads a piece and checks it.
    ///
    /// # Errors
    /// When it cannot be read or is not what it was.
    pub(super) fn piece(&mut self, number: u64, value: &PieceValue) -> Result<Vec<u8>, Damage> {
        let start = number * PIECE_BYTES;
        let length = self.size.saturating_sub(start).min(PIECE_BYTES);
        let mut bytes = vec![0; usize::try_from(length).map_err(|_| Damage::Length)?];
        let read =
            self.file.seek(SeekFrom::Start(start)).and_then(|_| self.file.read_exact(&mut bytes));
        match read {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(Damage::Length);
            }
            Err(_) => return Err(Damage::Unreadable),
        }
        let is_only = pieces_of(self.size) == 1;
        if piece_value(&bytes, number, is_only) == *value {
            Ok(bytes)
        } else {
            Err(Damage::Piece(start))
        }
    }
}
