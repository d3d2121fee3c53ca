//! The tools as a client sees them: the golden list, the portable dialect, the budgets, and the
//! agreement of our check with a JSON Schema validator.

#![expect(clippy::unwrap_used, reason = "the helpers of a test fail by panicking, too")]

use std::path::Path;

use koru_model::protocol::documentation::{INSTRUCTIONS, TEXT, URI};
use koru_model::protocol::tools::{self, Call};
use serde_json::{Map, Value, json};

const WORKSPACE: &str = "0198c2f0-0000-7000-8000-000000000001";
const DOCUMENT: &str = "0198c2f0-0000-7000-8000-000000000002";
const NODE: &str = "0198c2f0-0000-7000-8000-0000000000ab";

fn listed() -> Value {
    let all = tools::all().iter().map(|tool| {
        json!({
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "annotations": {
                "readOnlyHint": tool.read_only,
                "destructiveHint": tool.destructive,
                "idempotentHint": tool.idempotent,
                "openWorldHint": false,
            },
            "inputSchema": tool.input_schema,
        })
    });
    all.collect()
}

#[test]
fn the_list_is_the_golden_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/tools.json");
    let now = serde_json::to_string_pretty(&listed()).unwrap() + "\n";
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        now == golden,
        "the list of tools changed; look at it with UPDATE_GOLDEN=1 and git diff"
    );
}

#[test]
fn names_and_hints_are_those_of_the_contract() {
    let expected = [
        ("get_documentation", true, false, true),
        ("list_workspaces", true, false, true),
        ("list_documents", true, false, true),
        ("search_documents", true, false, true),
        ("read_document", true, false, true),
        ("list_document_links", true, false, true),
        ("list_tags", true, false, true),
        ("list_attributes", true, false, true),
        ("list_files", true, false, true),
        ("search_files", true, false, true),
        ("get_file", true, false, true),
        ("read_file", true, false, true),
        ("list_document_versions", true, false, true),
        ("read_document_version", true, false, true),
        ("compare_document_versions", true, false, true),
        ("create_document", false, false, false),
        ("edit_document", false, true, true),
        ("ensure_file_note", false, false, true),
        ("extract_to_document", false, true, false),
        ("restore_document_version", false, true, true),
        ("save_document_version", false, false, false),
    ];
    let found: Vec<_> = tools::all()
        .iter()
        .map(|tool| (tool.name, tool.read_only, tool.destructive, tool.idempotent))
        .collect();
    assert_eq!(found, expected);
}

/// Case C24.
#[test]
fn the_budgets_are_kept() {
    let mut whole = 0;
    for (tool, shown) in tools::all().iter().zip(listed().as_array().unwrap()) {
        let bytes = serde_json::to_string(shown).unwrap().len();
        println!(
            "{:24} {bytes:5} bytes, description {}",
            tool.name,
            tool.description.chars().count()
        );
        assert!(bytes <= 6_700, "{} has {bytes} bytes", tool.name);
        assert!(tool.description.chars().count() <= 1_000, "{}", tool.name);
        whole += bytes;
    }
    println!("{:24} {whole:5} bytes", "whole list");
    // The bridge says each title in the hints, too.
    assert!(whole + 650 <= 28 * 1024, "{whole} bytes");
    println!("instructions {}, model.md {}", INSTRUCTIONS.len(), TEXT.len());
    assert!(INSTRUCTIONS.chars().count() <= 1_900);
    assert!(TEXT.len() <= 18 * 1024, "{}", TEXT.len());
    assert!(INSTRUCTIONS.contains(URI));
}

/// Case C23.
#[test]
fn every_schema_is_in_the_portable_dialect() {
    let mut faults = Vec::new();
    for tool in tools::all() {
        assert!(
            tool.name.len() <= 40 && tool.name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
        );
        lint(&tool.input_schema, tool.name, true, &mut faults);
        assert_eq!(tool.input_schema["type"], "object", "{}", tool.name);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn lint(schema: &Map<String, Value>, path: &str, is_described: bool, faults: &mut Vec<String>) {
    const KEYWORDS: [&str; 11] = [
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "description",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
    ];
    for keyword in schema.keys() {
        if !KEYWORDS.contains(&keyword.as_str()) && keyword != "maxLength" {
            faults.push(format!("{path}: {keyword} is outside the dialect"));
        }
    }
    let mut check = |holds: bool, what: &str| {
        if !holds {
            faults.push(format!("{path}: {what}"));
        }
    };
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    check(
        ["object", "array", "string", "integer", "number", "boolean"].contains(&kind),
        "no plain type",
    );
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    check(!is_described || !path.contains('.') || !description.is_empty(), "undescribed");
    check(description.trim() == description, "a description with spaces around it");
    for (keyword, bound) in schema {
        if ["minimum", "maximum", "minItems", "maxItems", "maxLength"].contains(&keyword.as_str())
            && bound.as_u64().is_some_and(|bound| bound > 1)
        {
            check(
                description.contains(&bound.to_string()),
                &format!("{keyword} not said in words"),
            );
        }
    }
    if kind == "object" {
        check(schema.get("additionalProperties") == Some(&json!(false)), "open object");
        check(schema.get("properties").is_some_and(Value::is_object), "no properties");
    }
    check((kind == "array") == schema.contains_key("items"), "items belong to arrays");
    for (name, property) in
        schema.get("properties").and_then(Value::as_object).into_iter().flatten()
    {
        match property.as_object() {
            Some(property) => lint(property, &format!("{path}.{name}"), true, faults),
            None => faults.push(format!("{path}.{name}: a boolean schema")),
        }
    }
    if let Some(items) = schema.get("items") {
        match items.as_object() {
            Some(items) => lint(items, &format!("{path}[]"), false, faults),
            None => faults.push(format!("{path}: items are no schema")),
        }
    }
}

fn edit(operations: Value) -> Value {
    json!({ "workspace_id": WORKSPACE, "document_id": DOCUMENT, "base_revision": "r", "operations": operations })
}

/// Arguments that our check and the advertised schema both take.
fn good() -> Vec<(&'static str, Value)> {
    let document = json!({ "workspace_id": WORKSPACE, "document_id": DOCUMENT });
    let with = |fields: Value| {
        let mut all = document.clone();
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        all
    };
    vec![
        ("get_documentation", json!({ "uri": URI })),
        ("list_workspaces", json!({})),
        ("list_documents", json!({ "workspace_id": WORKSPACE })),
        (
            "list_documents",
            json!({ "workspace_id": WORKSPACE, "page_size": 1000, "after_document_id": DOCUMENT }),
        ),
        ("read_document", document.clone()),
        (
            "read_document",
            with(
                json!({ "node_id": "0000000000ab", "max_depth": 0, "page_size": 1, "compact": true }),
            ),
        ),
        ("read_document", with(json!({ "after_node_id": NODE, "revision": "r1" }))),
        ("list_document_links", document.clone()),
        ("list_tags", json!({ "workspace_id": WORKSPACE })),
        ("list_attributes", json!({ "workspace_id": WORKSPACE.to_uppercase() })),
        (
            "list_document_versions",
            with(
                json!({ "before_at": "2026-01-01T00:00:00.000Z", "before_id": NODE, "limit": 200 }),
            ),
        ),
        ("create_document", json!({ "workspace_id": WORKSPACE, "title": "" })),
        (
            "create_document",
            json!({ "workspace_id": WORKSPACE, "title": "T", "kind": "page", "idempotency_key": NODE,
            "root_node_id": NODE, "initial_operations": [
                { "op": "insert", "node_id": DOCUMENT, "parent_id": NODE, "at_end": true, "kind": "task", "text": "x" },
                { "op": "set_done", "node_id": DOCUMENT, "expected": "x", "done": true } ] }),
        ),
        (
            "edit_document",
            edit(json!([
                { "op": "replace_text", "node_id": "000000ab", "expected": "[1,2]", "text": "{\"a\":1}" },
                { "op": "insert", "node_id": NODE, "parent_id": "000000ab", "after_node_id": "000000ac", "at_end": false, "kind": "divider" },
                { "op": "insert_inline", "node_id": NODE, "expected": "", "at_utf8": 0,
                  "inline": { "type": "document", "document_id": DOCUMENT, "node_id": NODE, "label": "l" } },
                { "op": "insert_inline", "node_id": NODE, "expected": "", "at_utf8": 0, "inline": { "type": "attachment", "file_id": DOCUMENT } },
                { "op": "move", "node_id": NODE, "expected": "", "parent_id": NODE },
                { "op": "remove", "node_id": NODE, "expected": "null" },
                { "op": "set_done", "node_id": NODE, "expected": "", "done": false },
                { "op": "set_language", "node_id": NODE, "expected": "" },
                { "op": "set_attribute", "node_id": NODE, "expected": "", "key": "koru.due", "value": { "kind": "date", "value": "2026-12-24" } },
                { "op": "clear_attribute", "node_id": NODE, "expected": "", "key": "koru.due" },
                { "op": "add_tag", "node_id": NODE, "expected": "", "tag": "a/b" },
                { "op": "remove_tag", "node_id": NODE, "expected": "", "tag_id": NODE },
            ])),
        ),
        ("list_files", json!({ "workspace_id": WORKSPACE })),
        (
            "list_files",
            json!({ "workspace_id": WORKSPACE, "page_size": 1000, "after_file_id": NODE }),
        ),
        ("search_files", json!({ "workspace_id": WORKSPACE, "query": "", "limit": 200 })),
        ("get_file", json!({ "workspace_id": WORKSPACE, "file_id": NODE })),
        ("read_file", json!({ "workspace_id": WORKSPACE, "file_id": NODE })),
        (
            "read_file",
            json!({ "workspace_id": WORKSPACE, "file_id": NODE, "offset": 4_294_967_296_u64,
                "length": 1_048_576, "as": "text" }),
        ),
        ("ensure_file_note", json!({ "workspace_id": WORKSPACE, "file_id": NODE })),
        ("save_document_version", with(json!({ "label": "l", "message": "m" }))),
        (
            "read_document_version",
            json!({ "workspace_id": WORKSPACE, "entry_id": NODE, "node_id": "000000ab", "max_depth": 48,
                "page_size": 2000, "after_node_id": NODE, "compact": false }),
        ),
        ("compare_document_versions", json!({ "workspace_id": WORKSPACE, "left_entry_id": NODE })),
        (
            "compare_document_versions",
            json!({ "workspace_id": WORKSPACE, "left_entry_id": NODE, "right_entry_id": DOCUMENT }),
        ),
        ("restore_document_version", with(json!({ "entry_id": NODE, "base_revision": "r" }))),
        (
            "extract_to_document",
            json!({ "workspace_id": WORKSPACE, "source_document_id": DOCUMENT, "base_revision": "r",
                "source_node_id": "000000ab", "expected": "", "new_document_title": "T",
                "extra_source_node_ids": ["000000ac", NODE] }),
        ),
        (
            "extract_to_document",
            json!({ "workspace_id": WORKSPACE, "source_document_id": DOCUMENT, "base_revision": "r",
                "source_node_id": NODE, "expected": "x", "target_document_id": WORKSPACE,
                "under_node_id": "000000ad" }),
        ),
    ]
}

/// Arguments that our check and the advertised schema both refuse.
fn bad() -> Vec<(&'static str, Value)> {
    let mut all: Vec<(&str, Value)> = good()
        .into_iter()
        .map(|(name, mut arguments)| {
            arguments["surplus"] = json!(1);
            (name, arguments)
        })
        .collect();
    all.extend(good().into_iter().filter_map(|(name, mut arguments)| {
        arguments.as_object_mut()?.shift_remove("workspace_id")?;
        Some((name, arguments))
    }));
    let one = |operation: Value| ("edit_document", edit(json!([operation])));
    all.extend([
        ("get_documentation", json!({ "uri": "koru://docs/other" })),
        ("list_documents", json!({ "workspace_id": WORKSPACE, "page_size": 0 })),
        ("list_documents", json!({ "workspace_id": WORKSPACE, "page_size": 1001 })),
        ("list_documents", json!({ "workspace_id": WORKSPACE, "page_size": 1.5 })),
        ("list_documents", json!({ "workspace_id": 7 })),
        ("list_tags", json!([WORKSPACE])),
        ("create_document", json!({ "workspace_id": WORKSPACE, "title": "x".repeat(1_001) })),
        ("create_document", json!({ "workspace_id": WORKSPACE, "title": "T", "kind": "file_note" })),
        ("edit_document", edit(json!([]))),
        ("edit_document", edit(json!({ "op": "remove" }))),
        one(json!({ "node_id": NODE, "expected": "" })),
        one(json!({ "op": "delete", "node_id": NODE, "expected": "" })),
        one(json!({ "op": "replace_text", "node_id": NODE, "expected": "", "text": "", "newText": "" })),
        one(json!({ "op": "replace_text", "node_id": NODE, "expected": 1, "text": "" })),
        one(json!({ "op": "insert", "node_id": NODE, "parent_id": NODE, "kind": "title" })),
        one(json!({ "op": "set_done", "node_id": NODE, "expected": "", "done": "yes" })),
        ("list_files", json!({ "workspace_id": WORKSPACE, "page_size": 1001 })),
        ("search_files", json!({ "workspace_id": WORKSPACE })),
        ("search_files", json!({ "workspace_id": WORKSPACE, "query": "x", "limit": 0 })),
        ("get_file", json!({ "workspace_id": WORKSPACE })),
        ("read_file", json!({ "workspace_id": WORKSPACE, "file_id": NODE, "offset": -1 })),
        ("read_file", json!({ "workspace_id": WORKSPACE, "file_id": NODE, "length": 0 })),
        ("read_file", json!({ "workspace_id": WORKSPACE, "file_id": NODE, "length": 1_048_577 })),
        ("read_file", json!({ "workspace_id": WORKSPACE, "file_id": NODE, "as": "hex" })),
        (
            "read_document_version",
            json!({ "workspace_id": WORKSPACE, "entry_id": NODE, "max_depth": 49 }),
        ),
        (
            "compare_document_versions",
            json!({ "workspace_id": WORKSPACE, "right_entry_id": NODE }),
        ),
        (
            "restore_document_version",
            json!({ "workspace_id": WORKSPACE, "document_id": DOCUMENT, "base_revision": "r" }),
        ),
        (
            "extract_to_document",
            json!({ "workspace_id": WORKSPACE, "source_document_id": DOCUMENT, "base_revision": "r",
                "source_node_id": NODE, "expected": "x", "extra_source_node_ids": NODE }),
        ),
    ]);
    all
}

#[test]
fn our_check_agrees_with_a_json_schema_validator() {
    let validator = |name: &str| {
        let schema = Value::Object(tools::find(name).unwrap().input_schema.clone());
        jsonschema::options().build(&schema).unwrap()
    };
    for (name, arguments) in good() {
        assert!(validator(name).is_valid(&arguments), "{name} {arguments}");
        let normal = tools::find(name).unwrap().normalize(arguments.clone());
        assert_eq!(normal.as_ref(), Ok(&arguments), "{name}");
        let call = Call::parse(name, arguments.clone()).unwrap();
        assert_eq!(call.name(), name);
    }
    for (name, arguments) in bad() {
        assert!(!validator(name).is_valid(&arguments), "{name} {arguments}");
        assert!(Call::parse(name, arguments.clone()).is_err(), "{name} {arguments}");
    }
}

/// The text that agents work by may show nothing that is refused, and leave out nothing there is.
#[test]
fn the_documentation_shows_what_is_taken() {
    let mut shown = Vec::new();
    for line in TEXT.lines().filter(|line| line.trim_start().starts_with("{\"op\":")) {
        let line = line.trim().trim_end_matches("]}").trim_end_matches(',');
        let operation: Value = serde_json::from_str(line).unwrap();
        shown.push(operation["op"].as_str().unwrap().to_owned());
        Call::parse("edit_document", edit(json!([operation]))).unwrap();
    }
    let names = koru_model::edit::Operation::NAMES;
    for name in names {
        assert!(shown.iter().any(|op| op == name), "no example of {name}");
        assert!(TEXT.contains(&format!("| `{name}` |")), "no row for {name}");
    }
    for tool in tools::all() {
        let is_told = TEXT.contains(tool.name) || tool.read_only;
        assert!(is_told, "{} is not mentioned", tool.name);
    }
    let blocks = TEXT.split("```").map(|block| block.trim_start_matches("json").trim());
    let example = blocks.filter(|block| block.starts_with("{\"workspace_id\"")).last().unwrap();
    let example = serde_json::from_str(&example.replace('…', WORKSPACE)).unwrap();
    Call::parse("create_document", example).unwrap();
}
