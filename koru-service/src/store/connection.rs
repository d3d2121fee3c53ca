//! How a connection to the database is opened, and what is asserted of it.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::errors::{StorageFault, StoreError};

/// How long a statement waits for a lock that another connection holds.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// Up to which size the database is checked when it was not closed in order.
const CHECKED_BYTES: u64 = 16 * 1024 * 1024;

/// What an error of SQLite means for opening the store at `path`.
pub(super) fn refusal(path: &Path, source: rusqlite::Error) -> StoreError {
    match StorageFault::of(&source) {
        Some(StorageFault::Damaged) => {
            StoreError::Damaged { path: path.into(), detail: source.to_string() }
        }
        _ => StoreError::Sqlite { path: path.into(), source },
    }
}

/// Opens the store for writing for the first time: makes it, checks it, brings its schema up to date.
pub(super) fn found(path: &Path) -> Result<Connection, StoreError> {
    make_private_file(path)?;
    let unclean =
        std::fs::metadata(path.with_extension("sqlite-wal")).is_ok_and(|found| found.len() > 0);
    let connection = connect(path)?;
    let version = super::migrations::check(&connection, path)?;
    let small = std::fs::metadata(path).is_ok_and(|found| found.len() <= CHECKED_BYTES);
    if unclean && small {
        quick_check(&connection, path)?;
    }
    for_writing(&connection, path)?;
    super::migrations::run(&connection, path, version)?;
    Ok(connection)
}

/// Opens the store for writing again, after a failure.
pub(super) fn again(path: &Path) -> Result<Connection, StoreError> {
    let connection = connect(path)?;
    for_writing(&connection, path)?;
    Ok(connection)
}

/// Opens the store for reading only.
pub(super) fn for_reading(path: &Path) -> Result<Connection, rusqlite::Error> {
    let connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    connection.busy_timeout(LOCK_WAIT)?;
    keep_prepared(&connection)?;
    connection.execute_batch(
        "PRAGMA query_only = ON; PRAGMA cache_size = -32768; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;",
    )?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

fn connect(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection =
        Connection::open_with_flags(path, flags).map_err(|source| refusal(path, source))?;
    connection.busy_timeout(LOCK_WAIT).map_err(|source| refusal(path, source))?;
    keep_prepared(&connection).map_err(|source| refusal(path, source))?;
    Ok(connection)
}

/// Has statements planned without a look at the values that are bound to them. Else SQLite would compile many of them
/// again at each use, since the cache of statements unbinds what was bound: that was a fifth of a bulk creation.
fn keep_prepared(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)
}

/// Sets what durability rests on, and looks whether SQLite took it.
fn for_writing(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let fault = |source| refusal(path, source);
    let mode: String =
        connection.query_row("PRAGMA journal_mode = WAL", (), |row| row.get(0)).map_err(fault)?;
    if mode != "wal" {
        return Err(StoreError::Pragma { path: path.into(), pragma: "journal_mode", found: mode });
    }
    connection
        .execute_batch(
            "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;
             PRAGMA foreign_keys = ON; PRAGMA cache_size = -2048; PRAGMA temp_store = MEMORY;
             PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;",
        )
        .map_err(fault)?;
    for (pragma, wanted) in [("synchronous", 2_i64), ("foreign_keys", 1)] {
        let found: i64 =
            connection.pragma_query_value(None, pragma, |row| row.get(0)).map_err(fault)?;
        if found != wanted {
            let found = found.to_string();
            return Err(StoreError::Pragma { path: path.into(), pragma, found });
        }
    }
    connection.set_prepared_statement_cache_capacity(128);
    Ok(())
}

fn quick_check(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let found: String = connection
        .query_row("PRAGMA quick_check(1)", (), |row| row.get(0))
        .map_err(|source| refusal(path, source))?;
    if found == "ok" {
        Ok(())
    } else {
        Err(StoreError::Damaged { path: path.into(), detail: found })
    }
}

/// Makes the database's file if there is none, readable by the user alone; SQLite gives its other files the same mode.
fn make_private_file(path: &Path) -> Result<(), StoreError> {
    let mut options = std::fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let fault = |source| StoreError::File { path: path.into(), source };
    let file = options.open(path).map_err(fault)?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600)).map_err(fault)?;
    file.sync_all().map_err(fault)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    #[test]
    fn a_cached_statement_is_compiled_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("koru.sqlite");
        let writing = found(&path).unwrap();
        let reading = for_reading(&path).unwrap();
        let sql = "SELECT part FROM search_more WHERE node = ?1 ORDER BY part";
        for connection in [&writing, &reading] {
            for node in 0..10 {
                let mut statement = connection.prepare_cached(sql).unwrap();
                assert!(!statement.exists([node]).unwrap());
            }
            let statement = connection.prepare_cached(sql).unwrap();
            assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
        }
    }
}
