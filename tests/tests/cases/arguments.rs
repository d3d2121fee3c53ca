//! Section B, second part: what clients do to arguments, and what the catalogue may hold.

use koru_tests::support::bridge::Reply;
use koru_tests::support::documents::{Page, paths, replace, text};
use koru_tests::support::home::Home;
use serde_json::{Value, json};

#[test]
fn c16_missing_and_misnamed_arguments_are_named() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Names", 1);
    let node = &page.nodes[0];
    for wrong in ["newText", "content", "new_text"] {
        let mut edit = json!({ "op": "replace_text", "node_id": node, "expected": "line 0" });
        edit[wrong] = json!("x");
        let refused = page.refused(&bridge, &[edit]);
        assert_eq!(refused["code"], "invalid_request");
        let mut found = paths(&refused);
        found.sort();
        let mut expected = [format!("operations[0].{wrong}"), "operations[0].text".to_owned()];
        expected.sort();
        assert_eq!(found, expected);
    }
    assert_eq!(paths(&page.refused(&bridge, &[])), ["operations"]);
    let empty = page.refused(&bridge, &[replace(node, "", "x")]);
    assert_eq!(empty["code"], "precondition_failed", "an empty expectation is one");
    let mut call = page.edit(&page.revision, &[replace(node, "line 0", "x")]);
    call["operation"] = json!([]);
    assert_eq!(paths(&bridge.err("edit_document", call)), ["operation"]);
    page.change(&bridge, &[replace(node, "line 0", "")]);
    assert_eq!(page.texts(&bridge), [""], "an empty text is a text");
}

#[test]
fn c20_structures_that_come_as_text_are_taken_and_texts_are_not_parsed() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Strings", 1);
    let node = &page.nodes[0];
    let as_text = |says: &str, new: &str| json!([replace(node, says, new)]).to_string();
    let mut call = page.edit(&page.now(&bridge), &[]);
    call["operations"] = json!(as_text("line 0", "[1,2]"));
    bridge.ok("edit_document", call);
    assert_eq!(page.texts(&bridge), ["[1,2]"]);
    let mut call = page.edit(&page.now(&bridge), &[]);
    call["operations"] = json!([replace(node, "[1,2]", "{\"a\":1}").to_string()]);
    bridge.ok("edit_document", call);
    assert_eq!(page.texts(&bridge), ["{\"a\":1}"]);
    let read = page.reading(json!({ "page_size": "1", "compact": "true" }));
    let read = bridge.ok("read_document", read);
    assert_eq!(read["nodes"].as_array().map(Vec::len), Some(1));
    for wrong in [json!({ "page_size": "ten" }), json!({ "compact": "yes" })] {
        assert_eq!(bridge.err("read_document", page.reading(wrong))["code"], "invalid_request");
    }
    let mut injected = page.this();
    injected["wait_for_previous"] = json!(true);
    bridge.ok("read_document", injected);
}

#[test]
fn c21_null_is_absent_and_empty_is_not() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Nulls", 1);
    let all = json!({ "node_id": null, "max_depth": null, "page_size": null, "after_node_id": null,
        "revision": null, "compact": null });
    assert_eq!(bridge.ok("read_document", page.reading(all)), page.read(&bridge));
    for wrong in ["", "null"] {
        let refused = bridge.err("read_document", page.reading(json!({ "node_id": wrong })));
        assert_eq!(paths(&refused), ["node_id"], "{wrong:?}");
    }
    let listed = bridge.wait(bridge.post("tools/list", Value::Null));
    assert!(matches!(listed, Reply::Ok(_)), "null params are no params: {listed:?}");
    let no_arguments =
        bridge.post("tools/call", json!({ "name": "list_workspaces", "arguments": null }));
    assert!(matches!(bridge.wait(no_arguments), Reply::Ok(_)));
}

fn numbers(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Number(number)
            if number.as_f64().is_none_or(|number| number.abs() > 9_007_199_254_740_991.0) =>
        {
            found.push(number.to_string());
        }
        Value::Array(list) => list.iter().for_each(|one| numbers(one, found)),
        Value::Object(fields) => fields.values().for_each(|one| numbers(one, found)),
        _ => {}
    }
}

#[test]
fn c22_no_number_is_too_large_for_a_client() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Numbers", 3);
    let workspace = json!({ "workspace_id": page.workspace });
    let mut found = Vec::new();
    for (tool, arguments) in [
        ("list_workspaces", json!({})),
        ("list_documents", workspace.clone()),
        ("read_document", page.this()),
        ("list_document_links", page.this()),
        ("list_tags", workspace.clone()),
        ("list_attributes", workspace),
        ("list_document_versions", page.this()),
        ("save_document_version", page.this()),
        ("edit_document", page.edit(&page.revision, &[replace(&page.nodes[0], "line 0", "x")])),
    ] {
        numbers(&bridge.ok(tool, arguments), &mut found);
    }
    assert!(found.is_empty(), "{found:?}");
    let mut call = page.edit("", &[replace(&page.nodes[0], "x", "y")]);
    call["base_revision"] = json!(12);
    assert_eq!(paths(&bridge.err("edit_document", call)), ["base_revision"]);
}

fn look(schema: &Value, path: &str, root: bool) {
    const NEVER: &[&str] = &[
        "oneOf",
        "anyOf",
        "allOf",
        "not",
        "if",
        "$ref",
        "$defs",
        "$schema",
        "prefixItems",
        "const",
    ];
    let Some(fields) = schema.as_object() else { panic!("{path} is no object: {schema}") };
    for never in NEVER {
        assert!(!fields.contains_key(*never), "{path} has {never}");
    }
    assert!(fields["type"].is_string(), "{path} has one type");
    if !root {
        assert!(fields.contains_key("description"), "{path} is described");
    }
    if fields["type"] == "array" {
        let items = &fields["items"];
        if items["type"] == "object" {
            look(items, &format!("{path}[]"), true);
        }
        assert!(items.is_object(), "{path} has items");
    }
    for (name, property) in
        fields.get("properties").and_then(Value::as_object).into_iter().flatten()
    {
        assert!(name.len() <= 64);
        look(property, &format!("{path}.{name}"), false);
    }
}

#[test]
fn c23_every_schema_is_in_the_portable_dialect() {
    let home = Home::new();
    let listed = home.bridge().request("tools/list", json!({}));
    for tool in listed["tools"].as_array().expect("tools") {
        assert!(text(&tool["name"]).len() <= 64);
        assert_eq!(tool["inputSchema"]["type"], "object");
        look(&tool["inputSchema"], &text(&tool["name"]), true);
    }
}

#[test]
fn c24_descriptions_and_instructions_are_short_enough_to_be_read_whole() {
    let home = Home::new();
    let bridge = home.bridge();
    let listed = bridge.request("tools/list", json!({}));
    for tool in listed["tools"].as_array().expect("tools") {
        assert!(text(&tool["description"]).len() < 2048, "{}", tool["name"]);
    }
    assert!(listed.to_string().len() <= 28 * 1024, "{} bytes", listed.to_string().len());
}
