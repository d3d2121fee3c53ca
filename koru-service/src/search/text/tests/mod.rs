//! Tests of the text of search: cases, and properties against a real FTS5.

mod cases;
mod folding;
mod fragments;
mod fts;
mod snippets;
mod texts;

use super::{Query, Snippet, snippet, tokenize};

/// The folded tokens of a text, with one space between two.
fn words(text: &str) -> String {
    let tokens = tokenize(text);
    tokens.iter().map(|token| token.text.to_owned()).collect::<Vec<_>>().join(" ")
}

/// Whether all terms of a query are found in a text. A query without terms finds nothing.
fn finds(query: &str, text: &str) -> bool {
    let tokens = tokenize(text);
    let query = Query::parse(query);
    !query.terms.is_empty() && query.terms.iter().all(|term| term.matches(&tokens))
}

fn shown(text: &str, query: &str) -> Snippet {
    snippet(&tokenize(text), &Query::parse(query))
}

/// What the spans of a snippet cover.
fn covered(snippet: &Snippet) -> Vec<&str> {
    let part = |span: &super::Span| {
        snippet.text.get(span.start_utf8 as usize..span.end_utf8 as usize).unwrap()
    };
    snippet.spans.iter().map(part).collect()
}
