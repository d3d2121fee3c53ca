//! In which order hits come.
//!
//! Every candidate has a first score from what is known without its text, its length included. A fixed number of the
//! best is read and scored again: by how near the words stand, how often and how exactly. The others follow as they
//! were. The number never depends on the page, so pages fit together
//! (design, search, section 4, for the formula and what it was measured with).

use rusqlite::Connection;

use super::candidates::{Candidate, Place};
use super::memory::{NodeKey, Source, View};
use super::shown::Texts;
use super::text::{Match, Query, Tokens, tokenize};
use crate::errors::ServiceError;

/// How many candidates are scored by their text.
const READ: usize = 200;
/// Of how many of these several places are read, to find the best.
const COMPARED: usize = 40;
/// The length of a usual text, in words.
const USUAL_WORDS: f64 = 12.0;
/// A whole title or heading that is the query.
const WHOLE: f64 = 2.0;
const DAY: i64 = 24 * 60 * 60 * 1_000;

/// A hit in its place of the list.
#[derive(Debug, Clone, Copy)]
pub struct Ranked {
    /// The document's key.
    pub document: u32,
    /// The node; none: the document as a whole.
    pub node: Option<NodeKey>,
    /// Where in the node.
    pub place: Place,
    /// How many other places of the document hold.
    pub others: u32,
    /// The score, in millionths.
    pub score: u32,
}

/// Orders candidates, the best first.
///
/// # Errors
/// Those of the storage.
pub fn rank(
    connection: &Connection,
    view: &View,
    query: &Query,
    candidates: Vec<Candidate>,
) -> Result<Vec<Ranked>, ServiceError> {
    let newest = view.documents().iter().map(|entry| entry.modified_at).max().unwrap_or(0);
    let modified = |document: u32| view.document(document).map_or(0, |entry| entry.modified_at);
    let worth =
        |candidate: &Candidate| worth(candidate) * freshness(newest - modified(candidate.document));
    let words = query.word_count();
    let mut order: Vec<Placed> = (0..)
        .zip(&candidates)
        .map(|(index, candidate)| {
            let score = worth(candidate) * likely_score_of_text(candidate, view, words);
            let modified = modified(candidate.document);
            Placed::new(&of(candidate, score), modified, index)
        })
        .collect();
    order.sort_unstable();

    let (read, others) = order.split_at(READ.min(order.len()));
    let mut texts = Texts::new(connection, view)?;
    let mut best = Vec::with_capacity(read.len());
    for (number, placed) in read.iter().enumerate() {
        let Some(candidate) = candidates.get(placed.index as usize) else { continue };
        let mut place = *candidate;
        let mut text = text_score(&mut texts, view, query, candidate)?;
        for (node, rival) in candidate.rivals.iter().flatten().filter(|_| number < COMPARED) {
            let rival = Candidate { node: Some(*node), place: *rival, ..*candidate };
            let score = text_score(&mut texts, view, query, &rival)?;
            if score > text {
                (place, text) = (rival, score);
            }
        }
        best.push(of(&place, worth(candidate) * text));
    }
    best.sort_by_cached_key(|hit| Placed::new(hit, modified(hit.document), 0));
    // A score that goes on falling, so that a reader may compare any two.
    let last = best.last().map_or(u32::MAX, |last| last.score);
    best.extend(others.iter().filter_map(|placed| {
        let hit = of(candidates.get(placed.index as usize)?, 0.0);
        Some(Ranked { score: placed.score().min(last), ..hit })
    }));
    Ok(best)
}

/// The place of a hit in the list, the best first. Lists are long and equal scores frequent, so one number says most of
/// it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Placed {
    /// Score, time of the last change and document, all of them the other way round.
    key: u128,
    node: Option<NodeKey>,
    /// Of the candidate.
    index: u32,
}

impl Placed {
    fn new(hit: &Ranked, modified: i64, index: u32) -> Self {
        let modified = u128::from(modified.max(0).unsigned_abs());
        let key = (u128::from(hit.score) << 96) | (modified << 32) | u128::from(hit.document);
        Self { key: !key, node: hit.node, index }
    }

    fn score(&self) -> u32 {
        u32::try_from(!self.key >> 96).unwrap_or(u32::MAX)
    }
}

/// A candidate with its score.
#[must_use]
pub fn of(candidate: &Candidate, score: f64) -> Ranked {
    // Whole millionths, so that equal scores are equal everywhere.
    let score = (score * 1e6).round().clamp(0.0, f64::from(u32::MAX));
    Ranked {
        document: candidate.document,
        node: candidate.node,
        place: candidate.place,
        others: candidate.places.saturating_sub(1),
        score: score as u32,
    }
}

/// What a candidate is worth, whatever its text.
fn worth(candidate: &Candidate) -> f64 {
    candidate.weight * (1.0 + 0.15 * f64::from(1 + candidate.places).ln())
}

/// Newer documents come a little before older ones. Age counts from the newest change in the index, never from the clock.
fn freshness(age: i64) -> f64 {
    match age / DAY {
        ..7 => 1.0,
        7..30 => 0.97,
        30..180 => 0.94,
        _ => 0.90,
    }
}

/// What the text makes of a score, as far as its length tells: as if each word stood in it once.
fn likely_score_of_text(candidate: &Candidate, view: &View, query_words: usize) -> f64 {
    let (Some(node), Place::Row(_, source)) = (candidate.node, candidate.place) else { return 1.0 };
    if candidate.words == 0 {
        return 1.0;
    }
    let is_head = || view.node(node).is_some_and(|entry| entry.kind.is_head());
    let may_be_whole =
        usize::from(candidate.words) == query_words && source == Source::Text && is_head();
    how_often(1.0, f64::from(candidate.words)) * if may_be_whole { WHOLE } else { 1.0 }
}

/// What it makes of a score that words stand in a text so often (bm25's saturation).
fn how_often(times: f64, words: f64) -> f64 {
    times * 2.2 / (times + 1.2 * (0.25 + 0.75 * words / USUAL_WORDS))
}

fn text_score(
    texts: &mut Texts<'_>,
    view: &View,
    query: &Query,
    candidate: &Candidate,
) -> Result<f64, ServiceError> {
    let (Some(node), Place::Row(..)) = (candidate.node, candidate.place) else { return Ok(1.0) };
    let is_head = view.node(node).is_some_and(|entry| entry.kind.is_head());
    let score =
        texts.at(node, candidate.place, |text| score_of_text(query, &tokenize(text), is_head))?;
    Ok(score.unwrap_or(0.0))
}

/// What the text itself makes of a score.
fn score_of_text(query: &Query, tokens: &Tokens<'_>, is_head: bool) -> f64 {
    let matches: Vec<Vec<Match>> = query.terms.iter().map(|term| term.find(tokens)).collect();
    let found: Vec<&Vec<Match>> = matches.iter().filter(|matches| !matches.is_empty()).collect();
    if found.is_empty() {
        return 0.0;
    }
    let terms = matches.len() as f64;
    let coverage = found.len() as f64 / terms;
    let pairs = matches.windows(2).filter(|pair| adjoin(tokens, pair)).count() as f64;
    let adjacent = if matches.len() > 1 { 1.0 + pairs / (terms - 1.0) } else { 1.0 };
    let count = found.iter().map(|matches| matches.len()).sum::<usize>() as f64;
    let frequency = count / found.len() as f64;
    let often = how_often(frequency, tokens.len() as f64);
    let any = |test: fn(&Match) -> bool| found.iter().all(|matches| matches.iter().any(test));
    let mut exact = if any(|found| found.whole) { 1.0 } else { 0.85 };
    if any(|found| found.as_typed) {
        exact *= 1.05;
    }
    if matches.first().is_some_and(|first| first.iter().any(|found| found.first == 0)) {
        exact *= 1.1;
    }
    let whole = if is_head && query.is_all_of(tokens) { WHOLE } else { 1.0 };
    coverage * adjacent * often * exact * whole
}

/// Whether the second term stands right behind the first one somewhere.
fn adjoin(tokens: &Tokens<'_>, pair: &[Vec<Match>]) -> bool {
    let [left, right] = pair else { return false };
    left.iter().any(|left| {
        let behind = tokens.position_behind(left.last + 1, left.end);
        right.binary_search_by_key(&behind, |right| right.first).is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(query: &str, text: &str) -> f64 {
        score_of_text(&Query::parse(query), &tokenize(text), false)
    }

    #[test]
    fn nearer_sooner_oftener_and_exacter_is_better() {
        for (query, better, worse) in [
            ("red fox ", "a red fox ran by here", "a fox that is red ran"),
            ("fox ", "fox in the green field now", "in the green field a fox"),
            ("fox ", "a fox met a fox in fields", "a fox met a dog in fields"),
            ("fo", "the fo of this and that", "the fox of this and that"),
            ("Fox ", "the Fox of this and that", "the fox of this and that"),
            ("caffè ", "il caffè di questa casa", "il caffe di questa casa"),
            ("fox ", "short words with fox", &format!("{} fox", "long text ".repeat(40))),
        ] {
            assert!(score(query, better) > score(query, worse), "{query}: {better} / {worse}");
        }
    }

    #[test]
    fn a_title_or_heading_that_is_the_query_weighs_twice() {
        let query = Query::parse("Red fox");
        let whole = score_of_text(&query, &tokenize("red fox"), true);
        let part = score_of_text(&query, &tokenize("red fox"), false);
        assert!((whole / part - WHOLE).abs() < 1e-9);
    }

    #[test]
    fn age_counts_in_steps() {
        let ages = [0, 6, 7, 29, 30, 179, 180, 4_000].map(|days| freshness(days * DAY));
        assert_eq!(ages, [1.0, 1.0, 0.97, 0.97, 0.94, 0.94, 0.90, 0.90]);
    }
}
