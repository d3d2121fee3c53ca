//! How fast the index is made again from the documents, and how long others wait for a write meanwhile.

use std::time::{Duration, Instant};

use koru_service::search::worker;

use crate::kit::store::Store;
use crate::kit::{Outcome, text};

/// The pause between two writes of somebody else.
const PAUSE: Duration = Duration::from_millis(5);

/// What was rebuilt.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rebuilt {
    pub(crate) nodes: usize,
    pub(crate) took: Duration,
    /// The waits for a write that changes nothing.
    pub(crate) waits: Waits,
}

/// How long writes waited.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Waits {
    pub(crate) p95: Duration,
    pub(crate) longest: Duration,
}

impl Rebuilt {
    pub(crate) fn rate(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "for people to read")]
        let nodes = self.nodes as f64;
        nodes / self.took.as_secs_f64().max(1e-9)
    }
}

/// Makes the full-text tables anew, as after damage, and lets the index catch up, while somebody else writes.
pub(crate) fn measure(store: &Store) -> Outcome<Rebuilt> {
    let service = &store.service;
    let nodes = service
        .write(|_, transaction| {
            transaction.state.search.reset(transaction.connection)?;
            let sql = "SELECT coalesce(sum(nodes), 0) FROM document";
            Ok(transaction.connection.query_row(sql, (), |row| row.get(0))?)
        })
        .map_err(text)?;
    let began = Instant::now();
    let mut all = Vec::new();
    // The service's own thread makes the index again.
    while !service.store.read(worker::behind).map_err(text)?.is_empty() {
        let began = Instant::now();
        service.write(|_, _| Ok(())).map_err(text)?;
        all.push(began.elapsed());
        std::thread::sleep(PAUSE);
    }
    let took = began.elapsed();
    let p95 = super::measure::percentile(&mut all, 95);
    let waits = Waits { p95, longest: all.last().copied().unwrap_or_default() };
    store.settle()?;
    Ok(Rebuilt { nodes, took, waits })
}
