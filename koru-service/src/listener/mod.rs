//! Connections: taken until the end is asked for, then finished.

mod connection;
mod frames;

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};

use crate::files::upload;
use crate::service::Service;
use crate::socket::Socket;

/// How long calls in flight may take to finish at the end.
const DRAIN: Duration = Duration::from_secs(4);
/// How often uploads are looked for that nobody goes on with.
const TIDY: Duration = Duration::from_secs(60);
/// How long to wait after the system refused a connection.
const REFUSED: Duration = Duration::from_millis(50);

/// Serves connections until the end is asked for, or nobody was connected for `idle`; returns
/// when the calls in flight are answered. Only the holder of the store's lock may call it.
pub async fn serve(service: &Arc<Service>, mut socket: Socket, idle: Duration) {
    let mut stopping = service.stopping();
    let mut connections = JoinSet::new();
    let mut number = 0;
    let mut idle_since = Instant::now();
    let mut tidy = tokio::time::interval(TIDY);
    tidy.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            _ = stopping.wait_for(|stop| *stop) => break,
            Some(_) = connections.join_next() => idle_since = Instant::now(),
            accepted = socket.accept() => match accepted {
                Ok(stream) => {
                    number += 1;
                    connections.spawn(connection::serve(Arc::clone(service), number, stream));
                }
                Err(error) => {
                    tracing::error!(kind = ?error.kind(), "no connection could be taken");
                    tokio::time::sleep(REFUSED).await;
                }
            },
            _ = tidy.tick() => {
                let service = Arc::clone(service);
                tokio::task::spawn_blocking(move || upload::expire(&service, upload::IDLE_MS));
            }
            () = tokio::time::sleep_until(idle_since + idle), if connections.is_empty() => {
                tracing::info!("idle");
                service.stop();
            }
        }
    }
    // Gone at once, so that bridges that come now start the next service, which waits for the lock.
    socket.close();
    let drained =
        tokio::time::timeout(DRAIN, async { while connections.join_next().await.is_some() {} });
    if drained.await.is_err() {
        tracing::warn!(left = connections.len(), "connections were cut");
    }
}
