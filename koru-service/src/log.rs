//! The service's log: bounded, and without content. Fields are IDs, sizes, durations, codes and versions.

use std::io;

use koru_model::protocol::home::Home;
use koru_model::protocol::log_file::LogFile;
use tracing::Level;
use tracing_appender::non_blocking::WorkerGuard;

/// Opens the log; it is written until the result is dropped. What is logged cannot be widened from outside.
///
/// # Errors
/// When the file cannot be opened.
pub(crate) fn start(home: &Home) -> io::Result<WorkerGuard> {
    let file = LogFile::open(home.logs.join("koru-service.log"))?;
    let (writer, guard) = tracing_appender::non_blocking(file);
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(Level::INFO)
        .with_ansi(false)
        .with_target(false)
        .with_writer(writer)
        .finish();
    // A second service in one process (a test) keeps the first one's log.
    let _ = tracing::subscriber::set_global_default(subscriber);
    log_panics();
    Ok(guard)
}

/// A panic's message may hold content; its place does not.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let thread = std::thread::current();
        tracing::error!(place, thread = thread.name().unwrap_or_default(), "panic");
    }));
}
