//! An MCP client over the real bridge: many calls at a time, answers in any order.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::{Value, json};

use super::service::{Signal, signal};
use super::{PATIENCE, until};

/// What became of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// The result of a request, or the structured result of a tool.
    Ok(Value),
    /// A tool refused: `{code, message, details?}`.
    Refused(Value),
    /// The protocol refused: a JSON-RPC error.
    Protocol(Value),
    /// The bridge ended before it answered.
    Gone,
}

#[derive(Debug, Default)]
struct Arrived {
    /// By the request's ID, as JSON.
    answers: HashMap<String, Value>,
    /// What answers nothing: notifications, and errors without an ID.
    others: Vec<Value>,
    ended: bool,
}

#[derive(Debug, Default)]
struct Inbox {
    arrived: Mutex<Arrived>,
    news: Condvar,
}

/// A bridge and the client in front of it.
#[derive(Debug)]
pub struct Bridge {
    child: Mutex<Child>,
    pid: u32,
    input: Mutex<Option<ChildStdin>>,
    inbox: Arc<Inbox>,
    next: AtomicU64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Bridge {
    /// Starts the command and reads what it says.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the bridge starts");
        let input = child.stdin.take();
        let output = child.stdout.take().expect("stdout is a pipe");
        let inbox = Arc::new(Inbox::default());
        let kept = Arc::clone(&inbox);
        std::thread::spawn(move || read(output, &kept));
        Self {
            pid: child.id(),
            child: Mutex::new(child),
            input: Mutex::new(input),
            inbox,
            next: AtomicU64::new(1),
        }
    }

    /// Says hello as a client of this name; what the server says of itself.
    ///
    /// # Panics
    /// When the bridge does not answer.
    pub fn initialize(&self, name: &str) -> Value {
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": name, "version": "1.0" } });
        let said = self.request("initialize", hello);
        self.notify("notifications/initialized");
        said
    }

    /// The process's ID.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Writes bytes as they are; whether the bridge still takes any.
    pub fn send(&self, bytes: &[u8]) -> bool {
        let mut input = lock(&self.input);
        let Some(stream) = input.as_mut() else { return false };
        stream.write_all(bytes).and_then(|()| stream.flush()).is_ok()
    }

    /// Writes one line as it is.
    pub fn send_line(&self, line: &str) -> bool {
        self.send(format!("{line}\n").as_bytes())
    }

    /// Sends a notification.
    pub fn notify(&self, method: &str) {
        self.send_line(&json!({ "jsonrpc": "2.0", "method": method }).to_string());
    }

    /// Sends a request and does not wait; its ID.
    pub fn post(&self, method: &str, params: Value) -> u64 {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send_line(&message.to_string());
        id
    }

    /// Sends a call of a tool and does not wait; its ID.
    #[expect(clippy::needless_pass_by_value, reason = "arguments are written in place with json!")]
    pub fn post_call(&self, tool: &str, arguments: Value) -> u64 {
        self.post("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Waits for the message that answers this ID; none where the bridge ended first.
    ///
    /// # Panics
    /// When neither happens in time.
    #[must_use]
    pub fn message(&self, id: &Value) -> Option<Value> {
        let key = id.to_string();
        self.arrival(&format!("an answer to {key}"), |arrived| arrived.answers.remove(&key))
    }

    /// Waits for the next message that answers nothing.
    ///
    /// # Panics
    /// When none comes in time.
    #[must_use]
    pub fn other(&self) -> Option<Value> {
        self.arrival("another message", |arrived| {
            (!arrived.others.is_empty()).then(|| arrived.others.remove(0))
        })
    }

    fn arrival(
        &self,
        what: &str,
        mut take: impl FnMut(&mut Arrived) -> Option<Value>,
    ) -> Option<Value> {
        let deadline = Instant::now() + PATIENCE;
        let mut arrived = lock(&self.inbox.arrived);
        loop {
            if let Some(message) = take(&mut arrived) {
                return Some(message);
            }
            if arrived.ended {
                return None;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "waited in vain for {what}");
            arrived = self
                .inbox
                .news
                .wait_timeout(arrived, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// Waits for what became of a request.
    ///
    /// # Panics
    /// When nothing comes in time, or a tool's answer is not said twice in the same words.
    #[must_use]
    pub fn wait(&self, id: u64) -> Reply {
        let Some(message) = self.message(&json!(id)) else { return Reply::Gone };
        if let Some(error) = message.get("error") {
            return Reply::Protocol(error.clone());
        }
        let result = &message["result"];
        let Some(structured) = result.get("structuredContent") else {
            return Reply::Ok(result.clone());
        };
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        let mirrored: Value = serde_json::from_str(text).unwrap_or_default();
        assert_eq!(&mirrored, structured, "the text block says the same");
        if result["isError"] == true {
            return Reply::Refused(structured.clone());
        }
        Reply::Ok(structured.clone())
    }

    /// The result of a request that must succeed.
    ///
    /// # Panics
    /// When it does not.
    #[must_use]
    pub fn request(&self, method: &str, params: Value) -> Value {
        match self.wait(self.post(method, params)) {
            Reply::Ok(result) => result,
            other => panic!("{method} failed: {other:?}"),
        }
    }

    /// What became of a call.
    #[must_use]
    pub fn call(&self, tool: &str, arguments: Value) -> Reply {
        self.wait(self.post_call(tool, arguments))
    }

    /// The structured result of a call that must succeed.
    ///
    /// # Panics
    /// When it does not.
    pub fn ok(&self, tool: &str, arguments: Value) -> Value {
        match self.call(tool, arguments) {
            Reply::Ok(result) => result,
            other => panic!("{tool} failed: {other:?}"),
        }
    }

    /// What a tool says that must refuse.
    ///
    /// # Panics
    /// When it does not, or its error is longer than 4 KB.
    pub fn err(&self, tool: &str, arguments: Value) -> Value {
        match self.call(tool, arguments) {
            Reply::Refused(error) => {
                assert!(error.to_string().len() <= 4096, "an error is at most 4 KB");
                assert!(error["message"].as_str().is_some_and(|text| !text.is_empty()), "{error}");
                error
            }
            other => panic!("{tool} should have refused: {other:?}"),
        }
    }

    /// Closes stdin.
    pub fn close_input(&self) {
        *lock(&self.input) = None;
    }

    /// Closes stdin and waits for the end.
    ///
    /// # Panics
    /// When the bridge does not end.
    pub fn close(&self) -> ExitStatus {
        self.close_input();
        self.ended()
    }

    /// Waits for the end of the process.
    ///
    /// # Panics
    /// When it does not end.
    pub fn ended(&self) -> ExitStatus {
        until("the end of the bridge", || lock(&self.child).try_wait().ok().flatten())
    }

    /// Kills the bridge as `kill -9` does.
    pub fn kill(&self) {
        signal(self.pid, Signal::Kill);
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        let mut child = lock(&self.child);
        let _ = child.kill();
        let _ = child.wait();
    }
}

fn read(output: ChildStdout, inbox: &Inbox) {
    let mut output = BufReader::with_capacity(1 << 16, output);
    let mut line = Vec::new();
    while matches!(output.read_until(b'\n', &mut line), Ok(length) if length > 0) {
        let message: Value = serde_json::from_slice(&line)
            .unwrap_or_else(|_| json!({ "noise": String::from_utf8_lossy(&line) }));
        line.clear();
        let mut arrived = lock(&inbox.arrived);
        match message.get("id").filter(|id| !id.is_null()).map(ToString::to_string) {
            Some(id) if message.get("method").is_none() => {
                let before = arrived.answers.insert(id, message);
                assert!(before.is_none(), "answered twice: {before:?}");
            }
            _ => arrived.others.push(message),
        }
        inbox.news.notify_all();
    }
    lock(&inbox.arrived).ended = true;
    inbox.news.notify_all();
}
