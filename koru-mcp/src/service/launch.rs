//! Reaching the service: the one that runs, or one that is started, or one of this release in place of an older one.
//!
//! Invariant: a process is started only by the holder of the start lock, after it looked once more. Whether it may serve
//! is decided by the store's lock, which the service takes itself.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::process::ExitStatus;
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
use super::{program, started};

const START: Duration = Duration::from_secs(10);
const MAKE_ROOM: Duration = Duration::from_secs(6);
const FIRST_LOOK: Duration = Duration::from_millis(2);
const LONGEST_LOOK: Duration = Duration::from_millis(20);

/// A connection to a service that this release can talk to.
///
/// # Errors
/// When there is none, and none can be started.
pub(super) async fn reach(
    home: &Home,
    start: Start,
    deadline: Instant,
) -> Result<Connection, ToolError> {
    if let Some(connection) = find(home, deadline).await? {
        return suit(home, start, connection, deadline).await;
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
    let mut lock = open_lock(&home.start_lock()).map_err(|error| unusable_home(&error))?;
    let mut looks = Looks::new();
    while !try_lock(&lock).map_err(|error| unusable_home(&error))? {
        if let Some(connection) = find(home, until).await? {
            return suit(home, start, connection, deadline).await;
        }
        if !looks.wait(until).await {
            return Err(slow_start("another program is starting the service and does not finish"));
        }
    }
    if let Some(connection) = find(home, until).await? {
        drop(lock);
        return suit(home, start, connection, deadline).await;
    }
    let connection = spawn_and_wait(home, until).await?;
    started::note(&mut lock, connection.hello(), false);
    drop(lock);
    check(connection)
}

/// The connection itself, or one to a newer service in its place.
async fn suit(
    home: &Home,
    start: Start,
    connection: Connection,
    deadline: Instant,
) -> Result<Connection, ToolError> {
    let theirs = connection.hello();
    if start == Start::Never || !Hello::of_this_build().is_newer_than(theirs) {
        return check(connection);
    }
    home.prepare().map_err(|error| unusable_home(&error))?;
    let mut lock = open_lock(&home.start_lock()).map_err(|error| unusable_home(&error))?;
    let until = deadline.min(Instant::now() + START);
    let mut looks = Looks::new();
    while !try_lock(&lock).map_err(|error| unusable_home(&error))? {
        if !looks.wait(until).await {
            return check(connection);
        }
    }
    if !started::may_replace(&mut lock, theirs) {
        return check(connection);
    }
    // Another bridge may have replaced it while we waited for the lock.
    match find(home, until).await? {
        Some(found) if found.hello().start_id != theirs.start_id => return check(found),
        Some(_) => make_room(home, connection, until).await?,
        None => {}
    }
    let connection = spawn_and_wait(home, until).await?;
    started::note(&mut lock, connection.hello(), true);
    drop(lock);
    check(connection)
}

fn check(connection: Connection) -> Result<Connection, ToolError> {
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
    let program = program::find().map_err(|error| start_failed(&error.to_string()))?;
    let mut child = program::spawn(&program, home)
        .map_err(|error| start_failed(&format!("cannot run {}: {error}", program.display())))?;
    tracing::info!(pid = child.id(), "started the service");
    let mut looks = Looks::new();
    loop {
        if let Some(connection) = find(home, until).await? {
            program::reap(child);
            return Ok(connection);
        }
        if let Ok(Some(status)) = child.try_wait() {
            return Err(ended(home, status));
        }
        if !looks.wait(until).await {
            program::reap(child);
            return Err(slow_start("the service was started and is not ready yet"));
        }
    }
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
