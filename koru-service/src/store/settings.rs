//! Single values by name.

use rusqlite::types::FromSql;
use rusqlite::{Connection, OptionalExtension as _, ToSql};

/// The value of that name; none: there is none.
///
/// # Errors
/// Those of the storage.
pub fn get<T: FromSql>(connection: &Connection, name: &str) -> Result<Option<T>, rusqlite::Error> {
    connection
        .prepare_cached("SELECT value FROM setting WHERE key = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()
}

/// Sets the value of that name.
///
/// # Errors
/// Those of the storage.
pub fn set(connection: &Connection, name: &str, value: impl ToSql) -> Result<(), rusqlite::Error> {
    connection
        .execute(
            "INSERT INTO setting (key, value) VALUES (?1, ?2)
             ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (name, value),
        )
        .map(drop)
}
