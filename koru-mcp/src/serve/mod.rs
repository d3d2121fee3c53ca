//! `koru-mcp serve --stdio`: the bridge between an MCP client and the service.

pub(crate) mod catalogue;
mod failure;
mod gate;
mod guard;
mod handler;
mod id_scan;
mod identity;
mod lines;
mod live;
mod log;
mod pages;
mod ready;
mod stdio;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use koru_model::protocol::home::Home;
use koru_model::protocol::wire::{BUILD, RELEASE, Scope};
use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;

use handler::Handler;
pub(crate) use handler::documentation;
use live::Live;

use crate::service::{Client, Start};

/// How long calls in flight at the end of input are answered.
const LAST_ANSWERS: Duration = Duration::from_millis(1_500);
/// How long a client may take to read what was answered before a signal came.
const LAST_LINES: Duration = Duration::from_millis(50);

/// How the bridge shall serve.
#[derive(Debug)]
pub(crate) struct Options {
    /// Whether `tools/list` comes in pages.
    pub(crate) split_pages: bool,
    /// What the client may reach.
    pub(crate) scope: Scope,
}

/// Serves until the client ends it; the exit code.
pub(crate) fn run(home: Home, options: Options) -> Result<u8, String> {
    // Making the schemas is the longest step of the start, and needs nothing of the others.
    std::thread::spawn(|| catalogue::all().len());
    let log = log::begin(&home);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    tracing::info!(release = RELEASE, build = BUILD, "serving");
    let code = runtime.block_on(serve(home, options)).map_err(|error| error.to_string());
    tracing::info!(code = code.as_ref().ok(), "ended");
    drop(log);
    // Threads still wait for stdin, and would be waited for.
    runtime.shutdown_background();
    code
}

async fn serve(home: Home, options: Options) -> io::Result<u8> {
    let signal = signals()?;
    let live = Arc::<Live>::default();
    let (stdio, ends) = stdio::open(&live)?;
    let service = Client::new(home, Start::IfNeeded);
    let handler = Handler::new(service, options.scope, options.split_pages, live);
    let session = async {
        match handler.serve(stdio).await {
            Ok(running) => running.waiting().await.map_or(1, |_| 0),
            Err(ServerInitializeError::ConnectionClosed(_)) => 0,
            Err(_) => 1,
        }
    };
    let drained = async {
        ends.input().await;
        tokio::time::sleep(LAST_ANSWERS).await;
    };
    let (code, patience) = tokio::select! {
        code = session => (code, LAST_ANSWERS),
        () = drained => (0, LAST_LINES),
        () = signal => (0, LAST_LINES),
        () = ends.output() => (0, Duration::ZERO),
    };
    let _ = tokio::time::timeout(patience, ends.flush()).await;
    Ok(code)
}

#[cfg(unix)]
fn signals() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn signals() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
