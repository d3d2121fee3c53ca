//! `history` and `document extract`, by a person.

use koru_tests::support::documents::{Page, id, insert, replace, text};
use koru_tests::support::home::Home;
use serde_json::{Value, json};

/// What a command prints that must succeed.
fn ok(home: &Home, arguments: &[&str]) -> String {
    let output = home.run(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("output in UTF-8")
}

fn json_of(home: &Home, arguments: &[&str]) -> Value {
    serde_json::from_str(&ok(home, arguments)).expect("one JSON object")
}

fn fails(home: &Home, arguments: &[&str]) -> Option<i32> {
    let output = home.run(arguments);
    assert!(!output.status.success(), "{arguments:?}: {output:?}");
    assert!(!output.stderr.is_empty(), "{arguments:?} says why");
    output.status.code()
}

#[test]
fn versions_are_listed_shown_compared_restored_and_saved() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::new(&bridge, "Plan", &[("paragraph", "buy red apples"), ("task", "call")]);
    page.change(&bridge, &[replace(&page.nodes[0], "buy red apples", "buy green apples")]);
    ok(&home, &["history", "save", "Plan", "--label", "Good", "--message", "two\nlines"]);
    page.change(&bridge, &[insert(&id(), &page.root, "quote", "said")]);

    let shown = ok(&home, &["history", "list", "Plan"]);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 5, "a heading, and a change with its two markers on one line: {shown}");
    assert!(
        lines[1].contains("5 > 6") && lines[1].contains("edit") && lines[1].contains("koru-tests"),
        "{shown}"
    );
    assert!(lines[2].contains("saved") && lines[2].contains("Good two lines"), "{shown}");
    assert!(lines[2].contains("koru-mcp"), "{shown}");
    assert!(lines[4].contains("created"), "{shown}");
    assert_eq!(ok(&home, &["history", "list", "Plan", "--limit", "1"]).lines().count(), 2);
    let listed = bridge.ok("list_document_versions", page.this());
    assert_eq!(json_of(&home, &["history", "list", "Plan", "--json"]), listed);
    let saved = text(&listed["entries"][2]["id"]);

    assert!(ok(&home, &["history", "show", "Plan", "1"]).contains("buy red apples"));
    let by_id = json_of(&home, &["history", "show", "Plan", &saved, "--json"]);
    let read = json!({ "workspace_id": page.workspace, "entry_id": saved });
    assert_eq!(by_id, bridge.ok("read_document_version", read));

    let diff = ok(&home, &["history", "diff", "Plan", "1", "3"]);
    assert!(
        diff.contains("buy [-red-][+green+] apples") && diff.contains("2 nodes are unchanged"),
        "{diff}"
    );
    assert!(!diff.contains('\u{1b}'), "no colours into a pipe");
    let now = ok(&home, &["history", "diff", "Plan", "4"]);
    assert!(now.starts_with("+ quote") && now.contains("said"), "{now}");
    let compared = json_of(&home, &["history", "diff", "Plan", "1", "--json"]);
    assert_eq!(compared["changes"].as_array().map(Vec::len), Some(2));

    assert!(ok(&home, &["history", "restore", "Plan", "1"]).contains("version 8"));
    assert_eq!(page.texts(&bridge), ["buy red apples", "call"]);
    assert!(ok(&home, &["history", "list", "Plan"]).contains("restore"));

    for wrong in [
        &["history", "show", "Plan", "99"][..],
        &["history", "show", "Plan", &id()],
        &["history", "diff", "Plan", "1", "nonsense"],
        &["history", "restore", "Plan", "0"],
        &["history", "list", "Nothing"],
        &["history", "save", "Plan", "--label", "two\nlines"],
    ] {
        assert_eq!(fails(&home, wrong), Some(1), "{wrong:?}");
    }
    assert_eq!(fails(&home, &["history", "diff", "Plan"]), Some(2));
    // A version is one of the document that is named.
    let other = Page::of_lines(&bridge, "Other", 1);
    assert_eq!(fails(&home, &["history", "show", "Other", &saved]), Some(1));
    assert_eq!(fails(&home, &["history", "diff", "Other", &saved]), Some(1));
    assert_eq!(fails(&home, &["history", "restore", "Other", &saved]), Some(1));
    assert_eq!(other.texts(&bridge), ["line 0"]);
}

#[test]
fn blocks_are_taken_out_to_a_new_document_and_to_one_that_is_there() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Source", 4);
    let target = Page::new(&bridge, "Target", &[("heading", "Here")]);
    let tail = |node: &str| node.chars().skip(28).collect::<String>();
    let told = ok(
        &home,
        &["document", "extract", "Source", &tail(&page.nodes[0]), &page.nodes[2], "--new", "New"],
    );
    let new = told.split_whitespace().last().expect("an ID").to_owned();
    let shown = ok(&home, &["document", "show", "New"]);
    assert!(shown.contains("line 0") && shown.contains("line 2"), "{shown}");
    let read =
        bridge.ok("read_document", json!({ "workspace_id": page.workspace, "document_id": new }));
    assert_eq!(read["nodes"][1]["node_id"], page.nodes[0]);
    ok(
        &home,
        &[
            "document",
            "extract",
            "Source",
            &page.nodes[1],
            "--into",
            "Target",
            "--under",
            &tail(&target.nodes[0]),
        ],
    );
    assert_eq!(target.texts(&bridge), ["Here", "line 1"]);
    for (wrong, code) in [
        (&["document", "extract", "Source", &page.nodes[3]][..], 2),
        (&["document", "extract", "Source", "--new", "X"], 2),
        (&["document", "extract", "Source", &page.nodes[3], "--new", "X", "--into", "Target"], 2),
        (
            &["document", "extract", "Source", &page.nodes[3], "--new", "X", "--under", "12345678"],
            2,
        ),
        (&["document", "extract", "Source", &page.nodes[3], "--into", "Source"], 1),
        (&["document", "extract", "Source", &page.nodes[0], "--new", "X"], 1),
        (&["document", "extract", "Source", &page.root, "--new", "X"], 1),
    ] {
        assert_eq!(fails(&home, wrong), Some(code), "{wrong:?}");
    }
}
