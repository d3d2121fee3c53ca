//! The text of search, without I/O: what words a text holds, what a query asks for, where a text
//! matches it, and what of the text is shown.
//!
//! One function, [`tokenize`], serves the index, the query and the highlighter, so they cannot
//! disagree. The index stores [`Tokens::indexed`] under SQLite's `ascii` tokenizer, which splits at
//! the spaces and changes nothing; a query reaches it only as [`Term::expression`], which is made of
//! folded tokens in double quotes, so nothing that a user types is syntax.
//!
//! # Tokens
//! A **word** is a run of letters, digits and marks. Apostrophes within it are dropped (`don't` is
//! `dont`). An **identifier** is split at `_` and at case changes (`getUserName`, `HTTPServer`), not
//! between letters and digits (`v2`); its joined form (`getusername`) is indexed as well, behind all
//! words of the text and behind a gap, so that phrases run through it undisturbed. A French, Italian
//! or Catalan elision (`l'école`) is split like an identifier. **Scripts without spaces** (Han and
//! kana as one, Hangul, Thai, Lao, Khmer, Myanmar and their neighbours) become overlapping pairs of
//! units, and the last unit alone; a unit is a letter with its marks. An **emoji** is one token.
//! Everything else separates.
//!
//! # Folding, script by script
//! - All: compatibility forms are plain (`ﬁ`, full and half width, circled, superscript), case is
//!   gone, invisible characters do not count.
//! - Latin, Greek, Cyrillic: no diacritics, so ё is е and й is и; ß is ss, æ ae, œ oe, þ th; đ ð d,
//!   ø o, ł l, ħ h, ŧ t, ı i; final ς is σ.
//! - Hebrew and Arabic: no points, no tatweel; alef with hamza or madda is alef, Persian and final
//!   ya are ya, Persian kaf is kaf.
//! - Kana keep their voicing, and hiragana is not katakana. Hangul syllables are composed. Thai and
//!   Lao keep their tone marks, which stand before a nikhahit. Indic scripts keep all marks.

mod find;
mod fold;
mod known;
mod query;
mod scripts;
mod snippet;
mod tokens;

use std::ops::RangeInclusive;

pub use find::Match;
pub use fold::fold;
pub use query::{Query, Term};
pub use snippet::{Snippet, Span, snippet};
pub use tokens::{Kind, Token, Tokens, indexed, parts, tokenize};

/// The version of what [`tokenize`] makes of a text. Rows that an earlier version indexed are found
/// by it still, and must be indexed again.
pub const TOKENIZER_VERSION: u32 = 1;
/// The longest token, in bytes of UTF-8. Longer words are cut, in the index as in the query.
pub const TOKEN_BYTES: usize = 64;
/// The longest query, in characters. The rest is not read.
pub const QUERY_CHARS: usize = 1_000;
/// The most tokens of a query. The rest is not read.
pub const QUERY_TOKENS: usize = 32;
/// The beginnings of words of which both tables of the index have the rows at hand, in characters: their `prefix`.
pub const PREFIX_CHARS: RangeInclusive<usize> = 2..=3;
/// The longest snippet, in characters.
pub const SNIPPET_CHARS: usize = 240;
/// What stands between the words of a text and its joined forms, and between those: a private-use
/// character, which is in no token.
pub const GAP: &str = "\u{E000}";

#[cfg(test)]
mod tests;
