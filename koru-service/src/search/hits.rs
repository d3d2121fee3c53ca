//! Hits as a client sees them. Only those of the page are read.

use koru_model::ids::{DocumentId, NodeId, WorkspaceId};
use koru_model::inline::Lifecycle;
use koru_model::node::Kind;
use rusqlite::{Connection, OptionalExtension as _};
use serde::Serialize;

use super::candidates::Place;
use super::memory::{KindCode, NodeKey, Source, View};
use super::rank::Ranked;
use super::shown::{self, Text};
use super::text::{Query, snippet, tokenize};
use crate::errors::ServiceError;
use crate::outside::rfc3339;

/// How many documents up titles are shown.
const LEVELS: usize = 32;
/// How much of a title is shown in a breadcrumb, in characters.
const TITLE_CHARS: usize = 200;

/// A place that a search found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hit {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// Its name.
    pub workspace_name: String,
    /// The document.
    pub document: DocumentId,
    /// The node; absent: the title, or the document as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// What the document is.
    pub document_kind: String,
    /// What the node is.
    pub kind: Kind,
    /// Where the words were found.
    pub field: Field,
    /// The document's title.
    pub title: String,
    /// The titles of the documents above (32 at most), then the headings above the node, from the top; each cut to 200 characters.
    pub breadcrumb: Vec<String>,
    /// The text around the words, in one line, at most 240 characters.
    pub snippet: String,
    /// Where the words stand in the snippet.
    pub spans: Vec<Span>,
    /// Whether the document is in the trash.
    pub lifecycle: Lifecycle,
    /// The higher the better; comparable within one search.
    pub score: f64,
    /// When the document was last changed.
    pub modified_at: String,
    /// How many other places of the document hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_matches: Option<u32>,
}

/// Where words were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// In the title.
    Title,
    /// In the text of a node.
    Text,
    /// In the value of an attribute.
    Attribute,
    /// In the name of a tag.
    Tag,
    /// In the titles above.
    Breadcrumb,
}

/// A stretch of a snippet, in bytes of UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Span {
    /// Its first byte.
    pub start_utf8: u32,
    /// The byte behind its last one.
    pub end_utf8: u32,
}

struct Document {
    id: DocumentId,
    kind: String,
    title: String,
    modified_at: i64,
    parent: Option<i64>,
    workspace: WorkspaceId,
    workspace_name: String,
}

/// A hit of the list as it is shown; none where it is gone since the list was made.
///
/// # Errors
/// Those of the storage.
pub fn show(
    connection: &Connection,
    view: &View,
    query: &Query,
    ranked: &Ranked,
) -> Result<Option<Hit>, ServiceError> {
    let Some(document) = document(connection, ranked.document)? else { return Ok(None) };
    let node = match ranked.node {
        Some(node) => match shown::text_at(connection, view, node, ranked.place)? {
            Some(text) => Some(text),
            None => return Ok(None),
        },
        None => None,
    };
    let mut breadcrumb = titles_above(connection, document.parent)?;
    let (field, shown) = match (ranked.place, &node) {
        (Place::Tag(tag), _) => (Field::Tag, tag_name(connection, tag)?),
        (Place::Breadcrumb, _) | (_, None) => (Field::Breadcrumb, breadcrumb.join(" / ")),
        (Place::Row(_, Source::Values), Some(node)) => (Field::Attribute, node.text.clone()),
        (Place::Row(..) | Place::Filters, Some(node)) if node.kind == KindCode::TITLE => {
            (Field::Title, node.text.clone())
        }
        (Place::Row(..) | Place::Filters, Some(node)) => (Field::Text, node.text.clone()),
    };
    if let Some(node) = &node {
        breadcrumb.extend(headings_above(connection, view, node)?);
    }
    let shown = snippet(&tokenize(&shown), query);
    let is_title = node.as_ref().is_none_or(|node| node.kind == KindCode::TITLE);
    let trashed = view.document(ranked.document).is_some_and(|entry| entry.trashed);
    Ok(Some(Hit {
        workspace: document.workspace,
        workspace_name: document.workspace_name,
        document: document.id,
        kind: node.as_ref().map_or(Kind::Title, |node| node.kind.kind()),
        node: node.filter(|_| !is_title).map(|node| node.id),
        document_kind: document.kind,
        field,
        title: document.title,
        breadcrumb,
        snippet: shown.text,
        spans: shown
            .spans
            .iter()
            .map(|span| Span { start_utf8: span.start_utf8, end_utf8: span.end_utf8 })
            .collect(),
        lifecycle: if trashed { Lifecycle::Trash } else { Lifecycle::Live },
        score: f64::from(ranked.score) / 1e6,
        modified_at: rfc3339(document.modified_at),
        other_matches: Some(ranked.others).filter(|others| *others > 0),
    }))
}

fn document(connection: &Connection, key: u32) -> Result<Option<Document>, ServiceError> {
    Ok(connection
        .prepare_cached(
            "SELECT d.id, d.kind, d.title, d.modified_at, d.parent, w.id, w.name
             FROM document d JOIN workspace w ON w.k = d.workspace WHERE d.k = ?1",
        )?
        .query_row([key], |row| {
            Ok(Document {
                id: DocumentId::from_bytes(row.get(0)?),
                kind: row.get(1)?,
                title: row.get(2)?,
                modified_at: row.get(3)?,
                parent: row.get(4)?,
                workspace: WorkspaceId::from_bytes(row.get(5)?),
                workspace_name: row.get(6)?,
            })
        })
        .optional()?)
}

/// The titles of the documents above, from the top.
fn titles_above(
    connection: &Connection,
    mut parent: Option<i64>,
) -> Result<Vec<String>, ServiceError> {
    let mut titles = Vec::new();
    while let Some(key) = parent.filter(|_| titles.len() < LEVELS) {
        let (title, above): (String, Option<i64>) = connection
            .prepare_cached("SELECT title, parent FROM document WHERE k = ?1")?
            .query_row([key], |row| Ok((row.get(0)?, row.get(1)?)))?;
        titles.push(shortened(&title));
        parent = above;
    }
    titles.reverse();
    Ok(titles)
}

/// The headings above a node, from the top.
fn headings_above(
    connection: &Connection,
    view: &View,
    node: &Text,
) -> Result<Vec<String>, ServiceError> {
    let mut headings = Vec::new();
    let mut above: Option<NodeKey> = node.parent;
    for _ in 0..koru_model::limits::DEPTH {
        let Some(key) = above else { break };
        let Some(found) = shown::text_at(connection, view, key, Place::Filters)? else { break };
        if found.kind.kind() == Kind::Heading {
            headings.push(shortened(&found.text));
        }
        above = found.parent;
    }
    headings.reverse();
    Ok(headings)
}

/// The beginning of a title: with many levels of long ones a hit would pass any page.
fn shortened(title: &str) -> String {
    let mut chars = title.chars();
    let mut short: String = chars.by_ref().take(TITLE_CHARS).collect();
    if chars.next().is_some() {
        short.push('…');
    }
    short
}

fn tag_name(connection: &Connection, tag: u32) -> Result<String, ServiceError> {
    let name: Option<String> = connection
        .prepare_cached("SELECT name FROM tag WHERE k = ?1")?
        .query_row([tag], |row| row.get(0))
        .optional()?;
    Ok(name.unwrap_or_default())
}
