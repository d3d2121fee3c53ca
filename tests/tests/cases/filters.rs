//! Case C56, second part: filters by tag and by each kind of value, alone and together; open tasks due this week, in
//! one call.

use koru_tests::support::bridge::Bridge;
use koru_tests::support::documents::{Page, operation, personal, text};
use koru_tests::support::home::Home;
use serde_json::{Value, json};

#[test]
fn c56_filters_find_by_tag_and_by_every_kind_of_value() {
    let home = Home::new();
    // A day begins when it begins for the user: here 14 hours before UTC.
    let mut command = home.command();
    command.args(["serve", "--stdio"]).env("TZ", "Pacific/Kiritimati");
    let bridge = Bridge::start(command);
    bridge.initialize("koru-tests");
    let workspace = personal(&bridge);
    for (key, kind) in [("size", "number"), ("note", "text"), ("flag", "bool"), ("site", "url")] {
        let defined = home.run(&["attribute", "define", key, "--kind", kind]);
        assert!(defined.status.success(), "{defined:?}");
    }
    let tasks =
        ["monday", "sunday", "next week", "night to monday", "done already", "no date", "later"];
    let nodes: Vec<(&str, &str)> = tasks.iter().map(|task| ("task", *task)).collect();
    let page = Page::new(&bridge, "Tasks", &nodes);
    let on = |number: usize, op: &str, fields: Value| {
        operation(op, &page.nodes[number], tasks[number], fields)
    };
    let set = |number: usize, key: &str, kind: &str, value: &str| {
        on(
            number,
            "set_attribute",
            json!({ "key": key, "value": { "kind": kind, "value": value } }),
        )
    };
    page.change(
        &bridge,
        &[
            set(0, "koru.due", "date", "2026-12-21"),
            set(1, "koru.due", "datetime_floating", "2026-12-27T23:59:59"),
            set(2, "koru.due", "date", "2026-12-28"),
            set(3, "koru.due", "datetime_zoned", "2026-12-20T12:00:00+01:00[Europe/Berlin]"),
            set(4, "koru.due", "date", "2026-12-22"),
            set(6, "koru.due", "datetime_zoned", "2026-12-27T10:00:00Z"),
            on(4, "set_done", json!({ "done": true })),
            set(0, "size", "number", "9007199254740993"),
            set(1, "size", "number", "9007199254740992"),
            set(2, "note", "text", "Call back"),
            set(3, "flag", "bool", "true"),
            set(4, "site", "url", "https://example.org/a"),
            on(1, "add_tag", json!({ "tag": "home/garden" })),
        ],
    );
    let found = |filters: Value| {
        let mut params = json!({ "query": "", "per": "node", "document_id": page.document,
            "workspace_ids": [workspace] });
        for (name, value) in filters.as_object().into_iter().flatten() {
            params[name] = value.clone();
        }
        let found = bridge.ok("search_documents", params);
        let hits = found["hits"].as_array().expect("hits").iter();
        let mut shown: Vec<String> = hits.map(|hit| text(&hit["snippet"])).collect();
        shown.sort();
        shown
    };
    let week =
        json!({ "key": "koru.due", "op": "between", "values": ["2026-12-21", "2026-12-27"] });
    assert_eq!(
        found(json!({ "done": false, "attributes": [week] })),
        ["monday", "night to monday", "sunday"],
        "open tasks due this week"
    );
    let one = |key: &str, op: &str, values: &[&str]| {
        let mut filter = json!({ "key": key, "op": op });
        if !values.is_empty() {
            filter["values"] = json!(values);
        }
        found(json!({ "kinds": ["task"], "attributes": [filter] }))
    };
    assert_eq!(one("koru.due", "missing", &[]), ["no date"]);
    assert_eq!(one("koru.due", "after", &["2026-12-27"]), ["later", "next week"]);
    assert_eq!(one("koru.due", "before", &["2026-12-22"]), ["monday", "night to monday"]);
    assert_eq!(one("size", "is", &["9007199254740993"]), ["monday"]);
    assert_eq!(one("note", "is", &["call BACK"]), ["next week"]);
    assert_eq!(one("flag", "is", &["true"]), ["night to monday"]);
    assert_eq!(one("site", "exists", &[]), ["done already"]);
    let exact: Value = serde_json::from_str("9007199254740992").expect("a number");
    let above = json!({ "key": "size", "op": "after", "numeric_values": [exact] });
    assert_eq!(found(json!({ "attributes": [above] })), ["monday"]);
    assert_eq!(found(json!({ "tags": ["home"] })), ["sunday"], "a parent covers what is under it");
    assert_eq!(found(json!({ "tags": ["home"], "done": true })), Vec::<String>::new());
}
