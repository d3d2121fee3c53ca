//! A disk that refuses at COMMIT: every answer is true, now and after the next start. One test, for
//! the limit that it sets holds for the whole process.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use koru_service::errors::{ServiceError, StorageFault};
use koru_service::store::{Store, WriterState};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

struct Aborts(Arc<AtomicU64>);

impl WriterState for Aborts {
    fn committed(&mut self) {}
    fn aborted(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn set(store: &Store<Aborts>, key: &'static str, bytes: usize) -> Result<(), ServiceError> {
    store.write(move |tx| {
        let sql = "INSERT OR REPLACE INTO setting VALUES (?1, zeroblob(?2))";
        tx.connection.execute(sql, (key, bytes as i64))?;
        Ok(())
    })
}

fn has(store: &Store<Aborts>, key: &str) -> bool {
    let sql = "SELECT EXISTS (SELECT 1 FROM setting WHERE key = ?1)";
    store.read(|connection| Ok(connection.query_row(sql, [key], |row| row.get(0))?)).unwrap()
}

fn limit_file_size(bytes: Option<u64>) {
    let maximum = getrlimit(Resource::Fsize).maximum;
    setrlimit(Resource::Fsize, Rlimit { current: bytes.or(maximum), maximum }).unwrap();
}

#[tokio::test]
async fn a_commit_that_the_disk_refuses_is_never_half_there() {
    let survived = tokio::signal::unix::SignalKind::from_raw(25);
    let _handled = tokio::signal::unix::signal(survived).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("koru.sqlite");
    let aborts = Arc::new(AtomicU64::new(0));
    let store = Store::open(&path, Aborts(Arc::clone(&aborts))).unwrap();
    for _ in 0..60 {
        set(&store, "small", 10).unwrap();
        set(&store, "small", 11).unwrap();
    }
    let log = std::fs::metadata(path.with_extension("sqlite-wal")).unwrap().len();
    let database = std::fs::metadata(&path).unwrap().len();
    assert!(log > database + 400_000, "{log} {database}");

    // The log cannot grow, but it can be emptied into the database.
    limit_file_size(Some(log + 6_000));
    let refused = set(&store, "refused", 100_000);
    assert!(matches!(refused, Err(ServiceError::Storage(StorageFault::Io))), "{refused:?}");
    assert_eq!(aborts.load(Ordering::SeqCst), 1);
    assert!(store.is_healthy());
    assert!(!has(&store, "refused"));
    set(&store, "meanwhile", 10).unwrap();

    // Nothing can be written at all: reading goes on, and the outcome is not guessed.
    limit_file_size(Some(1));
    let unknown = set(&store, "unknown", 10);
    assert!(matches!(unknown, Err(ServiceError::OutcomeUnknown(_))), "{unknown:?}");
    assert!(!store.is_healthy());
    assert!(has(&store, "meanwhile"));
    let refused = set(&store, "while read-only", 10);
    assert!(matches!(refused, Err(ServiceError::Storage(_))), "{refused:?}");

    limit_file_size(None);
    set(&store, "later", 10).unwrap();
    assert!(store.is_healthy());
    store.close();
    let store = Store::open(&path, Aborts(aborts)).unwrap();
    assert!(has(&store, "later") && has(&store, "meanwhile"));
    assert!(!has(&store, "refused") && !has(&store, "while read-only"));
}
