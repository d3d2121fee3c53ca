//! What stands between the input and rmcp: every line that asks for an answer gets one.

use std::sync::Arc;

use koru_model::limits::{JSON_DEPTH, REQUEST_BYTES};
use koru_model::protocol::error::Code;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, GetMeta as _,
    JsonRpcMessage, ProtocolVersion, RequestId, RequestMetaObject,
};
use serde_json::{Map, Value, json};

use super::id_scan::IdScan;
use super::lines::Line;
use super::live::Live;

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const TOOL_CALL: &str = "tools/call";

/// Methods whose params rmcp knows; what it cannot read of them is malformed, not unknown.
const KNOWN_METHODS: &[&str] = &[
    "ping",
    "initialize",
    "server/discover",
    "completion/complete",
    "logging/setLevel",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "subscriptions/listen",
    "tools/list",
];

/// What becomes of a line.
#[derive(Debug)]
pub(super) enum Verdict {
    /// It goes to rmcp.
    Pass(Box<ClientJsonRpcMessage>),
    /// It is answered here, with these bytes.
    Answer(Vec<u8>),
    /// It asks for nothing.
    Ignore,
}

/// The judge of one connection's lines.
#[derive(Debug)]
pub(super) struct Guard {
    live: Arc<Live>,
    /// Whether a request has decided the lifecycle; rmcp takes a notification before that as the end.
    settled: bool,
}

/// Why a message is refused.
struct Refusal(String);

impl Guard {
    pub(super) fn new(live: Arc<Live>) -> Self {
        Self { live, settled: false }
    }

    pub(super) fn judge(&mut self, line: &Line<'_>) -> Verdict {
        let line = match line {
            Line::Whole(line) => line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii(),
            Line::TooLong(id) => {
                let message = format!(
                    "The message is longer than the limit of {REQUEST_BYTES} bytes. Split it into smaller calls."
                );
                return answer(INVALID_REQUEST, id.clone(), &message, Code::TooLarge);
            }
        };
        if line.is_empty() {
            return Verdict::Ignore;
        }
        if is_too_deep(line) {
            let message =
                format!("The message nests deeper than the limit of {JSON_DEPTH} levels.");
            return answer(INVALID_REQUEST, IdScan::of(line), &message, Code::InvalidRequest);
        }
        match serde_json::from_slice(line) {
            Ok(Value::Object(message)) => self.judge_message(message),
            Ok(_) => refuse(None, "A message is one JSON-RPC object; batches are not supported."),
            Err(error) => {
                let message = format!(
                    "The line is no JSON: {}. A message is one line of JSON in UTF-8, without half surrogate pairs.",
                    place(&error)
                );
                answer(PARSE_ERROR, IdScan::of(line), &message, Code::InvalidRequest)
            }
        }
    }

    fn judge_message(&mut self, mut message: Map<String, Value>) -> Verdict {
        let id = message.get("id").cloned();
        if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return refuse(id, "A message needs \"jsonrpc\": \"2.0\".");
        }
        let method = match message.get("method") {
            Some(Value::String(method)) => method.clone(),
            Some(_) => return refuse(id, "The method must be a string."),
            // Answers: nothing is ever asked of the client.
            None if message.contains_key("result") || message.contains_key("error") => {
                return Verdict::Ignore;
            }
            None => return refuse(id, "A request needs a method."),
        };
        if message.contains_key("result") || message.contains_key("error") {
            return refuse(id, "A message is either a request or an answer.");
        }
        if message.get("params").is_some_and(Value::is_null) {
            message.remove("params");
        }
        let Some(id) = id else { return self.judge_notification(&method, message) };
        let Ok(request_id) = serde_json::from_value::<RequestId>(id.clone()) else {
            return refuse(Some(id), "The id must be a string or a whole number.");
        };
        let request = match read_request(&method, message) {
            Ok(request) => request,
            Err(Refusal(reason)) => return refuse(Some(id), &reason),
        };
        if !self.live.begin(request_id.clone(), method == TOOL_CALL) {
            return refuse(
                Some(id),
                "A request with this id has not been answered yet. Use another id for each request.",
            );
        }
        self.settled = self.settled || settles(&request);
        Verdict::Pass(Box::new(JsonRpcMessage::request(request, request_id)))
    }

    fn judge_notification(&self, method: &str, message: Map<String, Value>) -> Verdict {
        if !self.settled || method != "notifications/cancelled" {
            return Verdict::Ignore;
        }
        let id = message.get("params").and_then(|params| params.get("requestId")).cloned();
        let cancels = id
            .and_then(|id| serde_json::from_value::<RequestId>(id).ok())
            .is_some_and(|id| self.live.cancel(&id));
        if !cancels {
            return Verdict::Ignore;
        }
        serde_json::from_value(Value::Object(message))
            .map_or(Verdict::Ignore, |message| Verdict::Pass(Box::new(message)))
    }
}

fn read_request(method: &str, mut message: Map<String, Value>) -> Result<ClientRequest, Refusal> {
    if message.get("params").is_some_and(|params| !params.is_object()) {
        return Err(Refusal(format!("The params of {method} must be an object.")));
    }
    if method == TOOL_CALL {
        return match message.remove("params") {
            Some(Value::Object(params)) => read_call(params),
            _ => Err(Refusal("tools/call needs params with the name of a tool.".into())),
        };
    }
    let malformed = || Refusal(format!("The params of {method} are malformed."));
    // rmcp reads a malformed cursor as none, and would give the first page for ever.
    let cursor = message.get("params").and_then(|params| params.get("cursor"));
    if cursor.is_some_and(|cursor| !cursor.is_string() && !cursor.is_null()) {
        return Err(malformed());
    }
    match serde_json::from_value(Value::Object(message)) {
        Ok(ClientJsonRpcMessage::Request(read)) => match read.request {
            ClientRequest::CustomRequest(_) if KNOWN_METHODS.contains(&method) => Err(malformed()),
            request => Ok(request),
        },
        _ => Err(malformed()),
    }
}

/// Reads a tool call without the copies that rmcp's own reading makes of its arguments.
fn read_call(mut params: Map<String, Value>) -> Result<ClientRequest, Refusal> {
    let Some(Value::String(name)) = params.remove("name") else {
        return Err(Refusal("params.name must be the name of a tool.".into()));
    };
    let mut call = CallToolRequestParams::new(name);
    let arguments = match params.remove("arguments") {
        Some(Value::String(text)) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        other => other.unwrap_or(Value::Null),
    };
    match arguments {
        Value::Null => {}
        Value::Object(arguments) => call = call.with_arguments(arguments),
        _ => return Err(Refusal("params.arguments must be an object.".into())),
    }
    let mut request = ClientRequest::CallToolRequest(CallToolRequest::new(call));
    if let Some(meta) = params.remove("_meta").filter(|meta| !meta.is_null()) {
        *request.get_meta_mut() = serde_json::from_value::<RequestMetaObject>(meta)
            .map_err(|_| Refusal("params._meta must be an object.".into()))?;
    }
    Ok(request)
}

/// Whether rmcp chooses its lifecycle by this request.
fn settles(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => {
            let meta = request.get_meta();
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                && meta
                    .protocol_version()
                    .is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
        }
    }
}

/// Counts brackets outside strings; the parser itself would recurse.
fn is_too_deep(line: &[u8]) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for &byte in line {
        if in_string {
            if escaped {
                escaped = false;
            } else if byte == b'\\' {
                escaped = true;
            } else if byte == b'"' {
                in_string = false;
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => {
                depth += 1;
                if depth > JSON_DEPTH {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// What the parser says, without its `at line 1`.
fn place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let said = text.split(" at line ").next().unwrap_or_default();
    format!("{said} at byte {}", error.column())
}

fn refuse(id: Option<Value>, message: &str) -> Verdict {
    answer(INVALID_REQUEST, id, message, Code::InvalidRequest)
}

fn answer(error: i32, id: Option<Value>, message: &str, code: Code) -> Verdict {
    let id = id.filter(|id| id.is_string() || id.is_number()).unwrap_or(Value::Null);
    let mut data = json!({ "code": code.name() });
    if code == Code::TooLarge {
        data["limit_bytes"] = json!(REQUEST_BYTES);
    }
    let answer = json!({
        "jsonrpc": "2.0", "id": id, "error": { "code": error, "message": message, "data": data },
    });
    Verdict::Answer(answer.to_string().into_bytes())
}
