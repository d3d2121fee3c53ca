//! The rows of files: what a workspace lists, what each content must hash to, and where files are attached.

use koru_model::content::{ContentHash, HASH_BYTES, PieceValue};
use koru_model::file_name;
use koru_model::ids::{DocumentId, FileId, NodeId, WorkspaceId};
use rusqlite::{Connection, OptionalExtension as _, Row};
use serde::Serialize;

use super::documents::{number, signed};
use super::listing::fitting;
use super::placing::DocumentKey;
use super::workspaces::WorkspaceKey;
use crate::errors::{ServiceError, Thing};

/// The row of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileKey(i64);

/// The row of a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentKey(pub i64);

/// A file as `list_files` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// Its ID.
    pub file_id: FileId,
    /// Its name, as it came.
    pub name: String,
    /// What it is.
    pub mime: String,
    /// The length of its content, in bytes.
    pub size: u64,
    /// The hash of its content.
    pub hash: ContentHash,
    /// The ID that the title node of its note has or will have.
    pub root_node_id: NodeId,
    /// Its note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note_id: Option<DocumentId>,
}

/// A page of the listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Page {
    /// The files, in the order in which they were added.
    pub files: Vec<Listed>,
    /// Where the next page continues; none: nothing follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_after_file_id: Option<FileId>,
}

/// What is known of a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Content {
    /// Its row.
    pub key: ContentKey,
    /// Its hash.
    pub hash: ContentHash,
    /// Its length, in bytes.
    pub size: u64,
}

/// A content that is on the disk and not in the database yet.
#[derive(Debug, Clone)]
pub struct NewContent {
    /// Its hash.
    pub hash: ContentHash,
    /// Its length, in bytes.
    pub size: u64,
    /// The values of its pieces.
    pub pieces: Vec<PieceValue>,
}

/// What a new file's row says.
#[derive(Debug)]
pub struct NewFile<'a> {
    /// Its ID.
    pub id: FileId,
    /// Its name.
    pub name: &'a str,
    /// What it is.
    pub mime: &'a str,
    /// What it holds.
    pub content: &'a NewContent,
    /// The title node of its note to come.
    pub root: NodeId,
    /// When it is added, in milliseconds since 1970 (UTC).
    pub at: i64,
}

const LISTED: &str =
    "SELECT f.id, f.name, f.mime, c.size, c.hash, f.root, d.id AS note, f.k, f.content
  FROM file f JOIN content c ON c.k = f.content LEFT JOIN document d ON d.k = f.note";

fn listed(row: &Row<'_>) -> rusqlite::Result<Listed> {
    Ok(Listed {
        file_id: FileId::from_bytes(row.get("id")?),
        name: row.get("name")?,
        mime: row.get("mime")?,
        size: number(row, "size")?,
        hash: ContentHash(row.get("hash")?),
        root_node_id: NodeId::from_bytes(row.get("root")?),
        note_id: row.get::<_, Option<[u8; 16]>>("note")?.map(DocumentId::from_bytes),
    })
}

/// The workspace holds no such file.
fn no_file(id: FileId) -> ServiceError {
    ServiceError::NotFound { thing: Thing::File, id: id.to_string() }
}

/// The files of a workspace, oldest first, behind `after`; with a `page_size` at most so many, and the page ends
/// at [`koru_model::limits::PAGE_BYTES`] too, but holds at least one.
///
/// # Errors
/// When the workspace holds no file `after`.
pub fn page(
    connection: &Connection,
    workspace: WorkspaceKey,
    page_size: Option<u32>,
    after: Option<FileId>,
) -> Result<Page, ServiceError> {
    let behind = match after {
        None => 0,
        Some(after) => find(connection, workspace, after)?.0.0,
    };
    let most = page_size.map_or(-1, |size| i64::from(size) + 1);
    let mut statement = connection.prepare_cached(&format!(
        "{LISTED} WHERE f.workspace = ?1 AND f.k > ?2 ORDER BY f.k LIMIT ?3"
    ))?;
    let rows = statement.query_map((workspace.0, behind, most), listed)?;
    let mut files = rows.collect::<Result<Vec<_>, _>>()?;
    let kept = match page_size {
        None => files.len(),
        Some(size) => fitting(&files, size as usize)?,
    };
    let is_more = kept < files.len();
    files.truncate(kept);
    let next_after_file_id = files.last().filter(|_| is_more).map(|file| file.file_id);
    Ok(Page { files, next_after_file_id })
}

/// The files whose names hold a text, in any case and form, oldest first.
///
/// # Errors
/// Those of the storage.
pub fn search(
    connection: &Connection,
    workspace: WorkspaceKey,
    query: &str,
    limit: u32,
) -> Result<Vec<Listed>, ServiceError> {
    let mut statement = connection.prepare_cached(&format!(
        "{LISTED} WHERE f.workspace = ?1 AND instr(f.folded, ?2) > 0 ORDER BY f.k LIMIT ?3"
    ))?;
    let query = file_name::folded(query);
    let rows = statement.query_map((workspace.0, query, limit), listed)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// A file of the workspace, with the row of what it holds.
///
/// # Errors
/// When the workspace holds no such file.
pub fn one(
    connection: &Connection,
    workspace: WorkspaceKey,
    id: FileId,
) -> Result<(Listed, Content), ServiceError> {
    connection
        .prepare_cached(&format!("{LISTED} WHERE f.id = ?1 AND f.workspace = ?2"))?
        .query_row((id.as_bytes(), workspace.0), |row| {
            let file = listed(row)?;
            let key = ContentKey(row.get("content")?);
            let content = Content { key, hash: file.hash, size: file.size };
            Ok((file, content))
        })
        .optional()?
        .ok_or_else(|| no_file(id))
}

/// The row of a file of the workspace, and its content's.
///
/// # Errors
/// When the workspace holds no such file.
pub fn find(
    connection: &Connection,
    workspace: WorkspaceKey,
    id: FileId,
) -> Result<(FileKey, ContentKey), ServiceError> {
    connection
        .prepare_cached("SELECT k, content FROM file WHERE id = ?1 AND workspace = ?2")?
        .query_row((id.as_bytes(), workspace.0), |row| {
            Ok((FileKey(row.get(0)?), ContentKey(row.get(1)?)))
        })
        .optional()?
        .ok_or_else(|| no_file(id))
}

/// The name of a file of the workspace; none where there is no such file.
///
/// # Errors
/// Those of the storage.
pub fn name(
    connection: &Connection,
    workspace: WorkspaceKey,
    id: FileId,
) -> Result<Option<String>, ServiceError> {
    Ok(connection
        .prepare_cached("SELECT name FROM file WHERE id = ?1 AND workspace = ?2")?
        .query_row((id.as_bytes(), workspace.0), |row| row.get(0))
        .optional()?)
}

/// Whether any workspace has a file of that ID.
///
/// # Errors
/// Those of the storage.
pub fn is_taken(connection: &Connection, id: FileId) -> Result<bool, ServiceError> {
    Ok(connection.prepare_cached("SELECT 1 FROM file WHERE id = ?1")?.exists([id.as_bytes()])?)
}

/// Whether the note of a file has, or will have, a title node of that ID.
///
/// # Errors
/// Those of the storage.
pub fn is_root(connection: &Connection, root: NodeId) -> Result<bool, ServiceError> {
    Ok(connection
        .prepare_cached("SELECT 1 FROM file WHERE root = ?1")?
        .exists([root.as_bytes()])?)
}

/// Makes the row of a file, and of its content where there is none yet.
///
/// # Errors
/// Those of the storage.
pub fn insert(
    connection: &Connection,
    workspace: WorkspaceKey,
    new: &NewFile<'_>,
) -> Result<(), ServiceError> {
    let hash = &new.content.hash.0;
    connection
        .prepare_cached(
            "INSERT INTO content (hash, size, pieces) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
        )?
        .execute((hash, signed(new.content.size), new.content.pieces.as_flattened()))?;
    connection
        .prepare_cached(
            "INSERT INTO file (id, workspace, name, folded, mime, content, root, added_at)
             VALUES (?1, ?2, ?3, ?4, ?5, (SELECT k FROM content WHERE hash = ?6), ?7, ?8)",
        )?
        .execute((
            new.id.as_bytes(),
            workspace.0,
            new.name,
            file_name::folded(new.name),
            new.mime,
            hash,
            new.root.as_bytes(),
            new.at,
        ))?;
    Ok(())
}

/// Says which document is the note of a file.
///
/// # Errors
/// Those of the storage.
pub fn set_note(
    connection: &Connection,
    file: FileKey,
    note: DocumentKey,
) -> Result<(), ServiceError> {
    connection
        .prepare_cached("UPDATE file SET note = ?2 WHERE k = ?1")?
        .execute((file.0, note.0))?;
    Ok(())
}

/// Removes a file's row, and its content's where no other file holds it; whether that one went. Its note
/// becomes a page.
///
/// # Errors
/// Those of the storage.
pub fn remove(
    connection: &Connection,
    file: FileKey,
    content: ContentKey,
) -> Result<bool, ServiceError> {
    connection
        .prepare_cached(
            "UPDATE document SET kind = 'page' WHERE k = (SELECT note FROM file WHERE k = ?1)",
        )?
        .execute([file.0])?;
    connection.prepare_cached("DELETE FROM file WHERE k = ?1")?.execute([file.0])?;
    let gone = connection
        .prepare_cached(
            "DELETE FROM content WHERE k = ?1 AND NOT EXISTS (SELECT 1 FROM file WHERE content = ?1)",
        )?
        .execute([content.0])?;
    Ok(gone > 0)
}

/// The nodes to which a file is attached, with their documents.
///
/// # Errors
/// Those of the storage.
pub fn uses(
    connection: &Connection,
    workspace: WorkspaceKey,
    id: FileId,
) -> Result<Vec<(DocumentId, NodeId)>, ServiceError> {
    let mut statement = connection.prepare_cached(
        "SELECT DISTINCT d.id, a.node FROM attachment a JOIN document d ON d.k = a.document
         WHERE a.file = ?1 AND d.workspace = ?2 ORDER BY d.k, a.node",
    )?;
    let rows = statement.query_map((id.as_bytes(), workspace.0), |row| {
        Ok((DocumentId::from_bytes(row.get(0)?), NodeId::from_bytes(row.get(1)?)))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// What so many pieces of a content must hash to, from the piece `first` on.
///
/// # Errors
/// Those of the storage.
pub fn piece_values(
    connection: &Connection,
    content: ContentKey,
    first: u64,
    count: u64,
) -> Result<Vec<PieceValue>, ServiceError> {
    let size = HASH_BYTES as u64;
    // A part of nothing is NULL.
    let found: Option<Option<Vec<u8>>> = connection
        .prepare_cached("SELECT substr(pieces, ?2, ?3) FROM content WHERE k = ?1")?
        .query_row((content.0, signed(first * size + 1), signed(count * size)), |row| row.get(0))
        .optional()?;
    let found = found.flatten();
    let (pieces, _) = found.as_deref().unwrap_or_default().as_chunks();
    Ok(pieces.to_vec())
}

/// Whether a content of that hash has a row.
///
/// # Errors
/// Those of the storage.
pub fn is_content(connection: &Connection, hash: ContentHash) -> Result<bool, ServiceError> {
    Ok(connection.prepare_cached("SELECT 1 FROM content WHERE hash = ?1")?.exists([hash.0])?)
}

/// The first content whose row is not before `from`.
///
/// # Errors
/// Those of the storage.
pub fn next_content(
    connection: &Connection,
    from: ContentKey,
) -> Result<Option<Content>, ServiceError> {
    Ok(connection
        .prepare_cached("SELECT k, hash, size FROM content WHERE k >= ?1 ORDER BY k LIMIT 1")?
        .query_row([from.0], |row| {
            Ok(Content {
                key: ContentKey(row.get("k")?),
                hash: ContentHash(row.get("hash")?),
                size: number(row, "size")?,
            })
        })
        .optional()?)
}

/// The files that hold a content, with their workspaces and names.
///
/// # Errors
/// Those of the storage.
pub fn holders(
    connection: &Connection,
    content: ContentKey,
) -> Result<Vec<(WorkspaceId, FileId, String)>, ServiceError> {
    let mut statement = connection.prepare_cached(
        "SELECT w.id, f.id, f.name FROM file f JOIN workspace w ON w.k = f.workspace
         WHERE f.content = ?1 ORDER BY f.k",
    )?;
    let rows = statement.query_map([content.0], |row| {
        let workspace = WorkspaceId::from_bytes(row.get(0)?);
        Ok((workspace, FileId::from_bytes(row.get(1)?), row.get(2)?))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// How many bytes all contents have together.
///
/// # Errors
/// Those of the storage.
pub fn bytes(connection: &Connection) -> Result<u64, ServiceError> {
    let sql = "SELECT coalesce(sum(size), 0) AS bytes FROM content";
    Ok(connection.prepare_cached(sql)?.query_row((), |row| number(row, "bytes"))?)
}
