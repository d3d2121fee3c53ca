//! How long searches take on both sides: a run of each in turn.
//!
//! The baseline searches on a thread of its own. What it allocates by the hundred thousand is then freed and tidied up
//! there, and not by our next search.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::queries::{Class, Set};
use crate::kit::baseline::Baseline;
use crate::kit::store::Store;
use crate::kit::{Outcome, text};

/// How often everything is measured; the one in the middle counts.
const ROUNDS: usize = 5;
/// How often each query runs in a round.
const RUNS: usize = 3;
/// The rows of a page.
const ROWS: usize = 20;

/// What so many searches take.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Times {
    pub(crate) p50: Duration,
    pub(crate) p95: Duration,
}

/// One type, measured.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    pub(crate) name: String,
    pub(crate) class: Class,
    pub(crate) ours: Times,
    pub(crate) baseline: Option<Times>,
    pub(crate) queries: usize,
    /// How many of the queries find something.
    pub(crate) ours_found: usize,
    pub(crate) baseline_found: usize,
}

impl Measured {
    /// Our p95 in parts of the baseline's.
    pub(crate) fn ratio(&self) -> Option<f64> {
        self.baseline.map(|baseline| times(self.ours.p95, baseline.p95))
    }
}

/// How many times longer the first is.
pub(crate) fn times(first: Duration, second: Duration) -> f64 {
    first.as_secs_f64() / second.as_secs_f64().max(1e-9)
}

/// The duration at a share of all, from 0 to 100.
pub(crate) fn percentile(all: &mut [Duration], share: usize) -> Duration {
    all.sort_unstable();
    let last = all.len().saturating_sub(1);
    all.get((all.len() * share / 100).min(last)).copied().unwrap_or_default()
}

impl Times {
    pub(crate) fn of(all: &mut [Duration]) -> Self {
        Self { p50: percentile(all, 50), p95: percentile(all, 95) }
    }

    fn median(rounds: &[Self]) -> Self {
        let middle = |of: fn(&Self) -> Duration| {
            percentile(&mut rounds.iter().map(of).collect::<Vec<_>>(), 50)
        };
        Self { p50: middle(|times| times.p50), p95: middle(|times| times.p95) }
    }
}

/// Measures all types.
pub(crate) fn all(sets: &[Set], store: &Store, baseline: &mut Baseline) -> Outcome<Vec<Measured>> {
    std::thread::scope(|scope| {
        let (ask, asked) = mpsc::channel::<String>();
        let (answer, answers) = mpsc::channel();
        scope.spawn(move || {
            for expression in asked {
                let began = Instant::now();
                let rows = baseline.search(&expression, ROWS).map(|rows| rows.len());
                if answer.send((began.elapsed(), rows)).is_err() {
                    return;
                }
            }
        });
        let theirs = |expression: &String| -> Outcome<(Duration, usize)> {
            ask.send(expression.clone()).map_err(text)?;
            let (took, rows) = answers.recv().map_err(text)?;
            Ok((took, rows?))
        };
        both(sets, store, &theirs)
    })
}

/// One search of the baseline: how long it took, and how many rows it found.
type Theirs<'a> = &'a dyn Fn(&String) -> Outcome<(Duration, usize)>;

fn both(sets: &[Set], store: &Store, theirs: Theirs<'_>) -> Outcome<Vec<Measured>> {
    let mut found = vec![(0, 0); sets.len()];
    for (set, found) in sets.iter().zip(&mut found) {
        for query in &set.queries {
            found.0 += usize::from(!store.search(&query.ours)?.hits.is_empty());
            if let Some(expression) = &query.baseline {
                found.1 += usize::from(theirs(expression)?.1 > 0);
            }
        }
    }
    let mut rounds: Vec<(Vec<Times>, Vec<Times>)> = vec![Default::default(); sets.len()];
    for _ in 0..ROUNDS {
        for (set, rounds) in sets.iter().zip(&mut rounds) {
            let (ours, theirs) = round(set, store, theirs)?;
            rounds.0.push(ours);
            rounds.1.extend(theirs);
        }
    }
    let measured = sets.iter().zip(rounds).zip(found).map(|((set, rounds), found)| Measured {
        name: set.name.clone(),
        class: set.class,
        ours: Times::median(&rounds.0),
        baseline: (!rounds.1.is_empty()).then(|| Times::median(&rounds.1)),
        queries: set.queries.len(),
        ours_found: found.0,
        baseline_found: found.1,
    });
    Ok(measured.collect())
}

fn round(set: &Set, store: &Store, theirs: Theirs<'_>) -> Outcome<(Times, Option<Times>)> {
    let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        for query in &set.queries {
            let began = Instant::now();
            let results = store.search(&query.ours)?;
            our_times.push(began.elapsed());
            drop(results);
        }
        for expression in set.queries.iter().filter_map(|query| query.baseline.as_ref()) {
            their_times.push(theirs(expression)?.0);
        }
    }
    let theirs = (!their_times.is_empty()).then(|| Times::of(&mut their_times));
    Ok((Times::of(&mut our_times), theirs))
}
