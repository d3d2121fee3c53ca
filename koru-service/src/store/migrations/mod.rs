//! The schema, in numbered steps. A released step is never edited.

use std::path::Path;

use rusqlite::Connection;

use crate::errors::StoreError;

/// One file a step; the schema's version is the number of steps applied.
const STEPS: &[&str] = &[
    include_str!("0001_initial.sql"),
    include_str!("0002_files.sql"),
    include_str!("0003_search.sql"),
    include_str!("0004_search_words.sql"),
];

/// The newest schema version that this release knows.
pub const SCHEMA: u32 = 4;
const _: () = assert!(STEPS.len() == SCHEMA as usize, "SCHEMA counts the steps");

/// Marks a database as a store of Koru: "Koru" in ASCII.
const APPLICATION_ID: i64 = 0x4B6F_7275;

/// Refuses what this release must not touch; returns the schema's version, 0 for an empty database.
pub(super) fn check(connection: &Connection, path: &Path) -> Result<u32, StoreError> {
    let fault = |source| super::connection::refusal(path, source);
    let read = |sql| connection.query_row(sql, (), |row| row.get::<_, i64>(0)).map_err(fault);
    let version = read("PRAGMA user_version")?;
    let application = read("PRAGMA application_id")?;
    let tables = read("SELECT count(*) FROM sqlite_schema")?;
    if tables == 0 && version == 0 && application == 0 {
        return Ok(0);
    }
    if application != APPLICATION_ID {
        return Err(StoreError::Foreign { path: path.into() });
    }
    let version = u32::try_from(version).unwrap_or(u32::MAX);
    if version > SCHEMA {
        return Err(StoreError::Newer { path: path.into(), found: version, known: SCHEMA });
    }
    Ok(version)
}

/// Brings the schema from `version` to [`SCHEMA`], each step in a transaction of its own.
pub(super) fn run(connection: &Connection, path: &Path, version: u32) -> Result<(), StoreError> {
    run_steps(connection, path, version, STEPS)
}

fn run_steps(
    connection: &Connection,
    path: &Path,
    version: u32,
    steps: &[&str],
) -> Result<(), StoreError> {
    let fault = |source| super::connection::refusal(path, source);
    let done = version as usize;
    if done > 0 && done < steps.len() {
        keep_copy(connection, path, version)?;
    }
    for (number, step) in (1_u32..).zip(steps).skip(done) {
        let transaction = connection.unchecked_transaction().map_err(fault)?;
        transaction.execute_batch(step).map_err(fault)?;
        let mut broken = transaction.prepare("PRAGMA foreign_key_check").map_err(fault)?;
        if broken.exists(()).map_err(fault)? {
            return Err(StoreError::Damaged {
                path: path.into(),
                detail: format!("step {number} of the schema would break references"),
            });
        }
        drop(broken);
        transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(fault)?;
        transaction.pragma_update(None, "user_version", number).map_err(fault)?;
        transaction.commit().map_err(fault)?;
    }
    Ok(())
}

/// Keeps the store as the older release left it beside the new one, in place of an older copy.
fn keep_copy(connection: &Connection, path: &Path, version: u32) -> Result<(), StoreError> {
    let copy = path.with_extension(format!("schema-{version}.sqlite"));
    match std::fs::remove_file(&copy) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            return Err(StoreError::File { path: copy, source });
        }
        _ => {}
    }
    connection
        .execute("VACUUM INTO ?1", [copy.to_string_lossy()])
        .map(drop)
        .map_err(|source| super::connection::refusal(path, source))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_step_keeps_a_copy_of_the_older_store() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("koru.sqlite");
        let connection = Connection::open(&path).unwrap();
        run_steps(&connection, &path, 0, &["CREATE TABLE a (x)"]).unwrap();
        connection.execute("INSERT INTO a VALUES (7)", ()).unwrap();
        let steps = ["CREATE TABLE a (x)", "DROP TABLE a"];
        run_steps(&connection, &path, 1, &steps).unwrap();
        let copy = Connection::open(folder.path().join("koru.schema-1.sqlite")).unwrap();
        assert_eq!(copy.query_row("SELECT x FROM a", (), |row| row.get::<_, i64>(0)), Ok(7));
    }

    #[test]
    fn a_failed_step_leaves_the_version_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("koru.sqlite");
        let connection = Connection::open(&path).unwrap();
        let steps = ["CREATE TABLE a (x)", "CREATE TABLE b (x); NONSENSE"];
        assert!(run_steps(&connection, &path, 0, &steps).is_err());
        let version = connection.query_row("PRAGMA user_version", (), |row| row.get::<_, i64>(0));
        assert_eq!(version, Ok(1));
        assert!(!connection.table_exists(None, "b").unwrap());
    }
}
