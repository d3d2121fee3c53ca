//! Calls through the bridge to a service that the test plays.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Bridge, PATIENCE, call, modern};

/// A service that answers nothing by itself: the test does.
struct Played {
    frames: Receiver<(Value, UnixStream)>,
    streams: HashMap<u64, UnixStream>,
}

fn read(stream: &mut UnixStream) -> Option<Value> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).ok()?;
    let mut frame = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut frame).ok()?;
    serde_json::from_slice(&frame).ok()
}

fn write(stream: &mut UnixStream, message: &Value) {
    let text = message.to_string();
    let length = u32::try_from(text.len()).unwrap().to_be_bytes();
    stream.write_all(&[&length, text.as_bytes()].concat()).unwrap();
}

fn serve(mut stream: UnixStream, frames: &Sender<(Value, UnixStream)>) -> Option<()> {
    let mut hello = read(&mut stream)?;
    hello["start_id"] = json!("played");
    write(&mut stream, &hello);
    loop {
        let frame = read(&mut stream)?;
        frames.send((frame, stream.try_clone().ok()?)).ok()?;
    }
}

impl Played {
    fn in_home(home: &tempfile::TempDir) -> Self {
        use std::os::unix::fs::DirBuilderExt as _;
        let run = home.path().join("run");
        std::fs::DirBuilder::new().mode(0o700).create(&run).unwrap();
        let listener = UnixListener::bind(run.join("koru.sock")).unwrap();
        let (sender, frames) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let sender = sender.clone();
                std::thread::spawn(move || serve(stream, &sender));
            }
        });
        Self { frames, streams: HashMap::new() }
    }

    fn next(&mut self) -> Value {
        let (frame, stream) = self.frames.recv_timeout(PATIENCE).expect("a frame");
        if let Some(id) = frame["id"].as_u64() {
            self.streams.insert(id, stream);
        }
        frame
    }

    fn answer(&mut self, frame: &Value, key: &str, value: &Value) {
        let id = frame["id"].as_u64().unwrap();
        write(self.streams.get_mut(&id).unwrap(), &json!({ "id": id, key: value }));
    }
}

fn start(flags: &[&str]) -> (Bridge, Played) {
    let home = tempfile::tempdir().unwrap();
    let played = Played::in_home(&home);
    let mut bridge = Bridge::start_in(home, flags);
    bridge.initialize();
    (bridge, played)
}

#[test]
fn a_call_carries_its_client_scope_and_key_and_its_result_comes_back_in_both_places() {
    let workspace = "0198c2f0-0000-7000-8000-000000000001";
    let (mut bridge, mut played) = start(&["--workspace", workspace]);
    bridge.send(&call(1, "list_workspaces", json!({})));
    let frame = played.next();
    assert_eq!(frame["call"], "list_workspaces");
    assert_eq!(frame["client"], "test 1.0");
    assert_eq!(frame["scope"], json!({ "workspaces": [workspace], "read_only": false }));
    assert!(frame["key"].is_string());
    let result = json!({ "workspaces": [{ "name": "a \"b\" \\ \u{1} é 💡" }] });
    played.answer(&frame, "ok", &result);
    let answer = bridge.next();
    assert_eq!(answer["result"]["structuredContent"], result);
    assert_eq!(
        answer["result"]["content"],
        json!([{ "type": "text", "text": result.to_string() }])
    );
    assert_eq!(answer["result"]["isError"], false);
}

#[test]
fn a_modern_client_is_known_by_its_meta() {
    let home = tempfile::tempdir().unwrap();
    let mut played = Played::in_home(&home);
    let mut bridge = Bridge::start_in(home, &[]);
    bridge.send(&modern(1, "tools/call", json!({ "name": "list_workspaces" })));
    let frame = played.next();
    assert_eq!(frame["client"], "modern 2.0");
    played.answer(&frame, "ok", &json!({}));
    assert_eq!(bridge.next()["result"]["resultType"], "complete");
}

#[test]
fn a_failure_is_a_result_of_at_most_four_kilobytes() {
    let (mut bridge, mut played) = start(&[]);
    bridge.send(&call(1, "list_workspaces", json!({})));
    let conflicts: Vec<Value> = (0..10)
        .map(|index| json!({ "operation_index": index, "actual": "é".repeat(600) }))
        .collect();
    let frame = played.next();
    played.answer(&frame, "error", &json!({ "code": "precondition_failed", "message": "m", "details": { "revision": "r", "conflicts": conflicts } }));
    let answer = bridge.next();
    let told = &answer["result"]["structuredContent"];
    assert_eq!(answer["result"]["isError"], true);
    assert_eq!(
        (&told["code"], &told["details"]["revision"]),
        (&json!("precondition_failed"), &json!("r"))
    );
    assert!(told.to_string().len() <= 4_096);
    assert!(told["details"]["conflicts_omitted"].as_u64().unwrap() > 0);
}

#[test]
fn a_cancelled_call_is_cancelled_in_the_service_and_gets_no_answer() {
    let (mut bridge, mut played) = start(&[]);
    bridge.send(&call("c", "list_workspaces", json!({})));
    let frame = played.next();
    bridge.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "c" } }));
    assert_eq!(played.next(), json!({ "cancel": frame["id"] }));
    bridge.assert_quiet_and_alive();
    // Its id is free again.
    bridge.send(&call("c", "list_workspaces", json!({})));
    let frame = played.next();
    played.answer(&frame, "ok", &json!({ "again": true }));
    assert_eq!(bridge.next()["result"]["structuredContent"], json!({ "again": true }));
}

#[test]
fn an_id_in_use_is_refused_and_the_first_call_is_answered() {
    let (mut bridge, mut played) = start(&[]);
    bridge.send(&call(1, "list_workspaces", json!({})));
    let frame = played.next();
    let refused = bridge.ask(&call(1, "list_workspaces", json!({})));
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(1), &json!(-32600)));
    played.answer(&frame, "ok", &json!({ "first": true }));
    assert_eq!(bridge.next()["result"]["structuredContent"], json!({ "first": true }));
}

#[test]
fn calls_in_flight_at_the_end_of_input_are_answered_for_a_while() {
    let (mut bridge, mut played) = start(&[]);
    bridge.send(&call(1, "list_workspaces", json!({})));
    bridge.send(&call(2, "list_workspaces", json!({})));
    let (first, second) = (played.next(), played.next());
    bridge.close_input();
    played.answer(&first, "ok", &json!({}));
    assert_eq!(bridge.next()["result"]["structuredContent"], json!({}));
    let (status, took) = bridge.wait();
    assert_eq!(status.code(), Some(0));
    assert!(took > Duration::from_millis(1_000) && took < Duration::from_millis(2_000), "{took:?}");
    // What could not be answered in time is at most said to be lost, never to be done.
    assert!(bridge.rest().iter().all(|answer| answer["result"]["isError"] == true));
    drop(second);
}

#[test]
fn a_signal_does_not_wait_for_calls() {
    let (mut bridge, mut played) = start(&[]);
    bridge.send(&call(1, "list_workspaces", json!({})));
    played.next();
    let pid = bridge.child.id().to_string();
    assert!(std::process::Command::new("kill").arg(&pid).status().unwrap().success());
    let (status, took) = bridge.wait();
    assert_eq!(status.code(), Some(0));
    assert!(took < Duration::from_millis(100), "{took:?}");
}

#[test]
fn many_answers_never_mix_on_stdout() {
    let (mut bridge, mut played) = start(&[]);
    for id in 0..200 {
        bridge.send(&call(id, "list_workspaces", json!({})));
    }
    let text = "x".repeat(100_000);
    for _ in 0..200 {
        let frame = played.next();
        played.answer(&frame, "ok", &json!({ "text": text }));
    }
    let mut ids: Vec<i64> = (0..200).map(|_| bridge.next()["id"].as_i64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..200).collect::<Vec<i64>>());
}

#[test]
fn the_log_tells_what_ran_and_nothing_of_its_content() {
    let (mut bridge, mut played) = start(&[]);
    let id = "0198c2f0-0000-7000-8000-000000000001";
    let arguments = json!({ "workspace_id": id, "document_id": id, "revision": "kanarienvogel" });
    bridge.send(&call(1, "read_document", arguments));
    let frame = played.next();
    played.answer(&frame, "error", &json!({ "code": "not_found", "message": "kanarienvogel" }));
    bridge.next();
    bridge.ask(&call(2, "kanarienvogel", json!({})));
    bridge.send_bytes(b"{\"kanarienvogel\n");
    bridge.next();
    bridge.close_input();
    bridge.wait();
    let log =
        std::fs::read_to_string(bridge.home.path().join("logs").join("koru-mcp.log")).unwrap();
    assert!(!log.contains("kanarienvogel"), "{log}");
    let line = log.lines().find(|line| line.contains("read_document")).unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    assert_eq!((&line["code"], &line["client"]), (&json!("not_found"), &json!("test 1.0")));
    assert!(line["ms"].is_u64());
}
