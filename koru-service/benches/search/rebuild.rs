//! How long the index is made again in one go while writers wait: what a part of a rebuild takes.

use std::time::{Duration, Instant};

use koru_service::search::worker;

use crate::kit::store::Store;
use crate::kit::{Outcome, text};

/// How many documents are indexed again.
const DOCUMENTS: usize = 2_000;

/// What was rebuilt.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rebuilt {
    pub(crate) nodes: usize,
    pub(crate) took: Duration,
    pub(crate) longest: Duration,
}

impl Rebuilt {
    pub(crate) fn rate(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "for people to read")]
        let nodes = self.nodes as f64;
        nodes / self.took.as_secs_f64().max(1e-9)
    }
}

/// Marks documents as not indexed and lets the index catch up, part by part; a part is timed with the reading of its
/// documents, which holds up nobody.
pub(crate) fn measure(store: &Store) -> Outcome<Rebuilt> {
    let every = (store.documents.len() / DOCUMENTS).max(1);
    let nodes = store
        .service
        .write(move |_, transaction| {
            let connection = transaction.connection;
            connection.execute("UPDATE document SET unindexed = 1 WHERE k % ?1 = 0", [every])?;
            let sql = "SELECT coalesce(sum(nodes), 0) FROM document WHERE unindexed = 1";
            Ok(connection.query_row(sql, (), |row| row.get(0))?)
        })
        .map_err(text)?;
    let mut rebuilt = Rebuilt { nodes, ..Rebuilt::default() };
    loop {
        let began = Instant::now();
        if !worker::catch_up(&store.service).map_err(text)? {
            return Ok(rebuilt);
        }
        let took = began.elapsed();
        rebuilt.took += took;
        rebuilt.longest = rebuilt.longest.max(took);
    }
}
