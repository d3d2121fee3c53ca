//! What a query asks for.

use std::ops::Range;

use super::scripts;
use super::tokens::{Kind, Tokens, tokenize};
use super::{PREFIX_CHARS, QUERY_CHARS, QUERY_TOKENS};

/// A parsed query: all terms must hold. Every text is one; none is an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// What was typed, as far as it was read.
    pub text: String,
    /// What must hold, in the order in which it was typed. Empty for a text without tokens.
    pub terms: Vec<Term>,
    /// Whether the query goes on behind what was read: behind 1,000 characters or 32 tokens.
    pub cut: bool,
}

/// A word or a phrase of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// What was typed, without quotation marks and without what stands around the words.
    pub typed: String,
    /// Where [`Term::typed`] stands in [`Query::text`], in bytes of UTF-8.
    pub range: Range<usize>,
    /// Whether it was written in quotation marks.
    pub quoted: bool,
    /// Whether words that only begin with the last token match, too: of the last word of a query,
    /// and of fragments of scripts without spaces.
    pub prefix: bool,
    /// Whether it may be a misspelt word: one plain unquoted word of at least four letters in a
    /// script with spaces.
    pub correctable: bool,
    tokens: Vec<Wanted>,
    joined: Option<String>,
}

/// A token that a term asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) text: String,
    /// As it was typed, for the comparison of case and accents.
    pub(super) typed: String,
    pub(super) kind: Kind,
}

impl Query {
    /// Reads a query: words, and phrases in `"`; a phrase that is not closed runs to the end. The
    /// last word is a prefix as well where nothing but `*` follows it. Everything else is text.
    pub fn parse(text: &str) -> Self {
        let (text, cut) = readable(text);
        let mut query = Self { text: text.to_owned(), cut, ..Self::default() };
        let mut budget = QUERY_TOKENS;
        let mut at = 0;
        for (index, segment) in text.split('"').enumerate() {
            let quoted = index % 2 == 1;
            let pieces = if quoted { vec![(0, segment)] } else { words(segment) };
            for (from, piece) in pieces {
                let from = at + from;
                let open = !quoted && !cut && from + piece.len() == text.len();
                query.read(piece, from, quoted, open, &mut budget);
            }
            at += segment.len() + 1;
        }
        query
    }

    /// Adds the term that a piece of the query is; `open` if the user may go on typing it.
    fn read(&mut self, piece: &str, from: usize, quoted: bool, open: bool, budget: &mut usize) {
        let tokens = tokenize(piece);
        let Some(term) = Term::new(piece, &tokens, from, quoted, open, *budget) else {
            self.cut |= !tokens.is_empty();
            return;
        };
        *budget -= term.tokens.len();
        let end = tokens.get(tokens.len().saturating_sub(1)).map_or(0, |token| token.end as usize);
        self.cut |= term.range.end < from + end;
        self.terms.push(term);
    }

    /// The FTS5 query that finds the rows in which all terms hold. Empty for a query without terms,
    /// which FTS5 must not be asked.
    pub fn expression(&self) -> String {
        let terms: Vec<String> = self.terms.iter().map(Term::expression).collect();
        terms.join(" AND ")
    }

    /// The same for the rows in which the last word stands as a whole; none where [`Term::whole_expression`] is none.
    pub fn whole_expression(&self) -> Option<String> {
        let (last, before) = self.terms.split_last()?;
        let last = last.whole_expression()?;
        let mut terms: Vec<String> = before.iter().map(Term::expression).collect();
        terms.push(last);
        Some(terms.join(" AND "))
    }

    /// How many words it has.
    pub fn word_count(&self) -> usize {
        tokenize(&self.text).len()
    }

    /// Whether a text is the query word by word: a title that was typed in full.
    pub fn is_all_of(&self, tokens: &Tokens<'_>) -> bool {
        let query = tokenize(&self.text);
        !query.is_empty()
            && query.len() == tokens.len()
            && query.iter().zip(tokens.iter()).all(|(left, right)| left.text == right.text)
    }

    /// The text of the query with some terms written differently, given with their numbers: what a
    /// corrected query says. Numbers without a term are skipped.
    pub fn with_words(&self, words: &[(usize, &str)]) -> String {
        let mut text = String::with_capacity(self.text.len());
        let mut at = 0;
        for (index, term) in self.terms.iter().enumerate() {
            if let Some((_, word)) = words.iter().find(|(number, _)| *number == index) {
                text.push_str(self.text.get(at..term.range.start).unwrap_or_default());
                text.push_str(word);
                at = term.range.end;
            }
        }
        text.push_str(self.text.get(at..).unwrap_or_default());
        text
    }
}

impl Term {
    fn new(
        piece: &str,
        tokens: &Tokens<'_>,
        from: usize,
        quoted: bool,
        open: bool,
        budget: usize,
    ) -> Option<Self> {
        let mut wanted: Vec<Wanted> = tokens
            .iter()
            .take(budget)
            .map(|token| Wanted {
                text: token.text.to_owned(),
                typed: slice(piece, token.start, token.end).to_owned(),
                kind: token.kind,
            })
            .collect();
        let complete = wanted.len() == tokens.len();
        let start = tokens.get(0)?.start;
        let end = tokens.get(wanted.len().checked_sub(1)?)?.end;
        let mut prefix = false;
        if complete {
            let before = wanted.len().checked_sub(2).and_then(|index| wanted.get(index));
            if wanted.last()?.kind != Kind::Unit {
                let behind = piece.get(end as usize..).unwrap_or_default();
                prefix = open && behind.chars().all(|c| c == '*');
            } else if before.is_some_and(|before| before.kind == Kind::Pair) {
                // A run that a query ends with is a fragment: whatever goes on behind it matches.
                wanted.pop();
                prefix = wanted.last()?.may_go_on();
            } else {
                prefix = true;
            }
        }
        let joined = match *tokens.joined() {
            [ref joined]
                if complete && joined.first == 0 && joined.last as usize + 1 == tokens.len() =>
            {
                Some(tokens.joined_text(joined).to_owned())
            }
            _ => None,
        };
        let typed = slice(piece, start, end);
        let correctable = !quoted
            && matches!(&*wanted, [one] if one.kind == Kind::Word)
            && typed.chars().filter(|c| c.is_alphabetic()).count() >= 4
            && wanted.iter().all(|one| one.text.chars().all(char::is_alphabetic));
        Some(Self {
            typed: typed.to_owned(),
            range: Range { start: from + start as usize, end: from + end as usize },
            quoted,
            prefix,
            correctable,
            tokens: wanted,
            joined,
        })
    }

    /// The folded word, of a term that is one token: what the index's vocabulary is asked.
    pub fn word(&self) -> Option<&str> {
        match &*self.tokens {
            [one] => Some(&one.text),
            _ => None,
        }
    }

    /// How many tokens it asks for in a row; at least one.
    pub const fn token_count(&self) -> usize {
        self.tokens.len()
    }

    /// The FTS5 query for this term: folded tokens in double quotes, so no syntax can enter.
    pub fn expression(&self) -> String {
        self.written(if self.prefix { " *" } else { "" })
    }

    /// The same for the rows in which its last word stands as a whole; none where that is all that is asked for, or where
    /// the index has the rows of such a beginning at hand.
    pub fn whole_expression(&self) -> Option<String> {
        let last = self.tokens.last().filter(|_| self.prefix)?;
        (!PREFIX_CHARS.contains(&last.text.chars().count())).then(|| self.written(""))
    }

    fn written(&self, star: &str) -> String {
        let tokens: Vec<&str> = self.tokens.iter().map(|token| token.text.as_str()).collect();
        let phrase = tokens.join(" ");
        match &self.joined {
            Some(joined) => format!("(\"{phrase}\"{star} OR \"{joined}\"{star})"),
            None => format!("\"{phrase}\"{star}"),
        }
    }

    pub(super) fn tokens(&self) -> &[Wanted] {
        &self.tokens
    }

    /// The form under which an identifier that is spelt differently is found.
    pub(super) fn joined(&self) -> Option<&str> {
        match &*self.tokens {
            [one] => (one.kind == Kind::Word).then_some(one.text.as_str()),
            _ => self.joined.as_deref(),
        }
    }
}

impl Wanted {
    /// Whether a longer token may be the same fragment: its last letter with more marks.
    fn may_go_on(&self) -> bool {
        let group = self.text.chars().next().and_then(scripts::group);
        group.is_none_or(scripts::Group::has_marks)
    }
}

fn slice(text: &str, start: u32, end: u32) -> &str {
    text.get(start as usize..end as usize).unwrap_or_default()
}

/// The words of a part without quotation marks, and where they begin. Punctuation between letters parts
/// them (`src/main`, `DateTime::until`), since each may be spelt another way; not beside a digit, where
/// the order matters (`v2.1`, `2026-12-24`). The punctuation of scripts without spaces parts them, too.
fn words(text: &str) -> Vec<(usize, &str)> {
    let between =
        |c: char| c.is_whitespace() || matches!(c, '、' | '。' | '，' | '；' | '：' | '！' | '？');
    let mut words = Vec::new();
    let mut at = 0;
    for word in text.split_inclusive(between) {
        let bare = word.trim_end_matches(between);
        names(bare, at, &mut words);
        at += word.len();
    }
    words
}

/// The parts of a name that stands at `at`.
fn names<'t>(word: &'t str, at: usize, words: &mut Vec<(usize, &'t str)>) {
    let parts = |c: char| {
        c.is_ascii_punctuation() && !matches!(c, '_' | '\'' | '*') || matches!(c, '–' | '—' | '…')
    };
    let mut from = 0;
    let mut before = None;
    let mut run = None;
    for (index, c) in word.char_indices() {
        if parts(c) {
            run = run.or(Some(index));
            continue;
        }
        if let Some(end) = run.take()
            && c.is_alphabetic()
            && before.is_some_and(char::is_alphabetic)
        {
            words.extend(word.get(from..end).map(|part| (at + from, part)));
            from = index;
        }
        before = Some(c);
    }
    words.extend(word.get(from..).filter(|rest| !rest.is_empty()).map(|rest| (at + from, rest)));
}

/// The part of a query that is read, and whether there is more: not a word that is cut in two.
fn readable(text: &str) -> (&str, bool) {
    let Some((end, next)) = text.char_indices().nth(QUERY_CHARS) else { return (text, false) };
    let head = text.get(..end).unwrap_or(text);
    if next.is_whitespace() {
        return (head, true);
    }
    match head.rfind(char::is_whitespace) {
        Some(space) => (head.get(..space).unwrap_or(head), true),
        None => (head, true),
    }
}
