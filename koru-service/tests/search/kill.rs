//! `kill -9` of the real service in the middle of edits, trash, untrash and a rebuild: after each one the index is
//! sound and equals the documents.
#![cfg(unix)]

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use koru_model::protocol::home::Home;
use koru_model::protocol::wire::{Hello, frame};
use serde_json::{Value, json};
use uuid::Uuid;

use super::equality::check;
use super::support::{DEADLINE, Fixture};

const CLIENTS: usize = 3;
const DOCUMENTS: usize = 6;
/// Enough that a rebuild takes several transactions.
const LINES: usize = 1_200;

fn kills() -> usize {
    std::env::var("KORU_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(9)
}

/// A connection to a service that may die at any time.
struct Client(UnixStream);

impl Client {
    fn connect(home: &Path) -> Self {
        let socket = Home::under(home, None).socket;
        let began = Instant::now();
        loop {
            if let Ok(stream) = UnixStream::connect(&socket) {
                stream.set_read_timeout(Some(DEADLINE)).unwrap();
                let mut client = Self(stream);
                client.send(&json!(Hello::of_this_build())).unwrap();
                if client.read().is_some() {
                    return client;
                }
            }
            assert!(began.elapsed() < DEADLINE, "no service");
            std::thread::yield_now();
        }
    }

    fn send(&mut self, message: &Value) -> Option<()> {
        self.0.write_all(&frame(message).unwrap()).ok()
    }

    fn read(&mut self) -> Option<Value> {
        let mut length = [0; 4];
        self.0.read_exact(&mut length).ok()?;
        let mut bytes = vec![0; u32::from_be_bytes(length) as usize];
        self.0.read_exact(&mut bytes).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// The result, or what was refused; none where the service is gone.
    fn call(&mut self, call: &str, params: &Value) -> Option<Value> {
        self.send(&json!({ "id": 1, "call": call, "params": params, "scope": {} }))?;
        let answer = self.read()?;
        let error = answer["error"]["code"].as_str().unwrap_or_default();
        assert!(!["internal", "storage_failed"].contains(&error), "{call}: {answer}");
        Some(if answer["error"].is_null() { answer["ok"].clone() } else { answer })
    }
}

fn start(home: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_koru-service"))
        .env("KORU_HOME", home)
        .env_remove("XDG_RUNTIME_DIR")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Changes documents until the service is gone; how many changes were answered.
fn change(mut client: Client, workspace: &Value, documents: &[Value], number: usize) -> usize {
    let mut done = 0;
    for step in 0.. {
        let document = &documents[(number + step) % documents.len()];
        let here = json!({ "workspace_id": workspace, "document_id": document });
        let carried_out = match (step + number) % 5 {
            0 => client.call("document.trash", &here),
            1 => client.call("document.untrash", &here),
            _ => edit(&mut client, &here, step),
        };
        if carried_out.is_none() {
            return done;
        }
        done += 1;
    }
    done
}

fn edit(client: &mut Client, here: &Value, step: usize) -> Option<Value> {
    let read = client.call("read_document", here)?;
    let nodes = read["nodes"].as_array().unwrap();
    let node = &nodes[1 + step * 7 % (nodes.len() - 1)];
    let on = |op: &str, fields: Value| {
        let mut operation =
            json!({ "op": op, "node_id": node["node_id"], "expected": node["text"] });
        operation.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        operation
    };
    let operations = match step % 6 {
        0 => json!([on("add_tag", json!({ "tag": format!("kill/{}", step % 3) }))]),
        1 => json!([on(
            "set_attribute",
            json!({ "key": "koru.due",
            "value": { "kind": "date", "value": format!("2026-12-{:02}", 1 + step % 28) } })
        )]),
        2 => json!([{ "op": "insert", "node_id": Uuid::new_v4(), "parent_id": nodes[0]["node_id"],
            "kind": "task", "text": format!("inserted {step}") }]),
        3 if nodes.len() > 4 => json!([on("remove", json!({}))]),
        4 => {
            json!([{ "op": "replace_text", "node_id": nodes[0]["node_id"], "expected": nodes[0]["text"],
            "text": format!("Renamed {step}") }])
        }
        _ => json!([on("replace_text", json!({ "text": format!("replaced text {step}") }))]),
    };
    let mut params = here.clone();
    params["base_revision"] = read["revision"].clone();
    params["operations"] = operations;
    client.call("edit_document", &params)
}

/// What FTS5 itself says of its tables, in a store that nobody has open.
fn is_sound(home: &Path) -> rusqlite::Result<()> {
    let database = rusqlite::Connection::open(Home::under(home, None).database())?;
    for table in ["search_head", "search_body"] {
        database.execute(
            &format!("INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 0)"),
            (),
        )?;
    }
    Ok(())
}

#[test]
fn after_every_kill_the_index_is_sound_and_equals_the_documents() {
    let mut koru = Fixture::new();
    let home = koru.service.home.database().ancestors().nth(2).unwrap().to_path_buf();
    let lines: Vec<String> =
        (0..LINES).map(|line| format!("paragraph line of text {line}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut documents = vec![];
    for number in 0..DOCUMENTS {
        let nodes = if number == 0 { &lines } else { &lines[..12] };
        documents.push(json!(koru.page(&format!("Document {number}"), nodes).id));
    }
    // A link, so that a rename writes into another document.
    let link = format!("paragraph see [[document:{}]]", documents[1].as_str().unwrap());
    documents.push(json!(koru.page("Linking", &[&link, "quote beside", "quote it"]).id));
    let workspace = json!(koru.workspace);

    let (mut changes, mut rebuilds) = (0, 0);
    for round in 0..kills() {
        let is_rebuilt = round % 3 == 2;
        koru.closed(|database| {
            if is_rebuilt {
                let version = "UPDATE setting SET value = '0.0' WHERE key = 'search.version'";
                database.execute(version, ()).unwrap();
            }
        });
        let mut child = start(&home);
        changes += std::thread::scope(|scope| {
            let (workspace, documents) = (&workspace, &documents);
            // All are connected before the time to the kill begins, however busy the machine is.
            let clients: Vec<Client> = (0..CLIENTS).map(|_| Client::connect(&home)).collect();
            let clients: Vec<_> = (0..)
                .zip(clients)
                .map(|(number, client)| {
                    scope.spawn(move || change(client, workspace, documents, number))
                })
                .collect();
            // Spread over the life of a call, and over a rebuild's transactions.
            let until = Instant::now() + Duration::from_millis(5 + (round as u64 * 23) % 70);
            while Instant::now() < until {
                std::thread::park_timeout(until.saturating_duration_since(Instant::now()));
            }
            child.kill().unwrap();
            child.wait().unwrap();
            clients.into_iter().map(|client| client.join().unwrap()).sum::<usize>()
        });
        is_sound(&home).unwrap_or_else(|error| panic!("kill {round}: {error}"));
        koru.closed(|database| {
            let marked = "SELECT EXISTS (SELECT 1 FROM document WHERE unindexed > 0)";
            rebuilds +=
                usize::from(database.query_row(marked, (), |row| row.get::<_, bool>(0)).unwrap());
        });
        koru.open_again();
        koru.until_indexed();
        check(&koru);
    }
    assert!(changes >= kills(), "{changes} changes in {} kills", kills());
    assert!(kills() < 9 || rebuilds > 0, "no kill met a rebuild");
    the_check_can_fail(&koru, &home);
    eprintln!("{} kills, {rebuilds} of them in a rebuild; {changes} changes", kills());
}

/// The twin: one row that is lost, or says something else, is noticed; so is a damaged page.
fn the_check_can_fail(koru: &Fixture, home: &Path) {
    let fails = |koru: &Fixture| catch_unwind(AssertUnwindSafe(|| check(koru))).is_err();
    let row = "(SELECT max(row) FROM search_node WHERE kind = 2)";
    assert!(!fails(koru));
    let take_out = format!("DELETE FROM search_body WHERE rowid = {row}");
    assert_eq!(koru.database().execute(&take_out, ()).unwrap(), 1);
    assert!(fails(koru), "a row that is lost");
    let put_in = format!("INSERT INTO search_body (rowid, t) VALUES ({row}, 'other words')");
    koru.database().execute(&put_in, ()).unwrap();
    assert!(fails(koru), "a row with other words");
    koru.closed(|database| {
        let damage = "UPDATE search_body_data SET block = substr(block, 1, length(block) / 2) WHERE id > 100";
        assert!(database.execute(damage, ()).unwrap() > 0);
    });
    assert!(is_sound(home).is_err(), "half a page");
}
