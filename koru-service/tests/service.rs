//! The real program, from outside: start, hello, calls, end, and what a dead service leaves behind.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use koru_model::protocol::home::Home;
use koru_model::protocol::wire::{Hello, frame};
use serde_json::{Value, json};

const DEADLINE: Duration = Duration::from_secs(20);

fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "{what}: not within {DEADLINE:?}");
        std::thread::yield_now();
    }
}

struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn home(&self) -> Home {
        Home::under(&self.folder.path().join("home"), None)
    }

    fn start(&self) -> Running {
        self.start_with(&[])
    }

    fn start_with(&self, variables: &[(&str, &str)]) -> Running {
        let child = Command::new(env!("CARGO_BIN_EXE_koru-service"))
            .env("KORU_HOME", self.folder.path().join("home"))
            .env_remove("XDG_RUNTIME_DIR")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Running(child)
    }
}

struct Running(Child);

impl Running {
    fn end(&mut self) -> ExitStatus {
        until("the end of the service", || self.0.try_wait().unwrap())
    }

    fn stderr(&mut self) -> String {
        let mut text = String::new();
        self.0.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        text
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(pid, signal).unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Connection {
    stream: UnixStream,
    hello: Hello,
    last_id: u64,
}

impl Connection {
    fn open(home: &Home) -> Self {
        Self::open_as(home, &Hello::of_this_build())
    }

    fn open_as(home: &Home, own: &Hello) -> Self {
        let mut stream = until("a connection", || UnixStream::connect(&home.socket).ok());
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream.write_all(&frame(own).unwrap()).unwrap();
        let hello = serde_json::from_value(read(&mut stream).unwrap()).unwrap();
        Self { stream, hello, last_id: 0 }
    }

    fn send(&mut self, call: &str, params: &Value) -> u64 {
        self.send_in(call, params, &json!({}))
    }

    fn send_in(&mut self, call: &str, params: &Value, scope: &Value) -> u64 {
        self.last_id += 1;
        let request = json!({ "id": self.last_id, "call": call, "params": params, "scope": scope });
        self.stream.write_all(&frame(&request).unwrap()).unwrap();
        self.last_id
    }

    fn answer(&mut self) -> Value {
        read(&mut self.stream).unwrap()
    }

    fn call(&mut self, call: &str, params: &Value) -> Value {
        self.call_in(call, params, &json!({}))
    }

    fn call_in(&mut self, call: &str, params: &Value, scope: &Value) -> Value {
        let id = self.send_in(call, params, scope);
        let answer = self.answer();
        assert_eq!(answer["id"], id);
        answer
    }
}

fn read(stream: &mut UnixStream) -> Option<Value> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).ok()?;
    let mut bytes = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_fresh_service_answers_and_ends_when_asked() {
    let fixture = Fixture::new();
    let home = fixture.home();
    let mut service = fixture.start();
    let mut connection = Connection::open(&home);
    assert_eq!(connection.hello.schema, koru_service::store::migrations::SCHEMA);
    assert_eq!(connection.hello.pid, service.0.id());
    assert!(!connection.hello.start_id.is_empty());

    let listed = connection.call("list_workspaces", &json!({}));
    assert_eq!(listed["ok"]["workspaces"][0]["name"], "Personal", "{listed}");
    assert_eq!(listed["ok"]["workspaces"].as_array().unwrap().len(), 1);
    let status = connection.call("service.status", &json!({}));
    assert_eq!(status["ok"]["connections"], 1, "{status}");
    assert_eq!(status["ok"]["store"]["healthy"], true);
    assert!(status["ok"]["store"]["free_bytes"].as_u64().unwrap() > 0);

    for file in [&home.socket, &home.lock(), &home.database()] {
        assert_eq!(mode(file), 0o600, "{}", file.display());
    }
    for folder in [&home.store, &home.logs, &home.run] {
        assert_eq!(mode(folder), 0o700, "{}", folder.display());
    }
    assert_eq!(std::fs::read_to_string(home.lock()).unwrap().trim(), home.socket.to_str().unwrap());

    let stopping = connection.call("service.stop", &json!({}));
    assert_eq!(stopping["ok"]["stopping"], true);
    assert!(service.end().success());
    assert!(!home.socket.exists());
    assert!(!home.database().with_extension("sqlite-wal").exists());
}

#[test]
fn workspaces_are_made_kept_and_bound() {
    let fixture = Fixture::new();
    let home = fixture.home();
    let mut service = fixture.start();
    let mut connection = Connection::open(&home);
    let id = "0198c2f0-0000-7000-8000-000000000001";
    let params = json!({ "workspace_id": id, "name": "Work" });
    for _ in 0..2 {
        let made = connection.call("workspace.create", &params);
        assert_eq!(made["ok"]["workspace"]["name"], "Work", "{made}");
    }
    let only = json!({ "workspaces": [id] });
    let listed = connection.call_in("list_workspaces", &json!({}), &only);
    assert_eq!(listed["ok"]["workspaces"].as_array().unwrap().len(), 1, "{listed}");
    let read_only = json!({ "read_only": true });
    let refused = connection.call_in("workspace.rename", &params, &read_only);
    assert_eq!(refused["error"]["code"], "permission_denied");
    let unknown = json!({ "workspace_id": "0198c2f0-0000-7000-8000-000000000002" });
    let refused = connection.call("list_documents", &unknown);
    assert_eq!(refused["error"]["code"], "permission_denied");
    connection.call("workspace.delete", &json!({ "workspace_id": id, "deleted": true }));
    let refused = connection.call("workspace.rename", &params);
    assert_eq!(refused["error"]["code"], "permission_denied");
    let listed = connection.call("list_documents", &json!({ "workspace_id": id }));
    assert_eq!(listed["ok"], json!({ "documents": [] }));
    service.signal(rustix::process::Signal::TERM);
    assert!(service.end().success());

    let _again = fixture.start();
    let mut connection = Connection::open(&home);
    let listed = connection.call("list_workspaces", &json!({}));
    assert!(listed["ok"]["workspaces"][1]["deleted_at"].is_string(), "{listed}");
    let opened = &listed["ok"]["workspaces"][1]["last_opened_at"];
    assert!(opened.as_str().unwrap().ends_with(":00.000Z"), "{opened}");
}

#[test]
fn two_services_at_once_leave_one() {
    let fixture = Fixture::new();
    let mut services = [fixture.start(), fixture.start()];
    let connection = Connection::open(&fixture.home());
    let loser = services.iter_mut().find(|one| one.0.id() != connection.hello.pid).unwrap();
    assert!(loser.end().success());
    assert!(loser.stderr().contains("another koru-service runs"));
    assert_eq!(Connection::open(&fixture.home()).hello.start_id, connection.hello.start_id);
}

#[test]
fn a_killed_service_leaves_a_socket_that_the_next_one_replaces() {
    let fixture = Fixture::new();
    let mut killed = fixture.start();
    let mut connection = Connection::open(&fixture.home());
    let params = json!({ "workspace_id": "0198c2f0-0000-7000-8000-000000000001", "name": "Kept" });
    connection.call("workspace.create", &params);
    killed.0.kill().unwrap();
    killed.end();
    assert!(fixture.home().socket.exists());
    let _next = fixture.start();
    let mut connection = Connection::open(&fixture.home());
    let listed = connection.call("list_workspaces", &json!({}));
    assert_eq!(listed["ok"]["workspaces"][1]["name"], "Kept", "{listed}");
}

#[test]
fn many_calls_at_a_time_are_all_answered() {
    let fixture = Fixture::new();
    let _service = fixture.start();
    let mut connection = Connection::open(&fixture.home());
    let sent: std::collections::BTreeSet<u64> =
        (0..200).map(|_| connection.send("list_workspaces", &json!({}))).collect();
    let answered = sent.iter().map(|_| connection.answer()["id"].as_u64().unwrap()).collect();
    assert_eq!(sent, answered);
}

#[test]
fn nonsense_is_answered_or_hung_up_on_and_the_service_lives() {
    let fixture = Fixture::new();
    let _service = fixture.start();
    let home = fixture.home();
    let mut connection = Connection::open(&home);
    for (call, params) in [
        ("no_such_tool", json!({})),
        ("service.unknown", json!({})),
        ("list_documents", json!({ "workspace_id": 3 })),
        ("workspace.create", json!([])),
    ] {
        let answer = connection.call(call, &params);
        assert_eq!(answer["error"]["code"], "invalid_request", "{answer}");
    }
    let long = "x".repeat(koru_model::limits::REQUEST_BYTES + 100_000);
    let answer = connection.call("list_documents", &json!({ "workspace_id": long }));
    assert_eq!(answer["error"]["code"], "too_large", "{answer}");

    let mut raw = UnixStream::connect(&home.socket).unwrap();
    raw.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    raw.set_read_timeout(Some(DEADLINE)).unwrap();
    // The end of the stream or a reset: hung up on either way, not left waiting.
    let hung_up = raw.read_to_end(&mut Vec::new());
    let reset = std::io::ErrorKind::ConnectionReset;
    assert!(hung_up.as_ref().map_or_else(|error| error.kind() == reset, |_| true), "{hung_up:?}");
    assert!(connection.call("list_workspaces", &json!({}))["ok"].is_object());
}

#[test]
fn only_a_newer_bridge_makes_the_service_go() {
    let fixture = Fixture::new();
    let mut service = fixture.start();
    let mut connection = Connection::open(&fixture.home());
    let own = Hello::of_this_build();
    let same = json!({ "release": own.release, "build": own.build });
    let refused = connection.call("service.make_room", &same);
    assert_eq!(refused["error"]["code"], "version_mismatch", "{refused}");
    let strange = Hello { protocol: [900, 901], ..own };
    let mut newer = Connection::open_as(&fixture.home(), &strange);
    let refused = newer.call("list_workspaces", &json!({}));
    assert_eq!(refused["error"]["code"], "version_mismatch", "{refused}");
    let made = newer.call("service.make_room", &json!({ "release": "900.0.0", "build": "0" }));
    assert_eq!(made["ok"]["stopping"], true, "{made}");
    assert!(service.end().success());
}

#[test]
fn an_idle_service_ends() {
    let fixture = Fixture::new();
    let mut service = fixture.start_with(&[("KORU_IDLE_EXIT_S", "0")]);
    assert!(service.end().success());
    assert!(!fixture.home().socket.exists());
}

#[test]
fn a_store_that_cannot_be_opened_is_named_and_kept() {
    let fixture = Fixture::new();
    let home = fixture.home();
    home.prepare().unwrap();
    std::fs::write(home.database(), "no database, but somebody's text that is long enough")
        .unwrap();
    let mut service = fixture.start();
    assert_eq!(service.end().code(), Some(1));
    let reason = std::fs::read_to_string(home.start_failure()).unwrap();
    assert!(reason.contains("nothing was deleted"), "{reason}");
    std::fs::remove_file(home.database()).unwrap();
    let _next = fixture.start();
    Connection::open(&home);
    until("the reason's removal", || (!home.start_failure().exists()).then_some(()));
}

#[test]
fn what_was_answered_before_an_end_under_load_is_there_afterwards() {
    let fixture = Fixture::new();
    let mut service = fixture.start();
    let mut connection = Connection::open(&fixture.home());
    for number in 1..=60_u32 {
        let id = format!("0198c2f0-0000-7000-8000-{number:012}");
        connection.send("workspace.create", &json!({ "workspace_id": id, "name": id }));
    }
    let first = connection.answer();
    service.signal(rustix::process::Signal::TERM);
    let mut kept = vec![first["ok"]["workspace"]["id"].clone()];
    while let Some(answer) = read(&mut connection.stream) {
        assert!(answer["ok"].is_object(), "{answer}");
        kept.push(answer["ok"]["workspace"]["id"].clone());
    }
    assert!(service.end().success());
    let _next = fixture.start();
    let mut connection = Connection::open(&fixture.home());
    let listed = connection.call("list_workspaces", &json!({}));
    let there: Vec<&Value> =
        listed["ok"]["workspaces"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert!(kept.iter().all(|id| there.contains(&id)));
}
