//! `get_documentation` and the resource with the same text.

use koru_tests::support::documents::{paths, text};
use koru_tests::support::home::Home;
use serde_json::json;

#[test]
fn the_tool_and_the_resource_say_the_same() {
    let home = Home::new();
    let bridge = home.bridge();
    let told = bridge.ok("get_documentation", json!({ "uri": "koru://docs/model" }));
    assert_eq!(told["mime_type"], "text/markdown");
    assert_eq!(told["uri"], "koru://docs/model");
    let missing = bridge.err("get_documentation", json!({}));
    assert_eq!(paths(&missing), ["uri"]);
    let resource = bridge.request("resources/read", json!({ "uri": "koru://docs/model" }));
    assert_eq!(resource["contents"][0]["text"], told["text"]);
    assert!(text(&told["text"]).contains("replace_text"));
    assert!(home.service_pids().is_empty(), "the documentation needs no service");
}

#[test]
fn another_address_is_refused() {
    let home = Home::new();
    let refused = home.bridge().err("get_documentation", json!({ "uri": "koru://docs/else" }));
    assert_eq!(refused["code"], "invalid_request");
    assert_eq!(paths(&refused), ["uri"]);
}
