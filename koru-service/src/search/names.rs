//! Words that a document has from elsewhere: the names of its tags, and the titles of the documents above it.
//!
//! They are looked up at the search and never copied to what they belong to, so that a rename costs one row.

use koru_model::ids::TagId;
use rusqlite::Connection;

use super::memory::{DocumentEntry, NodeKey, View};
use super::text::{Query, Tokens, tokenize};
use crate::errors::ServiceError;
use crate::store::workspaces::WorkspaceKey;

/// A set of the terms of a query, one bit each; a query has no more than 32.
pub type Terms = u32;

/// The set of all terms.
#[must_use]
pub fn all_terms(query: &Query) -> Terms {
    let count = query.terms.len().min(32);
    Terms::try_from((1_u64 << count) - 1).unwrap_or(Terms::MAX)
}

/// The terms that hold in a text.
#[must_use]
pub fn terms_in(query: &Query, text: &str) -> Terms {
    terms_of(query, &tokenize(text))
}

/// The terms that hold in a text's tokens.
#[must_use]
pub fn terms_of(query: &Query, tokens: &Tokens<'_>) -> Terms {
    let mut found = 0;
    for (index, term) in query.terms.iter().enumerate().take(32) {
        if term.matches(tokens) {
            found |= 1 << index;
        }
    }
    found
}

/// A node that carries a tag in whose name terms hold.
#[derive(Debug, Clone, Copy)]
pub struct Tagged {
    /// The document's key.
    pub document: u32,
    /// The node.
    pub node: NodeKey,
    /// The tag's key.
    pub tag: u32,
    /// The terms.
    pub terms: Terms,
}

/// The nodes that carry tags in whose names terms of the query hold.
///
/// # Errors
/// Those of the storage.
pub fn tagged(
    connection: &Connection,
    workspaces: &[WorkspaceKey],
    query: &Query,
) -> Result<Vec<Tagged>, ServiceError> {
    let mut named: Vec<(u32, TagId, Terms)> = Vec::new();
    for workspace in workspaces {
        let mut statement =
            connection.prepare_cached("SELECT k, id, name FROM tag WHERE workspace = ?1")?;
        let mut rows = statement.query([workspace.0])?;
        while let Some(row) = rows.next()? {
            let name = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
            let terms = terms_in(query, name);
            if terms != 0 {
                named.push((row.get(0)?, TagId::from_bytes(row.get(1)?), terms));
            }
        }
    }
    let mut found = Vec::new();
    for (tag, id, terms) in named {
        // A node may carry the tag and one that was merged into it.
        let mut statement = connection.prepare_cached(
            "SELECT document, n FROM tag_use WHERE tag = ?1 AND n > 0
             UNION ALL
             SELECT DISTINCT u.document, u.n FROM tag_former f CROSS JOIN tag_use u
             WHERE f.tag = ?2 AND u.tag = f.id AND u.n > 0 AND NOT EXISTS (
               SELECT 1 FROM tag_use o
               WHERE o.tag = ?1 AND o.document = u.document AND o.node = u.node
             )",
        )?;
        let mut rows = statement.query((id.as_bytes(), tag))?;
        while let Some(row) = rows.next()? {
            let (document, node) = (row.get(0)?, NodeKey(row.get(1)?));
            found.push(Tagged { document, node, tag, terms });
        }
    }
    Ok(found)
}

/// The terms that each document has from the titles above it, where `own` are those that its own title holds.
#[must_use]
pub fn inherited(view: &View, own: &[Terms]) -> Vec<Terms> {
    if own.iter().all(|terms| *terms == 0) {
        return Vec::new();
    }
    inherit(view.documents(), own)
}

fn inherit(documents: &[DocumentEntry], own: &[Terms]) -> Vec<Terms> {
    let mut inherited = vec![0; documents.len()];
    let mut is_settled = vec![false; documents.len()];
    let mut path = Vec::new();
    for start in 0..documents.len() {
        let mut at = start;
        while is_settled.get(at) == Some(&false) {
            path.push(at);
            // A circle cannot be, but must not hang us either.
            if let Some(settled) = is_settled.get_mut(at) {
                *settled = true;
            }
            match documents.get(at).map(|entry| entry.parent as usize) {
                Some(parent) if parent > 0 => at = parent,
                _ => break,
            }
        }
        while let Some(below) = path.pop() {
            let parent = documents.get(below).map_or(0, |entry| entry.parent as usize);
            if parent == 0 {
                continue;
            }
            let above = inherited.get(parent).copied().unwrap_or(0);
            let terms = own.get(parent).copied().unwrap_or(0) | above;
            if let Some(slot) = inherited.get_mut(below) {
                *slot = terms;
            }
        }
    }
    inherited
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_come_from_all_titles_above() {
        let entry = |parent| DocumentEntry { workspace: 1, parent, trashed: false, modified_at: 0 };
        // 1 under 4, 2 under 1, 3 under 2; 5 alone.
        let documents =
            [DocumentEntry::default(), entry(4), entry(1), entry(2), entry(0), entry(0)];
        let own = [0, 0b10, 0, 0b1000, 0b1, 0b100];
        assert_eq!(inherit(&documents, &own), [0, 0b1, 0b11, 0b11, 0, 0]);
    }

    #[test]
    fn every_query_has_a_set_of_its_terms() {
        assert_eq!(all_terms(&Query::parse("")), 0);
        assert_eq!(all_terms(&Query::parse("a b \"c d\"")), 0b111);
        let many = "a ".repeat(100);
        assert_eq!(all_terms(&Query::parse(&many)).count_ones(), 32);
    }
}
