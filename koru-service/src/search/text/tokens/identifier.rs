//! Where the parts of an identifier begin: at `_`, at case changes, behind an elided article.

use crate::search::text::fold::fold_char;
use crate::search::text::scripts::Case;

/// A character of a word.
#[derive(Clone, Copy)]
pub(super) struct Letter {
    pub(super) c: char,
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) kind: LetterKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LetterKind {
    Letter(Case),
    Mark,
    Joint,
    Apostrophe,
}

impl LetterKind {
    pub(super) const fn is_between(self) -> bool {
        matches!(self, Self::Joint | Self::Apostrophe)
    }
}

/// How many letters the first part of a word has; `_` before a part goes with it.
pub(super) fn part_len(letters: &[Letter]) -> usize {
    let mut before: Option<Letter> = None;
    for (at, letter) in letters.iter().enumerate() {
        match letter.kind {
            LetterKind::Mark => {}
            LetterKind::Apostrophe => {
                if before.is_some() && is_elided(letters, at) {
                    return at + 1;
                }
            }
            LetterKind::Joint => {
                if before.is_some() {
                    return at;
                }
            }
            LetterKind::Letter(_) => {
                if before.is_some_and(|last| is_hump(last.kind, letters, at)) {
                    return at;
                }
                before = Some(*letter);
            }
        }
    }
    letters.len()
}

/// Whether a part begins at the letter `at`, behind one of the kind `before`.
fn is_hump(before: LetterKind, letters: &[Letter], at: usize) -> bool {
    let mut kinds = letters
        .get(at..)
        .unwrap_or_default()
        .iter()
        .map(|letter| letter.kind)
        .filter(|kind| *kind != LetterKind::Mark);
    if kinds.next() != Some(LetterKind::Letter(Case::Upper)) {
        return false;
    }
    let lower_follows = kinds.next() == Some(LetterKind::Letter(Case::Lower));
    match before {
        LetterKind::Letter(Case::Lower) => true,
        LetterKind::Letter(Case::Digit) => lower_follows,
        LetterKind::Letter(Case::Upper) => lower_follows && !is_plural(letters, at, kinds.next()),
        _ => false,
    }
}

/// `URLs`: the last letter of an acronym, and an s that ends it.
fn is_plural(letters: &[Letter], at: usize, behind: Option<LetterKind>) -> bool {
    letters.get(at + 1).is_some_and(|letter| letter.c == 's')
        && behind.is_none_or(LetterKind::is_between)
}

/// Words that lose their vowel before another: French, Italian, Catalan.
const ELIDED: [&str; 29] = [
    "l", "d", "j", "m", "n", "t", "s", "c", "qu", "jusqu", "lorsqu", "puisqu", "quoiqu", "un",
    "dell", "all", "nell", "sull", "dall", "coll", "quell", "bell", "sant", "quest", "anch",
    "tutt", "gl", "com", "dov",
];

/// Whether the apostrophe `at` ends an elided word and a vowel or an h follows.
fn is_elided(letters: &[Letter], at: usize) -> bool {
    let mut vowel = String::new();
    if let Some(next) = letters.get(at + 1) {
        fold_char(next.c, &mut vowel);
    }
    let vowel =
        vowel.chars().next().is_some_and(|c| matches!(c, 'a' | 'e' | 'i' | 'o' | 'u' | 'h' | 'y'));
    let word = letters.get(..at).unwrap_or_default();
    vowel && word.len() < 7 && letters.len() > at + 2 && {
        let mut folded = String::new();
        for letter in word.iter().filter(|letter| !letter.kind.is_between()) {
            fold_char(letter.c, &mut folded);
        }
        ELIDED.contains(&folded.as_str())
    }
}
