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

/// What a field is, in one sentence for all operations that take it. A field that is not here has
/// the documentation of its struct.
const JOINED: [(&str, &str); 12] = [
    (
        "node_id",
        "The node: its ID, or a tail of it (8 or more hex digits). insert: a whole new UUID that you choose.",
    ),
    (
        "expected",
        "The node's exact text as the operation finds it, after earlier ones of its batch.",
    ),
    (
        "text",
        "The text, literal (no Markdown), at most 1 MiB. Keep the tokens [[...]] of inlines that shall stay. Table: rows by line feed, cells by tab.",
    ),
    ("parent_id", "The parent; not a code, table, contact or divider."),
    ("after_node_id", "The sibling to stand behind. Absent: first."),
    ("at_end", "true: last under the parent, in place of after_node_id."),
    ("kind", "The kind; it never changes. A heading stands only under the title or a heading."),
    ("at_utf8", "Byte offset into expected (UTF-8), on a character boundary, not inside a token."),
    ("key", "koru.due, koru.priority, koru.color, koru.list, or a key from list_attributes."),
    ("value", "The value; replaces what stands under the key."),
    (
        "tag",
        "The tag's name, / separates levels, at most 200 characters. Exactly one of tag and tag_id.",
    ),
    ("tag_id", "The ID of a tag that exists."),
];

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
    const SHARED: [&str; 2] = ["node_id", "expected"];
    let described = variants.iter().map(|(name, variant)| {
        let takes_shared = SHARED.iter().all(|field| requires(variant, field));
        let fields = variant["properties"].as_object().into_iter().flat_map(Map::keys);
        let fields: Vec<String> = fields
            .filter(|field| !takes_shared || !SHARED.contains(&field.as_str()))
            .map(|field| format!("{field}{}", if requires(variant, field) { "" } else { "?" }))
            .collect();
        let listed = format!("{name}({})", fields.join(", "));
        (takes_shared, listed)
    });
    let (sharing, alone): (Vec<_>, Vec<_>) = described.partition(|(takes_shared, _)| *takes_shared);
    let join = |part: Vec<(bool, String)>| {
        part.into_iter().map(|(_, listed)| listed).collect::<Vec<_>>().join(", ")
    };
    let names: Vec<&String> = variants.keys().collect();
    json!({
        "type": "string",
        "enum": names,
        "description": format!(
            "The operation takes exactly these fields (? may be left out): {}; with {}: {}.",
            join(alone),
            SHARED.join(" and "),
            join(sharing),
        ),
    })
}

fn requires(variant: &Value, field: &str) -> bool {
    variant["required"].as_array().is_some_and(|required| required.iter().any(|name| name == field))
}

/// One property out of the field of that name of several operations; which ones take it is said
/// first, unless most do.
fn merged_property(variants: &Map<String, Value>, field: &str) -> Value {
    let takers: Vec<(&String, &Value)> = variants
        .iter()
        .filter_map(|(name, variant)| Some((name, variant["properties"].get(field)?)))
        .collect();
    let mut merged = takers.first().map_or(Value::Null, |(_, property)| (*property).clone());
    let text = JOINED.iter().find(|(name, _)| *name == field).map_or_else(
        || merged["description"].as_str().unwrap_or_default().to_owned(),
        |(_, text)| (*text).to_owned(),
    );
    let is_common = takers.len() * 2 > variants.len();
    let names: Vec<&str> = takers.iter().map(|(name, _)| name.as_str()).collect();
    merged["description"] =
        if is_common { text } else { format!("{}: {text}", names.join(", ")) }.into();
    merged
}
