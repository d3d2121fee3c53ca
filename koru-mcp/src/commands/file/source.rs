//! A file of a person's that is about to be added: what it is, and whether it stays so while it is read.
//!
//! Everything is asked of the open file, not of its path: what a path names may change between two looks.

use std::fs::{File, Metadata};
use std::io::{self, Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use koru_model::protocol::home::Home;

/// What a path names that may be added.
pub(super) enum Found {
    /// A file.
    File(Source),
    /// A folder, with the paths in it by name.
    Folder(Vec<PathBuf>),
}

/// A file that is open for reading.
pub(super) struct Source {
    path: PathBuf,
    file: File,
    before: Look,
}

/// What must not change while a file is read.
#[derive(Debug, PartialEq, Eq)]
struct Look {
    identity: Identity,
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Look {
    fn of(found: &Metadata) -> Self {
        Self { identity: identity(found), bytes: found.len(), modified: found.modified().ok() }
    }
}

/// Koru's own folders and the files that a hard link could name, none of which is ever added.
pub(super) struct Own {
    folders: Vec<PathBuf>,
    files: Vec<Identity>,
}

impl Own {
    pub(super) fn of(home: &Home) -> Self {
        let folders = [&home.store, &home.logs, &home.run];
        let database = home.database();
        let files = [
            database.with_extension("sqlite-wal"),
            database.with_extension("sqlite-shm"),
            database,
            home.lock(),
        ];
        Self {
            folders: folders.into_iter().filter_map(|path| path.canonicalize().ok()).collect(),
            files: files
                .iter()
                .filter_map(|path| std::fs::metadata(path).ok())
                .map(|found| identity(&found))
                .collect(),
        }
    }

    fn holds(&self, path: &Path, found: &Metadata) -> bool {
        let real = path.canonicalize();
        (found.is_file() && self.files.contains(&identity(found)))
            || real.is_ok_and(|real| self.folders.iter().any(|folder| real.starts_with(folder)))
    }
}

/// Opens what a path names, without waiting for anything and without following a link.
///
/// # Errors
/// Why it is not added, for a person.
pub(super) fn open(path: &Path, own: &Own) -> Result<Found, String> {
    // Looked at before it is opened, for to open a device may do something.
    let found = std::fs::symlink_metadata(path).map_err(|error| said(&error))?;
    refuse_odd(&found)?;
    let file = open_at_once(path).map_err(|error| said(&error))?;
    let found = file.metadata().map_err(|error| said(&error))?;
    refuse_odd(&found)?;
    if own.holds(path, &found) {
        return Err("belongs to Koru's own store and is not added".into());
    }
    if found.is_dir() {
        let entries = std::fs::read_dir(path).map_err(|error| said(&error))?;
        let mut paths = Vec::new();
        for entry in entries {
            paths.push(entry.map_err(|error| said(&error))?.path());
        }
        paths.sort();
        return Ok(Found::Folder(paths));
    }
    Ok(Found::File(Source { path: path.to_path_buf(), file, before: Look::of(&found) }))
}

/// Refuses what is neither a file nor a folder.
fn refuse_odd(found: &Metadata) -> Result<(), String> {
    let kind = found.file_type();
    if kind.is_symlink() {
        return Err("is a symbolic link, which is not followed; name what it points to".into());
    }
    if kind.is_file() || kind.is_dir() {
        return Ok(());
    }
    Err(format!("is {}; only files and folders are added", odd_kind(kind)))
}

#[cfg(unix)]
fn odd_kind(kind: std::fs::FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
fn odd_kind(_: std::fs::FileType) -> &'static str {
    "no file"
}

#[cfg(unix)]
fn open_at_once(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags =
        OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NOCTTY;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

/// Untested. Folders are opened for their look alone.
#[cfg(windows)]
fn open_at_once(path: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt as _;
    const BACKUP_SEMANTICS: u32 = 0x0200_0000;
    const OPEN_REPARSE_POINT: u32 = 0x0020_0000;
    std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(BACKUP_SEMANTICS | OPEN_REPARSE_POINT)
        .open(path)
}

#[cfg(unix)]
type Identity = (u64, u64);

#[cfg(unix)]
fn identity(found: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt as _;
    (found.dev(), found.ino())
}

/// Elsewhere a file is known by when it was made.
#[cfg(not(unix))]
type Identity = Option<SystemTime>;

#[cfg(not(unix))]
fn identity(found: &Metadata) -> Identity {
    found.created().ok()
}

fn said(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "is not there".into(),
        io::ErrorKind::PermissionDenied => "may not be read".into(),
        _ => format!("cannot be read: {error}"),
    }
}

impl Source {
    /// How long it is, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.before.bytes
    }

    /// Goes back to the first byte.
    ///
    /// # Errors
    /// Why that is not possible.
    pub(super) fn rewind(&mut self) -> Result<(), String> {
        self.file.rewind().map_err(|error| said(&error))
    }

    /// Fills the buffer as far as the file goes; how far.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Result<usize, String> {
        let mut filled = 0;
        while let Some(room) = buffer.get_mut(filled..).filter(|room| !room.is_empty()) {
            match self.file.read(room) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(said(&error)),
            }
        }
        Ok(filled)
    }

    /// Whether it still is what it was when it was opened, and was read whole.
    ///
    /// # Errors
    /// What became of it.
    pub(super) fn check(&self, read: u64) -> Result<(), String> {
        let now = self.file.metadata().map_err(|error| said(&error))?;
        if read != self.before.bytes || Look::of(&now) != self.before {
            return Err("changed while it was read, and is not added; try again".into());
        }
        match std::fs::symlink_metadata(&self.path) {
            Ok(found) if identity(&found) == self.before.identity => Ok(()),
            _ => Err("vanished while it was read, and is not added".into()),
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    struct Fixture {
        folder: tempfile::TempDir,
        own: Own,
    }

    impl Fixture {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let home = Home::under(&folder.path().join("home"), None);
            home.prepare().unwrap();
            std::fs::write(home.database(), "the store").unwrap();
            Self { own: Own::of(&home), folder }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn file(&self, name: &str, bytes: &str) -> Source {
            std::fs::write(self.path(name), bytes).unwrap();
            match open(&self.path(name), &self.own) {
                Ok(Found::File(source)) => source,
                _ => panic!("{name} is a file"),
            }
        }

        fn refused(&self, path: &Path) -> String {
            open(path, &self.own).err().unwrap_or_else(|| panic!("{}", path.display()))
        }
    }

    /// Case C65.
    #[test]
    fn what_is_no_file_is_refused_at_once() {
        let fixture = Fixture::new();
        std::fs::write(fixture.path("key"), "secret").unwrap();
        symlink(fixture.path("key"), fixture.path("link")).unwrap();
        symlink(fixture.path("nowhere"), fixture.path("dangling")).unwrap();
        let pipe = fixture.path("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(fixture.path("socket")).unwrap();
        for (path, why) in [
            (fixture.path("link"), "symbolic link"),
            (fixture.path("dangling"), "symbolic link"),
            (pipe, "a pipe"),
            (fixture.path("socket"), "a socket"),
            (PathBuf::from("/dev/null"), "a device"),
            (fixture.path("nowhere"), "not there"),
            (fixture.path("key").join("below"), "cannot be read"),
        ] {
            let said = fixture.refused(&path);
            assert!(said.contains(why), "{}: {said}", path.display());
        }
    }

    #[test]
    fn the_store_is_never_added() {
        let fixture = Fixture::new();
        let store = fixture.path("home").join("store");
        std::fs::hard_link(store.join("koru.sqlite"), fixture.path("innocent")).unwrap();
        symlink(&store, fixture.path("way")).unwrap();
        for path in [
            store.clone(),
            store.join("koru.sqlite"),
            store.join("../store/koru.sqlite"),
            fixture.path("way").join("koru.sqlite"),
            fixture.path("home").join("logs"),
            fixture.path("innocent"),
        ] {
            let said = fixture.refused(&path);
            assert!(said.contains("own store"), "{}: {said}", path.display());
        }
        let above = open(&fixture.path("home"), &fixture.own);
        assert!(matches!(above, Ok(Found::Folder(_))), "what stands beside it may be added");
    }

    #[test]
    fn a_file_that_does_not_stay_as_it_was_is_noticed() {
        let fixture = Fixture::new();
        let mut buffer = [0; 16];
        let mut source = fixture.file("same", "abc");
        assert_eq!((source.bytes(), source.read(&mut buffer)), (3, Ok(3)));
        assert_eq!(source.check(3), Ok(()));
        source.rewind().unwrap();
        assert_eq!(source.read(&mut buffer), Ok(3));

        let longer = fixture.file("longer", "abc");
        std::fs::write(fixture.path("longer"), "abcd").unwrap();
        assert!(longer.check(3).is_err_and(|said| said.contains("changed")));

        let shorter = fixture.file("shorter", "abc");
        assert!(shorter.check(2).is_err_and(|said| said.contains("changed")));

        let touched = fixture.file("touched", "abc");
        let later = SystemTime::now() + std::time::Duration::from_secs(9);
        File::options()
            .write(true)
            .open(fixture.path("touched"))
            .unwrap()
            .set_modified(later)
            .unwrap();
        assert!(touched.check(3).is_err_and(|said| said.contains("changed")));

        let gone = fixture.file("gone", "abc");
        std::fs::remove_file(fixture.path("gone")).unwrap();
        assert!(gone.check(3).is_err_and(|said| said.contains("vanished")));

        let replaced = fixture.file("replaced", "abc");
        std::fs::write(fixture.path("new"), "abc").unwrap();
        std::fs::rename(fixture.path("new"), fixture.path("replaced")).unwrap();
        assert!(replaced.check(3).is_err_and(|said| said.contains("vanished")));
    }

    #[test]
    fn a_folder_gives_what_is_in_it_by_name() {
        let fixture = Fixture::new();
        std::fs::create_dir(fixture.path("folder")).unwrap();
        for name in ["b", "a", "c"] {
            std::fs::write(fixture.path("folder").join(name), name).unwrap();
        }
        let Ok(Found::Folder(paths)) = open(&fixture.path("folder"), &fixture.own) else {
            panic!("it is a folder")
        };
        let names: Vec<_> = paths.iter().map(|path| path.file_name().unwrap()).collect();
        assert_eq!(names, ["a", "b", "c"]);
    }
}
