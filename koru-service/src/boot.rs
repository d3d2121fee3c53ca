//! The start and the end of the service, each from top to bottom.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use koru_model::protocol::home::{Home, NoHome};
use koru_model::protocol::wire::{BUILD, RELEASE};

use crate::outside::Outside;
use crate::service::{OpenError, Service};
use crate::socket::{self, Socket};
use crate::{files, listener, log, process};

/// How long to wait for a service that is about to end.
const LEAVING: Duration = Duration::from_secs(5);
/// How often to look whether it has.
const LOOK: Duration = Duration::from_millis(10);
/// After how long without connections the service ends.
const IDLE: Duration = Duration::from_secs(30 * 60);
/// The environment variable that names another number of seconds, for tests.
const IDLE_VARIABLE: &str = "KORU_IDLE_EXIT_S";
/// The most calls that run at the same time; more wait.
const CALLS: usize = 64;

/// Why the service could not start.
#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error(transparent)]
    NoHome(#[from] NoHome),
    #[error("the folders of Koru cannot be used: {0}")]
    Folders(io::Error),
    #[error("the lock beside the store cannot be taken: {0}")]
    Lock(io::Error),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("the service's threads cannot be started: {0}")]
    Runtime(io::Error),
    #[error("the socket {path} cannot be made: {source}")]
    Socket { path: String, source: io::Error },
}

/// Runs the service until its end is asked for.
#[must_use]
pub fn run() -> ExitCode {
    process::detach();
    let home = match Home::from_environment() {
        Ok(home) => home,
        Err(error) => return failed(None, &error.into()),
    };
    match run_in(&home) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(Some(&home), &error),
    }
}

fn run_in(home: &Home) -> Result<(), StartError> {
    home.prepare().map_err(StartError::Folders)?;
    std::env::set_current_dir(&home.store).map_err(StartError::Folders)?;
    let Some(mut lock) = take_lock(&home.lock())? else {
        say("another koru-service runs on this store");
        return Ok(());
    };
    write_address(&mut lock, home).map_err(StartError::Lock)?;
    let logging = log::start(home).map_err(StartError::Folders)?;
    tracing::info!(version = RELEASE, build = BUILD, pid = std::process::id(), "start");

    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(CALLS)
        .enable_all()
        .build()
        .map_err(StartError::Runtime)?;
    runtime.block_on(async { process::survive_size_limits() });
    let service = Service::open(home.clone(), Outside::real())?;
    let socket = runtime
        .block_on(async { Socket::bind(home) })
        .map_err(|source| StartError::Socket { path: home.socket.display().to_string(), source })?;
    let _ = std::fs::remove_file(home.start_failure());
    let swept = Arc::clone(&service);
    let sweeping = runtime.spawn_blocking(move || {
        if files::sweep(&swept).is_err() {
            tracing::warn!("contents that nothing names were not looked for");
        }
    });
    tracing::info!("ready");

    runtime.block_on(async {
        tokio::spawn(process::obey_signals(Arc::clone(&service)));
        listener::serve(&service, socket, idle()).await;
    });

    // The lock is held to the very end, that is until nothing more is swept and the store is closed.
    service.search.wake.end();
    let _ = runtime.block_on(sweeping);
    service.store.close();
    tracing::info!("end");
    runtime.shutdown_background();
    drop(logging);
    drop(lock);
    Ok(())
}

/// Takes the lock that decides who is the service; `None` where another service keeps it.
fn take_lock(path: &Path) -> Result<Option<File>, StartError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(StartError::Lock)?;
    let deadline = Instant::now() + LEAVING;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => return Ok(None),
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOOK),
            Err(TryLockError::Error(error)) => return Err(StartError::Lock(error)),
        }
    }
}

/// A bridge with other environment variables still finds the service by what stands in the lock's file.
fn write_address(lock: &mut File, home: &Home) -> io::Result<()> {
    lock.set_len(0)?;
    writeln!(lock, "{}", socket::address(home).display())?;
    lock.flush()
}

fn idle() -> Duration {
    std::env::var(IDLE_VARIABLE)
        .ok()
        .and_then(|text| text.parse().ok())
        .map_or(IDLE, Duration::from_secs)
}

/// Leaves the reason where the bridge looks for it, and on stderr for a person who started the service by hand.
fn failed(home: Option<&Home>, error: &StartError) -> ExitCode {
    let reason = error.to_string();
    tracing::error!("the service could not start");
    if let Some(home) = home {
        let _ = std::fs::write(home.start_failure(), format!("{reason}\n"));
    }
    say(&reason);
    ExitCode::FAILURE
}

fn say(line: &str) {
    // There may be nobody to read it.
    let _ = writeln!(io::stderr(), "koru-service: {line}");
}
