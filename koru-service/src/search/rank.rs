//! In which order hits come.
//!
//! Every candidate has a first score from what is known without its text. A fixed number of the best is read and scored
//! again: by how near the words stand, how often, how exactly, how long the text and how old the document is. The
//! others follow as they were. The number never depends on the page, so pages fit together
//! (design, search, section 4, for the formula and what it was measured with).

use rusqlite::Connection;

use super::candidates::{Candidate, Place};
use super::memory::{NodeKey, View};
use super::shown;
use super::text::{Match, Query, Tokens, tokenize};
use crate::errors::ServiceError;

/// How many candidates are scored by their text.
const READ: usize = 400;
/// Of how many of these several places are read, to find the best.
const COMPARED: usize = 100;
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
    let mut scored: Vec<(f64, Candidate)> =
        candidates.into_iter().map(|candidate| (first_score(&candidate), candidate)).collect();
    let by_first = |left: &(f64, Candidate), right: &(f64, Candidate)| {
        right
            .0
            .total_cmp(&left.0)
            .then_with(|| modified(right.1.document).cmp(&modified(left.1.document)))
            .then_with(|| (right.1.document, left.1.node).cmp(&(left.1.document, right.1.node)))
    };
    scored.sort_by(by_first);

    let mut ranked = Vec::with_capacity(scored.len());
    for (index, (first, candidate)) in scored.iter().take(READ).enumerate() {
        let fresh = freshness(newest - modified(candidate.document));
        let mut best = *candidate;
        let mut text = text_score(connection, view, query, candidate)?;
        for (node, place) in candidate.rivals.iter().flatten().filter(|_| index < COMPARED) {
            let rival = Candidate { node: Some(*node), place: *place, ..*candidate };
            let score = text_score(connection, view, query, &rival)?;
            if score > text {
                (best, text) = (rival, score);
            }
        }
        ranked.push(of(&best, first * text * fresh));
    }
    ranked.sort_by(|left: &Ranked, right: &Ranked| {
        right
            .score
            .cmp(&left.score)
            .then_with(|| modified(right.document).cmp(&modified(left.document)))
            .then_with(|| (right.document, left.node).cmp(&(left.document, right.node)))
    });
    // A score that goes on falling, so that a reader may compare any two.
    let last = ranked.last().map_or(u32::MAX, |last| last.score);
    ranked.extend(scored.iter().skip(READ).map(|(first, candidate)| {
        let hit = of(candidate, *first);
        Ranked { score: hit.score.min(last), ..hit }
    }));
    Ok(ranked)
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

fn first_score(candidate: &Candidate) -> f64 {
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

fn text_score(
    connection: &Connection,
    view: &View,
    query: &Query,
    candidate: &Candidate,
) -> Result<f64, ServiceError> {
    let (Some(node), Place::Row(..)) = (candidate.node, candidate.place) else { return Ok(1.0) };
    let Some(found) = shown::text_at(connection, view, node, candidate.place)? else {
        return Ok(0.0);
    };
    let tokens = tokenize(&found.text);
    Ok(score_of_text(query, &tokens, found.kind.is_head()))
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
    let length = tokens.len() as f64 / USUAL_WORDS;
    let often = frequency * 2.2 / (frequency + 1.2 * (0.25 + 0.75 * length));
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
