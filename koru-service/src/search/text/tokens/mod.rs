//! Tokens: the words of a text, and where they stand in it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::{GAP, QUERY_TOKENS, TOKEN_BYTES};

mod identifier;
mod reader;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A word, a part of an identifier, a number.
    Word,
    /// Two neighbouring units of a script without spaces; the next token begins with the second.
    Pair,
    /// The last unit of a run of such a script.
    Unit,
    /// One emoji, without skin tone.
    Emoji,
}

/// One token, seen in its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// The folded text: no more than [`TOKEN_BYTES`], of ASCII only `0-9a-z`.
    pub text: &'a str,
    /// Where it begins in the source, in bytes of UTF-8.
    pub start: u32,
    /// Where it ends in the source, in bytes of UTF-8, its marks included.
    pub end: u32,
    /// Its position as the index counts it: its number.
    pub position: u32,
    /// What it is.
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: u32,
    start: u32,
    end: u32,
    len: u8,
    kind: Kind,
}

/// An identifier that was split, in one piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joined {
    at: u32,
    len: u8,
    /// Its first and last token.
    pub(super) first: u32,
    pub(super) last: u32,
}

/// The tokens of one text, in its order.
#[derive(Clone, Debug)]
pub struct Tokens<'t> {
    source: &'t str,
    folded: String,
    entries: Vec<Entry>,
    joined: Vec<Joined>,
}

/// Reads the tokens of a text. Positions fit in 32 bits: a text that is longer than 4 GiB has no
/// tokens behind them.
pub fn tokenize(text: &str) -> Tokens<'_> {
    reader::read(text)
}

/// What the index stores for a text, see [`Tokens::indexed`].
pub fn indexed(text: &str) -> String {
    tokenize(text).indexed()
}

impl<'t> Tokens<'t> {
    /// The text that was read.
    pub const fn source(&self) -> &'t str {
        self.source
    }

    /// How many tokens there are, joined forms not counted.
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the text holds no token.
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The token at a position.
    pub fn get(&self, position: usize) -> Option<Token<'_>> {
        let entry = self.entries.get(position)?;
        Some(Token {
            text: self.folded(entry.at, entry.len),
            start: entry.start,
            end: entry.end,
            position: u32::try_from(position).ok()?,
            kind: entry.kind,
        })
    }

    /// All tokens in order.
    pub fn iter(&self) -> impl Iterator<Item = Token<'_>> {
        self.entries.iter().zip(0..).map(|(entry, position)| Token {
            text: self.folded(entry.at, entry.len),
            start: entry.start,
            end: entry.end,
            position,
            kind: entry.kind,
        })
    }

    /// What is inserted into an FTS5 table with `tokenize='ascii'`: the tokens with one space
    /// between two, so that a token's position there is its number here; then the joined form of
    /// each different identifier, each behind a [`GAP`], so that no phrase runs over one.
    pub fn indexed(&self) -> String {
        let mut text = String::with_capacity(self.folded.len() + self.entries.len());
        for token in self.iter() {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(token.text);
        }
        let mut seen = HashSet::new();
        for joined in &self.joined {
            let form = self.joined_text(joined);
            if seen.insert(form) {
                text.push(' ');
                text.push_str(GAP);
                text.push(' ');
                text.push_str(form);
            }
        }
        text
    }

    pub(super) fn joined(&self) -> &[Joined] {
        &self.joined
    }

    pub(super) fn joined_text(&self, joined: &Joined) -> &str {
        self.folded(joined.at, joined.len)
    }

    fn folded(&self, at: u32, len: u8) -> &str {
        let at = at as usize;
        self.folded.get(at..at + usize::from(len)).unwrap_or_default()
    }

    /// The first position at or behind `from` whose token begins at or behind the byte `end`: the
    /// next word behind a match, where a match in a run leaves the unit it ends with unread.
    pub fn position_behind(&self, from: u32, end: u32) -> u32 {
        let mut position = from;
        while self.entries.get(position as usize).is_some_and(|entry| entry.start < end) {
            position += 1;
        }
        position
    }
}

/// The pieces in which a text is indexed: byte ranges of at most `limit` bytes, the whole text where
/// it is short enough. They are cut between tokens, between words where one ends near the limit, and
/// each begins 32 tokens (as many as a query may have) before the end of the one before it, so that
/// no phrase is lost between two. A piece is longer than `limit` only where those 32 tokens are.
pub fn parts(text: &str, limit: usize) -> Vec<Range<usize>> {
    if text.len() <= limit {
        return vec![Range { start: 0, end: text.len() }];
    }
    let tokens = tokenize(text);
    let entries = &tokens.entries;
    let mut pieces = Vec::new();
    let (mut first, mut start) = (0, 0);
    loop {
        let mut behind = first
            + entries.get(first..).map_or(0, |rest| {
                rest.partition_point(|entry| entry.end as usize <= start + limit)
            });
        if behind == entries.len() {
            pieces.push(Range { start, end: text.len() });
            return pieces;
        }
        // At least one token more than the overlap, else the next piece would be this one again.
        behind = behind.max((first + QUERY_TOKENS + 1).min(entries.len()));
        behind = back_to_word(entries, behind, first + QUERY_TOKENS + 1);
        let end = entries.get(behind - 1).map_or(text.len(), |entry| entry.end as usize);
        pieces.push(Range { start, end });
        if behind == entries.len() {
            return pieces;
        }
        first = behind - QUERY_TOKENS;
        start = entries.get(first).map_or(end, |entry| entry.start as usize);
    }
}

/// The last place at or before `behind`, and behind `least`, where two words part; within 64 tokens.
fn back_to_word(entries: &[Entry], behind: usize, least: usize) -> usize {
    (least.max(behind.saturating_sub(64))..=behind)
        .rev()
        .find(|&at| match (entries.get(at - 1), entries.get(at)) {
            (Some(before), Some(after)) => before.end < after.start,
            _ => true,
        })
        .unwrap_or(behind)
}

/// A token's text as it was typed, for comparing case and accents.
pub(super) fn composed(text: &str) -> Cow<'_, str> {
    use unicode_normalization::UnicodeNormalization as _;
    if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) }
}

/// `TOKEN_BYTES` must fit the length of an entry.
const _: () = assert!(TOKEN_BYTES <= u8::MAX as usize);
