//! Known items: what is searched for stands in one document, and the better that document's place in
//! the list, the better the search.

use std::collections::HashMap;

use koru_model::node::Kind;

use super::Outcome;
use super::baseline::Baseline;
use super::corpus::Page;
use super::random::{Random, Sample};
use super::store::{Store, words as words_of};

/// How many items a set has.
const ITEMS: usize = 200;

/// A query, and the number of the page that it was made from.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    query: String,
    page: usize,
}

/// What is noted of pages as they are made.
pub(crate) struct Notes {
    titles: HashMap<String, (usize, usize)>,
    headings: HashMap<String, (usize, usize)>,
    three: Sample<Item>,
    random: Random,
    seed: u64,
    pages: usize,
}

/// A set of items.
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) items: Vec<Item>,
}

/// How well both sides did on a set.
#[derive(Debug, Clone)]
pub(crate) struct Score {
    pub(crate) name: &'static str,
    /// The mean reciprocal rank among the first 20 documents.
    pub(crate) ours: f64,
    pub(crate) baseline: f64,
    /// How many items are among the first 20.
    pub(crate) ours_found: usize,
    pub(crate) baseline_found: usize,
    pub(crate) items: usize,
    /// Items that the baseline found and we found later or not at all.
    pub(crate) lost: Vec<Lost>,
}

/// An item that the baseline was better at, with both places from 1.
#[derive(Debug, Clone)]
#[expect(dead_code, reason = "read by whoever looks at a score that is too low")]
pub(crate) struct Lost {
    query: String,
    ours: Option<usize>,
    baseline: usize,
    /// The title and the snippet of our first hit.
    first: Option<(String, String)>,
}

impl Score {
    /// Whether ours is as good, but for a hundredth.
    pub(crate) fn is_met(&self) -> bool {
        self.ours >= self.baseline - 0.01
    }
}

impl Notes {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            titles: HashMap::new(),
            headings: HashMap::new(),
            three: Sample::new(seed, ITEMS),
            random: Random::new(seed),
            seed,
            pages: 0,
        }
    }

    pub(crate) fn see(&mut self, page: &Page) {
        let number = self.pages;
        self.pages += 1;
        note(&mut self.titles, &page.title, number);
        for block in &page.blocks {
            if block.kind == Kind::Heading {
                note(&mut self.headings, &block.text, number);
            } else if block.kind != Kind::Code {
                let words = words(&block.text);
                if words.len() >= 5 {
                    let from = self.random.below(words.len() - 2);
                    let three = words.get(from..from + 3).unwrap_or_default();
                    self.three.see(|| Item { query: three.join(" "), page: number });
                }
            }
        }
    }

    /// The sets: titles, headings, and three words of a block that follow each other. What several titles or headings
    /// say names none of them and is left out, as is what has one word.
    pub(crate) fn known(mut self) -> [Known; 3] {
        self.headings.retain(|heading, _| !self.titles.contains_key(heading));
        let chosen = |all: HashMap<String, (usize, usize)>, seed: u64| {
            let mut all: Vec<Item> = all
                .into_iter()
                .filter(|(query, (_, count))| *count == 1 && words(query).len() > 1)
                .map(|(query, (page, _))| Item { query, page })
                .collect();
            all.sort_by(|one, other| one.query.cmp(&other.query));
            Random::new(seed).shuffle(&mut all);
            all.truncate(ITEMS);
            all
        };
        [
            Known { name: "titles", items: chosen(self.titles, self.seed) },
            Known { name: "headings", items: chosen(self.headings, self.seed) },
            Known { name: "three words", items: self.three.kept },
        ]
    }
}

fn note(all: &mut HashMap<String, (usize, usize)>, text: &str, page: usize) {
    all.entry(words(text).join(" ")).or_insert((page, 0)).1 += 1;
}

/// The words of a text as a person would type them.
fn words(text: &str) -> Vec<String> {
    text.split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .filter(|word| !word.is_empty())
        .collect()
}

/// Searches for all items of a set on both sides.
pub(crate) fn score(known: &Known, store: &Store, baseline: &Baseline) -> Outcome<Score> {
    let (mut ours, mut theirs, mut lost) = (Vec::new(), Vec::new(), Vec::new());
    for item in &known.items {
        let wanted = store.documents.get(item.page).ok_or("an item without document")?;
        let results = store.search(&words_of(&item.query))?;
        let our = results.hits.iter().position(|hit| hit.document == *wanted);
        let their = baseline.found(&item.query)?.iter().position(|found| *found == item.page);
        if let Some(their) = their
            && our.is_none_or(|our| our > their)
        {
            let first = results.hits.first();
            lost.push(Lost {
                query: item.query.clone(),
                ours: our.map(|our| our + 1),
                baseline: their + 1,
                first: first.map(|hit| (hit.title.clone(), hit.snippet.clone())),
            });
        }
        ours.push(our);
        theirs.push(their);
    }
    Ok(Score {
        name: known.name,
        ours: mean(&ours),
        baseline: mean(&theirs),
        ours_found: ours.iter().flatten().count(),
        baseline_found: theirs.iter().flatten().count(),
        items: known.items.len(),
        lost,
    })
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn mean(places: &[Option<usize>]) -> f64 {
    let sum: f64 = places.iter().flatten().map(|place| 1.0 / (place + 1) as f64).sum();
    sum / places.len().max(1) as f64
}
