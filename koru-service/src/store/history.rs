//! History entries, and the receipts that make a repeated call harmless.
//!
//! A change with its two markers is one row: `before` has the ID as stored, whose last bit is 0, and
//! the row's version; `after` has the ID with its last bit set, and the next version.

use koru_model::ids::{DocumentId, EntryId};
use rusqlite::{Connection, OptionalExtension as _, Row};
use serde::Serialize;
use uuid::Uuid;

use super::actors::ActorKey;
use super::documents::{number, signed};
use super::placing::DocumentKey;
use crate::errors::{ServiceError, Thing};
use crate::outside::rfc3339;

/// Why an entry was written. The numbers are what the store keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The document was made.
    Created = 1,
    /// A batch was applied.
    Edit = 2,
    /// Somebody saved a version.
    Saved = 5,
}

impl Reason {
    fn of(number: i64) -> Self {
        match number {
            1 => Self::Created,
            5 => Self::Saved,
            _ => Self::Edit,
        }
    }
}

/// Which of the two markers of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Boundary {
    /// The state that the change found.
    Before,
    /// The state that it left.
    After,
}

/// An entry as results show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Its ID.
    pub id: EntryId,
    /// Its document.
    pub document: DocumentId,
    /// Its number in the document, from 1.
    pub version: u64,
    /// Why it was written.
    pub reason: Reason,
    /// When.
    pub recorded_at: String,
    /// The client that caused it.
    pub author: String,
    /// A short name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// A longer note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Which marker of a change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boundary: Option<Boundary>,
    /// Whether somebody saved it.
    pub pinned: bool,
}

/// What a new row of history says.
#[derive(Debug)]
pub struct NewEntry<'a> {
    /// Its document.
    pub document: DocumentKey,
    /// The version of its only or its first marker.
    pub version: u64,
    /// The change.
    pub seq: u64,
    /// Whether it has two markers.
    pub paired: bool,
    /// Why.
    pub reason: Reason,
    /// When, in milliseconds since 1970 (UTC).
    pub at: i64,
    /// Who.
    pub actor: ActorKey,
    /// A short name.
    pub label: Option<&'a str>,
    /// A longer note.
    pub message: Option<&'a str>,
}

/// A row of history, by its stored ID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryKey([u8; 16]);

fn stored(id: Uuid) -> EntryKey {
    let mut bytes = id.into_bytes();
    bytes[15] &= 0xfe;
    EntryKey(bytes)
}

fn marker(key: EntryKey, boundary: Option<Boundary>) -> EntryId {
    let mut bytes = key.0;
    bytes[15] |= u8::from(boundary == Some(Boundary::After));
    EntryId::from_bytes(bytes)
}

/// Writes a row of history.
///
/// # Errors
/// Those of the storage.
pub fn insert(
    connection: &Connection,
    id: Uuid,
    new: &NewEntry<'_>,
) -> Result<EntryKey, ServiceError> {
    let key = stored(id);
    connection
        .prepare_cached(
            "INSERT INTO entry (id, document, version, seq, paired, reason, at, actor, label, message)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?
        .execute((
            key.0,
            new.document.0,
            signed(new.version),
            signed(new.seq),
            new.paired,
            new.reason as i64,
            new.at,
            new.actor.0,
            new.label,
            new.message,
        ))?;
    Ok(key)
}

const COLUMNS: &str = "e.id, d.id AS document_id, e.version, e.seq, e.paired, e.reason, e.at, a.name, e.label, e.message
  FROM entry e JOIN document d ON d.k = e.document JOIN actor a ON a.k = e.actor";

/// A row of history with what its markers share.
struct Record {
    key: EntryKey,
    document: DocumentId,
    version: u64,
    seq: u64,
    paired: bool,
    reason: Reason,
    at: i64,
    author: String,
    label: Option<String>,
    message: Option<String>,
}

impl Record {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            key: EntryKey(row.get("id")?),
            document: DocumentId::from_bytes(row.get("document_id")?),
            version: number(row, "version")?,
            seq: number(row, "seq")?,
            paired: row.get("paired")?,
            reason: Reason::of(row.get("reason")?),
            at: row.get("at")?,
            author: row.get("name")?,
            label: row.get("label")?,
            message: row.get("message")?,
        })
    }

    /// Its newest marker.
    fn last(&self) -> Entry {
        self.entry(self.paired.then_some(Boundary::After))
    }

    fn entry(&self, boundary: Option<Boundary>) -> Entry {
        Entry {
            id: marker(self.key, boundary),
            document: self.document,
            version: self.version + u64::from(boundary == Some(Boundary::After)),
            reason: self.reason,
            recorded_at: rfc3339(self.at),
            author: self.author.clone(),
            label: self.label.clone(),
            message: self.message.clone(),
            boundary,
            pinned: self.reason == Reason::Saved,
        }
    }
}

/// The newest marker of a row, with the number of its change.
///
/// # Errors
/// Those of the storage, and when there is no such row.
pub fn newest_marker(connection: &Connection, key: EntryKey) -> Result<(Entry, u64), ServiceError> {
    let record = connection
        .prepare_cached(&format!("SELECT {COLUMNS} WHERE e.id = ?1"))?
        .query_row([key.0], Record::read)?;
    Ok((record.last(), record.seq))
}

/// The newest entry of a document.
///
/// # Errors
/// Those of the storage.
pub fn newest(connection: &Connection, document: DocumentKey) -> Result<Entry, ServiceError> {
    let sql = format!("SELECT {COLUMNS} WHERE e.document = ?1 ORDER BY e.version DESC LIMIT 1");
    Ok(connection.prepare_cached(&sql)?.query_row([document.0], Record::read)?.last())
}

/// The version number of an entry of the document.
///
/// # Errors
/// When the document has no such entry.
pub fn version_of(
    connection: &Connection,
    document: DocumentKey,
    id: EntryId,
) -> Result<u64, ServiceError> {
    let key = stored(id.0);
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} WHERE e.id = ?1 AND e.document = ?2"))?
        .query_row((key.0, document.0), Record::read)
        .optional()?
        .and_then(|record| {
            let is_after = key.0 != *id.as_bytes();
            (record.paired || !is_after).then_some(record.version + u64::from(is_after))
        })
        .ok_or_else(|| ServiceError::NotFound { thing: Thing::Entry, id: id.to_string() })
}

/// Entries below a version, newest first, at most `limit` and one more where there are more.
///
/// # Errors
/// Those of the storage.
pub fn list(
    connection: &Connection,
    document: DocumentKey,
    below: u64,
    before_at: i64,
    limit: usize,
) -> Result<Vec<Entry>, ServiceError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} WHERE e.document = ?1 AND e.version < ?2 AND e.at <= ?3
         ORDER BY e.version DESC LIMIT ?4"
    ))?;
    let rows =
        statement.query_map((document.0, signed(below), before_at, limit + 1), Record::read)?;
    let mut entries = Vec::new();
    for record in rows {
        let record = record?;
        if record.paired {
            entries.push(record.entry(Some(Boundary::After)));
            entries.push(record.entry(Some(Boundary::Before)));
        } else {
            entries.push(record.entry(None));
        }
    }
    entries.retain(|entry| entry.version < below);
    entries.truncate(limit + 1);
    Ok(entries)
}

/// What was answered to a call that changed a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipt {
    /// The document.
    pub document: DocumentKey,
    /// The digest of the input.
    pub digest: [u8; 16],
    /// The row of history that the call wrote.
    pub entry: EntryKey,
}

/// Keeps a receipt. A call without a key gets a key of its own, for its digest is looked up too.
///
/// # Errors
/// Those of the storage.
pub fn keep_receipt(
    connection: &Connection,
    key: Uuid,
    receipt: &Receipt,
) -> Result<(), ServiceError> {
    connection
        .prepare_cached(
            "INSERT INTO receipt (key, document, digest, entry) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute((key.as_bytes(), receipt.document.0, receipt.digest, receipt.entry.0))?;
    Ok(())
}

fn read_receipt(row: &Row<'_>) -> rusqlite::Result<Receipt> {
    Ok(Receipt {
        document: DocumentKey(row.get("document")?),
        digest: row.get("digest")?,
        entry: EntryKey(row.get("entry")?),
    })
}

/// The receipt of a call.
///
/// # Errors
/// Those of the storage.
pub fn receipt(connection: &Connection, key: Uuid) -> Result<Option<Receipt>, ServiceError> {
    Ok(connection
        .prepare_cached("SELECT document, digest, entry FROM receipt WHERE key = ?1")?
        .query_row([key.as_bytes()], read_receipt)
        .optional()?)
}

/// The newest receipt of a call with that input.
///
/// # Errors
/// Those of the storage.
pub fn receipt_of_digest(
    connection: &Connection,
    document: DocumentKey,
    digest: &[u8; 16],
) -> Result<Option<Receipt>, ServiceError> {
    let mut statement = connection.prepare_cached(
        "SELECT r.document, r.digest, r.entry FROM receipt r JOIN entry e ON e.id = r.entry
         WHERE r.document = ?1 AND r.digest = ?2 ORDER BY e.version DESC LIMIT 1",
    )?;
    Ok(statement.query_row((document.0, digest), read_receipt).optional()?)
}

/// A document that was made under an idempotency key: the digest of the input, and the document.
///
/// # Errors
/// Those of the storage.
pub fn creation(
    connection: &Connection,
    workspace: super::workspaces::WorkspaceKey,
    key: Uuid,
) -> Result<Option<([u8; 16], DocumentId)>, ServiceError> {
    Ok(connection
        .prepare_cached(
            "SELECT c.digest, d.id FROM creation c JOIN document d ON d.k = c.document
             WHERE c.workspace = ?1 AND c.key = ?2",
        )?
        .query_row((workspace.0, key.as_bytes()), |row| {
            Ok((row.get(0)?, DocumentId::from_bytes(row.get(1)?)))
        })
        .optional()?)
}

/// Keeps the idempotency key under which a document was made.
///
/// # Errors
/// Those of the storage.
pub fn keep_creation(
    connection: &Connection,
    workspace: super::workspaces::WorkspaceKey,
    key: Uuid,
    digest: &[u8; 16],
    document: DocumentKey,
    at: i64,
) -> Result<(), ServiceError> {
    connection
        .prepare_cached(
            "INSERT INTO creation (workspace, key, digest, document, at) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute((workspace.0, key.as_bytes(), digest, document.0, at))?;
    Ok(())
}

/// The ID of a document's row.
///
/// # Errors
/// Those of the storage.
pub fn document_id(
    connection: &Connection,
    document: DocumentKey,
) -> Result<DocumentId, ServiceError> {
    Ok(connection
        .prepare_cached("SELECT id FROM document WHERE k = ?1")?
        .query_row([document.0], |row| Ok(DocumentId::from_bytes(row.get(0)?)))?)
}
