//! Where the store, the logs and the socket are.

use std::io;
use std::path::{Path, PathBuf};

use directories::ProjectDirs;

/// The environment variable that puts everything under one folder.
pub const HOME_VARIABLE: &str = "KORU_HOME";

/// The longest path of a socket, in bytes; macOS takes 103, Linux 107.
pub const SOCKET_PATH_BYTES: usize = 103;

/// The folders and files of one installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// The folder that everything is under where `KORU_HOME` names one.
    pub root: Option<PathBuf>,
    /// The folder of the store.
    pub store: PathBuf,
    /// The folder of the logs.
    pub logs: PathBuf,
    /// The folder of the socket.
    pub run: PathBuf,
    /// The socket (on Windows a pipe's name is made of it).
    pub socket: PathBuf,
}

/// No folder of the user could be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the user's home folder is unknown; set HOME, or KORU_HOME to the folder that Koru shall use"
)]
pub struct NoHome;

impl Home {
    /// Finds the folders from the environment.
    ///
    /// # Errors
    /// When neither `KORU_HOME` nor the user's home folder is known.
    pub fn from_environment() -> Result<Self, NoHome> {
        let runtime = std::env::var_os("XDG_RUNTIME_DIR")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute());
        if let Some(root) = std::env::var_os(HOME_VARIABLE).filter(|value| !value.is_empty()) {
            let root = std::path::absolute(PathBuf::from(root)).map_err(|_| NoHome)?;
            return Ok(Self::under(&root, runtime.as_deref()));
        }
        let project = ProjectDirs::from("", "", "Koru").ok_or(NoHome)?;
        let data = project.data_local_dir().to_path_buf();
        let run = runtime
            .as_deref()
            .filter(|path| is_private(path))
            .map_or_else(|| data.join("run"), |path| path.join("koru"));
        Ok(Self {
            root: None,
            store: data.join("store"),
            logs: data.join("logs"),
            socket: socket_in(&run, &data, runtime.as_deref()),
            run,
        })
    }

    /// The folders of an installation that keeps everything under `root`.
    #[must_use]
    pub fn under(root: &Path, runtime: Option<&Path>) -> Self {
        let run = root.join("run");
        Self {
            root: Some(root.to_path_buf()),
            store: root.join("store"),
            logs: root.join("logs"),
            socket: socket_in(&run, root, runtime),
            run,
        }
    }

    /// Makes the folders, readable by the user alone, and checks that they are the user's.
    ///
    /// # Errors
    /// When a folder belongs to another user, is a link where the socket stands, or cannot be made.
    pub fn prepare(&self) -> io::Result<()> {
        self.check_owner()?;
        if let Some(root) = self.store.parent() {
            make_private(root, Existing::Kept)?;
        }
        make_private(&self.store, Existing::Tightened)?;
        make_private(&self.logs, Existing::Tightened)?;
        if let Some(folder) = self.socket.parent() {
            make_private(folder, Existing::Tightened)?;
            if !is_private(folder) {
                return Err(io::Error::new(
                    io::ErrorKind::PermissionDenied,
                    format!(
                        "{} must be a folder of your own with mode 0700, and no link",
                        folder.display()
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Refuses folders of another user, as `sudo` with a kept `HOME` finds them.
    ///
    /// # Errors
    /// When a folder that is there belongs to another user.
    pub fn check_owner(&self) -> io::Result<()> {
        let user_home = if self.root.is_some() { None } else { std::env::home_dir() };
        let root = self.store.parent().map(Path::to_path_buf);
        for folder in user_home.into_iter().chain(root).chain([self.store.clone()]) {
            if !is_own(&folder) {
                return Err(io::Error::new(
                    io::ErrorKind::PermissionDenied,
                    format!(
                        "{} belongs to another user; run Koru as that user, without sudo, or set {HOME_VARIABLE} to a folder of your own",
                        folder.display()
                    ),
                ));
            }
        }
        Ok(())
    }

    /// The name of the pipe that stands for the socket on Windows.
    #[must_use]
    pub fn pipe_name(&self) -> String {
        let hash = blake3::hash(self.socket.as_os_str().as_encoded_bytes()).to_hex();
        format!(r"\\.\pipe\koru-{}", hash.get(..32).unwrap_or_default())
    }

    /// The database of the store.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.store.join("koru.sqlite")
    }

    /// The file whose lock decides who is the service; it holds the socket's address.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.store.join("koru.lock")
    }

    /// The file whose lock a bridge holds while it starts the service.
    #[must_use]
    pub fn start_lock(&self) -> PathBuf {
        self.store.join("start.lock")
    }

    /// The file in which a service that could not start leaves its reason.
    #[must_use]
    pub fn start_failure(&self) -> PathBuf {
        self.store.join("start-failure.txt")
    }
}

/// Where the socket stands: in `run`, or under a hashed name in a private runtime folder where that path is too long.
fn socket_in(run: &Path, identity: &Path, runtime: Option<&Path>) -> PathBuf {
    let socket = run.join("koru.sock");
    if socket.as_os_str().len() <= SOCKET_PATH_BYTES {
        return socket;
    }
    let hash = blake3::hash(identity.as_os_str().as_encoded_bytes()).to_hex();
    let name = format!("koru-{}.sock", hash.get(..16).unwrap_or_default());
    let folder = runtime.filter(|path| is_private(path)).map_or_else(
        || std::env::temp_dir().join(format!("koru-{}", hash.get(16..32).unwrap_or_default())),
        |path| path.join("koru"),
    );
    folder.join(name)
}

/// What to do with a folder that is already there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Existing {
    /// Its mode is the user's choice.
    Kept,
    /// Group and others lose their rights.
    Tightened,
}

#[cfg(unix)]
fn make_private(folder: &Path, existing: Existing) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
    match std::fs::metadata(folder) {
        Ok(found) if found.is_dir() => {
            if existing == Existing::Tightened && found.permissions().mode() & 0o077 != 0 {
                std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))?;
            }
            Ok(())
        }
        Ok(_) => Err(io::Error::new(
            io::ErrorKind::NotADirectory,
            format!("{} is no folder", folder.display()),
        )),
        Err(_) => {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| {
                io::Error::new(error.kind(), format!("cannot make {}: {error}", folder.display()))
            })
        }
    }
}

#[cfg(not(unix))]
fn make_private(folder: &Path, _: Existing) -> io::Result<()> {
    std::fs::create_dir_all(folder)
}

/// Whether the folder is missing or the user's own.
#[cfg(unix)]
fn is_own(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(folder)
        .map_or(true, |found| found.uid() == rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
fn is_own(_: &Path) -> bool {
    true
}

/// Whether only the user can enter the folder, and it is no link.
#[cfg(unix)]
fn is_private(path: &Path) -> bool {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    std::fs::symlink_metadata(path).is_ok_and(|found| {
        found.is_dir()
            && found.permissions().mode() & 0o077 == 0
            && found.uid() == rustix::process::geteuid().as_raw()
    })
}

#[cfg(not(unix))]
fn is_private(_: &Path) -> bool {
    // The pipe's access list does what the mode of the folder does elsewhere.
    true
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777
    }

    #[test]
    fn folders_are_made_for_the_user_alone() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::under(&folder.path().join("a").join("b"), None);
        home.prepare().unwrap();
        for made in [&home.store, &home.logs, &home.run, &folder.path().join("a")] {
            assert_eq!(mode(made), 0o700, "{}", made.display());
        }
    }

    #[test]
    fn an_open_folder_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::under(folder.path(), None);
        std::fs::create_dir(&home.store).unwrap();
        std::fs::set_permissions(&home.store, std::fs::Permissions::from_mode(0o755)).unwrap();
        home.prepare().unwrap();
        assert_eq!(mode(&home.store), 0o700);
    }

    #[test]
    fn a_link_in_place_of_the_socket_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::under(&folder.path().join("home"), None);
        std::fs::create_dir(folder.path().join("home")).unwrap();
        std::fs::create_dir(folder.path().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), &home.run).unwrap();
        assert!(home.prepare().is_err());
    }

    #[test]
    fn a_path_too_long_for_a_socket_gets_a_hashed_name() {
        let folder = tempfile::tempdir().unwrap();
        let runtime = folder.path().join("runtime");
        std::fs::create_dir(&runtime).unwrap();
        std::fs::set_permissions(&runtime, std::fs::Permissions::from_mode(0o700)).unwrap();
        let home = Home::under(&folder.path().join("x".repeat(120)), Some(&runtime));
        assert_eq!(home.socket.parent(), Some(runtime.join("koru").as_path()));
        home.prepare().unwrap();
        assert_eq!(mode(&runtime.join("koru")), 0o700);
    }
}
