//! A service for tests, and the tests of the way to it.
#![cfg(unix)]

use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use koru_model::protocol::error::Code;
use koru_model::protocol::home::Home;
use koru_model::protocol::wire::{self, Hello, Scope};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;

use super::client::{Client, Kind, Start};

/// What the fake service does with a frame.
#[derive(Debug)]
enum Reply {
    Answer(Value),
    Hang,
    Drop,
}

type Script = Arc<dyn Fn(&Value) -> Reply + Send + Sync>;

struct Fake {
    _folder: tempfile::TempDir,
    home: Home,
    frames: mpsc::UnboundedReceiver<Value>,
}

fn fake(hello: Hello, script: impl Fn(&Value) -> Reply + Send + Sync + 'static) -> Fake {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::under(folder.path(), None);
    home.prepare().unwrap();
    let listener = UnixListener::bind(&home.socket).unwrap();
    let (sender, frames) = mpsc::unbounded_channel();
    let script: Script = Arc::new(script);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(serve(stream, hello.clone(), Arc::clone(&script), sender.clone()));
        }
    });
    Fake { _folder: folder, home, frames }
}

async fn serve(
    mut stream: UnixStream,
    hello: Hello,
    script: Script,
    frames: mpsc::UnboundedSender<Value>,
) -> Option<()> {
    read(&mut stream).await?;
    stream.write_all(&wire::frame(&hello).unwrap()).await.ok()?;
    loop {
        let frame = read(&mut stream).await?;
        let reply = script(&frame);
        frames.send(frame).ok()?;
        match reply {
            Reply::Answer(answer) => {
                stream.write_all(&wire::frame(&answer).unwrap()).await.ok()?;
            }
            Reply::Hang => {}
            Reply::Drop => return None,
        }
    }
}

async fn read(stream: &mut UnixStream) -> Option<Value> {
    let length = stream.read_u32().await.ok()?;
    let mut frame = vec![0; length as usize];
    stream.read_exact(&mut frame).await.ok()?;
    serde_json::from_slice(&frame).ok()
}

fn service_hello() -> Hello {
    Hello { start_id: "one".into(), ..Hello::of_this_build() }
}

fn echo(frame: &Value) -> Reply {
    Reply::Answer(json!({ "id": frame["id"], "ok": { "got": frame["params"] } }))
}

fn short(_: Kind) -> Duration {
    Duration::from_millis(300)
}

async fn call(client: &Client, number: u64, kind: Kind) -> Result<Value, Code> {
    let params: Box<RawValue> = serde_json::value::to_raw_value(&json!({ "n": number })).unwrap();
    client
        .call("list_tags", &params, kind, &Scope::default())
        .await
        .map(|raw| serde_json::from_str(raw.get()).unwrap())
        .map_err(|error| error.code)
}

#[tokio::test]
async fn many_calls_share_one_connection_and_each_gets_its_own_answer() {
    let fake = fake(service_hello(), echo);
    let client = Arc::new(Client::connect(fake.home.clone(), Start::Never).await.unwrap());
    let calls: Vec<_> = (0..100)
        .map(|number| {
            let client = Arc::clone(&client);
            tokio::spawn(async move { call(&client, number, Kind::Read).await })
        })
        .collect();
    for (number, call) in calls.into_iter().enumerate() {
        assert_eq!(call.await.unwrap().unwrap(), json!({ "got": { "n": number } }));
    }
}

#[tokio::test]
async fn a_broken_connection_is_met_with_the_same_key() {
    let seen = Arc::new(Mutex::new(0));
    let count = Arc::clone(&seen);
    let mut fake = fake(service_hello(), move |frame| {
        let mut count = count.lock().unwrap();
        *count += 1;
        if *count <= 3 { Reply::Drop } else { echo(frame) }
    });
    let client = Client::new(fake.home.clone(), Start::Never);
    assert!(call(&client, 7, Kind::Write).await.is_ok());
    let mut keys = Vec::new();
    while let Ok(frame) = fake.frames.try_recv() {
        keys.push(frame["key"].clone());
    }
    assert_eq!(keys.len(), 4);
    assert!(keys[0].is_string() && keys.iter().all(|key| *key == keys[0]));
}

#[tokio::test]
async fn a_service_that_makes_room_is_asked_again() {
    let seen = Arc::new(Mutex::new(0));
    let count = Arc::clone(&seen);
    let fake = fake(service_hello(), move |frame| {
        let mut count = count.lock().unwrap();
        *count += 1;
        if *count > 1 {
            return echo(frame);
        }
        Reply::Answer(json!({ "id": frame["id"], "error": {
            "code": "service_unavailable", "message": "makes room", "details": { "retry": true } } }))
    });
    let client = Client::new(fake.home.clone(), Start::Never);
    assert!(call(&client, 1, Kind::Write).await.is_ok());
}

#[tokio::test]
async fn a_lost_write_has_an_unknown_outcome_and_a_lost_read_has_none() {
    let fake = fake(service_hello(), |_| Reply::Drop);
    let client = Client::new(fake.home.clone(), Start::Never).with_times(short);
    assert_eq!(call(&client, 1, Kind::Write).await, Err(Code::OutcomeUnknown));
    assert_eq!(call(&client, 1, Kind::Read).await, Err(Code::ServiceUnavailable));
}

#[tokio::test]
async fn a_silent_service_is_reported_within_the_deadline() {
    let fake = fake(service_hello(), |_| Reply::Hang);
    let client = Client::new(fake.home.clone(), Start::Never).with_times(short);
    assert_eq!(call(&client, 1, Kind::Read).await, Err(Code::ServiceUnavailable));
}

#[tokio::test]
async fn to_drop_a_call_is_to_cancel_it() {
    let mut fake = fake(service_hello(), |_| Reply::Hang);
    let client = Client::connect(fake.home.clone(), Start::Never).await.unwrap();
    let sent = {
        let pending = call(&client, 1, Kind::Write);
        tokio::pin!(pending);
        tokio::select! {
            _ = &mut pending => panic!("answered"),
            frame = fake.frames.recv() => frame.unwrap(),
        }
    };
    let next = fake.frames.recv().await.unwrap();
    assert_eq!(next, json!({ "cancel": sent["id"] }));
}

#[tokio::test]
async fn no_service_and_none_to_be_started_is_said_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let client = Client::new(Home::under(folder.path(), None), Start::Never);
    assert_eq!(call(&client, 1, Kind::Write).await, Err(Code::ServiceUnavailable));
}

#[tokio::test]
async fn the_address_beside_the_store_is_tried_too() {
    let fake = fake(service_hello(), echo);
    let folder = tempfile::tempdir().unwrap();
    let other = Home::under(folder.path(), None);
    other.prepare().unwrap();
    std::fs::write(other.lock(), format!("{}\n", fake.home.socket.display())).unwrap();
    let client = Client::new(other, Start::Never);
    assert!(call(&client, 1, Kind::Read).await.is_ok());
}

#[tokio::test]
async fn a_newer_service_that_speaks_our_protocol_is_used_and_another_is_not() {
    let newer = Hello { release: "9.0.0".into(), ..service_hello() };
    let served = fake(newer.clone(), echo);
    let client = Client::new(served.home.clone(), Start::IfNeeded);
    assert!(call(&client, 1, Kind::Read).await.is_ok());

    let refused = fake(Hello { protocol: [8, 9], ..newer }, echo);
    let client = Client::new(refused.home.clone(), Start::IfNeeded);
    assert_eq!(call(&client, 1, Kind::Read).await, Err(Code::VersionMismatch));
}

#[tokio::test]
async fn an_older_service_is_asked_to_make_room() {
    let older = Hello { release: "0.0.1".into(), ..service_hello() };
    let mut fake = fake(older, echo);
    let client = Client::new(fake.home.clone(), Start::IfNeeded).with_times(short);
    // The fake does not end, and no program stands beside the test, so that the call itself fails.
    let _ = call(&client, 1, Kind::Read).await;
    let asked = fake.frames.recv().await.unwrap();
    assert_eq!(asked["call"], "service.make_room");
    assert!(asked["params"]["release"].is_string());
}
