//! One size: both sides are filled and asked.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::edits::{self, Cost};
use super::measure::{self, Measured, Times};
use super::queries::{self, Texts};
use super::rebuild::{self, Rebuilt};
use super::report::Report;
use super::ripgrep::{self, Files};
use super::sizes::{self, Sizes};
use super::{SEED, relevance};
use crate::kit::baseline::Baseline;
use crate::kit::corpus::{Generated, ONE_WORKSPACE, Page};
use crate::kit::known::Notes;
use crate::kit::store::{Store, words};
use crate::kit::{Outcome, text};

/// How many documents one transaction adds.
const BATCH: usize = 400;
/// How many misspelt words are tried.
const TYPOS: usize = 300;
/// The size whose known items are searched for, at the most.
const RELEVANCE: usize = 200_000;
/// How long the words for corrections may take to be read.
const READY: Duration = Duration::from_secs(60);

/// What was measured at one size.
pub(crate) struct Round {
    pub(crate) nodes: usize,
    pub(crate) documents: usize,
    /// How long it took to make all documents, and the baseline's rows.
    pub(crate) made: Duration,
    pub(crate) baseline_made: Duration,
    /// The first search after a start, which fills the memory.
    pub(crate) first: Duration,
    pub(crate) measured: Vec<Measured>,
    pub(crate) filtered: Vec<Measured>,
    pub(crate) others: Vec<Measured>,
    pub(crate) corrections: Corrections,
    pub(crate) sizes: Sizes,
    pub(crate) edits: Cost,
    pub(crate) baseline_edits: Cost,
    pub(crate) rebuilt: Rebuilt,
    /// p50 of ripgrep by type; none where it is not installed.
    pub(crate) ripgrep: Vec<(String, Duration)>,
    /// The common words, for a search through the bridge.
    pub(crate) common: Vec<String>,
}

/// How misspelt words fared.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Corrections {
    pub(crate) right: usize,
    pub(crate) all: usize,
    pub(crate) times: Times,
}

impl Round {
    pub(crate) fn run(
        size: usize,
        home: &Path,
        folder: &Path,
        sentences: &[String],
        report: &mut Report,
    ) -> Outcome<Self> {
        let making = Making::all(size, home, folder, sentences)?;
        let Making { store, baseline, notes, texts, files, nodes, bytes, made, baseline_made } =
            making;
        println!(
            "{nodes} nodes, {bytes} bytes; made in {:.1} s, the baseline in {:.1} s",
            made.as_secs_f64(),
            baseline_made.as_secs_f64()
        );
        let store = store.reopen()?;
        let first = settle(&store, &baseline)?;

        println!("== sizes");
        let connection = Connection::open(store.home().database()).map_err(text)?;
        let mut sizes = sizes::count(&connection, &baseline.connection, bytes)?;
        drop(connection);

        if nodes < 2 * RELEVANCE {
            println!("== known items");
            relevance::known(notes.known(), "generated", nodes, &store, &baseline, report)?;
        }

        println!("== searches");
        let mut baseline = baseline;
        let sets = queries::with_words(&texts, &baseline, nodes, SEED)?;
        let measured = measure::all(&sets, &store, &mut baseline)?;
        let workspace = store.workspaces.get(ONE_WORKSPACE).ok_or("no second workspace")?;
        let filtered = measure::all(&queries::filtered(&sets, *workspace), &store, &mut baseline)?;
        let others = measure::all(&queries::others(&sets), &store, &mut baseline)?;
        let ripgrep = ripgrep::measure(&files, &sets)?;
        println!("== corrections");
        let corrections = corrections(&store, &baseline)?;
        println!("== edits");
        let documents = store.documents.len();
        store.service.store.close();
        let copy = folder.join("edited.sqlite");
        std::fs::copy(store.home().database(), &copy).map_err(text)?;
        let (edits, baseline_edits) =
            edits::measure(&copy, store.service.search.writing(), &baseline, SEED)?;
        sizes.merged = sizes::merged(&Connection::open(&copy).map_err(text)?)?;

        println!("== rebuild");
        let rebuilt = rebuild::measure(&store.reopen()?)?;

        let common = sets.iter().find(|set| set.name == "common word");
        let common = common
            .into_iter()
            .flat_map(|set| &set.queries)
            .map(|query| query.ours.query.clone())
            .collect();
        Ok(Self {
            nodes,
            documents,
            made,
            baseline_made,
            first,
            measured,
            filtered,
            others,
            corrections,
            sizes,
            edits,
            baseline_edits,
            rebuilt,
            ripgrep,
            common,
        })
    }

    /// Measures the type with that name, else those whose names hold it, and nothing else.
    pub(crate) fn only(
        size: usize,
        folder: &Path,
        sentences: &[String],
        only: &str,
    ) -> Outcome<()> {
        let making = Making::all(size, &folder.join("home"), folder, sentences)?;
        let Making { store, mut baseline, texts, nodes, .. } = making;
        let store = store.reopen()?;
        settle(&store, &baseline)?;
        if only == "rebuild" {
            println!("{:?}", rebuild::measure(&store)?);
            return Ok(());
        }
        if only == "edits" {
            store.service.store.close();
            let path = store.home().database();
            let writing = store.service.search.writing();
            println!("{:?}", edits::measure(&path, writing, &baseline, SEED)?);
            return Ok(());
        }
        let mut sets = queries::with_words(&texts, &baseline, nodes, SEED)?;
        let workspace = store.workspaces.get(ONE_WORKSPACE).ok_or("no second workspace")?;
        let more = [queries::filtered(&sets, *workspace), queries::others(&sets)];
        sets.extend(more.into_iter().flatten());
        let is_exact = sets.iter().any(|set| set.name == only);
        sets.retain(|set| if is_exact { set.name == only } else { set.name.contains(only) });
        println!("== searches");
        for measured in measure::all(&sets, &store, &mut baseline)? {
            println!("{measured:?}");
        }
        Ok(())
    }

    /// One type.
    pub(crate) fn of(&self, name: &str) -> Option<&Measured> {
        self.measured.iter().find(|measured| measured.name == name)
    }

    /// The slowest p95 of all types with words and without a filter.
    pub(crate) fn worst(&self) -> Duration {
        worst(&self.measured)
    }

    /// The slowest p95 of all types with a filter.
    pub(crate) fn worst_filtered(&self) -> Duration {
        worst(&self.filtered)
    }

    /// p50 and p95 of the common words, in microseconds.
    pub(crate) fn common_micros(&self) -> Option<[u128; 2]> {
        self.of("common word")
            .map(|measured| [measured.ours.p50.as_micros(), measured.ours.p95.as_micros()])
    }
}

fn worst(all: &[Measured]) -> Duration {
    all.iter().map(|measured| measured.ours.p95).max().unwrap_or_default()
}

/// Lets both sides come to rest; how long the first search takes, which fills our memory.
fn settle(store: &Store, baseline: &Baseline) -> Outcome<Duration> {
    baseline.optimize()?;
    store.settle()?;
    baseline.set_cache(store.cache()?)?;
    let began = Instant::now();
    store.search(&words("a"))?;
    Ok(began.elapsed())
}

/// Both sides while they are filled.
struct Making {
    store: Store,
    baseline: Baseline,
    notes: Notes,
    texts: Texts,
    files: Files,
    nodes: usize,
    bytes: u64,
    made: Duration,
    baseline_made: Duration,
}

impl Making {
    fn all(size: usize, home: &Path, folder: &Path, sentences: &[String]) -> Outcome<Self> {
        std::fs::create_dir_all(folder).map_err(text)?;
        println!("== {size} nodes");
        let mut making = Self::new(home, folder)?;
        let mut pages = Generated::new(SEED, size, sentences.to_vec());
        loop {
            let batch: Vec<Page> = pages.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                return Ok(making);
            }
            making.add(&batch)?;
        }
    }

    fn new(home: &Path, folder: &Path) -> Outcome<Self> {
        Ok(Self {
            store: Store::new(home, SEED)?,
            baseline: Baseline::new(&folder.join("plain.sqlite"))?,
            notes: Notes::new(SEED),
            texts: Texts::new(SEED),
            files: Files::new(&folder.join("files"))?,
            nodes: 0,
            bytes: 0,
            made: Duration::ZERO,
            baseline_made: Duration::ZERO,
        })
    }

    fn add(&mut self, batch: &[Page]) -> Outcome<()> {
        let began = Instant::now();
        self.store.add(batch)?;
        self.made += began.elapsed();
        let began = Instant::now();
        self.bytes += self.baseline.add(batch)? as u64;
        self.baseline_made += began.elapsed();
        for page in batch {
            self.nodes += 1 + page.blocks.len();
            self.notes.see(page);
            self.texts.see(page);
            self.files.add(page)?;
        }
        Ok(())
    }
}

/// How often the first correction is the word that was meant, and how long it takes.
fn corrections(store: &Store, baseline: &Baseline) -> Outcome<Corrections> {
    let typos = queries::typos(baseline, TYPOS, SEED)?;
    let corrected = |typed: &str| -> Outcome<Option<String>> {
        Ok(store.search(&words(typed))?.corrected_query)
    };
    // The words are read beside the searches.
    let began = Instant::now();
    while began.elapsed() < READY {
        let first = typos.iter().take(20).map(|typo| corrected(&typo.typed));
        if first.collect::<Outcome<Vec<_>>>()?.iter().any(Option::is_some) {
            break;
        }
    }
    let mut times = Vec::new();
    let mut right = 0;
    for typo in &typos {
        let began = Instant::now();
        let said = corrected(&typo.typed)?;
        times.push(began.elapsed());
        right += usize::from(said.as_deref() == Some(&typo.meant));
    }
    Ok(Corrections { right, all: typos.len(), times: Times::of(&mut times) })
}
