//! Failures as a client sees them, within the limit of their size.

use koru_model::limits::ERROR_BYTES;
use koru_model::protocol::error::ToolError;
use rmcp::model::CallToolResult;
use serde_json::{Value, json};

/// The shortest text that is still cut.
const SHORTEST_CUT: usize = 80;

/// A tool's failure as its result.
pub(super) fn result(error: ToolError) -> CallToolResult {
    let value = serde_json::to_value(fitted(error)).unwrap_or_else(
        |_| json!({ "code": "internal", "message": "The failure could not be written." }),
    );
    CallToolResult::structured_error(value)
}

/// The failure, cut until it fits: first the ends of its lists, which it counts, then its longest texts.
fn fitted(mut error: ToolError) -> ToolError {
    while length(&error) > ERROR_BYTES {
        let cut =
            error.details.as_mut().is_some_and(|details| drop_last(details) || cut_text(details));
        if !cut && error.message.len() > SHORTEST_CUT {
            error.message = halved(&error.message);
        } else if !cut {
            error.details = None;
            break;
        }
    }
    error
}

fn length(error: &ToolError) -> usize {
    serde_json::to_vec(error).map_or(0, |bytes| bytes.len())
}

/// Drops the last item of the longest list of the details that has more than one.
fn drop_last(details: &mut Value) -> bool {
    let Some(fields) = details.as_object_mut() else { return false };
    let longest = fields
        .iter()
        .filter(|(_, value)| value.as_array().is_some_and(|items| items.len() > 1))
        .max_by_key(|(_, value)| value.to_string().len())
        .map(|(name, _)| name.clone());
    let Some(name) = longest else { return false };
    if let Some(items) = fields.get_mut(&name).and_then(Value::as_array_mut) {
        items.pop();
    }
    let counter = format!("{name}_omitted");
    let omitted = fields.get(&counter).and_then(Value::as_u64).unwrap_or(0);
    fields.insert(counter, json!(omitted + 1));
    true
}

/// Halves the longest text anywhere in the details.
fn cut_text(details: &mut Value) -> bool {
    match longest_text(details) {
        Some(text) if text.len() > SHORTEST_CUT => {
            *text = halved(text);
            true
        }
        _ => false,
    }
}

fn longest_text(value: &mut Value) -> Option<&mut String> {
    match value {
        Value::String(text) => Some(text),
        Value::Array(items) => {
            items.iter_mut().filter_map(longest_text).max_by_key(|text| text.len())
        }
        Value::Object(fields) => {
            fields.values_mut().filter_map(longest_text).max_by_key(|text| text.len())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn halved(text: &str) -> String {
    let mut half: String = text.chars().take(text.chars().count() / 2).collect();
    half.push('…');
    half
}

#[cfg(test)]
mod tests {
    use koru_model::protocol::error::Code;

    use super::*;

    #[test]
    fn a_failure_that_fits_is_left_alone() {
        let error = ToolError::new(Code::NotFound, "Not there.").with(json!({ "a": [1, 2] }));
        assert_eq!(fitted(error.clone()), error);
    }

    #[test]
    fn a_long_list_loses_its_end_and_says_how_much() {
        let conflicts: Vec<Value> = (0..40)
            .map(|index| json!({ "operation_index": index, "actual": "x".repeat(200) }))
            .collect();
        let error = ToolError::new(Code::PreconditionFailed, "Changed.")
            .with(json!({ "revision": "r", "conflicts": conflicts, "conflicts_omitted": 2 }));
        let error = fitted(error);
        assert!(length(&error) <= ERROR_BYTES);
        let details = error.details.unwrap();
        let listed = details["conflicts"].as_array().unwrap();
        assert_eq!(listed[0]["operation_index"], 0);
        assert_eq!(listed.len() as u64 + details["conflicts_omitted"].as_u64().unwrap(), 42);
        assert_eq!(details["revision"], "r");
    }

    #[test]
    fn long_texts_are_cut_at_characters() {
        let error = ToolError::new(Code::Internal, "é".repeat(9_000))
            .with(json!({ "deep": { "text": "💡".repeat(9_000) } }));
        let error = fitted(error);
        assert!(length(&error) <= ERROR_BYTES);
        assert!(error.message.starts_with('é'));
    }
}
