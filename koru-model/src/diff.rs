//! The smallest change between two texts, by words, other characters and inlines.

use imara_diff::{Algorithm, Diff, InternedInput, Interner};

use crate::inline::{Inline, Piece, Placed, pieces};

/// Beyond so many tokens, in either text, one replacement is made of all between the common ends.
/// The library bounds what a comparison costs by giving up on the smallest change, as git does:
/// `cargo bench -p koru-model` prints the worst texts at this limit.
const TOKEN_LIMIT: usize = 20_000;

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
pub fn diff<'a>(old: (&'a str, &'a [Placed]), new: (&'a str, &'a [Placed])) -> Vec<Step<'a>> {
    let old = tokens(old.0, old.1);
    let new = tokens(new.0, new.1);
    let head = old.iter().zip(&new).take_while(|(l, r)| l == r).count();
    let (kept, old) = old.split_at(head);
    let new = new.get(head..).unwrap_or_default();
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(l, r)| l == r).count();
    let (old, end) = old.split_at(old.len() - tail);
    let new = new.get(..new.len() - tail).unwrap_or_default();

    let mut steps: Vec<Step<'a>> = kept.iter().cloned().map(Step::Keep).collect();
    if old.len() > TOKEN_LIMIT || new.len() > TOKEN_LIMIT {
        steps.extend(old.iter().cloned().map(Step::Delete));
        steps.extend(new.iter().cloned().map(Step::Insert));
    } else {
        compare(old, new, &mut steps);
    }
    steps.extend(end.iter().cloned().map(Step::Keep));
    steps
}

/// The steps between two texts whose ends differ.
fn compare<'a>(old: &[Piece<'a>], new: &[Piece<'a>], steps: &mut Vec<Step<'a>>) {
    let interner = Interner::new(old.len() + new.len());
    let mut input = InternedInput { before: Vec::new(), after: Vec::new(), interner };
    input.update_before(old.iter());
    input.update_after(new.iter());
    let mut kept = 0;
    let mut take = |steps: &mut Vec<Step<'a>>, before: std::ops::Range<usize>, after| {
        let keep = old.get(kept..before.start).unwrap_or_default();
        steps.extend(keep.iter().cloned().map(Step::Keep));
        kept = before.end;
        steps.extend(old.get(before).unwrap_or_default().iter().cloned().map(Step::Delete));
        let after: std::ops::Range<usize> = after;
        steps.extend(new.get(after).unwrap_or_default().iter().cloned().map(Step::Insert));
    };
    let index = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    for hunk in Diff::compute(Algorithm::Myers, &input).hunks() {
        let before = index(hunk.before.start)..index(hunk.before.end);
        take(steps, before, index(hunk.after.start)..index(hunk.after.end));
    }
    take(steps, old.len()..old.len(), 0..0);
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
pub fn splices(old: (&str, &[Placed]), new: (&str, &[Placed])) -> Vec<Splice> {
    let mut out: Vec<Splice> = Vec::new();
    let mut at = 0;
    for step in diff(old, new) {
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
            let found = splices((old, &[]), (new, &[]));
            assert_eq!(apply(old, &found), new);
            assert!(found.len() <= count, "{old:?} {new:?} {found:?}");
        }
    }

    #[test]
    fn a_kept_token_is_not_touched() {
        let token = "[[document:0198c2f0-0000-7000-8000-00000000000d]]";
        let old = RichText::with_tokens(&format!("see {token} now"));
        let new = RichText::with_tokens(&format!("look at {token} then"));
        let found = splices((&old.text, &old.inlines), (&new.text, &new.inlines));
        assert!(found.iter().all(|splice| !matches!(splice, Splice::Inline { .. })));
        assert!(matches!(found.last(), Some(Splice::Text { at, .. }) if *at < 20));
    }

    #[test]
    fn a_text_without_words_does_not_hold_everybody_up() {
        // Random punctuation took 2.9 s without a bound, on the thread that all writers wait for. The
        // work is counted here by the steps that come out; the time is what the benchmark prints.
        let text = |seed: u64| -> String {
            let mut state = seed;
            let marks = ['.', ',', ';', ':', '!', '?', ' '];
            (0..19_000)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    marks[(state >> 33) as usize % marks.len()]
                })
                .collect()
        };
        let (old, new) = (text(1), text(2));
        assert_eq!(apply(&old, &splices((&old, &[]), (&new, &[]))), new);
    }
}
