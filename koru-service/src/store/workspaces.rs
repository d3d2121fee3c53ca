//! Workspaces, and the local account that owns them.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use koru_model::ids::{AccountId, WorkspaceId};
use rusqlite::{Connection, OptionalExtension as _, Row};
use serde::Serialize;

use crate::errors::ServiceError;
use crate::outside::{Outside, rfc3339};

/// The longest name of a workspace, in characters.
const NAME_CHARS: usize = 200;
/// The workspace that the first start makes.
const FIRST: &str = "Personal";

/// The row of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkspaceKey(pub i64);

/// A workspace as `list_workspaces` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Workspace {
    /// Its ID.
    pub id: WorkspaceId,
    /// The local account.
    pub owner: AccountId,
    /// Its name.
    pub name: String,
    /// When it was made.
    pub created_at: String,
    /// When a client last read or wrote in it, to the minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_opened_at: Option<String>,
    /// Its icon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    /// Its colour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
    /// Whether it is pinned.
    pub pinned: bool,
    /// Whether it is archived.
    pub archived: bool,
    /// When it was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<String>,
    /// Its place among the workspaces.
    pub position: i64,
}

/// Makes the account and the first workspace where there is no account yet.
///
/// # Errors
/// Those of the storage.
pub fn first_start(connection: &Connection, outside: &Outside) -> Result<(), ServiceError> {
    let account = AccountId(outside.new_id());
    let made = connection.execute(
        "INSERT INTO setting (key, value) VALUES ('account', ?1) ON CONFLICT (key) DO NOTHING",
        [account.as_bytes()],
    )?;
    if made == 1 {
        create(connection, WorkspaceId(outside.new_id()), FIRST, outside.now())?;
    }
    Ok(())
}

/// The row of a workspace, and whether it is deleted.
///
/// # Errors
/// Those of the storage.
pub fn find(
    connection: &Connection,
    id: WorkspaceId,
) -> Result<Option<(WorkspaceKey, bool)>, ServiceError> {
    Ok(connection
        .prepare_cached("SELECT k, deleted_at IS NOT NULL FROM workspace WHERE id = ?1")?
        .query_row([id.as_bytes()], |row| Ok((WorkspaceKey(row.get(0)?), row.get(1)?)))
        .optional()?)
}

/// What a search needs to know of a workspace.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// Its row.
    pub key: WorkspaceKey,
    /// Its ID.
    pub id: WorkspaceId,
    /// Whether it is deleted.
    pub is_deleted: bool,
    /// When a client last read or wrote in it, in milliseconds since 1970 (UTC).
    pub last_opened_at: Option<i64>,
}

/// All workspaces in their order, as a search needs them.
///
/// # Errors
/// Those of the storage.
pub fn known(connection: &Connection, opened: &Opened) -> Result<Vec<Known>, ServiceError> {
    let mut statement = connection.prepare_cached(
        "SELECT k, id, deleted_at IS NOT NULL, last_opened_at FROM workspace ORDER BY position, k",
    )?;
    let rows = statement.query_map((), |row| {
        let key = WorkspaceKey(row.get(0)?);
        Ok(Known {
            key,
            id: WorkspaceId::from_bytes(row.get(1)?),
            is_deleted: row.get(2)?,
            last_opened_at: opened.of(key).max(row.get(3)?),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// All workspaces in their order.
///
/// # Errors
/// Those of the storage.
pub fn list(connection: &Connection, opened: &Opened) -> Result<Vec<Workspace>, ServiceError> {
    let owner = account(connection)?;
    let mut statement = connection.prepare_cached(&format!("{SELECT} ORDER BY position, k"))?;
    let rows = statement.query_map((), |row| read(row, owner, opened))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// One workspace.
///
/// # Errors
/// Those of the storage.
pub fn one(
    connection: &Connection,
    key: WorkspaceKey,
    opened: &Opened,
) -> Result<Workspace, ServiceError> {
    let owner = account(connection)?;
    let mut statement = connection.prepare_cached(&format!("{SELECT} WHERE k = ?1"))?;
    Ok(statement.query_row([key.0], |row| read(row, owner, opened))?)
}

/// Makes a workspace, last in order; the same ID and name again make no second one.
///
/// # Errors
/// When the name is none, or the ID is taken.
pub fn create(
    connection: &Connection,
    id: WorkspaceId,
    name: &str,
    now: i64,
) -> Result<WorkspaceKey, ServiceError> {
    let name = checked_name(name)?;
    let taken = connection
        .prepare_cached("SELECT k, name FROM workspace WHERE id = ?1")?
        .query_row([id.as_bytes()], |row| Ok((WorkspaceKey(row.get(0)?), row.get::<_, String>(1)?)))
        .optional()?;
    match taken {
        Some((key, found)) if found == name => return Ok(key),
        Some(_) => {
            return Err(ServiceError::invalid("workspace_id", "a workspace has this ID already"));
        }
        None => {}
    }
    connection.execute(
        "INSERT INTO workspace (id, name, created_at, position)
         SELECT ?1, ?2, ?3, coalesce(max(position) + 1, 0) FROM workspace",
        (id.as_bytes(), name, now),
    )?;
    Ok(WorkspaceKey(connection.last_insert_rowid()))
}

/// Renames a workspace.
///
/// # Errors
/// When the name is none.
pub fn rename(connection: &Connection, key: WorkspaceKey, name: &str) -> Result<(), ServiceError> {
    let name = checked_name(name)?;
    connection.execute("UPDATE workspace SET name = ?2 WHERE k = ?1", (key.0, name))?;
    Ok(())
}

/// Archives a workspace, or takes it back.
///
/// # Errors
/// Those of the storage.
pub fn archive(
    connection: &Connection,
    key: WorkspaceKey,
    archived: bool,
) -> Result<(), ServiceError> {
    connection.execute("UPDATE workspace SET archived = ?2 WHERE k = ?1", (key.0, archived))?;
    Ok(())
}

/// Marks a workspace as deleted, or takes it back.
///
/// # Errors
/// Those of the storage.
pub fn delete(
    connection: &Connection,
    key: WorkspaceKey,
    deleted: bool,
    now: i64,
) -> Result<(), ServiceError> {
    connection.execute(
        "UPDATE workspace SET deleted_at = CASE WHEN ?2 THEN coalesce(deleted_at, ?3) END WHERE k = ?1",
        (key.0, deleted, now),
    )?;
    Ok(())
}

const SELECT: &str = "SELECT k, id, name, created_at, last_opened_at, icon, color, pinned, archived, deleted_at, position FROM workspace";

fn read(row: &Row<'_>, owner: AccountId, opened: &Opened) -> Result<Workspace, rusqlite::Error> {
    let written: Option<i64> = row.get(4)?;
    let last_opened = opened.of(WorkspaceKey(row.get(0)?)).max(written);
    Ok(Workspace {
        id: WorkspaceId::from_bytes(row.get(1)?),
        owner,
        name: row.get(2)?,
        created_at: rfc3339(row.get(3)?),
        last_opened_at: last_opened.map(rfc3339),
        icon: row.get(5)?,
        color: row.get(6)?,
        pinned: row.get(7)?,
        archived: row.get(8)?,
        deleted_at: row.get::<_, Option<i64>>(9)?.map(rfc3339),
        position: row.get(10)?,
    })
}

fn account(connection: &Connection) -> Result<AccountId, ServiceError> {
    Ok(connection
        .prepare_cached("SELECT value FROM setting WHERE key = 'account'")?
        .query_row((), |row| Ok(AccountId::from_bytes(row.get(0)?)))?)
}

fn checked_name(name: &str) -> Result<&str, ServiceError> {
    let name = name.trim();
    if name.is_empty() {
        return Err(ServiceError::invalid("name", "must not be empty"));
    }
    if name.chars().any(char::is_control) {
        return Err(ServiceError::invalid("name", "must be one line without control characters"));
    }
    if name.chars().count() > NAME_CHARS {
        let reason = format!("must have at most {NAME_CHARS} characters");
        return Err(ServiceError::invalid("name", reason));
    }
    Ok(name)
}

/// When workspaces were last read or written, to the minute, until a commit takes it along.
#[derive(Debug, Default)]
pub struct Opened(Mutex<BTreeMap<WorkspaceKey, Noted>>);

#[derive(Debug, Clone, Copy)]
struct Noted {
    minute: i64,
    written: Option<i64>,
}

impl Opened {
    const MINUTE: i64 = 60_000;

    pub(super) fn note(&self, workspace: WorkspaceKey, now: i64) {
        let minute = now - now.rem_euclid(Self::MINUTE);
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = noted.entry(workspace).or_insert(Noted { minute, written: None });
        entry.minute = entry.minute.max(minute);
    }

    fn of(&self, workspace: WorkspaceKey) -> Option<i64> {
        let noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.get(&workspace).map(|noted| noted.minute)
    }

    /// Whether all of it is on disk.
    pub(super) fn is_empty(&self) -> bool {
        let noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.values().all(|noted| noted.written == Some(noted.minute))
    }

    /// Writes what is not on disk yet, in the transaction that the connection is in; returns it.
    pub(super) fn write(
        &self,
        connection: &Connection,
    ) -> Result<Vec<(WorkspaceKey, i64)>, rusqlite::Error> {
        let noted = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut news = Vec::new();
        for (workspace, Noted { minute, written }) in noted {
            if written != Some(minute) {
                connection
                    .prepare_cached("UPDATE workspace SET last_opened_at = ?2 WHERE k = ?1")?
                    .execute((workspace.0, minute))?;
                news.push((workspace, minute));
            }
        }
        Ok(news)
    }

    /// What [`Self::write`] returned is on disk.
    pub(super) fn written(&self, news: &[(WorkspaceKey, i64)]) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (workspace, minute) in news {
            if let Some(noted) = noted.get_mut(workspace) {
                noted.written = Some(*minute);
            }
        }
    }
}
