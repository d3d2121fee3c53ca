//! Section G: tags, attributes, dates.

use koru_tests::support::bridge::Reply;
use koru_tests::support::documents::{Page, operation, text};
use koru_tests::support::home::Home;
use serde_json::{Value, json};

fn tag(page: &Page, op: &str, name: &str) -> Value {
    operation(op, &page.nodes[0], "line 0", json!({ "tag": name }))
}

fn set(page: &Page, key: &str, kind: &str, value: &Value) -> Value {
    let value = json!({ "key": key, "value": { "kind": kind, "value": value } });
    operation("set_attribute", &page.nodes[0], "line 0", value)
}

fn held(home: &Home, page: &Page) -> Value {
    page.node(&home.bridge(), &page.nodes[0])["attributes"][0]["value"].clone()
}

#[test]
fn c58_one_rule_for_the_names_of_tags() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Tags", 1);
    let good = [
        ("a/b", "a/b"),
        ("two words", "two words"),
        ("🌍MOC", "🌍MOC"),
        ("‼", "‼"),
        ("2024", "2024"),
        ("#x", "x"),
        ("Ünï", "Ünï"),
        (" y ", "y"),
        ("a,b", "a,b"),
        ("say \"hi\"", "say \"hi\""),
    ];
    for (given, kept) in good {
        page.change(&bridge, &[tag(&page, "add_tag", given)]);
        page.change(&bridge, &[tag(&page, "add_tag", &given.to_uppercase())]);
        let tags = page.node(&bridge, &page.nodes[0])["tags"].clone();
        assert_eq!(tags.as_array().map(Vec::len), Some(1), "{given}: {tags}");
        assert_eq!(tags[0]["name"], kept);
        page.change(&bridge, &[tag(&page, "remove_tag", given)]);
        let tags = page.node(&bridge, &page.nodes[0])["tags"].clone();
        assert!(tags.is_null() || tags == json!([]), "{given}: {tags}");
    }
    for bad in ["/a", "a//b", "a/", "", "  ", "#", "line\nbreak", &"x".repeat(300)] {
        let refused = page.refused(&bridge, &[tag(&page, "add_tag", bad)]);
        assert_eq!(refused["code"], "invalid_request", "{bad:?}");
    }
    page.change(&bridge, &[tag(&page, "remove_tag", "never there")]);
}

#[test]
fn c59_values_are_stored_as_they_were_set() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Values", 1);
    for (key, kinds) in
        [("n", vec!["number"]), ("t", vec!["text"]), ("any", vec!["number", "text", "bool", "url"])]
    {
        let mut arguments = vec!["attribute", "define", key];
        for kind in kinds {
            arguments.extend(["--kind", kind]);
        }
        let done = home.run(&arguments);
        assert!(done.status.success(), "{done:?}");
    }
    let list = "one, \"two\", ['three']";
    for (kind, value) in [
        ("text", list),
        ("number", "12.50"),
        ("bool", "true"),
        ("url", "https://example.org/a?b=c"),
    ] {
        page.change(&bridge, &[set(&page, "any", kind, &json!(value))]);
        assert_eq!(held(&home, &page), json!({ "kind": kind, "value": value }));
    }
    let clash = page.refused(&bridge, &[set(&page, "n", "text", &json!("12"))]);
    assert_eq!(clash["code"], "attribute_rejected");
    for bad in ["javascript:alert(1)", "no url", "file:///etc/passwd"] {
        let refused = page.refused(&bridge, &[set(&page, "any", "url", &json!(bad))]);
        assert_eq!(refused["code"], "attribute_rejected", "{bad}");
    }
    let clear = operation("clear_attribute", &page.nodes[0], "line 0", json!({ "key": "any" }));
    page.change(&bridge, &[clear.clone(), clear]);
}

#[test]
fn c60_a_date_stays_that_date_in_every_zone() {
    for zone in ["Pacific/Kiritimati", "Pacific/Niue", "Asia/Kolkata", "Europe/Berlin"] {
        let home = Home::new();
        let mut command = home.command();
        command.args(["serve", "--stdio"]).env("TZ", zone);
        let bridge = koru_tests::support::bridge::Bridge::start(command);
        bridge.initialize("zones");
        let page = Page::of_lines(&bridge, "Dates", 1);
        for (kind, value) in [
            ("date", "2026-04-01"),
            ("date", "9999-12-31"),
            ("datetime_floating", "2026-03-29T02:30:00"),
            ("datetime_zoned", "2026-12-24T18:00:00+01:00[Europe/Berlin]"),
            ("datetime_zoned", "2026-12-24T18:00:00+05:30"),
            ("datetime_zoned", "2026-12-24T18:00:00Z"),
        ] {
            page.change(&bridge, &[set(&page, "koru.due", kind, &json!(value))]);
            let kept = page.node(&bridge, &page.nodes[0])["attributes"][0]["value"].clone();
            assert_eq!(kept, json!({ "kind": kind, "value": value }), "{zone}");
        }
        for (kind, bad) in [
            ("date", "2026-02-29"),
            ("date", "2026-13-01"),
            ("date", "1 April"),
            ("date", ""),
            ("datetime_zoned", "2026-12-24T18:00:00"),
            ("datetime_zoned", "2026-12-24T18:00:00+05:00[Europe/Berlin]"),
            ("datetime_floating", "2026-12-24T25:00:00"),
        ] {
            let refused = page.refused(&bridge, &[set(&page, "koru.due", kind, &json!(bad))]);
            assert_eq!(refused["code"], "attribute_rejected", "{kind} {bad}");
        }
    }
}

fn times(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                if name.ends_with("_at") {
                    found.push(text(field));
                }
                times(field, found);
            }
        }
        Value::Array(list) => list.iter().for_each(|one| times(one, found)),
        _ => {}
    }
}

#[test]
fn c61_every_time_is_in_utc_and_says_so() {
    let home = Home::new();
    let mut command = home.command();
    command.args(["serve", "--stdio"]).env("TZ", "Asia/Tokyo");
    let bridge = koru_tests::support::bridge::Bridge::start(command);
    bridge.initialize("times");
    let page = Page::of_lines(&bridge, "Times", 1);
    let mut found = Vec::new();
    for (tool, arguments) in [
        ("list_workspaces", json!({})),
        ("list_documents", json!({ "workspace_id": page.workspace })),
        ("save_document_version", page.this()),
        ("list_document_versions", page.this()),
    ] {
        times(&bridge.ok(tool, arguments), &mut found);
    }
    assert!(found.len() >= 5, "{found:?}");
    for time in found {
        assert!(time.ends_with('Z') && time.len() == "2026-12-24T18:00:00.000Z".len(), "{time}");
    }
}

#[test]
fn c62_text_that_looks_like_a_number_stays_text() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Kinds", 1);
    let done = home.run(&[
        "attribute",
        "define",
        "any",
        "--kind",
        "number",
        "--kind",
        "text",
        "--kind",
        "bool",
    ]);
    assert!(done.status.success(), "{done:?}");
    for text in ["007", "true", "2026-04-01", "", "1e3"] {
        page.change(&bridge, &[set(&page, "any", "text", &json!(text))]);
        assert_eq!(held(&home, &page), json!({ "kind": "text", "value": text }));
    }
    for number in ["0", "-0", "1e3", "0.1", "12345678901234567890.123"] {
        let edit = page.edit(&page.now(&bridge), &[set(&page, "any", "number", &json!(number))]);
        let Reply::Ok(_) = bridge.call("edit_document", edit) else {
            panic!("{number} was refused")
        };
        assert_eq!(held(&home, &page), json!({ "kind": "number", "value": number }));
    }
    page.change(&bridge, &[set(&page, "any", "number", &json!(12))]);
    assert_eq!(held(&home, &page), json!({ "kind": "number", "value": "12" }));
    page.change(&bridge, &[set(&page, "any", "bool", &json!(true))]);
    assert_eq!(held(&home, &page), json!({ "kind": "bool", "value": "true" }));
    for bad in ["NaN", "Infinity", "", "12a", " 1"] {
        let refused = page.refused(&bridge, &[set(&page, "any", "number", &json!(bad))]);
        assert_eq!(refused["code"], "attribute_rejected", "{bad:?}");
    }
}
