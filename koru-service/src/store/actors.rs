//! The names of those who change documents.

use rusqlite::{Connection, OptionalExtension as _};

use crate::errors::ServiceError;

/// The row of an actor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ActorKey(pub i64);

/// The row of the actor of that name; made where there is none.
///
/// # Errors
/// Those of the storage.
pub fn find_or_create(connection: &Connection, name: &str) -> Result<ActorKey, ServiceError> {
    let found = connection
        .prepare_cached("SELECT k FROM actor WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()?;
    if let Some(key) = found {
        return Ok(ActorKey(key));
    }
    connection.prepare_cached("INSERT INTO actor (name) VALUES (?1)")?.execute([name])?;
    Ok(ActorKey(connection.last_insert_rowid()))
}

/// The name of an actor.
///
/// # Errors
/// Those of the storage.
pub fn name(connection: &Connection, actor: ActorKey) -> Result<String, ServiceError> {
    Ok(connection
        .prepare_cached("SELECT name FROM actor WHERE k = ?1")?
        .query_row([actor.0], |row| row.get(0))?)
}
