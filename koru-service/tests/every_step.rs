//! The store refuses one write after the other of an extraction and of a restore: each time both documents
//! are as they were, in memory and on the disk, and in the end the call succeeds.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use koru_model::protocol::home::Home;
use koru_model::protocol::wire::{Hello, frame};
use serde_json::{Value, json};
use uuid::Uuid;

const DEADLINE: Duration = Duration::from_secs(20);
/// What a change of documents writes.
const TABLES: &[&str] = &[
    "document",
    "update_log",
    "change",
    "entry",
    "receipt",
    "touched",
    "link",
    "attachment",
    "tag_use",
    "attribute_use",
    "departure",
    "extraction",
];

struct Service {
    folder: tempfile::TempDir,
    child: Child,
    stream: UnixStream,
    last_id: u64,
}

impl Service {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (child, stream) = start(&folder);
        Self { folder, child, stream, last_id: 0 }
    }

    fn again(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        (self.child, self.stream) = start(&self.folder);
    }

    fn answer(&mut self, call: &str, params: &Value) -> Value {
        self.last_id += 1;
        let request = json!({ "id": self.last_id, "call": call, "params": params, "scope": {} });
        self.stream.write_all(&frame(&request).unwrap()).unwrap();
        read(&mut self.stream)
    }

    fn ok(&mut self, call: &str, params: &Value) -> Value {
        let answer = self.answer(call, params);
        assert!(answer["error"].is_null(), "{call}: {answer}");
        answer["ok"].clone()
    }

    fn database(&self) -> rusqlite::Connection {
        let connection = rusqlite::Connection::open(home(&self.folder).database()).unwrap();
        connection.busy_timeout(DEADLINE).unwrap();
        connection
    }

    /// Lets so many writes succeed; the next one is refused.
    fn refuse_after(&self, writes: i64) {
        self.database().execute("UPDATE step SET left = ?1", [writes]).unwrap();
    }

    /// What anybody can see of a workspace.
    fn all(&mut self, workspace: &Value) -> Value {
        let listed = self.ok("list_documents", &json!({ "workspace_id": workspace }));
        let documents = listed["documents"].as_array().unwrap().clone();
        let seen: Vec<Value> = documents
            .iter()
            .map(|document| {
                let params = json!({ "workspace_id": workspace, "document_id": document["id"] });
                json!([
                    self.ok("read_document", &params),
                    self.ok("list_document_versions", &params),
                    self.ok("list_document_links", &params),
                ])
            })
            .collect();
        json!([listed, seen])
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn home(folder: &tempfile::TempDir) -> Home {
    Home::under(&folder.path().join("home"), None)
}

fn start(folder: &tempfile::TempDir) -> (Child, UnixStream) {
    let child = Command::new(env!("CARGO_BIN_EXE_koru-service"))
        .env("KORU_HOME", folder.path().join("home"))
        .env_remove("XDG_RUNTIME_DIR")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let began = Instant::now();
    let mut stream = loop {
        if let Ok(stream) = UnixStream::connect(home(folder).socket) {
            break stream;
        }
        assert!(began.elapsed() < DEADLINE, "no service");
        std::thread::yield_now();
    };
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream.write_all(&frame(&Hello::of_this_build()).unwrap()).unwrap();
    read(&mut stream);
    (child, stream)
}

fn read(stream: &mut UnixStream) -> Value {
    let mut length = [0; 4];
    stream.read_exact(&mut length).unwrap();
    let mut bytes = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut bytes).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

/// Every write of documents counts down, and is refused where nothing is left.
fn count_down(connection: &rusqlite::Connection, how: &str) {
    let mut sql = String::from(
        "CREATE TABLE IF NOT EXISTS step (left INTEGER); DELETE FROM step; INSERT INTO step VALUES (1000000);",
    );
    for table in TABLES {
        for event in ["INSERT", "UPDATE", "DELETE"] {
            sql += &format!(
                "DROP TRIGGER IF EXISTS step_{table}_{event};
                 CREATE TRIGGER step_{table}_{event} BEFORE {event} ON {table} BEGIN
                   UPDATE step SET left = left - 1;
                   SELECT RAISE({how}, 'no') WHERE (SELECT left FROM step) < 0;
                 END;"
            );
        }
    }
    connection.execute_batch(&sql).unwrap();
}

/// A page with a block that has something of everything, and one that links to it.
fn page(service: &mut Service, workspace: &Value) -> (Value, Value, String) {
    let (root, block) = (Uuid::new_v4(), Uuid::new_v4().to_string());
    let made = service.ok(
        "create_document",
        &json!({ "workspace_id": workspace, "title": "Source", "root_node_id": root, "initial_operations": [
            { "op": "insert", "node_id": Uuid::new_v4(), "parent_id": root, "at_end": true, "kind": "paragraph", "text": "stays" },
            { "op": "insert", "node_id": block, "parent_id": root, "at_end": true, "kind": "task", "text": "goes" },
            { "op": "insert", "node_id": Uuid::new_v4(), "parent_id": block, "at_end": true, "kind": "quote", "text": format!("[[attachment:{root}]]") },
        ] }),
    );
    let document = made["document_id"].clone();
    let token = format!("[[document:{}]]", document.as_str().unwrap());
    let edited = service.ok(
        "edit_document",
        &json!({ "workspace_id": workspace, "document_id": document, "base_revision": made["revision"], "operations": [
            { "op": "add_tag", "node_id": block, "expected": "goes", "tag": "a/b" },
            { "op": "set_attribute", "node_id": block, "expected": "goes", "key": "koru.color", "value": { "kind": "text", "value": "red" } },
            { "op": "replace_text", "node_id": block, "expected": "goes", "text": token },
        ] }),
    );
    (document, edited, block)
}

/// Refuses one write after the other until the call succeeds; how many were refused.
fn until_it_succeeds(service: &mut Service, workspace: &Value, tool: &str, call: &Value) -> i64 {
    let before = service.all(workspace);
    for writes in 0.. {
        service.refuse_after(writes);
        let answer = service.answer(tool, call);
        service.refuse_after(1_000_000);
        if answer["error"].is_null() {
            return writes;
        }
        let code = &answer["error"]["code"];
        assert!(code == "storage_failed" || code == "internal", "{answer}");
        assert_eq!(service.all(workspace), before, "{tool}, write {writes}");
        if writes % 5 == 0 {
            service.again();
            assert_eq!(service.all(workspace), before, "{tool}, write {writes}, started again");
        }
    }
    unreachable!("a call has so many writes");
}

fn every_step(how: &str) {
    let mut service = Service::start();
    let workspace = service.ok("list_workspaces", &json!({}))["workspaces"][0]["id"].clone();
    count_down(&service.database(), how);
    let target =
        service.ok("create_document", &json!({ "workspace_id": workspace, "title": "Target" }));
    for into in [
        json!({ "new_document_title": "New" }),
        json!({ "target_document_id": target["document_id"] }),
    ] {
        let (document, edited, block) = page(&mut service, &workspace);
        let text = format!("[[document:{}]]", document.as_str().unwrap());
        let mut call = json!({ "workspace_id": workspace, "source_document_id": document,
            "base_revision": edited["revision"], "source_node_id": block, "expected": text });
        for (name, value) in into.as_object().unwrap() {
            call[name] = value.clone();
        }
        let refused = until_it_succeeds(&mut service, &workspace, "extract_to_document", &call);
        assert!(refused > 12, "an extraction has more than {refused} writes");
        let after = service.all(&workspace);
        service.again();
        assert_eq!(service.all(&workspace), after, "what was answered is on the disk");

        let params = json!({ "workspace_id": workspace, "document_id": document });
        let read = service.ok("read_document", &params);
        let restore = json!({ "workspace_id": workspace, "document_id": document,
            "base_revision": read["revision"], "entry_id": edited["history"]["id"] });
        let refused =
            until_it_succeeds(&mut service, &workspace, "restore_document_version", &restore);
        assert!(refused > 5, "a restore has more than {refused} writes");
        let after = service.all(&workspace);
        service.again();
        assert_eq!(service.all(&workspace), after, "what was answered is on the disk");
    }
}

#[test]
fn a_refused_write_undoes_both_documents() {
    every_step("ABORT");
}

#[test]
fn a_refused_write_that_undoes_the_whole_transaction_undoes_both_documents() {
    every_step("ROLLBACK");
}

/// A change whose last write is refused may not be seen by who reads the change that takes its number.
#[test]
fn a_refused_change_is_not_read_in_place_of_the_next_one() {
    let mut service = Service::start();
    let workspace = service.ok("list_workspaces", &json!({}))["workspaces"][0]["id"].clone();
    count_down(&service.database(), "ABORT");
    let (document, edited, block) = page(&mut service, &workspace);
    let says = format!("[[document:{}]]", document.as_str().unwrap());
    let edit = |text: &str| {
        json!({ "workspace_id": workspace, "document_id": document, "base_revision": edited["revision"],
            "operations": [{ "op": "replace_text", "node_id": block, "expected": says, "text": text }] })
    };
    for writes in 0.. {
        service.refuse_after(writes);
        let answer = service.answer("edit_document", &edit(&format!("attempt {writes}")));
        service.refuse_after(1_000_000);
        if answer["error"].is_null() {
            assert!(writes > 5, "an edit has more than {writes} writes");
            let params = json!({ "workspace_id": workspace, "document_id": document });
            let read = service.ok("read_document", &params);
            assert_eq!(read["nodes"][2]["text"], format!("attempt {writes}"), "{read}");
            return;
        }
    }
}
