//! The disk and the database refuse one step after the other: never a row without its bytes, never part of
//! a file to be seen, and it works again at once.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use koru_service::files;
use koru_service::files::disk::RealDisk;
use serde_json::json;

use super::support::{DAY_MS, Fault, Faulty, Fixture, id, noise};

fn every_step_of_the_disk(fault: Fault) {
    let bytes = noise((1 << 20) + 9);
    let disk = Faulty::after(0, fault);
    let fixture = Fixture::on(Arc::clone(&disk) as _);
    // The folders are made once, in the first four attempts.
    let steps = fixture.add_nothing_while_it_fails(&disk, &bytes);
    assert_eq!(steps, 9, "remove, create, two pieces, sync, folder, rename, two folders synced");
}

impl Fixture {
    /// Lets one step after the other fail until the file is there; how many there are.
    fn add_nothing_while_it_fails(&self, disk: &Faulty, bytes: &[u8]) -> i64 {
        for steps in 0.. {
            disk.fail_after(steps);
            let added = self.try_to_add(&id(), "scan.pdf", bytes);
            disk.fail_after(i64::MAX);
            let error = match added {
                Ok(file) => {
                    assert_eq!(self.files(), [file]);
                    self.is_sound();
                    return steps;
                }
                Err(error) => error,
            };
            assert_eq!(error["code"], "storage_failed", "step {steps}: {error}");
            assert!(error["message"].as_str().unwrap().contains("disk is full"), "{error}");
            assert!(self.files().is_empty(), "step {steps}");
            assert_eq!(self.incoming(), Vec::<String>::new(), "step {steps}");
            assert!(self.contents().is_empty(), "step {steps}");
        }
        unreachable!("an upload has so many steps")
    }
}

#[test]
fn a_refused_step_leaves_nothing_and_the_next_upload_works() {
    every_step_of_the_disk(Fault::Refused);
}

#[test]
fn a_step_that_is_half_done_leaves_nothing_and_the_next_upload_works() {
    every_step_of_the_disk(Fault::Lied);
}

#[test]
fn a_death_at_any_step_leaves_no_row_and_no_temporary_file() {
    let bytes = noise((1 << 20) + 9);
    let mut orphaned = 0;
    for steps in 0.. {
        let disk = Faulty::sound();
        let mut fixture = Fixture::on(Arc::clone(&disk) as _);
        let kept = fixture.add("kept", b"kept");
        let dead = Faulty::after(i64::MAX, Fault::Dead);
        fixture.again(Arc::clone(&dead) as _);
        dead.fail_after(steps);
        let added = fixture.try_to_add(&id(), "lost", &bytes);
        fixture.again(Arc::new(RealDisk));
        fixture.is_sound();
        assert_eq!(fixture.incoming(), Vec::<String>::new(), "step {steps}");
        if let Ok(file) = added {
            assert_eq!(fixture.files(), [kept, file]);
            assert!(steps >= 11, "an upload has more than {steps} steps");
            assert!(orphaned > 0, "a death between the content and its row leaves an orphan");
            return;
        }
        assert_eq!(fixture.files(), [kept], "step {steps}");
        orphaned += fixture.contents().len() - 1;
        files::sweep(&fixture.service).unwrap();
        fixture.pass(DAY_MS + 60_000);
        files::sweep(&fixture.service).unwrap();
        assert_eq!(
            fixture.contents().len(),
            1,
            "step {steps}: the orphan is swept, what is named stays"
        );
        fixture.is_sound();
        fixture.add("lost", &bytes);
        fixture.is_sound();
    }
}

#[test]
fn an_orphan_is_swept_after_a_day_and_not_before() {
    let fixture = Fixture::new();
    let file = fixture.add("a", b"once listed");
    fixture.database().execute_batch("DELETE FROM file; DELETE FROM content").unwrap();
    files::sweep(&fixture.service).unwrap();
    assert!(fixture.content_path(&file).exists(), "younger than a day");
    fixture.pass(DAY_MS - 60_000);
    files::sweep(&fixture.service).unwrap();
    assert!(fixture.content_path(&file).exists(), "younger than a day");
    fixture.pass(120_000);
    files::sweep(&fixture.service).unwrap();
    assert!(!fixture.content_path(&file).exists());
}

fn every_write_of_the_database(how: &str) {
    let mut fixture = Fixture::new();
    let database = fixture.database();
    let mut sql =
        String::from("CREATE TABLE step (left INTEGER); INSERT INTO step VALUES (1000000);");
    for table in ["file", "content", "document", "update_log", "change", "entry", "receipt"] {
        for event in ["INSERT", "UPDATE", "DELETE"] {
            sql += &format!(
                "CREATE TRIGGER step_{table}_{event} BEFORE {event} ON {table} BEGIN
                   UPDATE step SET left = left - 1;
                   SELECT RAISE({how}, 'no') WHERE (SELECT left FROM step) < 0;
                 END;"
            );
        }
    }
    database.execute_batch(&sql).unwrap();
    let refuse_after = |writes: i64| {
        database.execute("UPDATE step SET left = ?1", [writes]).unwrap();
    };
    let failed = |error: &serde_json::Value| {
        let code = error["code"].as_str().unwrap();
        assert!(code == "storage_failed" || code == "internal", "{error}");
    };
    let mut refused = 0;
    let file = loop {
        refuse_after(refused);
        let added = fixture.try_to_add(&id(), "scan.pdf", b"bytes");
        refuse_after(1_000_000);
        match added {
            Ok(file) => break file,
            Err(error) => failed(&error),
        }
        assert!(fixture.files().is_empty() && fixture.contents().is_empty());
        assert!(fixture.incoming().is_empty());
        refused += 1;
    };
    assert_eq!(refused, 2, "the content, and the file");

    let note = fixture.here(json!({ "file_id": file["file_id"] }));
    let documents = |fixture: &Fixture| fixture.ok("list_documents", fixture.here(json!({})));
    let before = (documents(&fixture), fixture.files());
    refused = 0;
    loop {
        refuse_after(refused);
        let made = fixture.answer("ensure_file_note", &note);
        refuse_after(1_000_000);
        match made {
            Ok(made) => {
                assert_eq!(made["created"], true);
                break;
            }
            Err(error) => failed(&error),
        }
        assert_eq!((documents(&fixture), fixture.files()), before);
        refused += 1;
    }
    assert!(refused > 5, "a note has more than {refused} writes");
    let after = (documents(&fixture), fixture.files());
    fixture.again(Arc::new(RealDisk));
    assert_eq!((documents(&fixture), fixture.files()), after, "what was answered is on the disk");

    refused = 0;
    loop {
        refuse_after(refused);
        let removed = fixture.answer("file.remove", &note);
        refuse_after(1_000_000);
        match removed {
            Ok(_) => break,
            Err(error) => failed(&error),
        }
        assert_eq!((documents(&fixture), fixture.files()), after);
        fixture.is_sound();
        refused += 1;
    }
    assert_eq!(refused, 3, "the note's kind, the file, the content");
    assert!(fixture.files().is_empty() && fixture.contents().is_empty());
}

#[test]
fn a_refused_row_leaves_nothing() {
    every_write_of_the_database("ABORT");
}

#[test]
fn a_refused_row_that_undoes_the_whole_transaction_leaves_nothing() {
    every_write_of_the_database("ROLLBACK");
}

#[test]
fn a_disk_that_keeps_a_removed_content_gives_it_up_later() {
    let disk = Faulty::after(i64::MAX, Fault::Refused);
    let fixture = Fixture::on(Arc::clone(&disk) as _);
    let file = fixture.add("a", b"bytes");
    disk.fail_after(0);
    fixture.ok("file.remove", fixture.here(json!({ "file_id": file["file_id"] })));
    assert!(fixture.files().is_empty());
    assert!(fixture.content_path(&file).exists());
    fixture.pass(DAY_MS + 60_000);
    files::sweep(&fixture.service).unwrap();
    assert!(!fixture.content_path(&file).exists());
    assert!(disk.taken.load(Ordering::SeqCst) > 0);
}
