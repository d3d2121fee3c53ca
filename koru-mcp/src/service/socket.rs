//! The local socket, and whose it is.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use koru_model::protocol::error::{Code, ToolError};
use koru_model::protocol::home::Home;
use koru_model::protocol::wire::Hello;
use serde_json::json;

use super::connection::Connection;

#[cfg(unix)]
pub(super) type Stream = tokio::net::UnixStream;
#[cfg(windows)]
pub(super) type Stream = tokio::net::windows::named_pipe::NamedPipeClient;

/// How long to wait where the service's queue of connections is full.
const BACKLOG_WAIT: Duration = Duration::from_millis(5);

/// A connection to the service that runs, or none where none runs.
///
/// # Errors
/// When what answers is not the user's own service, or does not answer in time.
pub(crate) async fn find(home: &Home, deadline: Instant) -> Result<Option<Connection>, ToolError> {
    for address in addresses(home) {
        if let Some(stream) = open(home, &address, deadline).await? {
            return Connection::greet(stream, Hello::of_this_build(), deadline).await;
        }
    }
    Ok(None)
}

/// Where the service may listen: at our own idea of the address, and at the one that it wrote beside the store, which
/// differs where the two were started with different variables.
fn addresses(home: &Home) -> Vec<PathBuf> {
    let mut addresses = vec![home.socket.clone()];
    if let Ok(written) = std::fs::read_to_string(home.lock()) {
        let written = PathBuf::from(written.trim());
        if written.is_absolute() && written != home.socket {
            addresses.push(written);
        }
    }
    addresses
}

#[cfg(unix)]
async fn open(_: &Home, address: &Path, deadline: Instant) -> Result<Option<Stream>, ToolError> {
    loop {
        match Stream::connect(address).await {
            Ok(stream) => return check_peer(stream, address),
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if Instant::now() >= deadline {
                    return Err(not_answering());
                }
                tokio::time::sleep(BACKLOG_WAIT).await;
            }
            Err(error) => return Err(unreachable(address, &error)),
        }
    }
}

#[cfg(windows)]
async fn open(home: &Home, address: &Path, deadline: Instant) -> Result<Option<Stream>, ToolError> {
    const PIPE_BUSY: i32 = 231;
    loop {
        match tokio::net::windows::named_pipe::ClientOptions::new().open(home.pipe_name()) {
            Ok(stream) => return Ok(Some(stream)),
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) if error.raw_os_error() == Some(PIPE_BUSY) => {
                if Instant::now() >= deadline {
                    return Err(not_answering());
                }
                tokio::time::sleep(BACKLOG_WAIT).await;
            }
            Err(error) => return Err(unreachable(address, &error)),
        }
    }
}

/// Nobody listens, or whoever did ended while the connection was made: a service that is killed may
/// reset it.
fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::NotConnected
    )
}

/// A socket at our address may be a squatter's.
#[cfg(unix)]
fn check_peer(stream: Stream, address: &Path) -> Result<Option<Stream>, ToolError> {
    let own = rustix::process::geteuid().as_raw();
    match stream.peer_cred() {
        Ok(peer) if peer.uid() == own => Ok(Some(stream)),
        Ok(peer) => Err(unavailable(
            "foreign_service",
            "The process at Koru's socket belongs to another user, so it was not trusted. Ask the user to run koru-mcp doctor.",
            &format!("{} is served by user {}, not by {own}", address.display(), peer.uid()),
        )),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(unreachable(address, &error)),
    }
}

fn unreachable(address: &Path, error: &io::Error) -> ToolError {
    unavailable(
        "unreachable",
        "Koru's service cannot be reached. Ask the user to run koru-mcp doctor.",
        &format!("{}: {error}", address.display()),
    )
}

/// The service is there, but says nothing.
pub(super) fn not_answering() -> ToolError {
    unavailable(
        "service_not_answering",
        "Koru's service does not answer. Try again; if that does not help, ask the user to run koru-mcp service stop.",
        "the service accepts connections but did not answer in time",
    )
}

/// A failure to reach the service: a short name of the cause, what to do, and the cause in full.
pub(super) fn unavailable(cause: &str, message: &str, reason: &str) -> ToolError {
    ToolError::new(Code::ServiceUnavailable, message)
        .with(json!({ "cause": cause, "reason": reason }))
}
