//! Nothing is met with silence.

use serde_json::{Value, json};

use super::client::{Bridge, call};

const LIMIT: usize = 8 * 1024 * 1024;

fn error(answer: &Value) -> (i64, Value, String) {
    (
        answer["error"]["code"].as_i64().unwrap_or_default(),
        answer["id"].clone(),
        answer["error"]["data"]["code"].as_str().unwrap_or_default().to_owned(),
    )
}

#[test]
fn what_is_no_message_is_answered_and_the_session_lives_on() {
    let deep_object = format!(
        r#"{{"jsonrpc":"2.0","id":64,"method":"x","params":{}{}}}"#,
        "{\"a\":".repeat(64) + "1",
        "}".repeat(64)
    );
    let cases: Vec<(&[u8], i64, Value)> = vec![
        (b"garbage", -32700, Value::Null),
        (br#"{"jsonrpc":"2.0","id":3,"method":"ping""#, -32700, json!(3)),
        (br#"{"jsonrpc":"2.0","id":"half","method":"tools/call","params":{"name":"x","arguments":{"t":"\ud83d"}}}"#, -32700, json!("half")),
        (b"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"p\xff\"}", -32700, json!(4)),
        (b"\xff\xfe", -32700, Value::Null),
        (br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600, Value::Null),
        (b"17", -32600, Value::Null),
        (br#"{"id":5,"method":"ping"}"#, -32600, json!(5)),
        (br#"{"jsonrpc":"1.0","id":5,"method":"ping"}"#, -32600, json!(5)),
        (br#"{"jsonrpc":"2.0","id":6}"#, -32600, json!(6)),
        (br#"{"jsonrpc":"2.0","id":6,"method":7}"#, -32600, json!(6)),
        (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, Value::Null),
        (br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600, Value::Null),
        (br#"{"jsonrpc":"2.0","id":7,"method":"ping","result":{}}"#, -32600, json!(7)),
        (br#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":5}}"#, -32600, json!(8)),
        (br#"{"jsonrpc":"2.0","id":8,"method":"tools/call"}"#, -32600, json!(8)),
        (br#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":[]}"#, -32600, json!(8)),
        (br#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"list_tags","arguments":[]}}"#, -32600, json!(8)),
        (br#"{"jsonrpc":"2.0","id":9,"method":"resources/read","params":{"uri":5}}"#, -32600, json!(9)),
        (br#"{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{"cursor":5}}"#, -32600, json!(9)),
        (deep_object.as_bytes(), -32600, json!(64)),
    ];
    let mut bridge = Bridge::initialized(&[]);
    for (line, code, id) in cases {
        bridge.send_bytes(line);
        bridge.send_bytes(b"\n");
        let answer = bridge.next();
        let shown = String::from_utf8_lossy(line);
        assert_eq!(error(&answer), (code, id, "invalid_request".into()), "{shown}: {answer}");
    }
    bridge.assert_quiet_and_alive();
}

#[test]
fn a_very_deep_line_is_no_danger() {
    let mut bridge = Bridge::initialized(&[]);
    bridge.send_bytes(&[b"[".repeat(1_000_000).as_slice(), b"\n"].concat());
    assert_eq!(bridge.next()["error"]["code"], -32600);
    bridge.assert_quiet_and_alive();
}

#[test]
fn a_line_over_the_limit_is_answered_with_its_id() {
    let mut bridge = Bridge::initialized(&[]);
    for head in [
        r#"{"jsonrpc":"2.0","id":41,"method":"tools/call","params":{"name":""#,
        r#"{"params":{"name":""#,
    ] {
        let tail = if head.contains("id") { "\"}}\n" } else { "\"},\"id\":41}\n" };
        bridge.send_bytes(head.as_bytes());
        bridge.send_bytes("x".repeat(LIMIT + 1).as_bytes());
        bridge.send_bytes(tail.as_bytes());
        let answer = bridge.next();
        assert_eq!(error(&answer), (-32600, json!(41), "too_large".into()));
        assert!(answer["error"]["message"].as_str().unwrap().contains("8388608"));
    }
    bridge.assert_quiet_and_alive();
}

#[test]
fn a_line_of_exactly_the_limit_is_a_call() {
    let mut bridge = Bridge::initialized(&[]);
    let frame = call(42, "no_such_tool", json!({ "t": "" })).to_string();
    let line =
        call(42, "no_such_tool", json!({ "t": "x".repeat(LIMIT - frame.len()) })).to_string();
    assert_eq!(line.len(), LIMIT);
    bridge.send_bytes(line.as_bytes());
    bridge.send_bytes(b"\n");
    let answer = bridge.next();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(42), &json!(-32602)));
}

#[test]
fn what_asks_for_nothing_gets_nothing() {
    let mut bridge = Bridge::start(&[]);
    for line in [
        "",
        "   ",
        "\r",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":7}"#,
        r#"{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}"#,
    ] {
        bridge.send_bytes(format!("{line}\n").as_bytes());
    }
    bridge.assert_quiet_and_alive();
    // A ping does not choose the lifecycle: a notification is still early.
    bridge.send_bytes(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    bridge.initialize();
    bridge.assert_quiet_and_alive();
}

#[test]
fn null_params_and_a_byte_order_mark_and_windows_line_ends_are_taken() {
    let mut bridge = Bridge::initialized(&[]);
    bridge.send_bytes(
        b"\xEF\xBB\xBF{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":null}\r\n",
    );
    assert!(bridge.next()["result"]["tools"].is_array());
    bridge.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\",\"params\":null}\n");
    assert!(bridge.next()["result"].is_object());
}

#[test]
fn an_unknown_method_is_not_found() {
    let mut bridge = Bridge::initialized(&[]);
    for method in ["no/such", "prompts/list", "logging/setLevel"] {
        let params =
            if method == "logging/setLevel" { json!({ "level": "info" }) } else { json!({}) };
        let answer =
            bridge.ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
        assert_eq!(answer["error"]["code"], -32601, "{answer}");
    }
}
