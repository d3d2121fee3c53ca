//! The address at which bridges find the service.

use std::io;
use std::path::PathBuf;

use koru_model::protocol::home::Home;

/// A stream of one connection.
#[cfg(unix)]
pub type Stream = tokio::net::UnixStream;
/// A stream of one connection.
#[cfg(windows)]
pub type Stream = interprocess::local_socket::tokio::Stream;

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

/// The listening pipe, which its owner alone may open. Compiled, but untested.
#[cfg(windows)]
#[derive(Debug)]
pub struct Socket(interprocess::local_socket::tokio::Listener);

#[cfg(windows)]
impl Socket {
    /// Makes the first end of the pipe; fails where another process has one of that name.
    ///
    /// # Errors
    /// When the pipe cannot be made.
    pub fn bind(home: &Home) -> io::Result<Self> {
        use interprocess::local_socket::{GenericFilePath, ListenerOptions, ToFsName as _};
        use interprocess::os::windows::local_socket::ListenerOptionsExt as _;
        use interprocess::os::windows::security_descriptor::SecurityDescriptor;
        // Protected from what is inherited; everything for the owner, nothing for others.
        let owner_only = widestring::u16cstr!("D:P(A;;GA;;;OW)");
        let listener = ListenerOptions::new()
            .name(home.pipe_name().to_fs_name::<GenericFilePath>()?)
            .security_descriptor(SecurityDescriptor::deserialize(owner_only)?)
            .create_tokio()?;
        Ok(Self(listener))
    }

    /// The next connection.
    ///
    /// # Errors
    /// When the system refuses.
    pub async fn accept(&mut self) -> io::Result<Stream> {
        use interprocess::local_socket::traits::tokio::Listener as _;
        self.0.accept().await
    }

    /// Ends listening.
    pub fn close(self) {}
}

/// What the lock file says of the address.
#[must_use]
pub fn address(home: &Home) -> PathBuf {
    home.socket.clone()
}
