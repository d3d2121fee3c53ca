//! Where the store, the logs and the socket are.

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

/// Whether only the user can enter the folder.
#[cfg(unix)]
fn is_private(path: &Path) -> bool {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let Ok(found) = std::fs::symlink_metadata(path) else { return false };
    let home_owner =
        std::env::home_dir().and_then(|home| std::fs::metadata(home).ok()).map(|home| home.uid());
    found.is_dir()
        && found.permissions().mode() & 0o077 == 0
        && home_owner.is_none_or(|owner| owner == found.uid())
}

#[cfg(not(unix))]
fn is_private(_: &Path) -> bool {
    false
}
