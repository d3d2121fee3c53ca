//! What the file store does to the disk, step by step, so that a test can let each of them fail.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

/// The steps. None of them is tried again.
pub trait Disk: Send + Sync {
    /// Makes an empty file for the user alone, which must not exist.
    ///
    /// # Errors
    /// What the system says.
    fn create(&self, path: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path)
    }

    /// Appends bytes to a file.
    ///
    /// # Errors
    /// What the system says; part of the bytes may be there then.
    fn append(&self, mut file: &File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    /// Waits until a file is on the disk.
    ///
    /// # Errors
    /// What the system says.
    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    /// Makes a folder for the user alone; one that is there is fine.
    ///
    /// # Errors
    /// What the system says.
    fn make_folder(&self, path: &Path) -> io::Result<()> {
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match builder.create(path) {
            Err(_) if path.is_dir() => Ok(()),
            made => made,
        }
    }

    /// Gives a file another name, in place of what has that name.
    ///
    /// # Errors
    /// What the system says.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    /// Waits until the entries of a folder are on the disk.
    ///
    /// # Errors
    /// What the system says.
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        // Windows keeps folders by itself, and lets nobody open them.
        if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
    }

    /// Removes a file.
    ///
    /// # Errors
    /// What the system says.
    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }
}

/// The computer's own disk.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl Disk for RealDisk {}
