//! What of a text is shown for a hit, and where the query stands in it.

use std::cmp::Reverse;

use unicode_segmentation::GraphemeCursor;

use super::SNIPPET_CHARS;
use super::query::Query;
use super::tokens::Tokens;

/// A place in a snippet, in bytes of UTF-8: `[start_utf8, end_utf8)`, between characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its first byte.
    pub start_utf8: u32,
    /// The byte behind its last one.
    pub end_utf8: u32,
}

/// A part of a text that shows why it was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// At most [`SNIPPET_CHARS`] characters, in one line; `…` where the text goes on.
    pub text: String,
    /// Where the query matches: sorted, not empty, not touching each other.
    pub spans: Vec<Span>,
}

/// A match in the source: bytes, and characters from its beginning.
#[derive(Clone, Copy)]
struct Place {
    start: usize,
    end: usize,
    start_char: usize,
    end_char: usize,
    term: usize,
    whole: bool,
}

/// The part of a text around the place where most terms of a query stand near each other; its
/// beginning where none does. Line breaks, tabs, spaces in a row and control characters are one
/// space. Cut between graphemes, between words where one ends near the cut.
pub fn snippet(tokens: &Tokens<'_>, query: &Query) -> Snippet {
    let text = tokens.source();
    let places = places(tokens, query);
    let bounds = Bounds::of(text, &places);
    bounds.render(text, &places)
}

fn places(tokens: &Tokens<'_>, query: &Query) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for (term, wanted) in query.terms.iter().enumerate() {
        places.extend(wanted.find(tokens).iter().map(|found| Place {
            start: found.start as usize,
            end: found.end as usize,
            start_char: 0,
            end_char: 0,
            term,
            whole: found.whole,
        }));
    }
    places.sort_unstable_by_key(|place| (place.start, place.end));
    let (mut at, mut chars) = (0, 0);
    for place in &mut places {
        chars += chars_between(tokens.source(), at, place.start);
        at = place.start;
        place.start_char = chars;
        place.end_char = chars + chars_between(tokens.source(), place.start, place.end);
    }
    places
}

/// What is shown, in bytes of the source, and whether `…` stands before and behind it.
struct Bounds {
    start: usize,
    end: usize,
}

impl Bounds {
    fn of(text: &str, places: &[Place]) -> Self {
        if text.chars().nth(SNIPPET_CHARS).is_none() {
            return Self { start: 0, end: text.len() };
        }
        // Two characters are left for `…` on both sides.
        let room = SNIPPET_CHARS - 2;
        let (from, to) = densest(text, places, room);
        let used = chars_between(text, from, to);
        let before = (room.saturating_sub(used)) / 3;
        let start = back(text, from, before);
        let start = if start == 0 { 0 } else { begin_of_word(text, start, from) };
        let left = room.saturating_sub(chars_between(text, start, from));
        let end = ahead(text, from, left);
        let end = if end == text.len() { end } else { end_of_word(text, end, to.max(from)) };
        if end < text.len() {
            return Self { start, end };
        }
        // The text ends within reach: what is left over is shown before.
        let left = room.saturating_sub(chars_between(text, from, end));
        let start = back(text, from, left);
        let start = if start == 0 { 0 } else { begin_of_word(text, start, from) };
        Self { start, end }
    }

    fn render(&self, text: &str, places: &[Place]) -> Snippet {
        let mut shown = Snippet::default();
        if self.start > 0 {
            shown.text.push('…');
        }
        let mut places = places.iter().filter(|place| place.end > self.start).peekable();
        // Overlapping places are open at the same time: the last end counts.
        let mut open: Option<(u32, usize)> = None;
        let mut space = true;
        let part = text.get(self.start..self.end).unwrap_or_default();
        for (at, c) in part.char_indices() {
            let at = self.start + at;
            if let Some((start, end)) = open
                && at >= end
            {
                let follows = places.peek().is_some_and(|place| place.start <= at);
                if !follows {
                    shown.close(start);
                    open = None;
                }
            }
            if is_blank(c) {
                if !space {
                    shown.text.push(' ');
                }
                space = true;
                continue;
            }
            while let Some(place) = places.next_if(|place| place.start <= at) {
                let end = open.map_or(place.end, |(_, end)| end.max(place.end));
                if end > at {
                    open = Some((open.map_or(length(&shown.text), |(start, _)| start), end));
                }
            }
            shown.text.push(c);
            space = false;
        }
        if let Some((start, _)) = open {
            shown.close(start);
        }
        if space && shown.text.ends_with(' ') {
            shown.text.pop();
        }
        if self.end < text.len() {
            shown.text.push('…');
        }
        shown
    }
}

impl Snippet {
    /// Ends the span that began at the byte `start`.
    fn close(&mut self, start: u32) {
        let end = length(self.text.trim_end_matches(' '));
        if end > start {
            self.spans.push(Span { start_utf8: start, end_utf8: end });
        }
    }
}

/// What is kept free around the place that is shown, in characters.
const AROUND: usize = 48;

/// The place where most terms stand within reach of each other, whole words before begun ones, the
/// narrowest such place, then the one with most matches: its first and last byte.
fn densest(text: &str, places: &[Place], room: usize) -> (usize, usize) {
    let reach = room - AROUND;
    let terms = places.iter().map(|place| place.term + 1).max().unwrap_or(0);
    // Of each term its next match, and its next whole one, at or behind the place at hand: from the
    // last place to the first, each step costs the number of terms.
    let mut next: Vec<[Option<Place>; 2]> = vec![[None; 2]; terms];
    let mut behind = places.len();
    let mut best = None;
    let mut bounds = (0, 0);
    for (index, first) in places.iter().enumerate().rev() {
        if let Some([any, whole]) = next.get_mut(first.term) {
            *any = Some(*first);
            if first.whole {
                *whole = Some(*first);
            }
        }
        let limit = first.start_char + reach;
        let near = |place: &&Place| place.end_char <= limit || place.start == first.start;
        while places.get(behind - 1).is_some_and(|last| last.start_char >= limit) {
            behind -= 1;
        }
        let (mut seen, mut seen_whole, mut end_char) = (0, 0, 0);
        for [any, whole] in &next {
            let whole = whole.as_ref().filter(near);
            seen_whole += usize::from(whole.is_some());
            if let Some(place) = whole.or(any.as_ref().filter(near)) {
                seen += 1;
                end_char = end_char.max(place.end_char);
            }
        }
        let width = if seen > 1 { end_char - first.start_char } else { 0 };
        let score = (seen, seen_whole, Reverse(width), behind - index);
        // Of equal places the first one, which comes last here.
        if best.is_none_or(|best| score >= best) {
            best = Some(score);
            let last = places.get(behind - 1).map_or(first.end, |last| last.end);
            bounds = (first.start, last.max(first.end));
        }
    }
    let (from, to) = bounds;
    (from, to.min(ahead(text, from, room)))
}

fn length(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}

fn is_blank(c: char) -> bool {
    c == ' ' || c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

fn chars_between(text: &str, from: usize, to: usize) -> usize {
    text.get(from..to).map_or(0, |part| part.chars().count())
}

/// The byte `count` characters before `at`.
fn back(text: &str, at: usize, count: usize) -> usize {
    let Some(index) = count.checked_sub(1) else { return at };
    text.get(..at).and_then(|part| part.char_indices().rev().nth(index)).map_or(0, |(at, _)| at)
}

/// The byte `count` characters behind `at`.
fn ahead(text: &str, at: usize, count: usize) -> usize {
    text.get(at..)
        .and_then(|part| part.char_indices().nth(count))
        .map_or(text.len(), |(further, _)| at + further)
}

/// How far a cut is moved to stand between two words, in characters.
const WORD_SEARCH: usize = 24;

/// The first beginning of a word behind the cut `at`, else the first grapheme; not behind `limit`.
fn begin_of_word(text: &str, at: usize, limit: usize) -> usize {
    let within = ahead(text, at, WORD_SEARCH).min(limit);
    let part = text.get(at..within).unwrap_or_default();
    let space = part.find(char::is_whitespace).and_then(|space| {
        let further = part.get(space..)?.find(|c: char| !c.is_whitespace())?;
        Some(at + space + further)
    });
    if let Some(space) = space
        && is_boundary(text, space)
    {
        return space;
    }
    part.char_indices()
        .map(|(further, _)| at + further)
        .find(|&place| is_boundary(text, place))
        .unwrap_or(within)
}

/// The last end of a word before the cut `at`, else the last grapheme; not before `limit`.
fn end_of_word(text: &str, at: usize, limit: usize) -> usize {
    let limit = limit.min(at);
    let within = back(text, at, WORD_SEARCH).max(limit);
    let part = text.get(within..at).unwrap_or_default();
    if text.get(at..).is_some_and(|behind| behind.starts_with(char::is_whitespace)) {
        return at;
    }
    if let Some(space) = part.rfind(char::is_whitespace)
        && is_boundary(text, within + space)
    {
        return within + space;
    }
    part.char_indices()
        .rev()
        .map(|(further, _)| within + further)
        .chain([at])
        .find(|&place| place > limit && is_boundary(text, place))
        .unwrap_or(at)
}

/// Whether graphemes part here.
fn is_boundary(text: &str, at: usize) -> bool {
    GraphemeCursor::new(at, text.len(), true).is_boundary(text, 0).unwrap_or(true)
}
