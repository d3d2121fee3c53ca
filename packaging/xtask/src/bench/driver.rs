//! One client for both servers: a line out, a line in, nothing parsed while the clock runs.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A server and the client in front of it.
pub(super) struct Driver {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
    next: u64,
}

type Answer<T> = Result<T, String>;

impl Driver {
    /// Starts a server.
    pub(super) fn start(mut command: Command) -> Answer<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| error.to_string())?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("a server without pipes".into());
        };
        let output = BufReader::with_capacity(1 << 16, output);
        Ok(Self { child, input, output, line: Vec::new(), next: 0 })
    }

    /// Starts a server and says hello.
    pub(super) fn ready(command: Command) -> Answer<Self> {
        let mut driver = Self::start(command)?;
        driver.hello()?;
        Ok(driver)
    }

    /// Says hello and asks for the tools.
    pub(super) fn hello(&mut self) -> Answer<()> {
        self.ask(
            "initialize",
            json!({ "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "bench", "version": "1" } }),
        )?;
        self.write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")?;
        self.ask("tools/list", json!({}))?;
        Ok(())
    }

    fn write(&mut self, line: &str) -> Answer<()> {
        self.input.write_all(line.as_bytes()).map_err(|error| error.to_string())?;
        self.input.flush().map_err(|error| error.to_string())
    }

    /// A request as a line, made before the clock runs.
    pub(super) fn request(&mut self, method: &str, params: Value) -> String {
        self.next += 1;
        let message =
            json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        format!("{message}\n")
    }

    /// Sends a line; how long the answer took, to its last byte.
    pub(super) fn exchange(&mut self, line: &str) -> Answer<Duration> {
        let began = Instant::now();
        self.write(line)?;
        self.line.clear();
        let length =
            self.output.read_until(b'\n', &mut self.line).map_err(|error| error.to_string())?;
        let took = began.elapsed();
        if length == 0 { Err("the server ended".into()) } else { Ok(took) }
    }

    /// The answer to a request, parsed.
    pub(super) fn ask(&mut self, method: &str, params: Value) -> Answer<Value> {
        let line = self.request(method, params);
        self.exchange(&line)?;
        self.answered().map_err(|error| format!("{method} failed: {error}"))
    }

    /// The result of the last exchange, parsed.
    pub(super) fn answered(&self) -> Answer<Value> {
        let answer: Value =
            serde_json::from_slice(&self.line).map_err(|error| error.to_string())?;
        let result = &answer["result"];
        if result.is_null() || result["isError"] == true {
            return Err(answer.to_string().chars().take(500).collect());
        }
        Ok(result.clone())
    }

    /// The result of a call.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Answer<Value> {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// How long one call takes.
    pub(super) fn once(&mut self, tool: &str, arguments: &Value) -> Answer<Duration> {
        let line = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        self.exchange(&line)
    }

    /// How much memory the server holds, in KiB.
    pub(super) fn resident(&self) -> u64 {
        resident(self.child.id())
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A call that is timed: the server, the tool, the arguments.
pub(super) type Timed<'a> = (usize, &'a str, &'a Value);

/// How long calls take, in turn, so that what else the machine does falls on all alike.
pub(super) fn in_turn(
    servers: &mut [Driver],
    calls: &[Timed<'_>],
    count: usize,
) -> Answer<Vec<Duration>> {
    let mut all = vec![Vec::with_capacity(count); calls.len()];
    for (server, tool, arguments) in calls {
        servers[*server].call(tool, arguments)?;
    }
    for _ in 0..count {
        for ((server, tool, arguments), took) in calls.iter().zip(&mut all) {
            took.push(servers[*server].once(tool, arguments)?);
        }
    }
    Ok(all.into_iter().map(median).collect())
}

/// How much memory a process holds, in KiB; 0 where the system does not tell.
pub(super) fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}

/// The one in the middle.
pub(super) fn median(mut all: Vec<Duration>) -> Duration {
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or_default()
}
