//! Reaching the service: the one that runs, or one that is started, or one of this release in place of an older one.
//!
//! Invariant: a process is started only by the holder of the start lock, after it looked once more. Whether it may serve
//! is decided by the store's lock, which the service takes itself.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use koru_model::protocol::admin::Admin;
use koru_model::protocol::error::{Code, ToolError};
use koru_model::protocol::home::{HOME_VARIABLE, Home};
use koru_model::protocol::wire::{Hello, Request, Scope};
use serde_json::json;
use uuid::Uuid;

use super::client::Start;
use super::connection::Connection;
use super::socket::{find, unavailable};

const START: Duration = Duration::from_secs(10);
const MAKE_ROOM: Duration = Duration::from_secs(6);
const BETWEEN_HAND_OVERS: Duration = Duration::from_secs(60);
const FIRST_LOOK: Duration = Duration::from_millis(2);
const LONGEST_LOOK: Duration = Duration::from_millis(20);

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

/// What a process remembers of its starts and hand-overs.
#[derive(Debug, Default)]
pub(super) struct Launch {
    asked: Option<Instant>,
    /// The build of the service beside us, where it is older than we are: to replace it by itself helps nobody.
    own_service: Option<(String, String)>,
}

impl Launch {
    /// A connection to a service that this release can talk to.
    ///
    /// # Errors
    /// When there is none, and none can be started.
    pub(super) async fn reach(
        &mut self,
        home: &Home,
        start: Start,
        deadline: Instant,
    ) -> Result<Connection, ToolError> {
        if let Some(connection) = find(home, deadline).await? {
            return self.suit(home, start, connection, deadline).await;
        }
        if start == Start::Never {
            return Err(unavailable(
                "not_running",
                "Koru's service does not run.",
                "no service answers at the socket, and none was to be started",
            ));
        }
        home.prepare().map_err(|error| unusable_home(&error))?;
        let until = deadline.min(Instant::now() + START);
        let lock = open_lock(&home.start_lock()).map_err(|error| unusable_home(&error))?;
        let mut looks = Looks::new();
        while !try_lock(&lock).map_err(|error| unusable_home(&error))? {
            if let Some(connection) = find(home, until).await? {
                return self.suit(home, start, connection, deadline).await;
            }
            if !looks.wait(until).await {
                return Err(slow_start(
                    "another program is starting the service and does not finish",
                ));
            }
        }
        if let Some(connection) = find(home, until).await? {
            drop(lock);
            return self.suit(home, start, connection, deadline).await;
        }
        let connection = spawn_and_wait(home, until).await?;
        self.started(connection.hello());
        drop(lock);
        self.check(connection)
    }

    /// The connection itself, or one to a newer service in its place.
    async fn suit(
        &mut self,
        home: &Home,
        start: Start,
        connection: Connection,
        deadline: Instant,
    ) -> Result<Connection, ToolError> {
        let theirs = connection.hello();
        let build = (theirs.release.clone(), theirs.build.clone());
        let replaces = start == Start::IfNeeded
            && Hello::of_this_build().is_newer_than(theirs)
            && self.own_service.as_ref() != Some(&build)
            && self.asked.is_none_or(|asked| asked.elapsed() >= BETWEEN_HAND_OVERS);
        if !replaces {
            return self.check(connection);
        }
        self.asked = Some(Instant::now());
        home.prepare().map_err(|error| unusable_home(&error))?;
        let lock = open_lock(&home.start_lock()).map_err(|error| unusable_home(&error))?;
        let until = deadline.min(Instant::now() + START);
        let mut looks = Looks::new();
        while !try_lock(&lock).map_err(|error| unusable_home(&error))? {
            if !looks.wait(until).await {
                return self.check(connection);
            }
        }
        // Another bridge may have replaced it while we waited for the lock.
        match find(home, until).await? {
            Some(found) if found.hello().start_id != theirs.start_id => {
                drop(lock);
                return self.check(found);
            }
            Some(_) => make_room(home, connection, until).await?,
            None => {}
        }
        let connection = spawn_and_wait(home, until).await?;
        self.started(connection.hello());
        drop(lock);
        self.check(connection)
    }

    fn started(&mut self, theirs: &Hello) {
        self.own_service = Some((theirs.release.clone(), theirs.build.clone()));
    }

    fn check(&self, connection: Connection) -> Result<Connection, ToolError> {
        let ours = Hello::of_this_build();
        let theirs = connection.hello();
        if ours.can_talk_to(theirs) {
            return Ok(connection);
        }
        let message = if theirs.is_newer_than(&ours) {
            "Koru was updated while this client ran. Ask the user to quit the client completely and start it again."
        } else {
            "An older service of Koru is still running and does not make room. Ask the user to run koru-mcp service stop."
        };
        Err(ToolError::new(Code::VersionMismatch, message).with(json!({
            "bridge": { "release": ours.release, "build": ours.build, "protocol": ours.protocol },
            "service": { "release": theirs.release, "build": theirs.build, "protocol": theirs.protocol },
        })))
    }
}

/// Whether the failure is one of a start that was made and never came to answer.
pub(super) fn is_failed_start(error: &ToolError) -> bool {
    has_cause(error, "start_failed")
}

/// Whether the failure may be over with the next attempt.
pub(super) fn is_passing(error: &ToolError) -> bool {
    has_cause(error, "start_interrupted")
}

fn has_cause(error: &ToolError, cause: &str) -> bool {
    error.details.as_ref().is_some_and(|details| details["cause"] == cause)
}

/// Asks the older service to end, and waits until it has left the store.
async fn make_room(home: &Home, connection: Connection, until: Instant) -> Result<(), ToolError> {
    let ours = Hello::of_this_build();
    let ask = Admin::ServiceMakeRoom { release: ours.release, build: ours.build };
    if let Some(request) = admin_request(&ask) {
        let wait = until.min(Instant::now() + MAKE_ROOM);
        // It may end before it answers; the store's lock tells the truth.
        let _ = tokio::time::timeout_at(wait.into(), connection.call(request)).await;
    }
    drop(connection);
    if has_left(home, until).await.map_err(|error| unusable_home(&error))? {
        return Ok(());
    }
    Err(slow_start("the older service has not ended yet"))
}

/// Waits until no service holds the store; false where one still does at the deadline.
///
/// # Errors
/// When the lock cannot be looked at.
pub(crate) async fn has_left(home: &Home, until: Instant) -> io::Result<bool> {
    let mut looks = Looks::new();
    loop {
        match OpenOptions::new().read(true).write(true).open(home.lock()) {
            Ok(file) if try_lock(&file)? => return Ok(true),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            Err(error) => return Err(error),
        }
        if !looks.wait(until).await {
            return Ok(false);
        }
    }
}

/// A person's request as a frame.
pub(crate) fn admin_request(admin: &Admin) -> Option<Request> {
    let value = serde_json::to_value(admin).ok()?;
    Some(Request {
        id: 0,
        call: value.get("call")?.as_str()?.to_owned(),
        params: serde_json::value::to_raw_value(value.get("params")?).ok()?,
        key: Some(Uuid::now_v7()),
        client: Some("koru-mcp".into()),
        scope: Scope::default(),
    })
}

async fn spawn_and_wait(home: &Home, until: Instant) -> Result<Connection, ToolError> {
    let _ = std::fs::remove_file(home.start_failure());
    let program = program().map_err(|error| start_failed(&error.to_string()))?;
    let mut child = spawn(&program, home)
        .map_err(|error| start_failed(&format!("cannot run {}: {error}", program.display())))?;
    tracing::info!(pid = child.id(), "started the service");
    let mut looks = Looks::new();
    loop {
        if let Some(connection) = find(home, until).await? {
            reap(child);
            return Ok(connection);
        }
        if let Ok(Some(status)) = child.try_wait() {
            return Err(ended(home, status));
        }
        if !looks.wait(until).await {
            reap(child);
            return Err(slow_start("the service was started and is not ready yet"));
        }
    }
}

/// The service stands beside the bridge; no search path decides what runs.
fn program() -> io::Result<PathBuf> {
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
fn spawn(program: &Path, home: &Home) -> io::Result<Child> {
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
fn reap(mut child: Child) {
    let _ =
        std::thread::Builder::new().name("reaper".into()).stack_size(64 * 1024).spawn(move || {
            let _ = child.wait();
        });
}

fn ended(home: &Home, status: ExitStatus) -> ToolError {
    // Ended by a signal, or because another service was quicker: the next attempt finds out.
    if status.code().is_none_or(|code| code == 0) {
        return unavailable(
            "start_interrupted",
            "Koru's service ended while it started. Try again.",
            &status.to_string(),
        );
    }
    let reason = std::fs::read_to_string(home.start_failure()).unwrap_or_default();
    let reason: String = reason.trim().chars().take(500).collect();
    if reason.is_empty() {
        return start_failed(&format!("it ended at once: {status}"));
    }
    start_failed(&reason)
}

fn start_failed(reason: &str) -> ToolError {
    let message =
        format!("Koru's service cannot start: {reason}. Ask the user to run koru-mcp doctor.");
    unavailable("start_failed", &message, reason)
}

fn slow_start(reason: &str) -> ToolError {
    unavailable(
        "start_slow",
        "Koru's service is still starting. Try again in a few seconds.",
        reason,
    )
}

fn unusable_home(error: &io::Error) -> ToolError {
    let message = format!(
        "Koru's folder cannot be used: {error}. Ask the user to run koru-mcp doctor; {HOME_VARIABLE} names another folder."
    );
    unavailable("home_unusable", &message, &error.to_string())
}

fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// The growing pauses between two looks.
struct Looks(Duration);

impl Looks {
    fn new() -> Self {
        Self(FIRST_LOOK)
    }

    /// Waits; false where the time is over.
    async fn wait(&mut self, until: Instant) -> bool {
        if Instant::now() >= until {
            return false;
        }
        tokio::time::sleep(self.0).await;
        self.0 = (self.0 * 2).min(LONGEST_LOOK);
        true
    }
}
