//! Whether the process at the other end is the same user's.

/// The peer is another user, or cannot be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stranger;

/// Lets the same user in, nobody else: not root either.
///
/// # Errors
/// When the peer is another user, or the system does not tell who it is.
#[cfg(unix)]
pub(crate) fn check(stream: &tokio::net::UnixStream) -> Result<(), Stranger> {
    let peer = stream.peer_cred().map_err(|_| Stranger)?;
    if peer.uid() == rustix::process::geteuid().as_raw() { Ok(()) } else { Err(Stranger) }
}
