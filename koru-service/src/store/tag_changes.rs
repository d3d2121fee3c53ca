//! Renaming, merging and removing tags.
//!
//! Documents carry the IDs of tags, in states that never change again. So no document is written here:
//! a name belongs to the tag's row, and `tag_former` says what an ID without a row of its own means.

use std::collections::HashMap;

use koru_model::ids::TagId;
use koru_model::limits;
use koru_model::protocol::error::{Code, ToolError};
use koru_model::tag::{self, folded};
use rusqlite::{Connection, OptionalExtension as _};
use serde_json::json;
use uuid::Uuid;

use super::tags::{self, Tag, named};
use super::workspaces::WorkspaceKey;
use crate::errors::{ServiceError, Thing};

/// Gives a tag another name, and the tags below it their new paths; tags above the new name are made
/// where they are missing. Every use stays.
///
/// # Errors
/// When there is no such tag, the name is no tag name, lies below the tag itself, or is taken.
pub fn rename(
    connection: &Connection,
    workspace: WorkspaceKey,
    id: TagId,
    name: &str,
    new_id: impl FnMut() -> Uuid,
) -> Result<TagId, ServiceError> {
    let tag = existing(connection, workspace, id)?;
    let name =
        tag::accept(name).map_err(|fault| ServiceError::invalid("name", fault.to_string()))?;
    if is_under(&name, &tag.name) {
        return Err(ServiceError::invalid("name", "would put the tag under itself"));
    }
    let above = tag::parent(&name)
        .map(|above| tags::find_or_create(connection, workspace, above, new_id))
        .transpose()?;
    place(connection, workspace, &tag, above.as_ref(), tag::level(&name))?;
    Ok(tag.id)
}

/// Makes every use of a tag a use of another one. The tags below it go under the other; equal names
/// are merged in turn.
///
/// # Errors
/// When there is no such tag, both are the same, the target lies below the source, or a name would
/// become too long.
pub fn merge(
    connection: &Connection,
    workspace: WorkspaceKey,
    source: TagId,
    target: TagId,
) -> Result<TagId, ServiceError> {
    let into = existing(connection, workspace, target)?;
    if source == into.id {
        return Err(ServiceError::invalid("source", "is the target; name two tags"));
    }
    let from = existing(connection, workspace, source)?;
    // The same call again, whose answer was lost.
    if from.key == into.key {
        return Ok(into.id);
    }
    if is_under(&into.name, &from.name) {
        return Err(ServiceError::invalid(
            "target",
            "lies below the source; merge the lower one into the upper one, then rename that",
        ));
    }
    // A tag may come to stand where another one from below the source stands until it is moved, too.
    // No folded name begins with a control character.
    for (below, _) in subtree(connection, &from)? {
        connection
            .prepare_cached("UPDATE tag SET folded = char(1) || k WHERE k = ?1")?
            .execute([below.key])?;
    }
    join(connection, workspace, &from, &into)?;
    Ok(into.id)
}

/// Removes a tag, and with `force` also from the nodes that carry it, and all tags below it. How many
/// nodes carried them.
///
/// # Errors
/// When there is no such tag; without `force` also when a node carries it, in the trash or not, or a
/// tag lies below it.
pub fn remove(
    connection: &Connection,
    workspace: WorkspaceKey,
    id: TagId,
    force: bool,
) -> Result<u32, ServiceError> {
    // The same call again, whose answer was lost.
    if was_removed(connection, workspace, id)? {
        return Ok(0);
    }
    let tag = existing(connection, workspace, id)?;
    let all = subtree(connection, &tag)?;
    let uses = uses(connection, &tag)?;
    let below = all.len().saturating_sub(1);
    if !force && (uses > 0 || below > 0) {
        return Err(ToolError::new(
            Code::PreconditionFailed,
            format!(
                "Nothing was removed: tag {} and the {below} tags below it are on {uses} nodes, the trash included. Force takes them all off, for good; a merge keeps the uses.",
                tag.name
            ),
        )
        .with(json!({ "tag_id": tag.id, "uses": uses, "below": below }))
        .into());
    }
    for (gone, _) in all.iter().rev() {
        connection
            .prepare_cached("UPDATE tag_former SET tag = NULL WHERE tag = ?1")?
            .execute([gone.key])?;
        retire(connection, workspace, gone, None)?;
    }
    Ok(uses)
}

fn existing(
    connection: &Connection,
    workspace: WorkspaceKey,
    id: TagId,
) -> Result<Tag, ServiceError> {
    tags::resolve(connection, workspace, id)?
        .ok_or_else(|| ServiceError::NotFound { thing: Thing::Tag, id: id.to_string() })
}

fn is_under(name: &str, above: &str) -> bool {
    let (name, above) = (folded(name), folded(above));
    name.strip_prefix(&above).is_some_and(|rest| rest.starts_with('/'))
}

/// Moves a tag, with all below it, to a level under another one or at the top.
fn place(
    connection: &Connection,
    workspace: WorkspaceKey,
    tag: &Tag,
    above: Option<&Tag>,
    level: &str,
) -> Result<(), ServiceError> {
    let all = subtree(connection, tag)?;
    let mut names: HashMap<i64, String> = HashMap::new();
    for (one, parent) in &all {
        let name = if one.key == tag.key {
            tag::below(above.map(|above| above.name.as_str()), level)
        } else {
            let above = parent.and_then(|parent| names.get(&parent)).map(String::as_str);
            tag::below(above, tag::level(&one.name))
        };
        let chars = name.chars().count();
        if chars > limits::TAG_CHARS {
            return Err(ServiceError::invalid(
                "name",
                format!(
                    "would make a tag of {chars} characters; the limit is {}",
                    limits::TAG_CHARS
                ),
            ));
        }
        names.insert(one.key, name);
    }
    for (one, _) in &all {
        let Some(name) = names.get(&one.key) else { continue };
        let folded = folded(name);
        if let Some(other) = named(connection, workspace, &folded)?.filter(|at| at.key != one.key) {
            return Err(taken(&other));
        }
        connection
            .prepare_cached("UPDATE tag SET name = ?2, folded = ?3 WHERE k = ?1")?
            .execute((one.key, name, folded))?;
    }
    connection
        .prepare_cached("UPDATE tag SET parent = ?2 WHERE k = ?1")?
        .execute((tag.key, above.map(|above| above.key)))?;
    Ok(())
}

fn taken(other: &Tag) -> ServiceError {
    let name = &other.name;
    ToolError::new(
        Code::PreconditionFailed,
        format!(
            "Nothing was renamed: there is a tag {name} already. Merge the one into the other, or choose another name."
        ),
    )
    .with(json!({ "tag_id": other.id, "name": name }))
    .into()
}

/// Makes one tag part of another that does not lie below it. What is below the first is found by no
/// name meanwhile.
fn join(
    connection: &Connection,
    workspace: WorkspaceKey,
    from: &Tag,
    into: &Tag,
) -> Result<(), ServiceError> {
    let children = children(connection, from)?;
    connection
        .prepare_cached("UPDATE tag_former SET tag = ?2 WHERE tag = ?1")?
        .execute((from.key, into.key))?;
    connection
        .prepare_cached("UPDATE tag SET parent = ?2 WHERE parent = ?1")?
        .execute((from.key, into.key))?;
    retire(connection, workspace, from, Some(into))?;
    for child in children {
        let level = tag::level(&child.name);
        let path = tag::below(Some(&into.name), level);
        match named(connection, workspace, &folded(&path))? {
            Some(equal) => join(connection, workspace, &child, &equal)?,
            None => place(connection, workspace, &child, Some(into), level)?,
        }
    }
    Ok(())
}

/// Replaces a tag's row by what its ID means from now on.
fn retire(
    connection: &Connection,
    workspace: WorkspaceKey,
    tag: &Tag,
    means: Option<&Tag>,
) -> Result<(), ServiceError> {
    connection.prepare_cached("DELETE FROM tag WHERE k = ?1")?.execute([tag.key])?;
    connection
        .prepare_cached("INSERT INTO tag_former (id, workspace, tag) VALUES (?1, ?2, ?3)")?
        .execute((tag.id.as_bytes(), workspace.0, means.map(|tag| tag.key)))?;
    Ok(())
}

fn children(connection: &Connection, tag: &Tag) -> Result<Vec<Tag>, ServiceError> {
    let mut statement =
        connection.prepare_cached("SELECT k, id, name FROM tag WHERE parent = ?1 ORDER BY k")?;
    let rows = statement.query_map([tag.key], Tag::read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// A tag and all below it, each with the row above it; a tag stands before those below it.
fn subtree(connection: &Connection, tag: &Tag) -> Result<Vec<(Tag, Option<i64>)>, ServiceError> {
    let mut statement = connection.prepare_cached(
        "WITH RECURSIVE part (k, depth) AS (
           SELECT ?1, 0 UNION ALL SELECT t.k, p.depth + 1 FROM tag t JOIN part p ON t.parent = p.k
         )
         SELECT t.k, t.id, t.name, t.parent FROM part p JOIN tag t ON t.k = p.k
         ORDER BY p.depth, t.k",
    )?;
    let rows = statement.query_map([tag.key], |row| Ok((Tag::read(row)?, row.get(3)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// How many nodes carry a tag or one below it, in the trash or not.
fn uses(connection: &Connection, tag: &Tag) -> Result<u32, ServiceError> {
    Ok(connection
        .prepare_cached(
            "WITH RECURSIVE part (k) AS (
               SELECT ?1 UNION ALL SELECT t.k FROM tag t JOIN part p ON t.parent = p.k
             ), carried (id) AS (
               SELECT t.id FROM tag t JOIN part p ON t.k = p.k
               UNION ALL
               SELECT f.id FROM tag_former f JOIN part p ON f.tag = p.k
             )
             SELECT count(*) FROM (
               SELECT DISTINCT u.document, u.node FROM carried c JOIN tag_use u ON u.tag = c.id
             )",
        )?
        .query_row([tag.key], |row| row.get(0))?)
}

fn was_removed(
    connection: &Connection,
    workspace: WorkspaceKey,
    id: TagId,
) -> Result<bool, ServiceError> {
    let found: Option<bool> = connection
        .prepare_cached("SELECT tag IS NULL FROM tag_former WHERE id = ?1 AND workspace = ?2")?
        .query_row((id.as_bytes(), workspace.0), |row| row.get(0))
        .optional()?;
    Ok(found.unwrap_or(false))
}
