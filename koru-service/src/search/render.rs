//! The text of a node as it is searched and shown: inlines by their label or by what they point at, cells
//! decoded.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use koru_model::document::Node;
use koru_model::ids::{DocumentId, FileId, NodeId};
use koru_model::inline::{Inline, Piece, pieces};
use koru_model::node::Kind;
use koru_model::table;
use rusqlite::Connection;

use super::memory::KindCode;
use crate::errors::ServiceError;
use crate::store::placing::DocumentKey;
use crate::store::workspaces::WorkspaceKey;
use crate::store::{documents, files};

/// Stands for an inline that shows its target's name; no text of a client holds it.
pub const PLACEHOLDER: char = '\u{FFFC}';

/// A text with names in it may become so long, in bytes; further names are left out. A text may hold twenty thousand
/// links to a title of a thousand characters.
const SHOWN_BYTES: usize = 256 * 1024;

/// The key of the attribute that says how a list looks; its value is no text to search.
const LAYOUT: &str = "koru.list";

/// The text of a node, with [`PLACEHOLDER`] for each inline without label.
#[must_use]
pub fn stored(node: &Node) -> String {
    if node.kind == Kind::Table {
        let rows = table::rows(&node.text());
        return rows.iter().map(|row| row.join("\t")).collect::<Vec<_>>().join("\n");
    }
    if node.inlines.is_empty() {
        return node.stored.as_ref().to_owned();
    }
    let mut text = String::with_capacity(node.stored.len());
    let mut is_behind_name = false;
    for piece in pieces(&node.stored, &node.inlines) {
        match piece {
            Piece::Text(part) => push(&mut text, part, is_behind_name),
            Piece::Inline(inline) => match inline.label() {
                Some(label) => push(&mut text, label, true),
                None => text.push(PLACEHOLDER),
            },
        }
        is_behind_name = matches!(piece, Piece::Inline(inline) if inline.label().is_some());
    }
    text
}

/// Adds a part; a name is a word of its own, whatever adjoins it.
fn push(text: &mut String, part: &str, with_name: bool) {
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    if with_name && is_word(text.chars().next_back()) && is_word(part.chars().next()) {
        text.push(' ');
    }
    text.push_str(part);
}

/// The values of a node's attributes, a line each, in the order of their keys; empty where there are none.
#[must_use]
pub fn values(node: &Node) -> String {
    let mut text = String::new();
    for (_, value) in node.attributes.iter().filter(|(key, _)| *key != LAYOUT) {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&value.value);
    }
    text
}

/// What the placeholders of a text show.
pub trait Shown {
    /// The names that the node's placeholders stand for, in their order.
    ///
    /// # Errors
    /// Those of the storage.
    fn names(&self) -> Result<Vec<String>, ServiceError>;
}

/// Puts names in place of the placeholders of a text that begins with placeholder number `first` of its node.
///
/// # Errors
/// Those of `names`.
pub fn expand(text: &str, first: usize, names: &impl Shown) -> Result<String, ServiceError> {
    if !text.contains(PLACEHOLDER) {
        return Ok(text.to_owned());
    }
    let all = names.names()?;
    let mut names = all.iter().skip(first);
    let mut expanded = String::with_capacity(text.len());
    for (index, part) in text.split(PLACEHOLDER).enumerate() {
        if index > 0 && expanded.len() < SHOWN_BYTES {
            push(&mut expanded, names.next().map_or("", String::as_str), true);
        }
        push(&mut expanded, part, index > 0);
    }
    Ok(expanded)
}

/// The inlines of a node at hand.
pub struct OfNode<'a> {
    /// The store.
    pub connection: &'a Connection,
    /// The workspace of the node's document.
    pub workspace: WorkspaceKey,
    /// The node.
    pub node: &'a Node,
}

impl Shown for OfNode<'_> {
    fn names(&self) -> Result<Vec<String>, ServiceError> {
        let unlabelled = self.node.inlines.iter().filter(|placed| placed.inline.label().is_none());
        let targets = unlabelled.map(|placed| match &placed.inline {
            Inline::Document { document, .. } => (*document.as_bytes(), false),
            Inline::Attachment { file, .. } => (*file.as_bytes(), true),
        });
        named(self.connection, self.workspace, targets)
    }
}

/// The inlines of a node as the rows of its links tell them.
pub struct OfRows<'a> {
    /// The store.
    pub connection: &'a Connection,
    /// The workspace of the node's document.
    pub workspace: WorkspaceKey,
    /// The document.
    pub document: DocumentKey,
    /// The node.
    pub node: NodeId,
}

impl Shown for OfRows<'_> {
    fn names(&self) -> Result<Vec<String>, ServiceError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT place, target, 0 FROM link WHERE document = ?1 AND node = ?2 AND label IS NULL
             UNION ALL
             SELECT place, file, 1 FROM attachment
             WHERE document = ?1 AND node = ?2 AND label IS NULL
             ORDER BY place",
        )?;
        let rows = statement.query_map((self.document.0, self.node.as_bytes()), |row| {
            Ok((row.get(1)?, row.get(2)?))
        })?;
        let targets: Vec<([u8; 16], bool)> = rows.collect::<Result<_, _>>()?;
        named(self.connection, self.workspace, targets.into_iter())
    }
}

/// What documents, and files where it is said so, are called; each is looked up once.
fn named(
    connection: &Connection,
    workspace: WorkspaceKey,
    targets: impl Iterator<Item = ([u8; 16], bool)>,
) -> Result<Vec<String>, ServiceError> {
    let mut known: HashMap<[u8; 16], String> = HashMap::new();
    let mut names = Vec::new();
    for (target, is_file) in targets {
        let name = match known.entry(target) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) if is_file => {
                unknown.insert(name(connection, workspace, FileId::from_bytes(target))?)
            }
            Entry::Vacant(unknown) => {
                unknown.insert(title(connection, workspace, DocumentId::from_bytes(target))?)
            }
        };
        names.push(name.clone());
    }
    Ok(names)
}

/// The title of a document; nothing where the workspace holds none.
fn title(
    connection: &Connection,
    workspace: WorkspaceKey,
    id: DocumentId,
) -> Result<String, ServiceError> {
    let found = documents::title(connection, workspace, id)?;
    Ok(found.map(|(title, _)| title).unwrap_or_default())
}

/// The name of a file; nothing where the workspace holds none.
fn name(
    connection: &Connection,
    workspace: WorkspaceKey,
    id: FileId,
) -> Result<String, ServiceError> {
    Ok(files::name(connection, workspace, id)?.unwrap_or_default())
}

/// What a node is, as a number.
#[must_use]
pub fn code(node: &Node) -> KindCode {
    KindCode::of(node.kind, node.done)
}
