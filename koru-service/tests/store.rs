//! The store in process: shared commits, failures, readers, and what is refused at opening.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};

use koru_service::errors::{ServiceError, StorageFault, StoreError};
use koru_service::store::{Stateless, Store, Transaction, WriterState};

struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("koru.sqlite")
    }

    fn open(&self) -> Store<Stateless> {
        Store::open(&self.path(), Stateless).unwrap()
    }
}

fn set<S>(tx: &mut Transaction<'_, S>, key: &str, value: i64) -> Result<(), ServiceError> {
    tx.connection.execute("INSERT OR REPLACE INTO setting VALUES (?1, ?2)", (key, value))?;
    Ok(())
}

fn get<S: WriterState>(store: &Store<S>, key: &str) -> Option<i64> {
    let sql = "SELECT max(value) FROM setting WHERE key = ?1";
    store.read(|connection| Ok(connection.query_row(sql, [key], |row| row.get(0))?)).unwrap()
}

#[derive(Default)]
struct Calls {
    committed: AtomicU64,
    aborted: AtomicU64,
}

struct Counting(Arc<Calls>);

impl WriterState for Counting {
    fn committed(&mut self) {
        self.0.committed.fetch_add(1, Ordering::SeqCst);
    }
    fn aborted(&mut self) {
        self.0.aborted.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn jobs_that_wait_together_share_a_commit() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let threads = 16;
    let inside = Barrier::new(2);
    let inside = Arc::new(inside);
    std::thread::scope(|scope| {
        let gate = Arc::clone(&inside);
        let store = &store;
        scope.spawn(move || {
            store.write(move |tx| {
                gate.wait();
                gate.wait();
                set(tx, "first", 1)
            })
        });
        inside.wait();
        // The writer stands inside the first job; all of these queue up behind it.
        let started = Arc::new(Barrier::new(threads + 1));
        for number in 0..threads {
            let started = Arc::clone(&started);
            scope.spawn(move || {
                started.wait();
                store.write(move |tx| set(tx, &format!("key{number}"), 1)).unwrap();
            });
        }
        started.wait();
        inside.wait();
    });
    let counts = store.counts();
    assert_eq!(counts.edits, threads as u64 + 1);
    assert!(counts.commits < counts.edits, "{counts:?}");
    for number in 0..threads {
        assert_eq!(get(&store, &format!("key{number}")), Some(1));
    }
}

#[test]
fn a_refused_job_leaves_nothing_and_the_others_stay() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let refused: Result<(), _> = store.write(|tx| {
        set(tx, "refused", 1)?;
        Err(ServiceError::ReadOnlyConnection)
    });
    assert!(matches!(refused, Err(ServiceError::ReadOnlyConnection)));
    store.write(|tx| set(tx, "kept", 1)).unwrap();
    assert_eq!((get(&store, "refused"), get(&store, "kept")), (None, Some(1)));
}

#[test]
fn a_job_that_changes_nothing_costs_no_sync() {
    let fixture = Fixture::new();
    let store = fixture.open();
    store.write(|_| Ok(())).unwrap();
    let _: Result<(), _> = store.write(|tx| {
        set(tx, "refused", 1)?;
        Err(ServiceError::ReadOnlyConnection)
    });
    assert_eq!(store.counts().commits, 0);
}

#[test]
fn a_panic_ends_its_job_alone() {
    let fixture = Fixture::new();
    let calls = Arc::new(Calls::default());
    let store = Store::open(&fixture.path(), Counting(Arc::clone(&calls))).unwrap();
    let panicked: Result<(), _> = store.write(|tx| {
        set(tx, "panicked", 1)?;
        panic!("on purpose");
    });
    assert!(matches!(panicked, Err(ServiceError::Internal(_))));
    assert_eq!(calls.aborted.load(Ordering::SeqCst), 1);
    store.write(|tx| set(tx, "later", 1)).unwrap();
    assert_eq!((get(&store, "panicked"), get(&store, "later")), (None, Some(1)));
}

#[test]
fn a_failed_commit_is_not_applied_and_the_next_one_succeeds() {
    let fixture = Fixture::new();
    let calls = Arc::new(Calls::default());
    let store = Store::open(&fixture.path(), Counting(Arc::clone(&calls))).unwrap();
    // A reference that is checked at the end makes COMMIT itself fail.
    let failed = store.write(|tx| {
        tx.connection.execute_batch("PRAGMA defer_foreign_keys = ON")?;
        tx.connection.execute(
            "INSERT INTO tag (id, workspace, name, folded, parent) VALUES (x'00', 1, 'a', 'a', 99)",
            (),
        )?;
        set(tx, "failed", 1)
    });
    assert!(matches!(failed, Err(ServiceError::Storage(_))), "{failed:?}");
    assert_eq!(calls.aborted.load(Ordering::SeqCst), 1);
    assert!(store.is_healthy());
    store.write(|tx| set(tx, "later", 1)).unwrap();
    assert_eq!((get(&store, "failed"), get(&store, "later")), (None, Some(1)));
}

#[test]
fn a_full_store_refuses_and_goes_on_when_there_is_room() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let fill = |tx: &mut Transaction<'_, Stateless>| {
        let pages: i64 = tx.connection.query_row("PRAGMA page_count", (), |row| row.get(0))?;
        tx.connection.pragma_update(None, "max_page_count", pages + 2)?;
        tx.connection.execute("INSERT INTO setting VALUES ('big', zeroblob(1000000))", ())?;
        Ok(())
    };
    let refused = store.write(fill);
    assert!(matches!(refused, Err(ServiceError::Storage(StorageFault::Full))), "{refused:?}");
    store
        .write(|tx| {
            tx.connection.pragma_update(None, "max_page_count", 1_000_000)?;
            set(tx, "small", 1)
        })
        .unwrap();
    assert_eq!((get(&store, "big"), get(&store, "small")), (None, Some(1)));
}

#[test]
fn readers_see_one_state_and_cannot_write() {
    let fixture = Fixture::new();
    let store = fixture.open();
    store.write(|tx| set(tx, "n", 1)).unwrap();
    store
        .read(|connection| {
            let sql = "SELECT value FROM setting WHERE key = 'n'";
            let before: i64 = connection.query_row(sql, (), |row| row.get(0))?;
            store.write(|tx| set(tx, "n", 2)).unwrap();
            let after: i64 = connection.query_row(sql, (), |row| row.get(0))?;
            assert_eq!((before, after), (1, 1));
            assert!(connection.execute("DELETE FROM setting", ()).is_err());
            Ok(())
        })
        .unwrap();
    assert_eq!(get(&store, "n"), Some(2));
}

#[test]
fn more_readers_than_connections_all_get_their_turn() {
    let fixture = Fixture::new();
    let store = fixture.open();
    store.write(|tx| set(tx, "n", 1)).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| assert_eq!(get(&store, "n"), Some(1)));
        }
    });
}

#[test]
fn closing_leaves_no_log_and_refuses_later_writes() {
    let fixture = Fixture::new();
    let store = fixture.open();
    store.write(|tx| set(tx, "n", 1)).unwrap();
    store.close();
    assert!(matches!(store.write(|tx| set(tx, "n", 2)), Err(ServiceError::Stopping)));
    assert!(!fixture.path().with_extension("sqlite-wal").exists());
    drop(store);
    assert_eq!(get(&fixture.open(), "n"), Some(1));
}

#[test]
fn a_store_of_a_newer_release_is_refused_untouched() {
    let fixture = Fixture::new();
    fixture.open().close();
    let raw = rusqlite::Connection::open(fixture.path()).unwrap();
    raw.pragma_update(None, "user_version", 99).unwrap();
    raw.close().unwrap();
    let before = std::fs::read(fixture.path()).unwrap();
    let refused = Store::open(&fixture.path(), Stateless).err();
    assert!(matches!(refused, Some(StoreError::Newer { found: 99, .. })), "{refused:?}");
    assert_eq!(std::fs::read(fixture.path()).unwrap(), before);
}

#[test]
fn another_program_s_database_is_refused_untouched() {
    let fixture = Fixture::new();
    let raw = rusqlite::Connection::open(fixture.path()).unwrap();
    raw.execute_batch("CREATE TABLE theirs (x)").unwrap();
    raw.close().unwrap();
    let before = std::fs::read(fixture.path()).unwrap();
    let refused = Store::open(&fixture.path(), Stateless).err();
    assert!(matches!(refused, Some(StoreError::Foreign { .. })), "{refused:?}");
    assert_eq!(std::fs::read(fixture.path()).unwrap(), before);
}

#[test]
fn a_damaged_store_is_refused_and_kept() {
    let fixture = Fixture::new();
    std::fs::write(fixture.path(), b"this is no database, whatever its name says").unwrap();
    let refused = Store::open(&fixture.path(), Stateless).err();
    assert!(matches!(refused, Some(StoreError::Damaged { .. })), "{refused:?}");
    assert!(std::fs::read(fixture.path()).unwrap().starts_with(b"this is no database"));
}

#[cfg(unix)]
#[test]
fn the_files_are_readable_by_the_user_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let fixture = Fixture::new();
    let store = fixture.open();
    store.write(|tx| set(tx, "n", 1)).unwrap();
    for file in std::fs::read_dir(fixture.folder.path()).unwrap() {
        let file = file.unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{file:?}");
    }
}
