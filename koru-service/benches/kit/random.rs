//! Numbers that look random and follow from a seed.

use std::sync::atomic::{AtomicU64, Ordering};

use uuid::Uuid;

/// SplitMix64.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

fn mixed(state: u64) -> u64 {
    let mut z = state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mixed(self.0)
    }

    /// One of `0..below`; 0 where there is none.
    pub(crate) fn below(&mut self, below: usize) -> usize {
        let below = below.max(1) as u64;
        usize::try_from(self.next() % below).unwrap_or_default()
    }

    /// One of a range.
    pub(crate) fn within(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most + 1 - least)
    }

    /// From 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
    pub(crate) fn part(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Whether something happens that happens so many times in a thousand.
    pub(crate) fn happens(&mut self, in_a_thousand: usize) -> bool {
        self.below(1000) < in_a_thousand
    }

    /// One of several things.
    pub(crate) fn of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len()))
    }

    pub(crate) fn shuffle<T>(&mut self, all: &mut [T]) {
        for last in (1..all.len()).rev() {
            all.swap(last, self.below(last + 1));
        }
    }
}

/// IDs as version 7 makes them: in the order of time, the rest random.
#[derive(Debug)]
pub(crate) struct Ids(AtomicU64);

impl Ids {
    pub(crate) fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    pub(crate) fn next(&self, milliseconds: i64) -> Uuid {
        let state = self.0.fetch_add(STEP, Ordering::Relaxed);
        let random = [mixed(state).to_be_bytes(), mixed(!state).to_be_bytes()].concat();
        let mut tail = [0; 10];
        for (to, from) in tail.iter_mut().zip(random) {
            *to = from;
        }
        uuid::Builder::from_unix_timestamp_millis(milliseconds.unsigned_abs(), &tail).into_uuid()
    }
}

/// Keeps a fair sample of what passes by.
#[derive(Debug)]
pub(crate) struct Sample<T> {
    random: Random,
    most: usize,
    seen: usize,
    pub(crate) kept: Vec<T>,
}

impl<T> Sample<T> {
    pub(crate) fn new(seed: u64, most: usize) -> Self {
        Self { random: Random::new(seed), most, seen: 0, kept: Vec::new() }
    }

    pub(crate) fn see(&mut self, one: impl FnOnce() -> T) {
        self.seen += 1;
        if self.kept.len() < self.most {
            self.kept.push(one());
        } else if let Some(slot) = self.kept.get_mut(self.random.below(self.seen)) {
            *slot = one();
        }
    }
}
