//! The address at which bridges find the service.

use std::io;
use std::path::PathBuf;

use koru_model::protocol::home::Home;

/// A stream of one connection.
#[cfg(unix)]
pub type Stream = tokio::net::UnixStream;
/// A stream of one connection.
#[cfg(windows)]
pub type Stream = tokio::net::windows::named_pipe::NamedPipeServer;

/// The listening socket, bound under its final name only once it listens.
#[cfg(unix)]
#[derive(Debug)]
pub struct Socket {
    listener: tokio::net::UnixListener,
    path: PathBuf,
    inode: (u64, u64),
}

#[cfg(unix)]
impl Socket {
    /// Takes the socket's name, in place of one that a dead service left. Only the holder of the store's lock may.
    ///
    /// # Errors
    /// When the socket cannot be bound.
    pub fn bind(home: &Home) -> io::Result<Self> {
        use std::os::unix::fs::PermissionsExt as _;
        let path = home.socket.clone();
        // As long as the final name at most, for the length of the whole path is limited; the lock makes it ours.
        let temporary = path.with_file_name("koru.bind");
        match std::fs::remove_file(&temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = tokio::net::UnixListener::bind(&temporary)?;
        std::fs::set_permissions(&temporary, std::fs::Permissions::from_mode(0o600))?;
        std::fs::rename(&temporary, &path)?;
        let inode = inode(&path)?;
        Ok(Self { listener, path, inode })
    }

    /// The next connection of the same user; others are hung up on.
    ///
    /// # Errors
    /// When the system refuses, for want of file descriptors for example.
    pub async fn accept(&mut self) -> io::Result<Stream> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            match crate::peer::check(&stream) {
                Ok(()) => return Ok(stream),
                Err(crate::peer::Stranger) => tracing::warn!("another user was refused"),
            }
        }
    }

    /// Ends listening, and removes the name where it still leads here.
    pub fn close(self) {
        if inode(&self.path).is_ok_and(|found| found == self.inode) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(unix)]
fn inode(path: &std::path::Path) -> io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let found = std::fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
}

/// The listening pipe. Untested.
#[cfg(windows)]
#[derive(Debug)]
pub struct Socket {
    name: String,
    next: Stream,
}

#[cfg(windows)]
impl Socket {
    /// Makes the first end of the pipe; fails where another process has one of that name.
    ///
    /// # Errors
    /// When the pipe cannot be made.
    pub fn bind(home: &Home) -> io::Result<Self> {
        let name = home.pipe_name();
        let next = tokio::net::windows::named_pipe::ServerOptions::new()
            .first_pipe_instance(true)
            .reject_remote_clients(true)
            .create(&name)?;
        Ok(Self { name, next })
    }

    /// The next connection.
    ///
    /// # Errors
    /// When the system refuses.
    pub async fn accept(&mut self) -> io::Result<Stream> {
        self.next.connect().await?;
        let next = tokio::net::windows::named_pipe::ServerOptions::new()
            .reject_remote_clients(true)
            .create(&self.name)?;
        Ok(std::mem::replace(&mut self.next, next))
    }

    /// Ends listening.
    pub fn close(self) {}
}

/// What the lock file says of the address.
#[must_use]
pub fn address(home: &Home) -> PathBuf {
    home.socket.clone()
}
