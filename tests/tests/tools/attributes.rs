//! `list_attributes`, and values of each kind.

use koru_tests::support::documents::{Page, id, operation, text};
use koru_tests::support::home::Home;
use serde_json::{Value, json};

fn set(page: &Page, key: &str, kind: &str, value: Value) -> Value {
    let value = json!({ "key": key, "value": { "kind": kind, "value": value } });
    operation("set_attribute", &page.nodes[0], "line 0", value)
}

#[test]
fn built_in_and_defined_keys_are_listed_with_their_uses() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Values", 1);
    let defined = home.run(&[
        "attribute",
        "define",
        "size",
        "--kind",
        "text",
        "--option",
        "S",
        "--option",
        "L",
    ]);
    assert!(defined.status.success(), "{defined:?}");
    page.change(&bridge, &[set(&page, "size", "text", json!("L"))]);
    let listed = bridge.ok("list_attributes", json!({ "workspace_id": page.workspace }));
    let all = listed["attributes"].as_array().expect("attributes");
    let find = |key: &str| all.iter().find(|one| one["key"] == key).expect("a listed key");
    for key in ["koru.due", "koru.priority", "koru.color", "koru.list"] {
        assert_eq!(find(key)["built_in"], true);
        assert_eq!(find(key)["uses"], 0);
    }
    assert_eq!(find("size")["built_in"], false);
    assert_eq!(find("size")["uses"], 1);
    assert_eq!(find("size")["options"], json!(["S", "L"]));
    let wrong = page.refused(&bridge, &[set(&page, "size", "text", json!("XL"))]);
    assert_eq!(wrong["code"], "attribute_rejected");
}

#[test]
fn wrong_keys_and_workspaces_are_refused() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Values", 1);
    let unknown = page.refused(&bridge, &[set(&page, "koru.du", "date", json!("2026-12-24"))]);
    assert_eq!(unknown["code"], "unknown_attribute");
    assert!(text(&json!(unknown.to_string())).contains("koru.due"), "the nearest is named");
    let denied = bridge.err("list_attributes", json!({ "workspace_id": id() }));
    assert_eq!(denied["code"], "permission_denied");
}
