//! Known items over real prose, and over what is made up.

use std::path::Path;

use super::SEED;
use super::report::Report;
use crate::kit::baseline::Baseline;
use crate::kit::corpus;
use crate::kit::known::{Known, Notes, score};
use crate::kit::prose::File;
use crate::kit::store::Store;
use crate::kit::{Outcome, text};

/// The most nodes of real prose.
const NODES: usize = 400_000;
/// How many pages one transaction adds.
const BATCH: usize = 200;

/// Searches for what stands in the prose.
pub(crate) fn of_prose(files: &[File], folder: &Path, report: &mut Report) -> Outcome<()> {
    let folder = folder.join("prose");
    std::fs::create_dir_all(&folder).map_err(text)?;
    let pages = corpus::of_prose(files, NODES);
    let nodes: usize = pages.iter().map(|page| 1 + page.blocks.len()).sum();
    println!("{} documents, {nodes} nodes of real prose", pages.len());
    let mut store = Store::new(&folder.join("home"), SEED)?;
    let mut baseline = Baseline::new(&folder.join("plain.sqlite"))?;
    let mut notes = Notes::new(SEED);
    for batch in pages.chunks(BATCH) {
        store.add(batch)?;
        baseline.add(batch)?;
        for page in batch {
            notes.see(page);
        }
    }
    known(notes.known(), "real prose", nodes, &store, &baseline, report)?;
    store.service.store.close();
    let _ = std::fs::remove_dir_all(&folder);
    Ok(())
}

/// Searches for known items and reports.
pub(crate) fn known(
    sets: [Known; 3],
    corpus: &str,
    nodes: usize,
    store: &Store,
    baseline: &Baseline,
    report: &mut Report,
) -> Outcome<()> {
    for set in sets {
        let score = score(&set, store, baseline)?;
        println!(
            "{corpus}, {}: {:.3} ({} of {}), baseline {:.3} ({})",
            score.name,
            score.ours,
            score.ours_found,
            score.items,
            score.baseline,
            score.baseline_found
        );
        if !score.is_met() {
            println!("{:#?}", score.lost);
        }
        report.relevance(corpus, nodes, score);
    }
    Ok(())
}
