//! An operation: shown to clients as one flat object, checked by the fields that its `op` takes.

use serde_json::{Map, Value};

use super::faults::{Faults, Path, unknown_field};
use super::scalar::{not_one_of, wanted};
use super::{Schema, fields, list, properties};
use crate::edit::Operation;

/// Checks an operation against the exact schema of its `op`.
pub(super) fn operation(
    flat: &Schema,
    mut given: Schema,
    path: &Path<'_>,
    faults: &mut Faults,
) -> Value {
    let empty = Map::new();
    let variants = flat.get(Operation::VARIANTS).and_then(Value::as_object).unwrap_or(&empty);
    let op = given.shift_remove("op").unwrap_or_default();
    let variant = op.as_str().and_then(|name| Some((name, variants.get(name)?.as_object()?)));
    let Some((name, variant)) = variant else {
        faults.add(&Path::Field(path, "op"), no_such_operation(&op, variants));
        // Which fields are unknown can be told without knowing the operation.
        let known = properties(flat).unwrap_or(&empty);
        for name in given.keys().filter(|name| !known.contains_key(*name)) {
            if !faults.are_enough() {
                faults.add(&Path::Field(path, name), unknown_field(name, known));
            }
        }
        return given.into();
    };
    let takes = || {
        let required: Vec<&str> = list(variant, "required").collect();
        let fields = properties(variant).into_iter().flat_map(Map::keys).map(|field| {
            let mark = if required.contains(&field.as_str()) { "" } else { "?" };
            format!("{field}{mark}")
        });
        fields.collect::<Vec<_>>().join(", ")
    };
    let elsewhere = |field: &str| {
        let is_known = properties(flat).is_some_and(|known| known.contains_key(field));
        is_known.then(|| format!("{name} does not take this field; it takes: {}", takes()))
    };
    let known = faults.count();
    let mut normal = fields(variant, given, Some(&elsewhere), path, faults);
    if faults.count() == known {
        between_fields(name, &normal, path, faults);
    }
    if let Value::Object(fields) = &mut normal {
        fields.insert("op".into(), op);
    }
    normal
}

fn no_such_operation(op: &Value, variants: &Map<String, Value>) -> String {
    let names: Vec<&str> = variants.keys().map(String::as_str).collect();
    match op {
        Value::Null => format!("required field is missing; one of: {}", names.join(", ")),
        Value::String(op) if Operation::NAMES.contains(&op.as_str()) => format!(
            "{op} is for edit_document; a new document is filled with: {}",
            names.join(", ")
        ),
        Value::String(op) => not_one_of(op, &names),
        other => wanted("a string", other),
    }
}

/// What an operation asks of its fields together; each is right by itself.
fn between_fields(name: &str, fields: &Value, path: &Path<'_>, faults: &mut Faults) {
    match name {
        "insert" | "move" if fields["at_end"] == true && fields.get("after_node_id").is_some() => {
            let reason = "at_end: true stands in place of after_node_id; give one of the two";
            faults.add(&Path::Field(path, "at_end"), reason);
        }
        "add_tag" | "remove_tag" => match (fields.get("tag"), fields.get("tag_id")) {
            (None, None) => {
                faults.add(&Path::Field(path, "tag"), "give exactly one of tag and tag_id");
            }
            (Some(_), Some(_)) => {
                faults.add(&Path::Field(path, "tag_id"), "give exactly one of tag and tag_id");
            }
            _ => {}
        },
        "insert_inline" => inline(&fields["inline"], &Path::Field(path, "inline"), faults),
        _ => {}
    }
}

fn inline(inline: &Value, path: &Path<'_>, faults: &mut Faults) {
    let (needed, foreign): (&str, &[&str]) = match inline["type"].as_str() {
        Some("attachment") => ("file_id", &["document_id", "node_id"]),
        _ => ("document_id", &["file_id"]),
    };
    let kind = inline["type"].as_str().unwrap_or("document");
    if inline.get(needed).is_none() {
        let reason =
            format!("required field is missing: an inline of type {kind} names a {needed}");
        faults.add(&Path::Field(path, needed), reason);
    }
    for field in foreign.iter().filter(|field| inline.get(**field).is_some()) {
        faults.add(&Path::Field(path, field), format!("an inline of type {kind} has no {field}"));
    }
}
