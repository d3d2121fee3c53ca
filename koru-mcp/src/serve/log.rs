//! The bridge's log: which tool ran, how long, and how it ended; never what it was about.
//!
//! No variable of the environment changes what is logged, and rmcp is not heard at all: its messages quote requests.

use koru_model::protocol::home::Home;
use koru_model::protocol::log_file::LogFile;
use tracing::level_filters::LevelFilter;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// How many lines may wait for the disk; what comes then is dropped.
const LINES: usize = 4_096;

/// Begins to log. What waits is written when the guard is dropped; without a log the bridge still serves.
pub(super) fn begin(home: &Home) -> Option<WorkerGuard> {
    home.prepare().ok()?;
    let file = LogFile::open(home.logs.join("koru-mcp.log")).ok()?;
    let (writer, guard) = NonBlockingBuilder::default().buffered_lines_limit(LINES).finish(file);
    let lines = tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_target(false)
        .with_writer(writer);
    let ours = Targets::new().with_target(env!("CARGO_CRATE_NAME"), LevelFilter::INFO);
    tracing_subscriber::registry().with(ours).with(lines).try_init().ok()?;
    std::panic::set_hook(Box::new(|panic| {
        // The place, not the message, which could quote a document.
        if let Some(place) = panic.location() {
            tracing::error!(file = place.file(), line = place.line(), "panic");
        }
    }));
    Some(guard)
}
