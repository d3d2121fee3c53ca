//! What is wrong with a call about versions or an extraction: a code, a next step, and nothing changed.

use koru_tests::support::bridge::Bridge;
use koru_tests::support::documents::{Page, conflicts, id, insert, paths, replace, text};
use koru_tests::support::home::Home;
use serde_json::{Value, json};

use super::support::{entries, extracting, newest, restoring};

/// What a call must refuse; the documents and their histories stay as they were.
fn refused(bridge: &Bridge, pages: &[&Page], tool: &str, arguments: Value) -> Value {
    let seen = || -> Vec<(Value, usize)> {
        pages.iter().map(|page| (page.read(bridge), entries(bridge, page).len())).collect()
    };
    let documents = || bridge.ok("list_documents", json!({ "workspace_id": pages[0].workspace }));
    let (before, listed) = (seen(), documents());
    let error = bridge.err(tool, arguments);
    assert_eq!(seen(), before, "{error}");
    assert_eq!(
        documents()["documents"].as_array().map(Vec::len),
        listed["documents"].as_array().map(Vec::len)
    );
    error
}

#[test]
fn an_entry_is_one_of_this_workspace_and_document() {
    let home = Home::new();
    let bridge = home.bridge();
    let (page, other) = (Page::of_lines(&bridge, "One", 2), Page::of_lines(&bridge, "Two", 2));
    let elsewhere = newest(&bridge, &other);
    let own = newest(&bridge, &page);
    let both = [&page, &other];
    let workspace = &page.workspace;

    let restore = restoring(&page, &elsewhere, &page.revision);
    let error = refused(&bridge, &both, "restore_document_version", restore);
    assert_eq!(
        (&error["code"], paths(&error)),
        (&json!("invalid_request"), vec!["entry_id".to_owned()])
    );
    assert!(text(&error["details"]["problems"][0]["reason"]).contains("list_document_versions"));
    let compare =
        json!({ "workspace_id": workspace, "left_entry_id": own, "right_entry_id": elsewhere });
    let error = refused(&bridge, &both, "compare_document_versions", compare);
    assert_eq!(paths(&error), ["right_entry_id"]);

    let unknown = [
        ("read_document_version", json!({ "workspace_id": workspace, "entry_id": id() })),
        ("compare_document_versions", json!({ "workspace_id": workspace, "left_entry_id": id() })),
        (
            "compare_document_versions",
            json!({ "workspace_id": workspace, "left_entry_id": own, "right_entry_id": id() }),
        ),
        ("restore_document_version", restoring(&page, &id(), &page.revision)),
    ];
    for (tool, arguments) in unknown {
        let error = refused(&bridge, &both, tool, arguments);
        assert_eq!(error["code"], "not_found", "{tool}");
        assert!(text(&error["message"]).contains("list_document_versions"), "{tool}: {error}");
    }

    // An entry of another workspace is none of this one.
    assert!(home.run(&["workspace", "create", "Work"]).status.success());
    let listed = bridge.ok("list_workspaces", json!({}));
    let all = listed["workspaces"].as_array().expect("workspaces");
    let work = all.iter().find(|one| one["name"] == "Work").expect("the new one");
    let read = json!({ "workspace_id": work["id"], "entry_id": own });
    assert_eq!(bridge.err("read_document_version", read)["code"], "not_found");

    let wrong = [
        json!({ "workspace_id": workspace, "entry_id": own, "node_id": id() }),
        json!({ "workspace_id": workspace, "entry_id": own, "after_node_id": other.nodes[0] }),
    ];
    for arguments in wrong {
        assert_eq!(
            refused(&bridge, &both, "read_document_version", arguments)["code"],
            "stale_node"
        );
    }
    let revision = restoring(&page, &own, &other.revision);
    let error = refused(&bridge, &both, "restore_document_version", revision);
    assert_eq!(error["code"], "revision_conflict");
}

#[test]
fn a_restore_with_an_old_base_says_what_came_since_and_by_whom() {
    let home = Home::new();
    let bridge = home.bridge();
    let other = home.bridge();
    let page = Page::of_lines(&bridge, "Base", 15);
    let created = newest(&bridge, &page);
    let edits: Vec<Value> = page
        .nodes
        .iter()
        .enumerate()
        .map(|(number, node)| replace(node, &format!("line {number}"), "changed"))
        .collect();
    page.change(&other, &edits[..2]);
    let old = restoring(&page, &created, &page.revision);
    let error = refused(&bridge, &[&page], "restore_document_version", old.clone());
    assert_eq!(error["code"], "precondition_failed");
    assert_eq!(error["details"]["revision"], json!(page.now(&bridge)));
    let told = conflicts(&error);
    assert_eq!(told.len(), 2);
    for conflict in &told {
        assert!(text(&conflict["changed_by"]).contains("koru-tests"), "{conflict}");
        assert!(conflict["changed_at"].is_string() && conflict["property"] == "text", "{conflict}");
        assert!(page.nodes[..2].contains(&text(&conflict["node_id"])), "{conflict}");
    }
    page.change(&other, &edits[2..]);
    let error = refused(&bridge, &[&page], "restore_document_version", old);
    assert_eq!(conflicts(&error).len(), 10);
    assert_eq!(error["details"]["conflicts_omitted"], 5);
}

#[test]
fn a_document_in_the_trash_is_read_but_not_restored_or_extracted_from_or_to() {
    let home = Home::new();
    let bridge = home.bridge();
    let (page, trashed) = (Page::of_lines(&bridge, "Here", 2), Page::of_lines(&bridge, "Gone", 2));
    let entry = newest(&bridge, &trashed);
    assert!(home.run(&["document", "trash", &trashed.document]).status.success());
    let both = [&page, &trashed];
    let read = json!({ "workspace_id": page.workspace, "entry_id": entry });
    assert_eq!(bridge.ok("read_document_version", read)["nodes"][1]["text"], "line 0");
    let compare = json!({ "workspace_id": page.workspace, "left_entry_id": entry });
    bridge.ok("compare_document_versions", compare);
    let calls = [
        ("restore_document_version", restoring(&trashed, &entry, &trashed.revision)),
        (
            "extract_to_document",
            extracting(
                &bridge,
                &page,
                &page.nodes[0],
                json!({ "target_document_id": trashed.document }),
            ),
        ),
        (
            "extract_to_document",
            extracting(
                &bridge,
                &trashed,
                &trashed.nodes[0],
                json!({ "new_document_title": "New" }),
            ),
        ),
    ];
    for (tool, arguments) in calls {
        let error = refused(&bridge, &both, tool, arguments);
        assert_eq!(error["code"], "document_trashed", "{tool}: {error}");
    }
}

#[test]
fn an_extraction_takes_whole_siblings_to_one_other_place() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Source", 3);
    let child = id();
    page.change(&bridge, &[insert(&child, &page.nodes[0], "paragraph", "child")]);
    let target = Page::new(&bridge, "Target", &[("paragraph", "there"), ("divider", "")]);
    let both = [&page, &target];
    let new = json!({ "new_document_title": "New" });
    let of = |node: &str, more: &[(&str, Value)]| {
        let mut arguments = extracting(&bridge, &page, node, new.clone());
        for (name, value) in more {
            if *name == "target_document_id" {
                arguments.as_object_mut().expect("an object").remove("new_document_title");
            }
            arguments[*name] = value.clone();
        }
        arguments
    };
    let first = page.nodes[0].as_str();
    let cases = [
        (of(&page.root, &[]), "source_node_id"),
        (of(first, &[("extra_source_node_ids", json!([page.root]))]), "extra_source_node_ids"),
        (of(first, &[("extra_source_node_ids", json!([child]))]), "extra_source_node_ids"),
        (of(&child, &[("extra_source_node_ids", json!([first]))]), "extra_source_node_ids"),
        (of(first, &[("extra_source_node_ids", json!([first]))]), "extra_source_node_ids"),
        (
            of(first, &[("extra_source_node_ids", json!([page.nodes[1], page.nodes[1]]))]),
            "extra_source_node_ids",
        ),
        (of(first, &[("target_document_id", json!(page.document))]), "target_document_id"),
        (
            of(
                first,
                &[("target_document_id", json!(page.document)), ("under_node_id", json!(child))],
            ),
            "target_document_id",
        ),
        (
            of(
                first,
                &[
                    ("target_document_id", json!(target.document)),
                    ("under_node_id", json!(target.nodes[1])),
                ],
            ),
            "under_node_id",
        ),
        (of(first, &[("new_document_title", json!("two\nlines"))]), "new_document_title"),
        (of(first, &[("under_node_id", json!(child))]), "under_node_id"),
        (of(first, &[("new_document_title", Value::Null)]), "new_document_title"),
        (
            of(
                first,
                &[
                    ("target_document_id", json!(target.document)),
                    ("new_document_title", json!("New")),
                ],
            ),
            "new_document_title",
        ),
    ];
    for (arguments, field) in cases {
        let shown = arguments.to_string();
        let error = refused(&bridge, &both, "extract_to_document", arguments);
        assert_eq!(error["code"], "invalid_request", "{shown}: {error}");
        assert!(paths(&error).iter().any(|path| path.contains(field)), "{field}: {error}");
    }
    let not_there = [
        (of(first, &[("source_node_id", json!(id()))]), "stale_node"),
        (of(first, &[("extra_source_node_ids", json!([id()]))]), "stale_node"),
        (
            of(
                first,
                &[("target_document_id", json!(target.document)), ("under_node_id", json!(id()))],
            ),
            "stale_node",
        ),
        (of(first, &[("target_document_id", json!(id()))]), "not_found"),
        (of(first, &[("source_document_id", json!(id()))]), "not_found"),
        (of(first, &[("base_revision", json!(target.revision))]), "revision_conflict"),
    ];
    for (arguments, code) in not_there {
        let shown = arguments.to_string();
        let error = refused(&bridge, &both, "extract_to_document", arguments);
        assert_eq!(error["code"], code, "{shown}: {error}");
    }
}

#[test]
fn an_extraction_takes_nothing_that_was_not_read() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Source", 3);
    let new = |node: &str| extracting(&bridge, &page, node, json!({ "new_document_title": "New" }));
    let mut stale = new(&page.nodes[0]);
    stale["expected"] = json!("line O");
    let error = refused(&bridge, &[&page], "extract_to_document", stale);
    assert_eq!(error["code"], "precondition_failed");
    let conflict = &conflicts(&error)[0];
    assert_eq!(conflict["actual"], "line 0");
    assert!(conflict["first_difference"].is_object() && conflict.get("operation_index").is_none());
    assert!(text(&error["message"]).contains("base_revision"), "{error}");

    let mut before = new(&page.nodes[0]);
    before["extra_source_node_ids"] = json!([page.nodes[1]]);
    let child = id();
    page.change(&home.bridge(), &[insert(&child, &page.nodes[1], "task", "new below")]);
    let error = refused(&bridge, &[&page], "extract_to_document", before.clone());
    assert_eq!(error["code"], "precondition_failed");
    let unread = &conflicts(&error)[0]["unread_nodes"];
    assert!(
        unread.as_array().is_some_and(|all| all.iter().any(|one| one["node_id"] == child)),
        "{error}"
    );
    // What others changed elsewhere is no matter.
    before["extra_source_node_ids"] = json!([page.nodes[2]]);
    bridge.ok("extract_to_document", before);
}

#[test]
fn a_block_that_is_live_in_the_target_cannot_come_twice() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Source", 2);
    let created = newest(&bridge, &page);
    let (target, _) = super::support::into_new(&bridge, &page, &page.nodes[0], "Target");
    super::support::restore(&bridge, &page, &created);
    let again = extracting(
        &bridge,
        &page,
        &page.nodes[0],
        json!({ "target_document_id": target.document }),
    );
    let error = refused(&bridge, &[&page, &target], "extract_to_document", again);
    assert_eq!(error["code"], "invalid_request");
    assert!(error.to_string().contains(&page.nodes[0]), "{error}");
}

#[test]
fn a_reading_connection_restores_and_extracts_nothing() {
    let home = Home::new();
    let page = Page::of_lines(&home.bridge(), "Kept", 2);
    let bridge = home.bridge_with(&["--read-only"]);
    let entry = newest(&bridge, &page);
    let extract =
        extracting(&bridge, &page, &page.nodes[0], json!({ "new_document_title": "New" }));
    for (tool, arguments) in [
        ("restore_document_version", restoring(&page, &entry, &page.revision)),
        ("extract_to_document", extract),
    ] {
        assert_eq!(refused(&bridge, &[&page], tool, arguments)["code"], "permission_denied");
    }
}
