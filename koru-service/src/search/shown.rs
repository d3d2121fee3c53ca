//! Texts of the index, with the names that their inlines show.

use koru_model::ids::NodeId;
use rusqlite::{CachedStatement, Connection, OptionalExtension as _};

use super::candidates::Place;
use super::memory::{KindCode, NodeKey, Source, View};
use super::render::{self, OfRows};
use crate::errors::ServiceError;
use crate::store::placing::DocumentKey;
use crate::store::workspaces::WorkspaceKey;

/// A node as it is shown.
#[derive(Debug, Clone)]
pub struct Text {
    /// Its ID.
    pub id: NodeId,
    /// What it is.
    pub kind: KindCode,
    /// The key of its parent.
    pub parent: Option<NodeKey>,
    /// The text, or the part of it, or the values.
    pub text: String,
}

/// A node with the words of a place; of its text where the place is gone. None: the node is gone.
///
/// # Errors
/// Those of the storage.
pub fn text_at(
    connection: &Connection,
    view: &View,
    node: NodeKey,
    place: Place,
) -> Result<Option<Text>, ServiceError> {
    let found = connection
        .prepare_cached(
            "SELECT document, node, kind, parent, row, text FROM search_node WHERE k = ?1",
        )?
        .query_row([node.0], |row| {
            let text = Text {
                id: NodeId::from_bytes(row.get(1)?),
                kind: KindCode(row.get(2)?),
                parent: row.get::<_, Option<u32>>(3)?.map(NodeKey),
                text: row.get(5)?,
            };
            Ok((DocumentKey(row.get(0)?), row.get::<_, u32>(4)?, text))
        })
        .optional()?;
    let Some((document, own_row, mut shown)) = found else { return Ok(None) };
    let mut first = 0;
    if let Place::Row(wanted, source) = place
        && wanted != own_row
    {
        let more: Option<(usize, String)> = connection
            .prepare_cached(
                "SELECT inlines, text FROM search_more
                 WHERE node = ?2 AND (row = ?1 OR (?3 AND part = 0))",
            )?
            .query_row((wanted, node.0, source == Source::Values), |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        if let Some((inlines, text)) = more {
            first = inlines;
            shown.text = text;
        }
    }
    shown.text = expanded(connection, view, document, shown.id, first, shown.text)?;
    Ok(Some(shown))
}

/// Looks at the texts of many places in turn.
pub struct Texts<'a> {
    connection: &'a Connection,
    view: &'a View,
    plain: CachedStatement<'a>,
}

impl<'a> Texts<'a> {
    /// Looks into the store at its state of `connection`.
    ///
    /// # Errors
    /// Those of the storage.
    pub fn new(connection: &'a Connection, view: &'a View) -> Result<Self, ServiceError> {
        let plain = connection.prepare_cached("SELECT row, text FROM search_node WHERE k = ?1")?;
        Ok(Self { connection, view, plain })
    }

    /// What `look` makes of the text of a place, as [`text_at`] gives it. None: the node is gone.
    ///
    /// # Errors
    /// Those of the storage.
    pub fn at<T>(
        &mut self,
        node: NodeKey,
        place: Place,
        look: impl FnOnce(&str) -> T,
    ) -> Result<Option<T>, ServiceError> {
        let mut rows = self.plain.query([node.0])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let own_row: u32 = row.get(0)?;
        let text = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
        let is_whole = !matches!(place, Place::Row(wanted, _) if wanted != own_row);
        if is_whole && !text.contains(render::PLACEHOLDER) {
            return Ok(Some(look(text)));
        }
        drop(rows);
        Ok(text_at(self.connection, self.view, node, place)?.map(|found| look(&found.text)))
    }
}

/// Hands over all texts of a document: nodes, parts and values.
///
/// # Errors
/// Those of the storage and of `take`.
pub fn each_text(
    connection: &Connection,
    view: &View,
    document: u32,
    mut take: impl FnMut(Origin, &str) -> Result<(), ServiceError>,
) -> Result<(), ServiceError> {
    let key = DocumentKey(i64::from(document));
    let mut statement = connection
        .prepare_cached("SELECT k, node, row, text FROM search_node WHERE document = ?1")?;
    let mut rows = statement.query([document])?;
    while let Some(row) = rows.next()? {
        let (node, id): (u32, [u8; 16]) = (row.get(0)?, row.get(1)?);
        let id = NodeId::from_bytes(id);
        let text = expanded(connection, view, key, id, 0, row.get(3)?)?;
        let origin = Origin { node: NodeKey(node), row: row.get(2)?, source: Source::Text };
        take(origin, &text)?;
        let mut more = connection
            .prepare_cached("SELECT row, part, inlines, text FROM search_more WHERE node = ?1")?;
        let mut parts = more.query([node])?;
        while let Some(part) = parts.next()? {
            let source = if part.get::<_, u32>(1)? == 0 { Source::Values } else { Source::Text };
            let text = expanded(connection, view, key, id, part.get(2)?, part.get(3)?)?;
            take(Origin { node: NodeKey(node), row: part.get(0)?, source }, &text)?;
        }
    }
    Ok(())
}

/// Whose words a text holds.
#[derive(Debug, Clone, Copy)]
pub struct Origin {
    /// The node.
    pub node: NodeKey,
    /// Its row; 0: it has no words.
    pub row: u32,
    /// Which of the node's words.
    pub source: Source,
}

fn expanded(
    connection: &Connection,
    view: &View,
    document: DocumentKey,
    node: NodeId,
    first: usize,
    text: String,
) -> Result<String, ServiceError> {
    if !text.contains(render::PLACEHOLDER) {
        return Ok(text);
    }
    let entry = u32::try_from(document.0).ok().and_then(|key| view.document(key));
    let workspace = WorkspaceKey(entry.map_or(0, |entry| i64::from(entry.workspace)));
    render::expand(&text, first, &OfRows { connection, workspace, document, node })
}
