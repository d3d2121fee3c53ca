//! Arguments, brought into the form that a tool's schema promises: strict, but not petty.
//!
//! Clients differ in how they deliver what a model meant: `null` for what is absent, structures as
//! JSON in a string. What can only mean one thing is taken; everything else is refused, all faults
//! of a call together, each with its path and with what would be right.

mod faults;
mod operation;
mod scalar;

use serde_json::{Map, Value};

pub use self::faults::nearest;
use self::faults::{Faults, Path};
use super::error::Problem;
use crate::edit::Operation;

/// A key that one popular client adds to every call by itself.
const INJECTED: &str = "wait_for_previous";

type Schema = Map<String, Value>;
/// Why a field is refused that the object would take in another form; `None` where it never does.
type Elsewhere<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Brings the arguments of a call into the form of its schema.
///
/// Absent arguments are an empty object, `null` for an optional field is absence, and a structure,
/// an integer or a boolean that came as a JSON string is what the string says. A text is never
/// parsed.
///
/// # Errors
/// Every fault of the arguments, in their order; of more than [`crate::limits::PROBLEMS`] only the
/// first of those left out is there, to show that there are more.
pub fn normalize(schema: &Schema, arguments: Value) -> Result<Value, Vec<Problem>> {
    let mut faults = Faults::default();
    let arguments = match arguments {
        Value::Null => Value::Object(Map::new()),
        other => other,
    };
    let normal = match scalar::unwrapped(arguments, Value::is_object) {
        Value::Object(mut fields) => {
            if !properties(schema).is_some_and(|known| known.contains_key(INJECTED)) {
                fields.shift_remove(INJECTED);
            }
            object(schema, fields, &Path::Root, &mut faults)
        }
        other => {
            faults.add(&Path::Root, scalar::wanted("an object", &other));
            other
        }
    };
    faults.none_or(normal)
}

fn value(schema: &Schema, given: Value, path: &Path<'_>, faults: &mut Faults) -> Value {
    match schema.get("type").and_then(Value::as_str) {
        Some("object") => match scalar::unwrapped(given, Value::is_object) {
            Value::Object(fields) if schema.contains_key(Operation::VARIANTS) => {
                operation::operation(schema, fields, path, faults)
            }
            Value::Object(fields) => object(schema, fields, path, faults),
            other => refused(other, "an object", path, faults),
        },
        Some("array") => match scalar::unwrapped(given, Value::is_array) {
            Value::Array(items) => array(schema, items, path, faults),
            other => refused(other, "an array", path, faults),
        },
        Some("integer") => scalar::integer(schema, given, path, faults),
        Some("number") => match scalar::unwrapped(given, Value::is_number) {
            Value::Number(given) => given.into(),
            other => refused(other, "a number", path, faults),
        },
        Some("boolean") => match scalar::unwrapped(given, Value::is_boolean) {
            Value::Bool(given) => given.into(),
            other => refused(other, "true or false", path, faults),
        },
        _ => scalar::string(schema, given, path, faults),
    }
}

fn refused(given: Value, wanted: &str, path: &Path<'_>, faults: &mut Faults) -> Value {
    faults.add(path, scalar::wanted(wanted, &given));
    given
}

fn array(schema: &Schema, items: Vec<Value>, path: &Path<'_>, faults: &mut Faults) -> Value {
    let bound = |keyword| schema.get(keyword).and_then(Value::as_u64).map(|n| n as usize);
    if let Some(least) = bound("minItems").filter(|least| items.len() < *least) {
        faults.add(path, format!("is empty; give {least} or more"));
    }
    if let Some(most) = bound("maxItems").filter(|most| items.len() > *most) {
        let reason = format!("holds {}; the limit is {most} in one call", items.len());
        faults.add(path, reason);
        return items.into();
    }
    let Some(item_schema) = schema.get("items").and_then(Value::as_object) else {
        return items.into();
    };
    let items = items.into_iter().enumerate();
    items
        .map(|(index, item)| value(item_schema, item, &Path::Item(path, index), faults))
        .collect::<Vec<_>>()
        .into()
}

fn object(schema: &Schema, given: Schema, path: &Path<'_>, faults: &mut Faults) -> Value {
    fields(schema, given, None, path, faults)
}

/// The fields of an object; `elsewhere` are fields that the object would take in another form, of
/// which `null` is no fault, with the reason why one is refused here.
fn fields(
    schema: &Schema,
    given: Schema,
    elsewhere: Option<Elsewhere<'_>>,
    path: &Path<'_>,
    faults: &mut Faults,
) -> Value {
    let empty = Map::new();
    let known = properties(schema).unwrap_or(&empty);
    let mut normal = Map::new();
    for (name, given) in given {
        let place = Path::Field(path, &name);
        if let Some(property) = known.get(&name).and_then(Value::as_object) {
            if !given.is_null() {
                let given = value(property, given, &place, faults);
                normal.insert(name, given);
            }
            continue;
        }
        let is_ignored = list(schema, Operation::IGNORED).any(|ignored| ignored == name);
        let reason = elsewhere.and_then(|elsewhere| elsewhere(&name));
        if is_ignored || (reason.is_some() && given.is_null()) || faults.are_enough() {
            // A field too many is noted even where it is not looked at any more.
            if faults.are_enough() && !is_ignored {
                faults.add(&place, "is not a field");
            }
            continue;
        }
        faults.add(&place, reason.unwrap_or_else(|| faults::unknown_field(&name, known)));
    }
    for name in list(schema, "required").filter(|name| !normal.contains_key(*name)) {
        faults.add(&Path::Field(path, name), faults::missing(known.get(name)));
    }
    for (name, needed) in dependencies(schema) {
        if normal.contains_key(name) && !normal.contains_key(needed) {
            let reason = format!("is required with {name}; {}", faults::missing(known.get(needed)));
            faults.add(&Path::Field(path, needed), reason);
        }
    }
    normal.into()
}

fn properties(schema: &Schema) -> Option<&Schema> {
    schema.get("properties").and_then(Value::as_object)
}

fn list<'a>(schema: &'a Schema, keyword: &str) -> impl Iterator<Item = &'a str> {
    schema.get(keyword).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn dependencies(schema: &Schema) -> impl Iterator<Item = (&str, &str)> {
    let all = schema.get("dependentRequired").and_then(Value::as_object).into_iter().flatten();
    all.flat_map(|(name, needed)| {
        let needed = needed.as_array().into_iter().flatten().filter_map(Value::as_str);
        needed.map(move |needed| (name.as_str(), needed))
    })
}
