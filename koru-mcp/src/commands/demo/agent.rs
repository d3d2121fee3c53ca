//! An agent's end of the bridge: the real program, its requests and answers printed as they pass.

use std::io::{self, BufRead as _, BufReader, Lines, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use koru_model::protocol::home::HOME_VARIABLE;
use serde_json::{Value, json};

use crate::commands::Failure;
use crate::output::{self, BOLD, DIM, styled};

/// How much of a line is shown.
const SHOWN_CHARS: usize = 150;
/// How many items of a list are shown.
const SHOWN_ITEMS: usize = 3;

/// What a tool answered.
pub(super) struct Told {
    /// The result, or the failure.
    pub(super) value: Value,
    /// Whether it is a failure.
    pub(super) failed: bool,
}

/// A client of the bridge.
pub(super) struct Agent {
    bridge: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    name: &'static str,
    last_id: u64,
}

impl Agent {
    /// Starts a bridge of this very program in the home, and says hello.
    pub(super) fn start(name: &'static str, home: &Path) -> Result<Self, Failure> {
        let mut bridge = Command::new(std::env::current_exe()?)
            .args(["serve", "--stdio"])
            .env(HOME_VARIABLE, home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(input), Some(output)) = (bridge.stdin.take(), bridge.stdout.take()) else {
            return Err(Failure::Said("the bridge has no streams".into()));
        };
        let output = BufReader::new(output).lines();
        let mut agent = Self { bridge, input, output, name, last_id: 0 };
        let answer = agent.request(
            "initialize",
            json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": { "name": name, "version": "demo" },
            }),
        )?;
        agent.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        let server = &answer["result"]["serverInfo"];
        output::line(&styled(
            DIM,
            &format!("[{name}] connected to {} {}", server["title"], server["version"]),
        ))?;
        Ok(agent)
    }

    /// Calls a tool and prints both sides.
    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> Result<Told, Failure> {
        output::line(&format!(
            "{} {}({})",
            styled(DIM, &format!("[{}]", self.name)),
            styled(BOLD, tool),
            short(&arguments)
        ))?;
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments }))?;
        if let Some(error) = answer.get("error") {
            return Err(Failure::Said(format!("{tool} is not understood: {error}")));
        }
        let failed = answer["result"]["isError"] == true;
        Ok(Told { value: answer["result"]["structuredContent"].clone(), failed })
    }

    /// Calls a tool that has to succeed.
    pub(super) fn must(&mut self, tool: &str, arguments: Value) -> Result<Value, Failure> {
        let told = self.call(tool, arguments)?;
        if told.failed {
            return Err(Failure::Said(format!("{tool} failed: {}", told.value)));
        }
        Ok(told.value)
    }

    fn request(&mut self, method: &str, params: Value) -> Result<Value, Failure> {
        self.last_id += 1;
        let id = self.last_id;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let Some(line) = self.output.next() else {
                return Err(Failure::Said("the bridge ended".into()));
            };
            let answer: Value = serde_json::from_str(&line?).map_err(io::Error::other)?;
            if answer["id"] == id {
                return Ok(answer);
            }
        }
    }

    fn write(&mut self, message: &Value) -> io::Result<()> {
        writeln!(self.input, "{message}")?;
        self.input.flush()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.bridge.kill();
        let _ = self.bridge.wait();
    }
}

/// Arguments or a result, shortened for the eye: IDs by their tails, lists by their first items.
pub(super) fn short(value: &Value) -> String {
    let text = shortened(value).to_string();
    if text.chars().count() <= SHOWN_CHARS {
        return text;
    }
    let head: String = text.chars().take(SHOWN_CHARS).collect();
    format!("{head}…")
}

fn shortened(value: &Value) -> Value {
    match value {
        Value::String(text) if text.len() == 36 && uuid::Uuid::try_parse(text).is_ok() => {
            let tail: String = text.chars().skip(28).collect();
            json!(format!("…{tail}"))
        }
        Value::Array(items) => {
            let mut shown: Vec<Value> = items.iter().take(SHOWN_ITEMS).map(shortened).collect();
            if items.len() > SHOWN_ITEMS {
                shown.push(json!(format!("… {} more", items.len() - SHOWN_ITEMS)));
            }
            Value::Array(shown)
        }
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), shortened(value))).collect()
        }
        other => other.clone(),
    }
}
