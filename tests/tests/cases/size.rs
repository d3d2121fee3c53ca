//! Section I: size and protocol limits.

use koru_tests::support::bridge::Reply;
use koru_tests::support::documents::{Page, id, insert, nodes, replace, text};
use koru_tests::support::home::Home;
use serde_json::{Value, json};

#[test]
fn c67_a_large_document_is_reached_by_parts_and_edited_by_one() {
    let home = Home::new();
    let bridge = home.bridge();
    let long = "word ".repeat(80);
    let texts: Vec<String> = (0..5000).map(|number| format!("{number} {long}")).collect();
    let all: Vec<(&str, &str)> = texts.iter().map(|text| ("paragraph", text.as_str())).collect();
    let page = Page::new(&bridge, "Large", &all);
    let mut more = json!({ "page_size": 2000, "compact": true });
    let mut found = Vec::new();
    loop {
        let read = bridge.ok("read_document", page.reading(more.clone()));
        assert!(read.to_string().len() <= 25 * 1024, "{}", read.to_string().len());
        found.extend(nodes(&read).iter().map(|node| text(&node["text"])));
        let Some(next) = read.get("next_after_node_id") else { break };
        more["after_node_id"] = next.clone();
        more["revision"] = read["revision"].clone();
    }
    assert_eq!(found.split_first().map(|(_, rest)| rest), Some(texts.as_slice()));
    let revision = page.change(&bridge, &[replace(&page.nodes[2500], &texts[2500], "middle")]);
    assert_eq!(page.node(&bridge, &page.nodes[2500])["text"], "middle");
    assert_eq!(page.now(&bridge), revision);

    let big = "y".repeat(1024 * 1024);
    let table = vec![vec!["cell"; 50].join("\t"); 80].join("\n");
    let other = Page::new(&bridge, "Big", &[("code", &big), ("table", &table)]);
    assert_eq!(other.texts(&bridge), [big.clone(), table]);
    let over = page.refused(&bridge, &[insert(&id(), &page.root, "code", &format!("{big}y"))]);
    assert_eq!(over["code"], "invalid_request");
}

#[test]
fn c67_a_read_beyond_the_limit_says_how_to_page() {
    let home = Home::new();
    let bridge = home.bridge();
    let big = "z".repeat(1000 * 1000);
    let page = Page::of_lines(&bridge, "Beyond", 0);
    for _ in 0..9 {
        page.change_blindly(&bridge, &[insert(&id(), &page.root, "code", &big)]);
    }
    let refused = bridge.err("read_document", page.this());
    assert_eq!(refused["code"], "too_large");
    assert!(text(&refused["message"]).contains("page_size"), "{refused}");
    let first = bridge.ok("read_document", page.reading(json!({ "page_size": 5 })));
    assert!(!nodes(&first).is_empty(), "a page holds at least one node");
}

#[test]
fn c68_requests_of_every_size_are_answered() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Sizes", 1);
    let mut says = "line 0".to_owned();
    for size in [4 << 10, 64 << 10, 1 << 20] {
        let new = "s".repeat(size);
        page.change(&bridge, &[replace(&page.nodes[0], &says, &new)]);
        says = new;
        assert_eq!(page.texts(&bridge), [says.as_str()]);
    }
    let line = |id: &str, size: usize| {
        let mut call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "list_tags",
            "arguments": { "workspace_id": page.workspace, "pad": "" } } });
        let bare = call.to_string().len();
        call["params"]["arguments"]["pad"] = json!("p".repeat(size - bare));
        call.to_string()
    };
    let limit = 8 * 1024 * 1024;
    for (name, size) in [("over by one", limit + 1), ("far over", 20 << 20)] {
        assert!(bridge.send_line(&line(name, size)));
        let answer = bridge.message(&json!(name)).expect("an answer");
        assert_eq!(answer["error"]["data"]["code"], "too_large", "{answer}");
    }
    assert!(bridge.send_line(&line("at the limit", limit)));
    let answer = bridge.message(&json!("at the limit")).expect("an answer");
    assert_eq!(answer["result"]["structuredContent"]["code"], "invalid_request");
    assert_eq!(page.texts(&bridge), [says.as_str()], "the connection goes on");
}

#[test]
fn c68_a_line_that_is_no_request_is_answered() {
    let home = Home::new();
    let bridge = home.bridge();
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    let mut nested = json!({ "jsonrpc": "2.0", "id": "deep", "method": "tools/list", "params": { "x": "DEEP" } })
        .to_string();
    nested = nested.replace("\"DEEP\"", &deep);
    assert!(bridge.send_line(&nested));
    let answer = bridge.message(&json!("deep")).expect("an answer");
    assert!(answer["error"]["code"].is_i64(), "{answer}");
    for bad in ["no JSON", "{\"jsonrpc\":\"2.0\"", "[]", "17"] {
        assert!(bridge.send_line(bad));
        let answer = bridge.other().expect("an answer");
        assert!(answer["error"]["code"].is_i64() && answer["id"] == Value::Null, "{bad}: {answer}");
    }
    assert!(matches!(bridge.call("list_workspaces", json!({})), Reply::Ok(_)));
}
