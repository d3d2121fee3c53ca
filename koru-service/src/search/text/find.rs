//! Where a text matches one term: the same answer as FTS5 gives on the indexed text.

use super::query::Term;
use super::tokens::{Kind, Token, Tokens, composed};

/// One place where a term matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// Position of the first token that matches.
    pub first: u32,
    /// Position of the last token that matches; `first` for one word.
    pub last: u32,
    /// Where the match begins in the source, in bytes of UTF-8.
    pub start: u32,
    /// Where it ends, in bytes of UTF-8: at the end of the last word, even if only its beginning was
    /// asked for; of a script without spaces, only the units that were asked for.
    pub end: u32,
    /// Whether all words are as asked for; false where the last is only begun by it.
    pub whole: bool,
    /// Whether case, accents and all else that folding removes are as typed.
    pub as_typed: bool,
}

impl Term {
    /// All places where the term matches, in order. They overlap where the text repeats itself. None
    /// exactly where FTS5 does not find the row by [`Term::expression`].
    pub fn find(&self, tokens: &Tokens<'_>) -> Vec<Match> {
        let mut found = Vec::new();
        let Some((first, rest)) = self.tokens().split_first() else { return found };
        let alone = rest.is_empty();
        let form = self.joined();
        for token in tokens.iter() {
            let mut place = None;
            if token.text == first.text || alone && self.begins(token.text, &first.text) {
                place = self.match_at(tokens, token);
            }
            if place.is_none()
                && let Some(form) = form
                && (token.text == form || self.begins(token.text, form))
            {
                place = Some(self.match_form(tokens, token, token, form, token.text));
            }
            found.extend(place);
        }
        if let Some(form) = form {
            self.find_joined(tokens, form, &mut found);
        }
        found
    }

    fn begins(&self, text: &str, with: &str) -> bool {
        self.prefix && text.starts_with(with)
    }

    /// Whether the term matches anywhere.
    pub fn matches(&self, tokens: &Tokens<'_>) -> bool {
        !self.find(tokens).is_empty()
    }

    /// The match that begins with `first`, whose own text matches already.
    fn match_at(&self, tokens: &Tokens<'_>, first: Token<'_>) -> Option<Match> {
        let wanted = self.tokens();
        let mut last = first;
        let mut as_typed = true;
        for (index, word) in wanted.iter().enumerate() {
            let ends = index + 1 == wanted.len();
            if index > 0 {
                last = tokens.get(last.position as usize + 1)?;
                if last.text != word.text && !(ends && self.begins(last.text, &word.text)) {
                    return None;
                }
            }
            as_typed = as_typed && is_as_typed(tokens, last, &word.typed, ends && self.prefix);
        }
        let end_word = wanted.last()?;
        let mut end = last.end;
        // Of a pair only the first unit was asked for: the next token begins with the second.
        if end_word.kind == Kind::Unit && last.kind == Kind::Pair {
            let next = tokens.get(last.position as usize + 1).map_or(end, |next| next.start);
            if next > last.start {
                end = next;
            }
        }
        let whole = last.text == end_word.text || end_word.kind != Kind::Word;
        let (start, first) = (first.start, first.position);
        Some(Match { first, last: last.position, start, end, whole, as_typed })
    }

    /// Identifiers whose joined form is `form`, where their parts do not match already.
    fn find_joined(&self, tokens: &Tokens<'_>, form: &str, found: &mut Vec<Match>) {
        let before = found.len();
        for joined in tokens.joined() {
            let text = tokens.joined_text(joined);
            if text != form && !self.begins(text, form) {
                continue;
            }
            let (Some(first), Some(last)) =
                (tokens.get(joined.first as usize), tokens.get(joined.last as usize))
            else {
                continue;
            };
            let covered = found.get(..before).unwrap_or_default();
            // Sorted by their beginning, and one at most begins at one token.
            if covered.binary_search_by_key(&joined.first, |found| found.first).is_ok() {
                continue;
            }
            found.push(self.match_form(tokens, first, last, form, text));
        }
        if found.len() > before {
            found.sort_unstable_by_key(|found| (found.first, found.last));
        }
    }

    /// The match of an identifier in one piece with `text`, which stands from `first` to `last`.
    fn match_form(
        &self,
        tokens: &Tokens<'_>,
        first: Token<'_>,
        last: Token<'_>,
        form: &str,
        text: &str,
    ) -> Match {
        let whole = text == form;
        Match {
            first: first.position,
            last: last.position,
            start: first.start,
            end: last.end,
            whole,
            as_typed: same(source(tokens, first.start, last.end), &self.typed, !whole),
        }
    }
}

fn source<'t>(tokens: &Tokens<'t>, start: u32, end: u32) -> &'t str {
    tokens.source().get(start as usize..end as usize).unwrap_or_default()
}

fn is_as_typed(tokens: &Tokens<'_>, token: Token<'_>, typed: &str, prefix: bool) -> bool {
    same(source(tokens, token.start, token.end), typed, prefix)
}

fn same(source: &str, typed: &str, prefix: bool) -> bool {
    if source == typed || prefix && source.starts_with(typed) {
        return true;
    }
    if source.is_ascii() && typed.is_ascii() {
        return false;
    }
    let (source, typed) = (composed(source), composed(typed));
    source == typed || prefix && source.starts_with(&*typed)
}
