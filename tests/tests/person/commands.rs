//! Each command used well, and refused, with its exit code.

use koru_tests::support::documents::{Page, id, operation, personal, text};
use koru_tests::support::home::Home;
use koru_tests::support::until;
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

/// How a command ends that must not succeed; it says why, on stderr.
fn fails(home: &Home, arguments: &[&str]) -> Option<i32> {
    let output = home.run(arguments);
    assert!(!output.status.success(), "{arguments:?}: {output:?}");
    assert!(!output.stderr.is_empty() || !output.stdout.is_empty(), "{arguments:?} says why");
    output.status.code()
}

#[test]
fn calls_from_the_shell_are_calls_of_the_tools() {
    let home = Home::new();
    let listed = json_of(&home, &["call", "list_workspaces"]);
    assert_eq!(listed["workspaces"][0]["name"], "Personal");
    let workspace = text(&listed["workspaces"][0]["id"]);
    let new = json!({ "workspace_id": workspace, "title": "From the shell" }).to_string();
    let made = json_of(&home, &["call", "create_document", &new]);
    assert_eq!(made["nodes"][0]["text"], "From the shell");
    assert_eq!(fails(&home, &["call", "create_document", "{}"]), Some(1));
    assert_eq!(fails(&home, &["call", "no_such_tool"]), Some(1));
    assert_eq!(fails(&home, &["call"]), Some(2));
    assert_eq!(fails(&home, &["serve"]), Some(2));
    assert!(ok(&home, &["--version"]).contains(env!("CARGO_PKG_VERSION")));
}

#[test]
fn workspaces_are_made_renamed_archived_and_deleted() {
    let home = Home::new();
    let bridge = home.bridge();
    let personal = personal(&bridge);
    let work = ok(&home, &["workspace", "create", "Work"]).trim().to_owned();
    ok(&home, &["workspace", "rename", "Work", "Office"]);
    ok(&home, &["workspace", "archive", "Office"]);
    let listed = bridge.ok("list_workspaces", json!({}));
    assert_eq!(json_of(&home, &["workspace", "list", "--json"]), listed);
    let found =
        listed["workspaces"].as_array().and_then(|all| all.iter().find(|one| one["id"] == work));
    let found = found.expect("the new workspace");
    assert_eq!((&found["name"], &found["archived"]), (&json!("Office"), &json!(true)));
    let page = Page::new_in(&bridge, &work, "There", &[("paragraph", "kept")]);
    ok(&home, &["workspace", "delete", &work]);
    assert_eq!(page.texts(&bridge), ["kept"], "a deleted workspace can be read");
    let edit = koru_tests::support::documents::replace(&page.nodes[0], "kept", "x");
    let refused = bridge.err("edit_document", page.edit(&page.revision, &[edit]));
    assert_eq!(refused["code"], "permission_denied");
    ok(&home, &["workspace", "delete", &work, "--undo"]);
    bridge.ok("save_document_version", page.this());
    assert_eq!(fails(&home, &["workspace", "rename", "Nowhere", "X"]), Some(1));
    ok(&home, &["workspace", "archive", "Office", "--undo"]);
    assert_eq!(fails(&home, &["document", "list"]), Some(1), "there are two workspaces");
    ok(&home, &["document", "list", "--workspace", &personal]);
}

#[test]
fn documents_are_shown_moved_trashed_and_taken_back() {
    let home = Home::new();
    let bridge = home.bridge();
    let first = Page::new(&bridge, "First", &[("heading", "Section"), ("task", "Do it")]);
    let second = Page::of_lines(&bridge, "Second", 1);
    let shown = ok(&home, &["document", "show", "First"]);
    assert!(shown.contains("Section") && shown.contains("Do it"), "{shown}");
    assert_eq!(json_of(&home, &["document", "show", "First", "--json"]), first.read(&bridge));
    ok(&home, &["document", "move", "Second", "--under", "First"]);
    let listed = bridge.ok("list_documents", json!({ "workspace_id": first.workspace }));
    assert_eq!(json_of(&home, &["document", "list", "--json"]), listed);
    assert_eq!(listed["documents"][1]["parent"], first.document);
    assert!(ok(&home, &["document", "show", "First/Second"]).contains("line 0"));
    let tail: String =
        second.document.chars().rev().take(8).collect::<Vec<_>>().into_iter().rev().collect();
    assert!(ok(&home, &["document", "show", &tail]).contains("line 0"));
    assert_eq!(fails(&home, &["document", "move", "First", "--under", "First/Second"]), Some(1));
    ok(&home, &["document", "trash", "First"]);
    let edit = operation("set_done", &first.nodes[1], "Do it", json!({ "done": true }));
    let below = koru_tests::support::documents::replace(&second.nodes[0], "line 0", "x");
    for (page, edit) in [(&first, edit), (&second, below)] {
        let refused = bridge.err("edit_document", page.edit(&page.revision, &[edit]));
        assert_eq!(refused["code"], "document_trashed", "the trash covers what is under it");
    }
    ok(&home, &["document", "untrash", &first.document]);
    bridge.ok("save_document_version", second.this());
    assert_eq!(fails(&home, &["document", "show", &id()]), Some(1));
}

#[test]
fn attributes_are_defined_listed_and_removed_unless_used() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Attributes", 1);
    ok(&home, &["attribute", "define", "size", "--kind", "number", "--label", "Size"]);
    let listed = bridge.ok("list_attributes", json!({ "workspace_id": page.workspace }));
    assert_eq!(json_of(&home, &["attribute", "list", "--json"]), listed);
    let value = json!({ "key": "size", "value": { "kind": "number", "value": "7" } });
    let set = operation("set_attribute", &page.nodes[0], "line 0", value);
    page.change(&bridge, &[set]);
    assert_eq!(fails(&home, &["attribute", "remove", "size"]), Some(1));
    let clear = operation("clear_attribute", &page.nodes[0], "line 0", json!({ "key": "size" }));
    page.change(&bridge, &[clear]);
    ok(&home, &["attribute", "remove", "size"]);
    assert_eq!(fails(&home, &["attribute", "define", "koru.mine", "--kind", "text"]), Some(1));
    assert_eq!(fails(&home, &["attribute", "define", "size", "--kind", "colour"]), Some(2));
}

#[test]
fn the_service_is_started_asked_and_stopped() {
    let home = Home::new();
    assert_eq!(fails(&home, &["service", "status"]), Some(1));
    ok(&home, &["service", "start"]);
    let running = home.service_pids();
    assert_eq!(running.len(), 1);
    let status = json_of(&home, &["service", "status", "--json"]);
    assert_eq!(status["pid"], running[0]);
    ok(&home, &["service", "stop"]);
    until("the end of the service", || home.service_pids().is_empty().then_some(()));
    ok(&home, &["service", "stop"]);
}

#[test]
fn doctor_tells_whether_all_is_well() {
    let home = Home::new();
    let well = json_of(&home, &["doctor"]);
    assert_eq!(well["ok"], true, "{well}");
    assert_eq!(well["store"]["healthy"], true, "{well}");
    assert_eq!(well["problems"], json!([]));
    assert!(well["paths"].as_object().is_some_and(|paths| !paths.is_empty()));
    home.stop_service();
    // A store that is no database is told, kept, and not served.
    let database = home.folders().database();
    let noise: Vec<u8> = (0..20_000_u32).map(|byte| byte.to_le_bytes()[0] ^ 0x5a).collect();
    std::fs::write(&database, &noise).expect("the store is ours");
    for left in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{left}", database.display()));
    }
    let output = home.run(&["doctor"]);
    assert_eq!(output.status.code(), Some(1));
    let ill: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(ill["ok"], false);
    assert!(ill["problems"][0]["fix"].is_string(), "{ill}");
    assert_eq!(std::fs::read(&database).expect("it is there"), noise, "nothing is deleted");
}
