//! How arguments are taken: what clients do to them, and how each fault is told.
//!
//! Cases C16, C20, C21 and C22 of the collection of reported failures.

#![expect(clippy::unwrap_used, reason = "the helpers of a test fail by panicking, too")]

use koru_model::edit::Operation;
use koru_model::protocol::error::{Code, ToolError};
use koru_model::protocol::tools::{self, Call};
use serde_json::{Value, json};

const WORKSPACE: &str = "0198c2f0-0000-7000-8000-000000000001";
const DOCUMENT: &str = "0198c2f0-0000-7000-8000-000000000002";
const NODE: &str = "0198c2f0-0000-7000-8000-0000000000ab";

fn edit(operations: Value) -> Value {
    json!({ "workspace_id": WORKSPACE, "document_id": DOCUMENT, "base_revision": "12", "operations": operations })
}

fn refusal(tool: &str, arguments: Value) -> ToolError {
    let shown = arguments.to_string().chars().take(300).collect::<String>();
    let error = Call::parse(tool, arguments).expect_err(&shown);
    assert_eq!(error.code, Code::InvalidRequest);
    assert!(serde_json::to_string(&error).unwrap().len() <= 4 * 1024, "{error:?}");
    error
}

/// The path and the reason of each fault.
fn faults(tool: &str, arguments: Value) -> Vec<(String, String)> {
    let details = refusal(tool, arguments).details.unwrap();
    let problems = details["problems"].as_array().unwrap().iter();
    problems
        .map(|p| (p["path"].as_str().unwrap().into(), p["reason"].as_str().unwrap().into()))
        .collect()
}

/// That the faults of one operation are at these paths, with these words in their reasons.
#[track_caller]
fn check_operation(operation: Value, expected: &[(&str, &str)]) {
    check("edit_document", edit(json!([operation])), expected, "operations[0]");
}

#[track_caller]
fn check(tool: &str, arguments: Value, expected: &[(&str, &str)], under: &str) {
    let found = faults(tool, arguments);
    let paths: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
    let wanted: Vec<String> = expected
        .iter()
        .map(|(path, _)| {
            if under.is_empty() {
                (*path).into()
            } else {
                format!("{under}{}{path}", if path.is_empty() { "" } else { "." })
            }
        })
        .collect();
    assert_eq!(paths, wanted, "{found:?}");
    for ((_, reason), (_, word)) in found.iter().zip(expected) {
        assert!(reason.contains(word), "{reason:?} lacks {word:?}");
    }
}

#[test]
fn all_faults_of_a_call_are_told_together() {
    let arguments = json!({
        "workspace": WORKSPACE,
        "document_id": "x",
        "base_revision": 12,
        "operations": [
            { "op": "set_done", "node_id": NODE, "expected": "", "done": true },
            { "op": "replace_text", "node_id": NODE, "expected": "", "newText": "" },
            { "op": "insert_inline", "node_id": NODE, "expected": "", "at_utf8": -1,
              "inline": { "type": "document", "document_id": "Home" } },
        ],
    });
    check(
        "edit_document",
        arguments,
        &[
            ("workspace", "did you mean workspace_id?"),
            ("document_id", "give a whole UUID"),
            ("base_revision", "must be a string, not a number"),
            ("operations[1].newText", "did you mean text?"),
            ("operations[1].text", "required field is missing: The new text"),
            ("operations[2].at_utf8", "an integer, 0 or more"),
            ("operations[2].inline.document_id", "\"Home\" is not a UUID"),
            ("workspace_id", "required field is missing"),
        ],
        "",
    );
}

#[test]
fn an_operation_takes_its_own_fields_and_no_others() {
    let node = json!(NODE);
    check_operation(
        json!({ "node_id": node, "expected": "" }),
        &[("op", "one of: replace_text, insert")],
    );
    check_operation(
        json!({ "op": "replaceText", "node_id": node, "expected": "", "body": "" }),
        &[("op", "did you mean replace_text?"), ("body", "unknown field")],
    );
    check_operation(json!({ "op": 3 }), &[("op", "must be a string")]);
    check_operation(
        json!({ "op": "set_done", "node_id": node, "expected": "", "done": true, "text": "x" }),
        &[("text", "set_done does not take this field; it takes: node_id, expected, done")],
    );
    check_operation(
        json!({ "op": "insert", "node_id": node, "parent_id": node, "kind": "paragraph", "content": "x", "expected": "" }),
        &[
            ("content", "Known: node_id, parent_id"),
            ("expected", "insert does not take this field"),
        ],
    );
    check_operation(
        json!({ "op": "insert", "node_id": "000000ab", "parent_id": node, "kind": "title" }),
        &[("node_id", "a tail of an ID"), ("kind", "\"title\" is not taken")],
    );
    check_operation(json!({ "op": "remove", "node_id": node }), &[("expected", "exact text")]);
    check_operation(
        json!({ "op": "remove", "node_id": "ab", "expected": "" }),
        &[("node_id", "8 or more hex digits")],
    );
    check_operation(json!("remove"), &[("", "must be an object, not the string \"remove\"")]);
}

#[test]
fn fields_that_exclude_or_need_each_other() {
    let n = NODE;
    check_operation(
        json!({ "op": "move", "node_id": n, "expected": "", "parent_id": n, "after_node_id": n, "at_end": true }),
        &[("at_end", "in place of after_node_id")],
    );
    check_operation(
        json!({ "op": "add_tag", "node_id": n, "expected": "" }),
        &[("tag", "exactly one")],
    );
    check_operation(
        json!({ "op": "remove_tag", "node_id": n, "expected": "", "tag": "a", "tag_id": n }),
        &[("tag_id", "exactly one")],
    );
    let inline = |inline: Value| json!({ "op": "insert_inline", "node_id": n, "expected": "", "at_utf8": 0, "inline": inline });
    check_operation(
        inline(json!({ "type": "document" })),
        &[("inline.document_id", "names a document_id")],
    );
    check_operation(
        inline(json!({ "type": "attachment", "document_id": n })),
        &[("inline.file_id", "names a file_id"), ("inline.document_id", "has no document_id")],
    );
    check_operation(
        inline(json!({ "type": "document", "document_id": n, "lable": "x" })),
        &[("inline.lable", "did you mean label?")],
    );
    let added = json!({ "type": "document", "document_id": n, "at_utf8": 3, "title": "T", "name": null, "lifecycle": "live", "resolved": {} });
    Call::parse("edit_document", edit(json!([inline(added)]))).unwrap();
    check(
        "create_document",
        json!({ "workspace_id": WORKSPACE, "title": "T", "initial_operations": [
            { "op": "insert", "node_id": n, "parent_id": n, "kind": "paragraph" },
            { "op": "remove", "node_id": n, "expected": "" } ] }),
        &[
            ("initial_operations[1].op", "remove is for edit_document"),
            ("root_node_id", "is required with initial_operations"),
        ],
        "",
    );
    check(
        "read_document",
        json!({ "workspace_id": WORKSPACE, "document_id": DOCUMENT, "after_node_id": n }),
        &[("revision", "is required with after_node_id")],
        "",
    );
}

#[test]
fn a_batch_has_one_operation_to_ten_thousand() {
    check("edit_document", edit(json!([])), &[("operations", "is empty; give 1 or more")], "");
    let many = vec![json!({ "op": "remove", "node_id": NODE, "expected": "" }); 10_001];
    check(
        "edit_document",
        edit(many.clone().into()),
        &[("operations", "holds 10001; the limit is 10000")],
        "",
    );
    Call::parse("edit_document", edit(many[1..].into())).unwrap();
}

/// Case C20.
#[test]
fn structures_that_come_as_strings_are_taken_and_texts_are_not_parsed() {
    let operations = json!([
        { "op": "insert", "node_id": NODE, "parent_id": NODE, "at_end": true, "kind": "code", "text": "[1,2]" },
        { "op": "replace_text", "node_id": NODE, "expected": "{\"a\":1}", "text": "null" },
        { "op": "insert_inline", "node_id": NODE, "expected": "true", "at_utf8": 10,
          "inline": { "type": "attachment", "file_id": NODE, "label": "7" } },
    ]);
    let plain = Call::parse("edit_document", edit(operations.clone())).unwrap();
    let as_one = edit(operations.to_string().into());
    assert_eq!(Call::parse("edit_document", as_one.clone()).unwrap(), plain);
    assert_eq!(Call::parse("edit_document", as_one.to_string().into()).unwrap(), plain);
    let mut each: Vec<Value> = operations.as_array().unwrap().clone();
    each[0]["at_end"] = json!("true");
    each[2]["at_utf8"] = json!("10");
    each[2]["inline"] = each[2]["inline"].to_string().into();
    let each: Vec<Value> = each.iter().map(|operation| operation.to_string().into()).collect();
    assert_eq!(Call::parse("edit_document", edit(each.into())).unwrap(), plain);

    let list = |page_size: Value| json!({ "workspace_id": WORKSPACE, "page_size": page_size });
    let Call::ListDocuments(taken) = Call::parse("list_documents", list(json!("10"))).unwrap()
    else {
        panic!()
    };
    assert_eq!(taken.page_size, Some(10));
    Call::parse("list_documents", list(json!(10.0))).unwrap();
    for wrong in [
        json!("ten"),
        json!(""),
        json!("null"),
        json!("[10]"),
        json!("1.5"),
        json!(true),
        json!(1e30),
        json!("1001"),
    ] {
        check("list_documents", list(wrong), &[("page_size", "an integer from 1 to 1000")], "");
    }
    for wrong in [json!("yes"), json!("True"), json!(1), json!("")] {
        let arguments =
            json!({ "workspace_id": WORKSPACE, "document_id": DOCUMENT, "compact": wrong });
        check("read_document", arguments, &[("compact", "must be true or false")], "");
    }
    check("edit_document", edit("[{\"op\":".into()), &[("operations", "must be an array")], "");
}

/// Case C21.
#[test]
fn null_is_absence_and_an_empty_string_is_none() {
    for tool in tools::all() {
        let required: Vec<&str> = tool
            .input_schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let properties = tool.input_schema["properties"].as_object().unwrap();
        let mut least = json!({});
        for name in &required {
            least[*name] = match *name {
                "uri" => json!("koru://docs/model"),
                "operations" => json!([{ "op": "remove", "node_id": NODE, "expected": "" }]),
                name if name.ends_with("_id") => json!(WORKSPACE),
                _ => json!("x"),
            };
        }
        let plain = Call::parse(tool.name, least.clone()).unwrap();
        let mut nulls = least.clone();
        nulls["wait_for_previous"] = json!(true);
        for name in properties.keys().filter(|name| !required.contains(&name.as_str())) {
            nulls[name.as_str()] = Value::Null;
            for wrong in ["", "null"] {
                let texts =
                    ["title", "label", "message", "revision", "before_at", "new_document_title"];
                let is_text = texts.contains(&name.as_str());
                let mut with = least.clone();
                with[name.as_str()] = json!(wrong);
                assert_eq!(
                    Call::parse(tool.name, with).is_ok(),
                    is_text,
                    "{} {name} {wrong:?}",
                    tool.name
                );
            }
        }
        assert_eq!(Call::parse(tool.name, nulls).unwrap(), plain);
        if required.is_empty() {
            assert_eq!(Call::parse(tool.name, Value::Null).unwrap(), plain);
        }
        for name in required {
            let mut without = least.clone();
            without[name] = Value::Null;
            check(tool.name, without, &[(name, "required field is missing")], "");
        }
    }
    // The flat object offers every field to every operation, and some clients fill in all of them.
    let filled = json!({ "op": "set_language", "node_id": NODE, "expected": "", "language": null,
        "text": null, "tag": null, "at_end": null, "value": null });
    Call::parse("edit_document", edit(json!([filled]))).unwrap();
    let nested =
        json!({ "op": "remove", "node_id": NODE, "expected": "", "wait_for_previous": true });
    check_operation(nested, &[("wait_for_previous", "unknown field")]);
}

/// Case C22.
#[test]
fn digits_are_kept() {
    let value = |json: &str| {
        let operation = format!(
            r#"{{"op":"set_attribute","node_id":"{NODE}","expected":"","key":"k","value":{{"kind":"number","value":{json}}}}}"#
        );
        let operation: Value = serde_json::from_str(&operation).unwrap();
        let Call::EditDocument(edit) =
            Call::parse("edit_document", edit(json!([operation]))).unwrap()
        else {
            panic!()
        };
        let Some(Operation::SetAttribute(set)) = edit.operations.into_iter().next() else {
            panic!()
        };
        set.value.value
    };
    for digits in [
        "1",
        "-0.10",
        "9007199254740993",
        "0.1000000000000000055511151231257827",
        "123456789012345678901234567890.5",
        "1e400",
    ] {
        assert_eq!(value(digits).replace('+', ""), digits);
        assert_eq!(value(&format!("\"{digits}\"")), digits);
    }
    assert_eq!(value("true"), "true");
    check(
        "list_tags",
        json!({ "workspace_id": 9_007_199_254_740_993_u64 }),
        &[("workspace_id", "must be a string, not a number")],
        "",
    );
}

#[test]
fn an_error_stays_small_whatever_it_is_told() {
    let mut flood = json!({ "workspace_id": "x".repeat(1_000_000) });
    for index in 0..100_000 {
        flood[format!("field_{index}_{}", "y".repeat(50))] = json!("\u{1}".repeat(5));
    }
    let begun = std::time::Instant::now();
    let error = refusal("list_tags", flood);
    assert!(begun.elapsed().as_secs() < 2, "{:?}", begun.elapsed());
    assert!(error.message.starts_with("More than 50 faults"), "{}", error.message);
    let controls = json!({ "workspace_id": WORKSPACE, "\u{1}".repeat(500): 1 });
    refusal("list_tags", controls);
    let bad = vec![json!({ "op": "nothing", "surplus": 1 }); 10_000];
    refusal("edit_document", edit(bad.into()));
    assert_eq!(
        refusal("list_tag", json!({})).message,
        "There is no such tool. Did you mean list_tags?"
    );
}
