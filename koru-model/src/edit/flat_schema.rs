//! The schema of an operation: one flat object with an `op`, since many clients take no unions.
//!
//! Beside what a client is shown, the schema carries keywords for the check of the arguments; they
//! begin with `x-` and are never shown.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::Operation;

/// What a read adds to an inline; an agent may send it back, and it is ignored.
const ADDED_BY_READ: [&str; 5] = ["at_utf8", "title", "name", "lifecycle", "resolved"];

impl Operation {
    /// The operations that may fill a new document.
    pub const INITIAL: &'static [&'static str] =
        &["insert", "insert_inline", "set_done", "set_language"];
    /// The keyword that maps each operation's name to the exact schema of its fields.
    pub const VARIANTS: &'static str = "x-operations";
    /// The keyword that lists the keys of an object which are dropped unread.
    pub const IGNORED: &'static str = "x-ignored";
    /// The keyword of a string that also takes a number or a boolean, as its text.
    pub const SCALAR: &'static str = "x-scalar";

    /// The flat schema of the operations named, in the order of [`Operation::NAMES`].
    #[must_use]
    pub fn flat_schema(generator: &mut SchemaGenerator, names: &[&str]) -> Schema {
        let mut variants = Map::new();
        for (name, schema) in Self::schemas(generator) {
            if names.contains(&name) {
                variants.insert(name.into(), exact(name, schema));
            }
        }
        let mut properties = Map::new();
        properties.insert("op".into(), op_property(&variants));
        let fields: Vec<String> = variants
            .values()
            .filter_map(|variant| variant["properties"].as_object())
            .flat_map(|fields| fields.keys().cloned())
            .collect();
        for field in fields {
            if !properties.contains_key(&field) {
                let merged = merged_property(&variants, &field);
                properties.insert(field, merged);
            }
        }
        let mut flat = Map::new();
        flat.insert("type".into(), "object".into());
        flat.insert("properties".into(), properties.into());
        flat.insert("required".into(), json!(["op"]));
        flat.insert(Self::VARIANTS.into(), variants.into());
        Schema::from(flat)
    }
}

impl JsonSchema for Operation {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Operation".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Self::flat_schema(generator, Self::NAMES)
    }
}

/// The derived schema of one operation, and what its types cannot say.
fn exact(name: &str, schema: Schema) -> Value {
    let mut schema = schema.to_value();
    match name {
        "insert" => {
            if let Some(Value::Array(kinds)) = schema.pointer_mut("/properties/kind/enum") {
                kinds.retain(|kind| kind != "title");
            }
            if let Some(Value::Array(kinds)) = schema.pointer_mut("/properties/kind/oneOf") {
                kinds.retain(|kind| kind["const"] != "title");
            }
        }
        "insert_inline" => {
            schema["properties"]["inline"][Operation::IGNORED] = json!(ADDED_BY_READ);
        }
        "set_attribute" => {
            schema["properties"]["value"]["properties"]["value"][Operation::SCALAR] = true.into();
        }
        _ => {}
    }
    schema
}

/// `op`, with the fields of each operation: what the flat object alone does not tell an agent.
fn op_property(variants: &Map<String, Value>) -> Value {
    let mut lines = Vec::new();
    for (name, variant) in variants {
        let fields: Vec<String> = variant["properties"]
            .as_object()
            .into_iter()
            .flat_map(Map::keys)
            .map(|field| {
                if requires(variant, field) { field.clone() } else { format!("{field}?") }
            })
            .collect();
        lines.push(format!("{name}({})", fields.join(", ")));
    }
    let names: Vec<&String> = variants.keys().collect();
    json!({
        "type": "string",
        "enum": names,
        "description": format!("Which operation; it takes exactly these fields (? may be left out): {}.", lines.join("; ")),
    })
}

fn requires(variant: &Value, field: &str) -> bool {
    variant["required"].as_array().is_some_and(|required| required.iter().any(|name| name == field))
}

/// One property out of the field of that name of several operations.
///
/// What holds for most operations comes first and plain; what holds for some is introduced by
/// their names.
fn merged_property(variants: &Map<String, Value>, field: &str) -> Value {
    let mut docs: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut merged = None;
    for (name, variant) in variants {
        let Some(property) = variant["properties"].get(field) else { continue };
        let doc = property["description"].as_str().unwrap_or_default();
        match docs.iter_mut().find(|(known, _)| *known == doc) {
            Some((_, names)) => names.push(name),
            None => docs.push((doc, vec![name])),
        }
        merged.get_or_insert(property);
    }
    docs.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    let description: Vec<String> = docs
        .iter()
        .map(|(doc, names)| {
            if names.len() * 2 > variants.len() {
                (*doc).to_owned()
            } else {
                format!("{}: {doc}", names.join(", "))
            }
        })
        .collect();
    let mut merged = merged.cloned().unwrap_or_default();
    merged["description"] = description.join(" ").into();
    merged
}
