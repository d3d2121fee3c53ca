//! Known items are found at least as well as by a plain full-text index over the same texts. `cargo xtask bench search`
//! holds the same over larger ones.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../benches/kit/mod.rs"]
#[expect(dead_code, reason = "the benchmark uses the rest")]
mod kit;

use kit::baseline::Baseline;
use kit::corpus::{self, Generated, Page};
use kit::known::{Notes, Score, score};
use kit::prose;
use kit::store::Store;

const SEED: u64 = 20_260_101;
const NODES: usize = 10_000;

fn compare(pages: &[Page]) {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::new(&folder.path().join("home"), SEED).unwrap();
    let mut baseline = Baseline::new(&folder.path().join("plain.sqlite")).unwrap();
    let mut notes = Notes::new(SEED);
    for batch in pages.chunks(100) {
        store.add(batch).unwrap();
        baseline.add(batch).unwrap();
        batch.iter().for_each(|page| notes.see(page));
    }
    let scores: Vec<Score> =
        notes.known().iter().map(|known| score(known, &store, &baseline).unwrap()).collect();
    for score in &scores {
        assert!(score.items >= 100, "too few items: {score:?}");
        // Where hardly anything is found the comparison says nothing.
        assert!(score.baseline > 0.3, "the plain index finds nothing: {score:?}");
    }
    let missed: Vec<&Score> = scores.iter().filter(|score| !score.is_met()).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn known_items_of_made_up_texts_come_first() {
    let pages: Vec<Page> = Generated::new(SEED, NODES, Vec::new()).collect();
    compare(&pages);
}

#[test]
fn known_items_of_real_prose_come_first() {
    let files = prose::read(3 * NODES).unwrap();
    compare(&corpus::of_prose(&files, NODES));
}
