//! How long searches take on both sides, one of each in turn.

use std::time::{Duration, Instant};

use super::queries::{Class, Set};
use crate::kit::Outcome;
use crate::kit::baseline::Baseline;
use crate::kit::store::Store;

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
pub(crate) fn all(sets: &[Set], store: &Store, baseline: &Baseline) -> Outcome<Vec<Measured>> {
    let mut found = vec![(0, 0); sets.len()];
    for (set, found) in sets.iter().zip(&mut found) {
        for query in &set.queries {
            found.0 += usize::from(!store.search(&query.ours)?.hits.is_empty());
            if let Some(expression) = &query.baseline {
                found.1 += usize::from(!baseline.search(expression, ROWS)?.is_empty());
            }
        }
    }
    let mut rounds: Vec<(Vec<Times>, Vec<Times>)> = vec![Default::default(); sets.len()];
    for _ in 0..ROUNDS {
        for (set, rounds) in sets.iter().zip(&mut rounds) {
            let (ours, theirs) = round(set, store, baseline)?;
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

fn round(set: &Set, store: &Store, baseline: &Baseline) -> Outcome<(Times, Option<Times>)> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        for query in &set.queries {
            let began = Instant::now();
            let results = store.search(&query.ours)?;
            ours.push(began.elapsed());
            drop(results);
            if let Some(expression) = &query.baseline {
                let began = Instant::now();
                let rows = baseline.search(expression, ROWS)?;
                theirs.push(began.elapsed());
                drop(rows);
            }
        }
    }
    Ok((Times::of(&mut ours), (!theirs.is_empty()).then(|| Times::of(&mut theirs))))
}
