//! The process and what it inherited: files that others cannot read, a session of its own, no open files of its starter.

/// The first thing that the service does, while there is one thread.
///
/// An inherited pipe that stays open would keep the client waiting for its end for ever; the
/// client's group signals would take the service along.
#[cfg(unix)]
pub(crate) fn detach() {
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    // Fails where a shell started the service as the leader of a group, which does no harm.
    let _ = rustix::process::setsid();
    close_inherited_files();
}

/// What a service started by a bridge needs on Windows is arranged by the bridge. Untested.
#[cfg(not(unix))]
pub(crate) fn detach() {}

#[cfg(unix)]
fn close_inherited_files() {
    let listed = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };
    let Ok(entries) = std::fs::read_dir(listed) else { return };
    // The listing is an open file itself, until it has been read; what is left then was inherited.
    let listing: Vec<i32> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|number| *number > 2)
        .collect();
    let is_open = |number: &i32| std::fs::symlink_metadata(format!("{listed}/{number}")).is_ok();
    for number in listing.into_iter().filter(is_open) {
        #[expect(
            unsafe_code,
            reason = "no safe call closes a descriptor that was inherited; nothing in this process owns one yet"
        )]
        unsafe {
            rustix::io::close(number);
        }
    }
}

/// Lets a write beyond a size limit fail where it would end the process. (SIGPIPE is ignored by std.)
#[cfg(unix)]
pub(crate) fn survive_size_limits() {
    use tokio::signal::unix::{SignalKind, signal};
    // A handler stays after its stream is dropped, and a handled SIGXFSZ is harmless.
    if signal(SignalKind::from_raw(25)).is_err() {
        tracing::warn!("SIGXFSZ cannot be handled");
    }
}

/// Only Unix ends a process for a size limit.
#[cfg(not(unix))]
pub(crate) fn survive_size_limits() {}

/// Asks for an orderly end at the first signal, and ends at once at the second.
#[cfg(unix)]
pub(crate) async fn obey_signals(service: std::sync::Arc<crate::service::Service>) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut interrupt)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        tracing::error!("signals cannot be received");
        return;
    };
    for last in [false, true] {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        if last {
            tracing::warn!("second signal");
            std::process::exit(1);
        }
        tracing::info!("signal");
        service.stop();
    }
}

/// Asks for an orderly end at the first Ctrl-C, and ends at once at the second. Untested.
#[cfg(not(unix))]
pub(crate) async fn obey_signals(service: std::sync::Arc<crate::service::Service>) {
    for last in [false, true] {
        if tokio::signal::ctrl_c().await.is_err() {
            return;
        }
        if last {
            std::process::exit(1);
        }
        service.stop();
    }
}

/// How much room is left on the disk of a folder, in bytes; none where the system does not tell.
#[cfg(unix)]
pub(crate) fn free_bytes(folder: &std::path::Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(not(unix))]
pub(crate) fn free_bytes(_: &std::path::Path) -> Option<u64> {
    None
}
