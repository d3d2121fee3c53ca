//! Results that are JSON already are written as they are, past a second encoding.
//!
//! The handler gives rmcp a result that carries the JSON as one text under a name nobody can guess; when the message
//! is written, the text takes the places that rmcp's own encoding would have filled.

use std::sync::LazyLock;

use rmcp::model::{
    CallToolResult, ContentBlock, JsonRpcMessage, ServerJsonRpcMessage, ServerResult,
};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

static MARK: LazyLock<String> = LazyLock::new(|| format!("koru-{}", uuid::Uuid::new_v4().simple()));

/// A successful result of ready JSON, which must be one object.
pub(super) fn result(ready: Box<RawValue>) -> CallToolResult {
    let text: Box<str> = ready.into();
    let mut carrier = Map::new();
    carrier.insert(MARK.clone(), Value::String(text.into()));
    let mut result = CallToolResult::success(vec![ContentBlock::text(MARK.as_str())]);
    result.structured_content = Some(Value::Object(carrier));
    result
}

/// A message as one line, without its end.
///
/// # Errors
/// When the message cannot be serialized.
pub(super) fn encode(mut message: ServerJsonRpcMessage) -> serde_json::Result<Vec<u8>> {
    let Some(ready) = take(&mut message) else { return serde_json::to_vec(&message) };
    // Only white space between values can hold a line end, and nothing of ours writes any.
    if ready.bytes().any(|byte| byte == b'\n' || byte == b'\r') {
        return plain(message, &ready);
    }
    let frame = serde_json::to_vec(&message)?;
    let text = format!("\"{}\"", *MARK).into_bytes();
    let object = format!("{{\"{}\":0}}", *MARK).into_bytes();
    let (Some(text_at), Some(object_at)) = (find(&frame, &text), find(&frame, &object)) else {
        return plain(message, &ready);
    };
    let mut line = Vec::with_capacity(frame.len() + ready.len() * 2 + ready.len() / 4);
    let mut rest = 0;
    let mut places = [(text_at, text.len(), true), (object_at, object.len(), false)];
    places.sort_unstable();
    for (at, length, is_text) in places {
        line.extend_from_slice(frame.get(rest..at).unwrap_or_default());
        if is_text {
            serde_json::to_writer(&mut line, &ready)?;
        } else {
            line.extend_from_slice(ready.as_bytes());
        }
        rest = at + length;
    }
    line.extend_from_slice(frame.get(rest..).unwrap_or_default());
    Ok(line)
}

/// Takes the ready JSON out of a message and leaves the mark in its places.
fn take(message: &mut ServerJsonRpcMessage) -> Option<String> {
    let JsonRpcMessage::Response(response) = message else { return None };
    let ServerResult::CallToolResult(result) = &mut response.result else { return None };
    let carried = result.structured_content.as_mut()?.as_object_mut()?.get_mut(MARK.as_str())?;
    match std::mem::replace(carried, Value::from(0)) {
        Value::String(ready) => Some(ready),
        _ => None,
    }
}

/// The way of rmcp, for what cannot be spliced.
fn plain(mut message: ServerJsonRpcMessage, ready: &str) -> serde_json::Result<Vec<u8>> {
    if let JsonRpcMessage::Response(response) = &mut message
        && let ServerResult::CallToolResult(result) = &mut response.result
    {
        let value: Value = serde_json::from_str(ready)?;
        result.content = vec![ContentBlock::text(value.to_string())];
        result.structured_content = Some(value);
    }
    serde_json::to_vec(&message)
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use rmcp::model::RequestId;
    use serde_json::json;

    use super::*;

    fn message(result: CallToolResult, legacy: bool) -> ServerJsonRpcMessage {
        let mut result = ServerResult::CallToolResult(result);
        if legacy {
            result.strip_result_type_for_legacy_peer();
        }
        JsonRpcMessage::response(result, RequestId::String("a \"quoted\" id".into()))
    }

    #[test]
    fn a_spliced_message_equals_the_one_that_rmcp_writes() {
        let values = [
            json!({}),
            json!({ "text": "quotes \" and \\ and \u{1} and é and 💡 \u{2028}\n\t", "n": [1, 2.5, null, true] }),
            json!({ "koru": { "a": { "b": "c" } }, "long": "x".repeat(100_000) }),
        ];
        for value in values {
            for legacy in [true, false] {
                let ready = serde_json::value::to_raw_value(&value).unwrap();
                let spliced = encode(message(super::result(ready), legacy)).unwrap();
                let own =
                    serde_json::to_vec(&message(CallToolResult::structured(value.clone()), legacy));
                assert_eq!(
                    String::from_utf8(spliced).unwrap(),
                    String::from_utf8(own.unwrap()).unwrap()
                );
            }
        }
    }

    #[test]
    fn json_of_several_lines_becomes_one() {
        let ready = RawValue::from_string("{\n \"a\": 1\n}".into()).unwrap();
        let line = encode(message(super::result(ready), false)).unwrap();
        let own =
            serde_json::to_vec(&message(CallToolResult::structured(json!({ "a": 1 })), false));
        assert_eq!(line, own.unwrap());
    }

    #[test]
    fn other_messages_are_left_as_they_are() {
        let error = CallToolResult::structured_error(json!({ "code": "busy" }));
        let line = encode(message(error.clone(), false)).unwrap();
        assert_eq!(line, serde_json::to_vec(&message(error, false)).unwrap());
    }
}
