//! Strings, integers and what stands in a string in place of something else.

use serde_json::{Number, Value};

use super::Schema;
use super::faults::{Faults, Path, nearest, shortened};
use crate::edit::Operation;
use crate::ids::{NodeId, NodeRef};

/// The largest integer that every JSON reader keeps exactly.
const EXACT_IN_A_FLOAT: f64 = 9_007_199_254_740_991.0;

/// What a JSON string holds, where that is of the kind wanted; else the value as it came.
pub(super) fn unwrapped(given: Value, is_wanted: impl Fn(&Value) -> bool) -> Value {
    let Value::String(text) = &given else { return given };
    match serde_json::from_str::<Value>(text) {
        Ok(inside) if is_wanted(&inside) => inside,
        _ => given,
    }
}

/// Why a value is refused that is of another type.
pub(super) fn wanted(wanted: &str, given: &Value) -> String {
    let given = match given {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "a boolean".to_owned(),
        Value::Number(_) => "a number".to_owned(),
        Value::String(text) if text.is_empty() => "an empty string".to_owned(),
        Value::String(text) => format!("the string {:?}", shortened(text)),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    format!("must be {wanted}, not {given}")
}

pub(super) fn integer(
    schema: &Schema,
    given: Value,
    path: &Path<'_>,
    faults: &mut Faults,
) -> Value {
    let least = schema.get("minimum").and_then(Value::as_u64).unwrap_or(0);
    let most = schema.get("maximum").and_then(Value::as_u64);
    let given = unwrapped(given, Value::is_number);
    if let Value::Number(number) = &given
        && let Some(number) = whole(number)
        && number >= least
        && most.is_none_or(|most| number <= most)
    {
        return number.into();
    }
    let range = match most {
        Some(most) => format!("an integer from {least} to {most}"),
        None => format!("an integer, {least} or more"),
    };
    let reason = match &given {
        Value::Number(number) => {
            format!("must be {range}, not {}", shortened(&number.to_string()))
        }
        other => wanted(&range, other),
    };
    faults.add(path, reason);
    given
}

/// The integer that a number is, written with a fraction of zero or not.
fn whole(number: &Number) -> Option<u64> {
    number.as_u64().or_else(|| {
        let float = number.as_f64()?;
        let is_exact = float.fract() == 0.0 && (0.0..=EXACT_IN_A_FLOAT).contains(&float);
        is_exact.then_some(float as u64)
    })
}

pub(super) fn string(schema: &Schema, given: Value, path: &Path<'_>, faults: &mut Faults) -> Value {
    let text = match given {
        Value::String(text) => text,
        Value::Number(number) if schema.contains_key(Operation::SCALAR) => number.to_string(),
        Value::Bool(given) if schema.contains_key(Operation::SCALAR) => given.to_string(),
        other => {
            faults.add(path, wanted("a string", &other));
            return other;
        }
    };
    if let Some(reason) = why_refused(schema, &text) {
        faults.add(path, reason);
    }
    text.into()
}

fn why_refused(schema: &Schema, text: &str) -> Option<String> {
    if let Some(names) = schema.get("enum").and_then(Value::as_array) {
        let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
        return (!names.contains(&text)).then(|| not_one_of(text, &names));
    }
    if let Some(most) = schema.get("maxLength").and_then(Value::as_u64) {
        let length = text.chars().count() as u64;
        if length > most {
            return Some(format!("has {length} characters; the limit is {most}"));
        }
    }
    match schema.get("format").and_then(Value::as_str) {
        Some("uuid") if text.parse::<NodeId>().is_err() => Some(not_a_uuid(text)),
        Some("node") if text.parse::<NodeRef>().is_err() => Some(format!(
            "{:?} names no node: give its whole ID, or the last 8 or more hex digits of it without hyphens, as a read gives them",
            shortened(text)
        )),
        _ => None,
    }
}

/// Why a name is refused that a list does not hold.
pub(super) fn not_one_of(text: &str, names: &[&str]) -> String {
    let near =
        nearest(text, names).map(|near| format!("did you mean {near}? ")).unwrap_or_default();
    format!("{:?} is not taken; {near}It is one of: {}", shortened(text), names.join(", "))
}

fn not_a_uuid(text: &str) -> String {
    let is_a_tail = text.parse::<NodeRef>().is_ok();
    let advice = if is_a_tail {
        "a tail of an ID or an ID without hyphens does not serve here; give the whole UUID, hyphenated"
    } else {
        "give a whole UUID, hyphenated, like 0198c2f0-7a3b-7c1d-9e2f-4b5a6c7d8e9f; for something new, one that you choose"
    };
    format!("{:?} is not a UUID: {advice}", shortened(text))
}
