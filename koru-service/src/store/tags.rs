//! The tags of a workspace. A tag's name is its whole path, its levels parted by `/`.

use koru_model::ids::TagId;
use koru_model::tag::{self, folded};
use rusqlite::{Connection, OptionalExtension as _, Row};
use serde::Serialize;
use uuid::Uuid;

use super::workspaces::WorkspaceKey;
use crate::errors::{ServiceError, Thing};

/// A tag as `list_tags` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// Its ID.
    pub tag_id: TagId,
    /// The whole path.
    pub name: String,
    /// The tag one level up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<TagId>,
    /// How many live nodes carry it itself, outside the trash.
    pub uses: u32,
}

/// All tags of a workspace, by name.
///
/// # Errors
/// Those of the storage.
pub fn list(connection: &Connection, workspace: WorkspaceKey) -> Result<Vec<Listed>, ServiceError> {
    listed(connection, workspace, None)
}

/// One tag, as the listing shows it.
///
/// # Errors
/// When there is no such tag.
pub fn one(
    connection: &Connection,
    workspace: WorkspaceKey,
    id: TagId,
) -> Result<Listed, ServiceError> {
    listed(connection, workspace, Some(id))?
        .pop()
        .ok_or_else(|| ServiceError::NotFound { thing: Thing::Tag, id: id.to_string() })
}

fn listed(
    connection: &Connection,
    workspace: WorkspaceKey,
    only: Option<TagId>,
) -> Result<Vec<Listed>, ServiceError> {
    let mut statement = connection.prepare_cached(
        "WITH RECURSIVE trashed (k) AS (
           SELECT k FROM document WHERE workspace = ?1 AND trashed_at IS NOT NULL
           UNION
           SELECT d.k FROM document d JOIN trashed t ON d.workspace = ?1 AND d.parent = t.k
         )
         SELECT t.id, t.name, p.id,
           (SELECT count(*) FROM (
              SELECT u.document, u.node FROM tag_use u WHERE u.tag = t.id
              UNION
              SELECT u.document, u.node FROM tag_former f JOIN tag_use u ON u.tag = f.id
              WHERE f.tag = t.k
            ) AS carriers WHERE carriers.document NOT IN (SELECT k FROM trashed))
         FROM tag t LEFT JOIN tag p ON p.k = t.parent
         WHERE t.workspace = ?1 AND (?2 IS NULL OR t.id = ?2) ORDER BY t.folded",
    )?;
    let only = only.map(|id| *id.as_bytes());
    let rows = statement.query_map((workspace.0, only), |row| {
        Ok(Listed {
            tag_id: TagId::from_bytes(row.get(0)?),
            name: row.get(1)?,
            parent: row.get::<_, Option<[u8; 16]>>(2)?.map(TagId::from_bytes),
            uses: row.get(3)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The tag of that name, in any case.
///
/// # Errors
/// Those of the storage.
pub fn find(
    connection: &Connection,
    workspace: WorkspaceKey,
    name: &str,
) -> Result<Option<TagId>, ServiceError> {
    Ok(named(connection, workspace, &folded(name))?.map(|tag| tag.id))
}

/// The tag that an ID means: its own, or the one that it was merged into; none where it was removed,
/// or never was one of the workspace.
///
/// # Errors
/// Those of the storage.
pub fn resolve(
    connection: &Connection,
    workspace: WorkspaceKey,
    id: TagId,
) -> Result<Option<Tag>, ServiceError> {
    Ok(connection
        .prepare_cached(
            "SELECT k, id, name FROM tag WHERE id = ?1 AND workspace = ?2
             UNION ALL
             SELECT t.k, t.id, t.name FROM tag_former f JOIN tag t ON t.k = f.tag
             WHERE f.id = ?1 AND f.workspace = ?2",
        )?
        .query_row((id.as_bytes(), workspace.0), Tag::read)
        .optional()?)
}

/// The tag of that name, in any case; it and those above it are made where they are missing.
/// A new one takes the spelling of those above it that are there.
///
/// `name` is a whole path that has been checked: no level is empty.
///
/// # Errors
/// Those of the storage.
pub fn find_or_create(
    connection: &Connection,
    workspace: WorkspaceKey,
    name: &str,
    mut new_id: impl FnMut() -> Uuid,
) -> Result<Tag, ServiceError> {
    let mut above: Option<Tag> = None;
    for level in name.split('/') {
        let path = tag::below(above.as_ref().map(|above| above.name.as_str()), level);
        let folded = folded(&path);
        let row = match named(connection, workspace, &folded)? {
            Some(row) => row,
            None => {
                let id = TagId(new_id());
                let parent = above.map(|above| above.key);
                connection
                    .prepare_cached(
                        "INSERT INTO tag (id, workspace, name, folded, parent) VALUES (?1, ?2, ?3, ?4, ?5)",
                    )?
                    .execute((id.as_bytes(), workspace.0, &path, folded, parent))?;
                Tag { key: connection.last_insert_rowid(), id, name: path }
            }
        };
        above = Some(row);
    }
    above.ok_or(ServiceError::Internal("a tag without name"))
}

/// Makes the tag of that name, which does not exist, under a given ID; those above it are made where
/// they are missing.
///
/// # Errors
/// Those of the storage.
pub fn create(
    connection: &Connection,
    workspace: WorkspaceKey,
    name: &str,
    id: TagId,
    mut new_id: impl FnMut() -> Uuid,
) -> Result<(), ServiceError> {
    if let Some((above, _)) = name.rsplit_once('/') {
        find_or_create(connection, workspace, above, &mut new_id)?;
    }
    find_or_create(connection, workspace, name, || id.0)?;
    Ok(())
}

/// A tag of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// The number of its row.
    pub(super) key: i64,
    /// Its ID.
    pub id: TagId,
    /// The whole path.
    pub name: String,
}

impl Tag {
    /// Reads a row of `k, id, name`.
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self { key: row.get(0)?, id: TagId::from_bytes(row.get(1)?), name: row.get(2)? })
    }
}

/// The tag of a folded name.
pub(super) fn named(
    connection: &Connection,
    workspace: WorkspaceKey,
    folded: &str,
) -> Result<Option<Tag>, ServiceError> {
    Ok(connection
        .prepare_cached("SELECT k, id, name FROM tag WHERE workspace = ?1 AND folded = ?2")?
        .query_row((workspace.0, folded), Tag::read)
        .optional()?)
}
