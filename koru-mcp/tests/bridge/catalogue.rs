//! What the bridge tells without the service, on both lifecycles.

use serde_json::{Value, json};

use super::client::{Bridge, call, modern};

fn request(id: i64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

#[test]
fn initialize_names_the_server_and_its_two_capabilities() {
    let mut bridge = Bridge::start(&[]);
    let answer = bridge.initialize();
    let result = &answer["result"];
    assert_eq!(result["serverInfo"]["name"], "koru");
    assert_eq!(result["serverInfo"]["title"], "Koru");
    assert_eq!(result["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(result["protocolVersion"], "2025-06-18");
    assert_eq!(result["capabilities"], json!({ "tools": {}, "resources": {} }));
    let instructions = result["instructions"].as_str().unwrap();
    assert!(instructions.contains("koru://docs/model") && instructions.chars().count() <= 1_900);
}

#[test]
fn the_newest_revision_needs_no_initialize() {
    let mut bridge = Bridge::start(&[]);
    let discovered = bridge.ask(&modern(1, "server/discover", json!({})));
    assert!(
        discovered["result"]["supportedVersions"]
            .as_array()
            .unwrap()
            .contains(&json!("2026-07-28")),
        "{discovered}"
    );
    let listed = bridge.ask(&modern(2, "tools/list", json!({})));
    assert_eq!(listed["result"]["resultType"], "complete");
    assert!(listed["result"]["ttlMs"].as_u64().unwrap() > 0);
    let read = bridge.ask(&modern(
        3,
        "tools/call",
        json!({ "name": "get_documentation", "arguments": { "uri": "koru://docs/model" } }),
    ));
    assert_eq!(read["result"]["resultType"], "complete");
    assert_eq!(read["result"]["isError"], false);
    let bare = bridge.ask(&request(4, "tools/list", json!({})));
    assert_eq!(bare["error"]["code"], -32602);
    let missing = bridge.ask(&modern(5, "resources/read", json!({ "uri": "koru://other" })));
    assert_eq!(missing["error"]["code"], -32602);
}

#[test]
fn tools_are_listed_in_one_reply_with_all_hints() {
    let mut bridge = Bridge::initialized(&[]);
    let answer = bridge.ask(&request(1, "tools/list", json!({})));
    let result = &answer["result"];
    assert!(result.get("nextCursor").is_none() && result.get("resultType").is_none());
    let tools = result["tools"].as_array().unwrap();
    assert_eq!(tools[0]["name"], "get_documentation");
    for tool in tools {
        let hints = &tool["annotations"];
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(hints[hint].is_boolean(), "{tool}");
        }
        assert_eq!(hints["openWorldHint"], false);
        assert!(tool.get("outputSchema").is_none() && tool["title"].is_string());
    }
    for cursor in ["koru-tools-1", "", "x"] {
        let answer = bridge.ask(&request(2, "tools/list", json!({ "cursor": cursor })));
        assert_eq!(answer["error"]["code"], -32602);
    }
}

#[test]
fn pages_give_the_same_tools_in_the_same_order() {
    let mut whole = Bridge::initialized(&[]);
    let listed = whole.ask(&request(1, "tools/list", json!({})));
    let mut paged = Bridge::initialized(&["--tool-pages", "on"]);
    let mut tools = Vec::new();
    let mut params = json!({});
    loop {
        let answer = paged.ask(&request(1, "tools/list", params));
        let result = &answer["result"];
        assert!(result.to_string().len() < 7_000);
        tools.extend(result["tools"].as_array().unwrap().iter().cloned());
        match result.get("nextCursor") {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => break,
        }
    }
    assert_eq!(Value::Array(tools), listed["result"]["tools"]);
    let bad = paged.ask(&request(2, "tools/list", json!({ "cursor": "x" })));
    assert_eq!(bad["error"]["code"], -32602);
}

#[test]
fn the_documentation_is_a_resource_and_a_tool() {
    let mut bridge = Bridge::initialized(&[]);
    let listed = bridge.ask(&request(1, "resources/list", json!({})));
    let resources = listed["result"]["resources"].as_array().unwrap();
    assert_eq!(resources.len(), 1);
    assert_eq!(resources[0]["uri"], "koru://docs/model");
    assert_eq!(resources[0]["mimeType"], "text/markdown");
    let read = bridge.ask(&request(2, "resources/read", json!({ "uri": "koru://docs/model" })));
    let told = bridge.ask(&call(3, "get_documentation", json!({ "uri": "koru://docs/model" })));
    let structured = &told["result"]["structuredContent"];
    assert_eq!(structured["text"], read["result"]["contents"][0]["text"]);
    let text = told["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(&serde_json::from_str::<Value>(text).unwrap(), structured);
    let missing = bridge.ask(&request(4, "resources/read", json!({ "uri": "koru://other" })));
    assert_eq!(missing["error"]["code"], -32002);
    let templates = bridge.ask(&request(5, "resources/templates/list", json!({})));
    assert_eq!(templates["result"]["resourceTemplates"], json!([]));
}

#[test]
fn an_unknown_tool_is_a_fault_of_the_protocol() {
    let mut bridge = Bridge::initialized(&[]);
    let answer = bridge.ask(&call(1, "delete_everything", json!({})));
    assert_eq!(answer["error"]["code"], -32602);
}

#[test]
fn a_read_only_bridge_neither_lists_nor_takes_writes() {
    let mut bridge = Bridge::initialized(&["--read-only"]);
    let listed = bridge.ask(&request(1, "tools/list", json!({})));
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert!(tools.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true));
    let answer = bridge.ask(&call(2, "edit_document", json!({})));
    assert_eq!(answer["result"]["isError"], true);
    assert_eq!(answer["result"]["structuredContent"]["code"], "permission_denied");
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), answer["result"]["structuredContent"]);
}
