//! `tag`, by a person, while agents use the tags.

use koru_tests::support::bridge::Bridge;
use koru_tests::support::documents::{Page, id, operation, text};
use koru_tests::support::home::Home;
use serde_json::{Value, json};

fn ok(home: &Home, arguments: &[&str]) -> String {
    let output = home.run(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("output in UTF-8")
}

fn fails(home: &Home, arguments: &[&str]) -> (Option<i32>, String) {
    let output = home.run(arguments);
    assert!(!output.status.success(), "{arguments:?}: {output:?}");
    (output.status.code(), String::from_utf8(output.stderr).expect("output in UTF-8"))
}

fn tag(op: &str, page: &Page, node: usize, name: &str) -> Value {
    operation(op, &page.nodes[node], &format!("line {node}"), json!({ "tag": name }))
}

/// The tags that a read shows on a node, short and in full.
fn carried(bridge: &Bridge, page: &Page, node: usize) -> Vec<String> {
    let full = page.node(bridge, &page.nodes[node])["tags"].clone();
    let full: Vec<String> =
        full.as_array().into_iter().flatten().map(|tag| text(&tag["name"])).collect();
    let compact = json!({ "node_id": page.nodes[node], "compact": true });
    let compact = bridge.ok("read_document", page.reading(compact))["nodes"][0]["tags"].clone();
    let compact: Vec<String> = compact.as_array().into_iter().flatten().map(text).collect();
    assert_eq!(full, compact);
    full
}

fn listed(bridge: &Bridge, page: &Page) -> Vec<(String, u64)> {
    let listed = bridge.ok("list_tags", json!({ "workspace_id": page.workspace }));
    let tags = listed["tags"].as_array().cloned().unwrap_or_default();
    tags.iter().map(|tag| (text(&tag["name"]), tag["uses"].as_u64().unwrap_or(0))).collect()
}

fn pairs(tags: &[(&str, u64)]) -> Vec<(String, u64)> {
    tags.iter().map(|(name, uses)| ((*name).to_owned(), *uses)).collect()
}

#[test]
fn a_rename_shows_everywhere_and_changes_no_document() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Tagged", 2);
    let revision = page.change(
        &bridge,
        &[tag("add_tag", &page, 0, "family/calls"), tag("add_tag", &page, 1, "Family")],
    );
    ok(&home, &["tag", "rename", "#FAMILY", "kin/near"]);
    let after = pairs(&[("kin", 0), ("kin/near", 1), ("kin/near/calls", 1)]);
    assert_eq!(listed(&bridge, &page), after);
    assert_eq!(carried(&bridge, &page, 0), ["kin/near/calls"]);
    assert_eq!(carried(&bridge, &page, 1), ["kin/near"]);
    assert_eq!(page.now(&bridge), revision, "no document changed");
    // The revision from before the rename is good for the next edit.
    let edit = tag("remove_tag", &page, 0, "Kin/Near/Calls");
    bridge.ok("edit_document", page.edit(&revision, &[edit]));
    assert!(carried(&bridge, &page, 0).is_empty());

    let json = ok(&home, &["tag", "list", "--json"]);
    let json: Value = serde_json::from_str(&json).expect("one JSON object");
    assert_eq!(json, bridge.ok("list_tags", json!({ "workspace_id": page.workspace })));
    let shown = ok(&home, &["tag", "list"]);
    let lines: Vec<Vec<&str>> =
        shown.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["TAG", "USES", "ID"]);
    assert_eq!(lines[2], ["kin/near", "1", json["tags"][1]["tag_id"].as_str().unwrap_or("")]);
    let by_id = text(&json["tags"][1]["tag_id"]);
    ok(&home, &["tag", "rename", &by_id, "Near"]);
    assert_eq!(listed(&bridge, &page), pairs(&[("kin", 0), ("Near", 1), ("Near/calls", 0)]));
}

#[test]
fn merged_tags_are_one_for_agents_and_in_versions() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Tagged", 3);
    let first = page.change(
        &bridge,
        &[
            tag("add_tag", &page, 0, "phone"),
            tag("add_tag", &page, 0, "calls"),
            tag("add_tag", &page, 1, "phone/late"),
            tag("add_tag", &page, 2, "phone"),
        ],
    );
    let all = bridge.ok("list_tags", json!({ "workspace_id": page.workspace }));
    let phone = text(&all["tags"][1]["tag_id"]);
    assert_eq!(all["tags"][1]["name"], "phone");
    let told = ok(&home, &["tag", "merge", "phone", "calls"]);
    assert!(told.contains("calls is on 2 nodes"), "{told}");
    assert_eq!(listed(&bridge, &page), pairs(&[("calls", 2), ("calls/late", 1)]));
    assert_eq!(carried(&bridge, &page, 0), ["calls"], "once, where a node carried both");
    assert_eq!(carried(&bridge, &page, 1), ["calls/late"]);
    // What is there already is no change, by either ID; nor is a difference between the two.
    let add = operation("add_tag", &page.nodes[2], "line 2", json!({ "tag_id": phone }));
    let again =
        bridge.ok("edit_document", page.edit(&first, &[add, tag("add_tag", &page, 2, "calls")]));
    assert_eq!(again["revision"], first);
    page.change(
        &bridge,
        &[tag("remove_tag", &page, 0, "calls"), tag("remove_tag", &page, 2, "calls")],
    );
    assert!(carried(&bridge, &page, 0).is_empty() && carried(&bridge, &page, 2).is_empty());
    assert_eq!(listed(&bridge, &page), pairs(&[("calls", 0), ("calls/late", 1)]));
    page.change(&bridge, &[tag("add_tag", &page, 2, "calls")]);

    // Versions from before the merge tell of the tag that there is.
    let entries = bridge.ok("list_document_versions", page.this())["entries"].clone();
    let entry = entries.as_array().and_then(|all| all.iter().find(|one| one["version"] == 3));
    let entry = entry.map(|entry| text(&entry["id"])).expect("the version that tagged");
    let then = bridge.ok(
        "read_document_version",
        json!({ "workspace_id": page.workspace, "entry_id": entry, "compact": true }),
    );
    assert_eq!(then["nodes"][1]["tags"], json!(["calls"]));
    let compared = bridge.ok(
        "compare_document_versions",
        json!({ "workspace_id": page.workspace, "left_entry_id": entry }),
    );
    let changes = compared["changes"].as_array().expect("changes");
    assert_eq!(changes.len(), 1, "line 2 carries the same tag under its other ID: {compared}");
    assert_eq!(changes[0]["tags"]["removed"][0]["name"], "calls");
    assert_eq!(changes[0]["tags"]["removed"].as_array().map(Vec::len), Some(1));
    let restore = page.reading(json!({ "entry_id": entry, "base_revision": page.now(&bridge) }));
    bridge.ok("restore_document_version", restore);
    assert_eq!(carried(&bridge, &page, 0), ["calls"]);
    assert_eq!(listed(&bridge, &page), pairs(&[("calls", 2), ("calls/late", 1)]));

    // The service remembers after its end.
    home.stop_service();
    assert_eq!(listed(&bridge, &page), pairs(&[("calls", 2), ("calls/late", 1)]));
    assert_eq!(carried(&bridge, &page, 1), ["calls/late"]);
}

#[test]
fn a_tag_in_use_is_removed_by_force_alone() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Tagged", 2);
    page.change(&bridge, &[tag("add_tag", &page, 0, "a/b"), tag("add_tag", &page, 1, "keep")]);
    let (code, said) = fails(&home, &["tag", "remove", "a/b"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("1 node") && said.contains("precondition_failed"), "{said}");
    assert_eq!(fails(&home, &["tag", "remove", "a"]).0, Some(1), "a tag lies below it");
    ok(&home, &["document", "trash", "Tagged"]);
    assert_eq!(fails(&home, &["tag", "remove", "a/b"]).0, Some(1), "the trash counts");
    ok(&home, &["document", "untrash", "Tagged"]);
    ok(&home, &["tag", "remove", "a", "--force"]);
    assert!(carried(&bridge, &page, 0).is_empty());
    assert_eq!(listed(&bridge, &page), pairs(&[("keep", 1)]));
    // A new tag of that name is another one.
    page.change(&bridge, &[tag("add_tag", &page, 1, "a/b")]);
    assert_eq!(listed(&bridge, &page), pairs(&[("a", 0), ("a/b", 1), ("keep", 1)]));
    assert!(carried(&bridge, &page, 0).is_empty());
    page.change(&bridge, &[tag("remove_tag", &page, 1, "a/b")]);
    ok(&home, &["tag", "remove", "a/b"]);
    ok(&home, &["tag", "remove", "a"]);
    assert_eq!(listed(&bridge, &page), pairs(&[("keep", 1)]));
}

#[test]
fn what_cannot_be_is_said_and_changes_nothing() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Tagged", 1);
    page.change(&bridge, &[tag("add_tag", &page, 0, "a/b"), tag("add_tag", &page, 0, "c")]);
    let before = listed(&bridge, &page);
    for (arguments, says) in [
        (&["rename", "a", "C"][..], "Merge"),
        (&["rename", "a", "a/x"], "under itself"),
        (&["rename", "a", "x//y"], "empty level"),
        (&["rename", "nothing", "x"], "no tag nothing"),
        (&["merge", "a", "a"], "two tags"),
        (&["merge", "a", "a/b"], "below the source"),
        (&["merge", "a", &id()], "no tag"),
        (&["remove", "nothing\u{1b}[31m"], "no tag nothing\u{fffd}"),
        (&["list", "--workspace", "nowhere"], "no workspace nowhere"),
    ] {
        let (code, said) = fails(&home, &[&["tag"], arguments].concat());
        assert_eq!(code, Some(1), "{arguments:?}");
        assert!(said.contains(says), "{arguments:?}: {said}");
    }
    assert_eq!(fails(&home, &["tag", "rename", "a"]).0, Some(2));
    assert_eq!(fails(&home, &["tag"]).0, Some(2));
    assert_eq!(listed(&bridge, &page), before);
}
