//! The tags of a workspace. A tag's name is its whole path, its levels parted by `/`.

use koru_model::ids::TagId;
use koru_model::tag::folded;
use rusqlite::{Connection, OptionalExtension as _};
use serde::Serialize;
use uuid::Uuid;

use super::workspaces::WorkspaceKey;
use crate::errors::ServiceError;

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
    let mut statement = connection.prepare_cached(
        "WITH RECURSIVE trashed (k) AS (
           SELECT k FROM document WHERE workspace = ?1 AND trashed_at IS NOT NULL
           UNION
           SELECT d.k FROM document d JOIN trashed t ON d.workspace = ?1 AND d.parent = t.k
         )
         SELECT t.id, t.name, p.id,
           (SELECT count(*) FROM tag_use u WHERE u.tag = t.id
            AND u.document NOT IN (SELECT k FROM trashed))
         FROM tag t LEFT JOIN tag p ON p.k = t.parent
         WHERE t.workspace = ?1 ORDER BY t.folded",
    )?;
    let rows = statement.query_map([workspace.0], |row| {
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
    Ok(row_of(connection, workspace, &folded(name))?.map(|row| row.id))
}

/// The name of a tag of the workspace.
///
/// # Errors
/// Those of the storage.
pub fn name(
    connection: &Connection,
    workspace: WorkspaceKey,
    id: TagId,
) -> Result<Option<String>, ServiceError> {
    Ok(connection
        .prepare_cached("SELECT name FROM tag WHERE id = ?1 AND workspace = ?2")?
        .query_row((id.as_bytes(), workspace.0), |row| row.get(0))
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
) -> Result<TagId, ServiceError> {
    let mut above: Option<TagRow> = None;
    for level in name.split('/') {
        let path = match &above {
            None => level.to_owned(),
            Some(above) => format!("{}/{level}", above.name),
        };
        let folded = folded(&path);
        let row = match row_of(connection, workspace, &folded)? {
            Some(row) => row,
            None => {
                let id = TagId(new_id());
                let parent = above.map(|above| above.key);
                connection
                    .prepare_cached(
                        "INSERT INTO tag (id, workspace, name, folded, parent) VALUES (?1, ?2, ?3, ?4, ?5)",
                    )?
                    .execute((id.as_bytes(), workspace.0, &path, folded, parent))?;
                TagRow { key: connection.last_insert_rowid(), id, name: path }
            }
        };
        above = Some(row);
    }
    above.map(|row| row.id).ok_or(ServiceError::Internal("a tag without name"))
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

struct TagRow {
    key: i64,
    id: TagId,
    name: String,
}

fn row_of(
    connection: &Connection,
    workspace: WorkspaceKey,
    folded: &str,
) -> Result<Option<TagRow>, ServiceError> {
    Ok(connection
        .prepare_cached("SELECT k, id, name FROM tag WHERE workspace = ?1 AND folded = ?2")?
        .query_row((workspace.0, folded), |row| {
            Ok(TagRow { key: row.get(0)?, id: TagId::from_bytes(row.get(1)?), name: row.get(2)? })
        })
        .optional()?)
}
