//! A client that speaks lines, with a home of its own.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long a test waits for what must come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct Bridge {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    pub(crate) home: tempfile::TempDir,
}

impl Bridge {
    pub(crate) fn start(flags: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), flags)
    }

    pub(crate) fn start_in(home: tempfile::TempDir, flags: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_koru-mcp"))
            .args(["serve", "--stdio"])
            .args(flags)
            .env("KORU_HOME", home.path())
            .env("RUST_LOG", "trace")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let output = child.stdout.take().unwrap();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, input, lines, home }
    }

    pub(crate) fn initialized(flags: &[&str]) -> Self {
        let mut bridge = Self::start(flags);
        bridge.initialize();
        bridge
    }

    pub(crate) fn initialize(&mut self) -> Value {
        let answer =
            self.ask(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1.0" } } }));
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        answer
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    pub(crate) fn ask(&mut self, message: &Value) -> Value {
        self.send(message);
        self.next()
    }

    pub(crate) fn next(&mut self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).expect("an answer");
        serde_json::from_str(&line).expect("stdout carries JSON alone")
    }

    /// Shows that nothing was said since, by a request that is answered.
    pub(crate) fn assert_quiet_and_alive(&mut self) {
        let answer = self.ask(&json!({ "jsonrpc": "2.0", "id": "alive", "method": "ping" }));
        assert_eq!(answer["id"], "alive", "{answer}");
        assert!(answer.get("result").is_some(), "{answer}");
    }

    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    /// What comes until stdout ends.
    pub(crate) fn rest(&mut self) -> Vec<Value> {
        let mut rest = Vec::new();
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => rest.push(serde_json::from_str(&line).unwrap()),
                Err(RecvTimeoutError::Disconnected) => return rest,
                Err(RecvTimeoutError::Timeout) => panic!("stdout stays open"),
            }
        }
    }

    pub(crate) fn wait(&mut self) -> (ExitStatus, Duration) {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return (status, began.elapsed());
            }
            assert!(began.elapsed() < PATIENCE, "the bridge does not end");
            std::thread::yield_now();
        }
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A call of a tool.
pub(crate) fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": "tools/call",
        "params": { "name": tool, "arguments": arguments } })
}

/// A request of the revision that needs no `initialize`.
pub(crate) fn modern(id: i64, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "modern", "version": "2.0" },
    });
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}
