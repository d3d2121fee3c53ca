//! Section A: text and Unicode.

use koru_tests::support::bridge::{Bridge, Reply};
use koru_tests::support::documents::{
    Page, conflicts, id, insert, nodes, operation, personal, replace, text,
};
use koru_tests::support::home::Home;
use serde_json::json;

/// Replaces the text of the page's first node step by step, and reads each step back.
fn steps(bridge: &Bridge, texts: &[&str]) {
    let page = Page::new(bridge, "Steps", &[("paragraph", texts[0])]);
    for pair in texts.windows(2) {
        page.change(bridge, &[replace(&page.nodes[0], pair[0], pair[1])]);
        assert_eq!(page.texts(bridge), [pair[1]]);
    }
}

#[test]
fn c01_one_emoji_of_a_run_is_removed() {
    let home = Home::new();
    let bridge = home.bridge();
    steps(&bridge, &["😭😊", "😊"]);
    steps(&bridge, &["a😭b😊c", "a😊c", "a😊x😊c", "a😊x😊😭"]);
    steps(&bridge, &["👨‍👩‍👧‍👦🇯🇵", "🇯🇵", "🇯🇵👍🏽", "🇯👍🏽"]);
}

#[test]
fn c02_text_is_inserted_at_every_offset_or_refused_with_the_neighbours() {
    let home = Home::new();
    let bridge = home.bridge();
    let target = Page::of_lines(&bridge, "Target", 0);
    let token = format!("[[document:{}]]", target.document);
    for sample in ["Привет! One", "Καλημέρα", "नमस्ते", "สวัสดี", "abc مرحبا def"]
    {
        let page = Page::new(&bridge, "Offsets", &[("paragraph", sample)]);
        for at in 0..=sample.len() + 1 {
            let inline = json!({ "at_utf8": at, "inline": { "type": "document", "document_id": target.document } });
            let edit = operation("insert_inline", &page.nodes[0], sample, inline);
            if sample.is_char_boundary(at) {
                page.change(&bridge, &[edit]);
                let (before, after) = sample.split_at(at);
                let found = format!("{before}{token}{after}");
                assert_eq!(page.texts(&bridge), [found.as_str()]);
                page.change(&bridge, &[replace(&page.nodes[0], &found, sample)]);
            } else {
                let refused = page.refused(&bridge, &[edit]);
                assert_eq!(refused["code"], "invalid_request", "{sample} at {at}");
            }
        }
    }
}

#[test]
fn an_offset_inside_a_token_is_refused() {
    let home = Home::new();
    let bridge = home.bridge();
    let target = Page::of_lines(&bridge, "Target", 0);
    let says = format!("a[[document:{}]]b", target.document);
    let page = Page::new(&bridge, "Inside", &[("paragraph", &says)]);
    let link = |at: usize| {
        let inline = json!({ "at_utf8": at, "inline": { "type": "document", "document_id": target.document } });
        operation("insert_inline", &page.nodes[0], &says, inline)
    };
    for at in 2..says.len() - 1 {
        let refused = page.refused(&bridge, &[link(at)]);
        assert_eq!(refused["code"], "invalid_request", "at {at}");
    }
    page.change(&bridge, &[link(1)]);
}

#[test]
fn c03_emoji_before_a_link_do_not_shift_it() {
    let home = Home::new();
    let bridge = home.bridge();
    let target = Page::of_lines(&bridge, "World", 0);
    let says = format!("👨‍👩‍👧‍👦🇯🇵👍🏽 hello [[document:{}]] end", target.document);
    let page = Page::new(&bridge, "Marks", &[("paragraph", &says)]);
    let before = page.node(&bridge, &page.nodes[0]);
    let at = before["inlines"][0]["at_utf8"].as_u64();
    assert_eq!(at, says.find("[[").map(|at| at as u64));
    let shorter = says.replace("hello", "hi");
    page.change(&bridge, &[replace(&page.nodes[0], &says, &shorter)]);
    let after = page.node(&bridge, &page.nodes[0]);
    assert_eq!(after["text"], shorter);
    assert_eq!(after["inlines"][0]["at_utf8"].as_u64(), at.map(|at| at - 3));
    assert_eq!(after["inlines"][0]["document_id"], target.document);
}

#[test]
fn c04_quotes_and_dashes_are_what_was_sent() {
    let home = Home::new();
    let bridge = home.bridge();
    steps(&bridge, &["'%s'", "‘%s’", "'%s'"]);
    steps(&bridge, &["...", "…", "...", "„Wort“ — a\u{a0}b\u{ad}c", " trailing  "]);
}

#[test]
fn c05_composed_and_decomposed_titles_stay_as_typed() {
    let home = Home::new();
    let bridge = home.bridge();
    let (composed, decomposed) = ("\u{dc}bung \u{e9}", "U\u{308}bung e\u{301}");
    let first = Page::of_lines(&bridge, composed, 0);
    let second = Page::of_lines(&bridge, decomposed, 0);
    assert_eq!(nodes(&first.read(&bridge))[0]["text"], composed);
    assert_eq!(nodes(&second.read(&bridge))[0]["text"], decomposed);
    // Tags are compared by what they say, so that the two forms are one tag.
    let page = Page::of_lines(&bridge, "Tags", 1);
    let tag = |name: &str| operation("add_tag", &page.nodes[0], "line 0", json!({ "tag": name }));
    page.change(&bridge, &[tag(composed), tag(decomposed)]);
    let listed = bridge.ok("list_tags", json!({ "workspace_id": page.workspace }));
    let count = listed["tags"].as_array().map(Vec::len);
    let held = page.node(&bridge, &page.nodes[0])["tags"].as_array().map(Vec::len);
    assert_eq!(count, held, "the node and the list agree: {listed}");
}

const DOLLARS: &str = "price $$100, $& $1 $' $` \\0 \\n %s {0} ${x}";

#[test]
fn c06_dollar_sequences_are_stored_as_they_are() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::new(&bridge, DOLLARS, &[("paragraph", DOLLARS), ("code", DOLLARS)]);
    let twice = format!("{DOLLARS}{DOLLARS}");
    page.change(
        &bridge,
        &[
            replace(&page.nodes[0], DOLLARS, &twice),
            operation("add_tag", &page.nodes[1], DOLLARS, json!({ "tag": "$& $1" })),
        ],
    );
    assert_eq!(page.texts(&bridge), [twice.as_str(), DOLLARS]);
    assert_eq!(nodes(&page.read(&bridge))[0]["text"], DOLLARS);
    assert_eq!(page.node(&bridge, &page.nodes[1])["tags"][0]["name"], "$& $1");
}

#[test]
fn c07_control_characters_are_refused_by_one_rule() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Controls", 1);
    for bad in ['\0', '\u{1}', '\u{1b}', '\u{fffc}'] {
        let says = format!("foo{bad}bar baz");
        let edit = replace(&page.nodes[0], "line 0", &says);
        assert_eq!(page.refused(&bridge, &[edit])["code"], "invalid_request", "{bad:?}");
        let title = json!({ "workspace_id": page.workspace, "title": says });
        assert_eq!(bridge.err("create_document", title)["code"], "invalid_request", "{bad:?}");
        let tag = operation("add_tag", &page.nodes[0], "line 0", json!({ "tag": says }));
        assert_eq!(page.refused(&bridge, &[tag])["code"], "invalid_request", "{bad:?}");
    }
    steps(&bridge, &["x", "\u{feff}start\u{85}\u{2028}\ttab", "y"]);
}

#[test]
fn c08_line_ends_are_read_as_lf_everywhere() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::new(&bridge, "Ends", &[("paragraph", "a\r\nb\rc\nd"), ("code", "x\r\ny")]);
    assert_eq!(page.texts(&bridge), ["a\nb\nc\nd", "x\ny"]);
    page.change(&bridge, &[replace(&page.nodes[0], "a\r\nb\r\nc\r\nd", "a\rb")]);
    page.change(&bridge, &[replace(&page.nodes[1], "x\ny", "x\n\ny")]);
    assert_eq!(page.texts(&bridge), ["a\nb", "x\n\ny"]);
}

#[test]
fn c09_half_a_surrogate_pair_fails_its_call_alone() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Halves", 1);
    for (number, half) in [r"\ud99c bo", r"\udc00x", r"\ud83d\u0041"].iter().enumerate() {
        let call = json!({ "jsonrpc": "2.0", "id": format!("half {number}"), "method": "tools/call",
            "params": { "name": "edit_document", "arguments":
                page.edit(&page.revision, &[replace(&page.nodes[0], "line 0", "HALF")]) } });
        assert!(bridge.send_line(&call.to_string().replace("HALF", half)));
        let answer = bridge.message(&call["id"]).expect("an answer");
        assert!([-32700, -32600].contains(&answer["error"]["code"].as_i64().unwrap_or(0)));
        assert_eq!(answer["error"]["data"]["code"], "invalid_request", "{answer}");
    }
    assert_eq!(page.texts(&bridge), ["line 0"]);
    steps(&bridge, &["whole 😊 pair", "😊😊"]);
}

#[test]
fn c10_characters_that_look_alike_are_told_apart() {
    let home = Home::new();
    let bridge = home.bridge();
    for (stored, seen, name) in [
        ("pay\u{200b}ment", "payment", "U+200B"),
        ("a\u{a0}b", "a b", "U+00A0"),
        ("a\u{202e}b", "ab", "U+202E"),
        ("p\u{430}y", "pay", "U+0430"),
    ] {
        let page = Page::new(&bridge, "Alike", &[("paragraph", stored)]);
        let refused = page.refused(&bridge, &[replace(&page.nodes[0], seen, "new")]);
        assert_eq!(refused["code"], "precondition_failed");
        let difference = &conflicts(&refused)[0]["first_difference"];
        assert!(text(&difference["actual"]).contains(name), "{difference}");
        assert_eq!(page.texts(&bridge), [stored], "nothing is stripped");
    }
}

#[test]
fn control_characters_reach_no_line_of_the_protocol() {
    let home = Home::new();
    let bridge = home.bridge();
    let root = id();
    let call = json!({ "workspace_id": personal(&bridge), "title": "Lines", "root_node_id": root,
        "initial_operations": [insert(&id(), &root, "paragraph", "a\u{2028}b\u{2029}c\nd")] });
    assert!(matches!(bridge.call("create_document", call), Reply::Ok(_)));
}
