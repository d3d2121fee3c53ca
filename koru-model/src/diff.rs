//! The smallest change between two texts, by words, other characters and inlines.

use std::hash::Hash;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput, Interner};

use crate::inline::{Inline, Piece, Placed, pieces};

/// What comparisons may cost, in pairs of tokens that could be compared at the worst. One is shared
/// by all texts of a batch, which one thread applies while all other writers wait; where it is used
/// up, one replacement is made of all between the common ends. `cargo bench -p koru-model` prints
/// what the worst texts cost.
#[derive(Debug)]
pub struct Budget(usize);

/// The most pairs of words of one comparison; larger texts are compared by lines first.
const WORD_PAIRS: usize = 4_000 * 4_000;

impl Default for Budget {
    fn default() -> Self {
        Self(64_000_000)
    }
}

impl Budget {
    /// Takes what a comparison costs; false where that is more than is left, or than `most`.
    fn take(&mut self, old: usize, new: usize, most: usize) -> bool {
        let pairs = old.saturating_mul(new);
        let is_enough = pairs <= most.min(self.0);
        if is_enough {
            self.0 -= pairs;
        }
        is_enough
    }
}

/// One step of a change, in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step<'a> {
    /// This much of the old text stays.
    Keep(Piece<'a>),
    /// This is taken out.
    Delete(Piece<'a>),
    /// This is put in.
    Insert(Piece<'a>),
}

/// Whether the character is part of a word; scripts without spaces have no words to go by.
fn is_in_word(c: char) -> bool {
    c.is_alphanumeric()
        && !matches!(c, '\u{e00}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
            | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Splits a text into words and other characters.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = if is_in_word(first) {
            rest.find(|c: char| !is_in_word(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (head, tail) = rest.split_at(end);
        rest = tail;
        Some(head)
    })
}

fn tokens<'a>(text: &'a str, inlines: &'a [Placed]) -> Vec<Piece<'a>> {
    let mut out = Vec::new();
    for piece in pieces(text, inlines) {
        match piece {
            Piece::Text(text) => out.extend(words(text).map(Piece::Text)),
            Piece::Inline(inline) => out.push(Piece::Inline(inline)),
        }
    }
    out
}

/// The steps that lead from one text to another.
///
/// A word is a run of letters and digits; every other character and every inline stands alone, so
/// that changes by others in the words between survive.
#[must_use]
pub fn diff<'a>(
    old: (&'a str, &'a [Placed]),
    new: (&'a str, &'a [Placed]),
    budget: &mut Budget,
) -> Vec<Step<'a>> {
    let old = tokens(old.0, old.1);
    let new = tokens(new.0, new.1);
    let mut steps = Vec::new();
    compare(&old, &new, &mut steps, budget);
    steps
}

/// The steps between two texts: by words, or by lines and the words of those that differ.
fn compare<'a>(
    old: &[Piece<'a>],
    new: &[Piece<'a>],
    steps: &mut Vec<Step<'a>>,
    budget: &mut Budget,
) {
    let keep = |steps: &mut Vec<Step<'a>>, pieces: &[Piece<'a>]| {
        steps.extend(pieces.iter().cloned().map(Step::Keep));
    };
    let replace = |steps: &mut Vec<Step<'a>>, old: &[Piece<'a>], new: &[Piece<'a>]| {
        steps.extend(old.iter().cloned().map(Step::Delete));
        steps.extend(new.iter().cloned().map(Step::Insert));
    };
    let head = old.iter().zip(new).take_while(|(l, r)| l == r).count();
    let (kept, old) = old.split_at(head);
    let new = new.get(head..).unwrap_or_default();
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(l, r)| l == r).count();
    let (old, end) = old.split_at(old.len() - tail);
    let new = new.get(..new.len() - tail).unwrap_or_default();

    keep(steps, kept);
    if old.is_empty() || new.is_empty() {
        replace(steps, old, new);
    } else if budget.take(old.len(), new.len(), WORD_PAIRS) {
        for part in parts(old, new) {
            match part {
                Part::Same(range) => keep(steps, old.get(range).unwrap_or_default()),
                Part::Other(l, r) => {
                    replace(steps, old.get(l).unwrap_or_default(), new.get(r).unwrap_or_default());
                }
            }
        }
    } else {
        let (old_lines, new_lines) = (lines(old), lines(new));
        let can_narrow = old_lines.len() > 1 && new_lines.len() > 1;
        if can_narrow && budget.take(old_lines.len(), new_lines.len(), usize::MAX) {
            for part in parts(&old_lines, &new_lines) {
                match part {
                    Part::Same(range) => {
                        keep(steps, &old_lines.get(range).unwrap_or_default().concat());
                    }
                    Part::Other(l, r) => compare(
                        &old_lines.get(l).unwrap_or_default().concat(),
                        &new_lines.get(r).unwrap_or_default().concat(),
                        steps,
                        budget,
                    ),
                }
            }
        } else {
            replace(steps, old, new);
        }
    }
    keep(steps, end);
}

/// The lines of a text, each with its line feed.
fn lines<'p, 'a>(pieces: &'p [Piece<'a>]) -> Vec<&'p [Piece<'a>]> {
    pieces.split_inclusive(|piece| *piece == Piece::Text("\n")).collect()
}

/// A part of the way between two sequences.
enum Part {
    /// This range of the old one stays.
    Same(Range<usize>),
    /// This range of the old one becomes that of the new one.
    Other(Range<usize>, Range<usize>),
}

fn parts<T: Hash + Eq>(old: &[T], new: &[T]) -> Vec<Part> {
    let interner = Interner::new(old.len() + new.len());
    let mut input = InternedInput { before: Vec::new(), after: Vec::new(), interner };
    input.update_before(old.iter());
    input.update_after(new.iter());
    let index = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let mut parts = Vec::new();
    let mut kept = 0;
    for hunk in Diff::compute(Algorithm::Myers, &input).hunks() {
        let before = index(hunk.before.start)..index(hunk.before.end);
        parts.push(Part::Same(kept..before.start));
        kept = before.end;
        parts.push(Part::Other(before, index(hunk.after.start)..index(hunk.after.end)));
    }
    parts.push(Part::Same(kept..old.len()));
    parts
}

/// One splice of a text in the CRDT, whose positions count bytes of text and one for an inline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Splice {
    /// Takes out.
    Delete {
        /// Where.
        at: u32,
        /// How much.
        len: u32,
    },
    /// Puts in text.
    Text {
        /// Where.
        at: u32,
        /// The text.
        text: String,
    },
    /// Puts in an inline.
    Inline {
        /// Where.
        at: u32,
        /// The inline.
        inline: Inline,
    },
}

/// The length of a piece in the CRDT.
fn units(piece: &Piece<'_>) -> u32 {
    match piece {
        Piece::Text(text) => u32::try_from(text.len()).unwrap_or(u32::MAX),
        Piece::Inline(_) => 1,
    }
}

/// The splices that lead from one text to another, to be applied one after the other.
#[must_use]
pub fn splices(old: (&str, &[Placed]), new: (&str, &[Placed]), budget: &mut Budget) -> Vec<Splice> {
    let mut out: Vec<Splice> = Vec::new();
    let mut at = 0;
    for step in diff(old, new, budget) {
        match step {
            Step::Keep(piece) => at += units(&piece),
            Step::Delete(piece) => match out.last_mut() {
                Some(Splice::Delete { at: start, len }) if *start == at => *len += units(&piece),
                _ => out.push(Splice::Delete { at, len: units(&piece) }),
            },
            Step::Insert(Piece::Text(text)) => {
                match out.last_mut() {
                    Some(Splice::Text { at: start, text: existing })
                        if *start + u32::try_from(existing.len()).unwrap_or(u32::MAX) == at =>
                    {
                        existing.push_str(text);
                    }
                    _ => out.push(Splice::Text { at, text: text.to_owned() }),
                }
                at += units(&Piece::Text(text));
            }
            Step::Insert(Piece::Inline(inline)) => {
                out.push(Splice::Inline { at, inline: inline.clone() });
                at += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inline::RichText;

    /// Applies splices to a plain text.
    fn apply(old: &str, splices: &[Splice]) -> String {
        let mut text = old.to_owned();
        for splice in splices {
            match splice {
                Splice::Delete { at, len } => {
                    text.replace_range(*at as usize..(*at + *len) as usize, "");
                }
                Splice::Text { at, text: new } => text.insert_str(*at as usize, new),
                Splice::Inline { .. } => unreachable!("no inlines here"),
            }
        }
        text
    }

    #[test]
    fn the_change_is_small_and_right() {
        for (old, new, count) in [
            ("", "a", 1),
            ("a", "", 1),
            ("one two three", "one 2 three", 2),
            ("😭😊", "😊", 1),
            ("a😭b😊c", "a😊c", 1),
            ("Привет! One", "Привет!\n One", 1),
            ("‘%s’ ...", "'%s' …", 6),
            ("same", "same", 0),
        ] {
            let found = splices((old, &[]), (new, &[]), &mut Budget::default());
            assert_eq!(apply(old, &found), new);
            assert!(found.len() <= count, "{old:?} {new:?} {found:?}");
        }
    }

    #[test]
    fn a_kept_token_is_not_touched() {
        let token = "[[document:0198c2f0-0000-7000-8000-00000000000d]]";
        let old = RichText::with_tokens(&format!("see {token} now"));
        let new = RichText::with_tokens(&format!("look at {token} then"));
        let found =
            splices((&old.text, &old.inlines), (&new.text, &new.inlines), &mut Budget::default());
        assert!(found.iter().all(|splice| !matches!(splice, Splice::Inline { .. })));
        assert!(matches!(found.last(), Some(Splice::Text { at, .. }) if *at < 20));
    }

    #[test]
    fn large_texts_are_compared_by_lines_and_then_by_words() {
        let line = |number: usize| format!("let name_{number} = call({number});\n");
        let old: String = (0..3_000).map(line).collect();
        let new = old.replacen("name_1 ", "title_1 ", 1).replacen("call(2998)", "ask(2998)", 1);
        let found = splices((&old, &[]), (&new, &[]), &mut Budget::default());
        assert_eq!(apply(&old, &found), new);
        assert!(found.len() <= 4, "{found:?}");
    }

    #[test]
    fn what_would_cost_too_much_is_replaced_whole() {
        let text = |seed: u64| -> String {
            let mut state = seed;
            let mut mark = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                if (state >> 33).is_multiple_of(2) { '.' } else { ',' }
            };
            std::iter::repeat_with(&mut mark).take(19_000).collect()
        };
        let (old, new) = (text(1), text(2));
        let found = splices((&old, &[]), (&new, &[]), &mut Budget::default());
        assert_eq!(apply(&old, &found), new);
        assert_eq!(found.len(), 2);
        let mut budget = Budget(3);
        assert_eq!(splices(("a b c", &[]), ("c b a", &[]), &mut budget).len(), 2);
    }
}
