//! How schemas are made, in the dialect that every popular client takes.
//!
//! A schema is derived once, with what only the check needs: `format` (`uuid`, or `node` for an ID
//! or a tail of one), `dependentRequired`, and keywords that begin with `x-`. What a client is shown
//! is the same schema without these, so that the two cannot differ in anything else.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::edit::Operation;

/// The schema of a tool's parameters by which arguments are checked.
#[must_use]
pub(super) fn checked<T: JsonSchema>() -> Map<String, Value> {
    let generator = SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        })
        .into_generator();
    let mut schema = match generator.into_root_schema_for::<T>().to_value() {
        Value::Object(schema) => schema,
        _ => Map::new(),
    };
    // The tool's own description stands beside its schema.
    schema.shift_remove("description");
    make_portable(&mut schema);
    schema
}

/// What a client is shown of a schema.
#[must_use]
pub(super) fn advertised(schema: &Map<String, Value>) -> Map<String, Value> {
    let is_shown = |keyword: &str| {
        keyword != "format" && keyword != "dependentRequired" && !keyword.starts_with("x-")
    };
    let mut shown = Map::new();
    for (keyword, value) in schema.iter().filter(|(keyword, _)| is_shown(keyword)) {
        let value = match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => properties
                .iter()
                .map(|(name, property)| (name.clone(), advertised_value(property)))
                .collect::<Map<_, _>>()
                .into(),
            ("items", items) => advertised_value(items),
            _ => value.clone(),
        };
        shown.insert(keyword.clone(), value);
    }
    shown
}

fn advertised_value(schema: &Value) -> Value {
    schema.as_object().map_or_else(|| schema.clone(), |schema| advertised(schema).into())
}

/// Rewrites a derived schema, in place, into the portable dialect.
fn make_portable(schema: &mut Map<String, Value>) {
    for keyword in ["$schema", "$defs", "title"] {
        schema.shift_remove(keyword);
    }
    if schema.get("default") == Some(&Value::Null) {
        schema.shift_remove("default");
    }
    if !matches!(schema.get("format").and_then(Value::as_str), Some("uuid" | "node")) {
        schema.shift_remove("format");
    }
    join_alternatives(schema);
    if let Some(constant) = schema.shift_remove("const") {
        schema.insert("enum".into(), json!([constant]));
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(types)) = schema.get("type")
        && let Some(only) = types.iter().find(|name| *name != "null").cloned()
    {
        schema.insert("type".into(), only);
    }
    if schema.get("type").is_some_and(|name| name == "object") {
        schema.entry("properties").or_insert_with(|| json!({}));
        schema.insert("additionalProperties".into(), false.into());
    }
    for keyword in ["properties", Operation::VARIANTS] {
        if let Some(Value::Object(parts)) = schema.get_mut(keyword) {
            parts.values_mut().filter_map(Value::as_object_mut).for_each(make_portable);
        }
    }
    if let Some(Value::Object(items)) = schema.get_mut("items") {
        make_portable(items);
    }
}

/// Replaces alternatives by the one schema that they amount to: an optional value is the value, and
/// a list of documented names is an `enum`. Others stay, for the test of the dialect to find.
fn join_alternatives(schema: &mut Map<String, Value>) {
    for keyword in ["anyOf", "oneOf", "allOf"] {
        let Some(Value::Array(branches)) = schema.get(keyword) else { continue };
        let branches: Vec<Map<String, Value>> = branches
            .iter()
            .filter(|branch| branch["type"] != "null")
            .filter_map(|branch| branch.as_object().cloned())
            .collect();
        let mut names = Vec::new();
        for branch in &branches {
            names.extend(branch.get("const").cloned());
            names.extend(branch.get("enum").and_then(Value::as_array).cloned().unwrap_or_default());
        }
        let joined = match branches.as_slice() {
            [only] => only.clone(),
            _ if names.len() >= branches.len() => {
                [("type".to_owned(), json!("string")), ("enum".to_owned(), names.into())]
                    .into_iter()
                    .collect()
            }
            _ => continue,
        };
        schema.shift_remove(keyword);
        for (keyword, value) in joined {
            schema.entry(keyword).or_insert(value);
        }
        // The branch may itself be a choice between documented names.
        join_alternatives(schema);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_between_names_become_one_list() {
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only its schema is looked at")]
        enum Documented {
            /// First.
            A,
            /// Second.
            B,
            C,
            D,
        }
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only its schema is looked at")]
        struct Parameters {
            /// One.
            one: Documented,
            /// Two.
            two: Option<Documented>,
            /// Three.
            three: Option<Vec<u64>>,
        }
        let schema = checked::<Parameters>();
        for (name, description) in [("one", "One."), ("two", "Two.")] {
            let property = &schema["properties"][name];
            assert_eq!(property["type"], "string");
            assert_eq!(property["description"], description);
            let mut names: Vec<&str> =
                property["enum"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
            names.sort_unstable();
            assert_eq!(names, ["A", "B", "C", "D"]);
            assert_eq!(property.as_object().unwrap().len(), 3, "{property}");
        }
        let three = json!({ "description": "Three.", "type": "array", "items": { "type": "integer", "minimum": 0 } });
        assert_eq!(schema["properties"]["three"], three);
    }
}
