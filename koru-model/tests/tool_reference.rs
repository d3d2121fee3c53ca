//! `docs/tools.md`, written from the table of tools and compared with it.

#![expect(clippy::unwrap_used, reason = "the helpers of a test fail by panicking, too")]

use std::fmt::Write as _;
use std::path::Path;

use koru_model::edit::Operation;
use koru_model::protocol::tools::{self, Tool};
use serde_json::{Map, Value};

const HEAD: &str = "\
# The tools

<!-- Made from koru-model/src/protocol/tools by koru-model/tests/tool_reference.rs: change it there, then
     UPDATE_GOLDEN=1 cargo test -p koru-model --test tool_reference -->

What each tool takes, as `tools/list` tells a client. The rules behind it (node kinds, positions, guards, errors) are in [model.md](model.md).

- An ID is a UUID, in any case. A *node* is an ID, or a tail of one of at least 8 hex digits that is the document's only one.
- `null` for an argument that may be left out means that it is left out. Unknown arguments are refused, and all faults of a call are told together.
- A result is one JSON object. A refusal is one with `code`, `message` and, where it helps, `details`; a refused call changes nothing.
- No tool reaches outside this computer.
";

/// A text of the table as Markdown: names stand out as code, and nothing in it is a mark.
fn prose(text: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    let mut is_code = false;
    for c in text.chars().chain([' ']) {
        if c.is_ascii_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        if word.contains('_') && !is_code {
            let _ = write!(out, "`{word}`");
        } else {
            out.push_str(&word);
        }
        word.clear();
        if matches!(c, '*' | '<' | '>' | '|' | '[' | ']') && !is_code {
            out.push('\\');
        }
        is_code ^= c == '`';
        out.push(c);
    }
    out.trim_end().to_owned()
}

fn hints(tool: &Tool) -> &'static str {
    match (tool.read_only, tool.destructive, tool.idempotent) {
        (true, ..) => "reads only",
        (false, false, true) => "adds, and the same call again adds nothing more",
        (false, false, false) => "adds",
        (false, true, true) => "changes what is there; the same call again changes nothing more",
        (false, true, false) => "changes what is there",
    }
}

/// What a value is, in words; more than one of it where `many`.
fn kind(schema: &Map<String, Value>, many: bool) -> String {
    let one = match (schema["type"].as_str().unwrap(), schema.get("format").and_then(Value::as_str))
    {
        (_, Some("uuid")) => "ID",
        (_, Some("node")) => "node",
        ("array", _) => {
            return format!("list of {}", kind(schema["items"].as_object().unwrap(), true));
        }
        ("string", _) => "text",
        ("integer", _) => "whole number",
        ("number", _) => "number",
        ("boolean", _) => return "true or false".into(),
        ("object", _) if schema.contains_key(Operation::VARIANTS) => "operation",
        ("object", _) => "object",
        (other, _) => panic!("{other} has no word"),
    };
    format!("{one}{}", if many { "s" } else { "" })
}

fn limits(schema: &Map<String, Value>) -> String {
    let number = |name: &str| schema.get(name).and_then(Value::as_u64);
    let mut found = Vec::new();
    let mut range = |least: Option<u64>, most: Option<u64>, of: &str| match (least, most) {
        (Some(least), Some(most)) => found.push(format!("{least} to {most}{of}")),
        (None, Some(most)) => found.push(format!("at most {most}{of}")),
        (Some(least), None) if least > 0 => found.push(format!("at least {least}{of}")),
        _ => {}
    };
    range(number("minimum"), number("maximum"), "");
    range(number("minItems"), number("maxItems"), " of them");
    range(number("minLength"), number("maxLength"), " characters");
    let choices = |schema: &Map<String, Value>| -> Option<String> {
        let names = schema.get("enum")?.as_array()?.iter().filter_map(Value::as_str);
        Some(names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
    };
    found.extend(choices(schema));
    found.extend(schema.get("items").and_then(Value::as_object).and_then(choices));
    found.join("; ")
}

/// A row for each argument, and for each field of one that is an object.
fn rows(out: &mut String, schema: &Map<String, Value>, above: &str) {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for (name, field) in schema["properties"].as_object().unwrap() {
        let field = field.as_object().unwrap();
        let path = format!("{above}{name}");
        let is_required = if required.contains(&name.as_str()) { "yes" } else { "" };
        let description = field.get("description").and_then(Value::as_str).unwrap_or_default();
        let _ = writeln!(
            out,
            "| `{path}` | {} | {is_required} | {} | {} |",
            kind(field, false),
            limits(field),
            prose(description)
        );
        let (inner, path) = match field.get("items").and_then(Value::as_object) {
            Some(items) => (items, format!("{path}[].")),
            None => (field, format!("{path}.")),
        };
        let is_operation = inner.contains_key(Operation::VARIANTS);
        if inner["type"] == "object" && !is_operation {
            rows(out, inner, &path);
        }
    }
}

fn arguments(out: &mut String, schema: &Map<String, Value>, heading: &str) {
    if schema["properties"].as_object().unwrap().is_empty() {
        out.push_str("Takes no arguments.\n");
        return;
    }
    let _ = writeln!(out, "| {heading} | type | required | limits | what it is |");
    out.push_str("|---|---|---|---|---|\n");
    rows(out, schema, "");
}

/// The operations of a tool, by name, with the argument that takes them.
fn operations(tool: &Tool) -> Option<(&str, &Map<String, Value>)> {
    tool.checked_schema()["properties"].as_object().unwrap().iter().find_map(|(name, field)| {
        Some((name.as_str(), field.get("items")?.get(Operation::VARIANTS)?.as_object()?))
    })
}

fn reference() -> String {
    let mut out = String::from(HEAD);
    out.push_str("\n| tool | what it does to the store |\n|---|---|\n");
    for tool in tools::all() {
        let _ = writeln!(out, "| [`{0}`](#{0}) | {1} |", tool.name, hints(tool));
    }
    for tool in tools::all() {
        let _ = write!(out, "\n## {}\n\n*{}* ", tool.name, tool.title);
        let _ = writeln!(out, "({}).\n\n{}\n", hints(tool), prose(tool.description));
        arguments(&mut out, tool.checked_schema(), "argument");
        if operations(tool).is_some() {
            out.push_str("\nThe fields of each operation are [below](#operations).\n");
        }
    }
    let takers: Vec<_> =
        tools::all().iter().filter_map(|tool| Some((tool, operations(tool)?))).collect();
    out.push_str(
        "\n## Operations\n\nEach is one object with `op`, its name, beside these fields.\n\n",
    );
    let (_, (_, all)) = takers.iter().max_by_key(|(_, (_, all))| all.len()).unwrap();
    for (tool, (argument, own)) in &takers {
        if own.len() == all.len() {
            let _ = writeln!(out, "- `{argument}` of `{}` takes all of them.", tool.name);
        } else {
            let names: Vec<String> = own.keys().map(|name| format!("`{name}`")).collect();
            let names = names.join(", ");
            let _ = writeln!(out, "- `{argument}` of `{}` takes {names}.", tool.name);
        }
    }
    for (name, schema) in *all {
        let schema = schema.as_object().unwrap();
        let description = schema.get("description").and_then(Value::as_str).unwrap();
        let _ = writeln!(out, "\n### {name}\n\n{}\n", prose(description));
        arguments(&mut out, schema, "field");
    }
    out
}

#[test]
fn the_reference_is_made_from_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/tools.md");
    let now = reference();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == now,
        "the tools changed; write docs/tools.md with UPDATE_GOLDEN=1 and look at git diff"
    );
}

#[test]
fn the_reference_tells_of_every_field() {
    let text = reference();
    for tool in tools::all() {
        let part = text.split("\n## ").find(|part| part.starts_with(tool.name)).unwrap();
        for (name, field) in tool.input_schema["properties"].as_object().unwrap() {
            assert!(part.contains(&format!("| `{name}` |")), "{}: {name}", tool.name);
            let fields = field.pointer("/items/properties").and_then(Value::as_object);
            for field in fields.into_iter().flat_map(Map::keys).filter(|field| *field != "op") {
                assert!(
                    text.contains(&format!("`{field}` |"))
                        || text.contains(&format!(".{field}` |")),
                    "{name}: {field}"
                );
            }
        }
    }
    for name in Operation::NAMES {
        assert!(text.contains(&format!("\n### {name}\n")), "{name}");
    }
}

#[test]
fn texts_stay_what_they_are_in_markdown() {
    for (text, shown) in [
        ("Give node_id, or a|b", "Give `node_id`, or a\\|b"),
        ("tokens [[...]] and a * b", "tokens \\[\\[...\\]\\] and a \\* b"),
        ("last_word", "`last_word`"),
        ("in `at_utf8` and `a|b`", "in `at_utf8` and `a|b`"),
    ] {
        assert_eq!(prose(text), shown);
    }
}
