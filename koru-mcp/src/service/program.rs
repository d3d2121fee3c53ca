//! The service's program: where it stands, and how it is started apart from us.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use koru_model::protocol::home::{HOME_VARIABLE, Home};

/// What of our environment the service gets; a client's own variables are none of its business.
const KEPT_VARIABLES: &[&str] = &[
    "HOME",
    "USER",
    "LOGNAME",
    "PATH",
    "TZ",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "XDG_RUNTIME_DIR",
    "XDG_DATA_HOME",
    "RUST_BACKTRACE",
    "USERPROFILE",
    "USERNAME",
    "APPDATA",
    "LOCALAPPDATA",
    "SystemRoot",
    "TEMP",
    "TMP",
];

/// The service stands beside the bridge; no search path decides what runs.
pub(crate) fn find() -> io::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let folder = own.parent().ok_or_else(|| io::Error::other("this program has no folder"))?;
    let program = folder.join(format!("koru-service{}", std::env::consts::EXE_SUFFIX));
    let found = std::fs::metadata(&program).map_err(|error| {
        io::Error::new(error.kind(), format!("{} is missing ({error})", program.display()))
    })?;
    if is_open_to_others(&found) {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("{} can be written by other users, so it was not started", program.display()),
        ));
    }
    Ok(program)
}

#[cfg(unix)]
fn is_open_to_others(found: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    found.permissions().mode() & 0o002 != 0
}

#[cfg(not(unix))]
fn is_open_to_others(_: &std::fs::Metadata) -> bool {
    false
}

/// Starts the service without a stream or a variable of the client. It makes a session of its own as its first act; a
/// process group of its own made here would keep it from that (`setsid` refuses the leader of a group).
pub(super) fn spawn(program: &Path, home: &Home) -> io::Result<Child> {
    let mut command = Command::new(program);
    command
        .current_dir(&home.store)
        .env_clear()
        .envs(std::env::vars_os().filter(|(name, _)| is_kept(name)))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if let Some(root) = &home.root {
        command.env(HOME_VARIABLE, root);
    }
    spawn_detached(command)
}

fn is_kept(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with("KORU_") || KEPT_VARIABLES.contains(&name))
}

#[cfg(windows)]
fn spawn_detached(mut command: Command) -> io::Result<Child> {
    use std::os::windows::process::CommandExt as _;
    const DETACHED_PROCESS: u32 = 0x8;
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;
    const CREATE_BREAKAWAY_FROM_JOB: u32 = 0x0100_0000;
    let detached = DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP;
    // A job that lets nothing break away takes the service along when the client ends.
    command
        .creation_flags(detached | CREATE_BREAKAWAY_FROM_JOB)
        .spawn()
        .or_else(|_| command.creation_flags(detached).spawn())
}

#[cfg(not(windows))]
fn spawn_detached(mut command: Command) -> io::Result<Child> {
    command.spawn()
}

/// Collects the child when it ends, so that it does not stay as a zombie.
pub(super) fn reap(mut child: Child) {
    let _ =
        std::thread::Builder::new().name("reaper".into()).stack_size(64 * 1024).spawn(move || {
            let _ = child.wait();
        });
}
