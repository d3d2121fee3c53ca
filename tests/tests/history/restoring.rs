//! `restore_document_version`, and `read_document_version` beside it.

use koru_tests::support::bridge::Reply;
use koru_tests::support::documents::{
    Page, conflicts, id, insert, move_last, nodes, operation, remove, replace, text,
};
use koru_tests::support::home::Home;
use koru_tests::support::until;
use serde_json::json;

use super::support::{
    changes, compare, entries, extracting, into_new, into_page, made, newest, restore, restoring,
    tail, version,
};

#[test]
fn a_version_is_read_in_every_form_and_by_pages() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Then", 30);
    let child = id();
    page.change(&bridge, &[insert(&child, &page.nodes[3], "task", "below")]);
    let entry = newest(&bridge, &page);
    let before = page.read(&bridge);
    page.change(&bridge, &[remove(&page.nodes[3], "line 3"), replace(&page.root, "Then", "Now")]);
    let then = version(&bridge, &page, &entry);
    assert_eq!(then["nodes"], before["nodes"]);
    assert_eq!(then["document_id"], page.document);
    assert_eq!(then["root_node_id"], page.root);
    assert_eq!(then["schema_version"], before["schema_version"]);
    assert_eq!(
        (&then["entry"]["id"], &then["entry"]["boundary"]),
        (&json!(entry), &json!("after"))
    );
    assert!(then.get("revision").is_none());

    let read = |more: serde_json::Value| {
        let mut arguments = json!({ "workspace_id": page.workspace, "entry_id": entry });
        for (name, value) in more.as_object().expect("fields") {
            arguments[name] = value.clone();
        }
        bridge.ok("read_document_version", arguments)
    };
    let part = read(json!({ "node_id": page.nodes[3] }));
    assert_eq!(nodes(&part).len(), 2);
    let tail = tail(&page.nodes[3]);
    assert_eq!(read(json!({ "node_id": tail, "compact": true }))["nodes"][0]["id"], tail);
    let outline = read(json!({ "max_depth": 1 }));
    assert_eq!(nodes(&outline).len(), 31);
    assert_eq!(outline["nodes"][4]["children_omitted"], 1);
    let mut all = Vec::new();
    let mut more = json!({ "page_size": 7 });
    loop {
        let page = read(more.clone());
        all.extend(nodes(&page).to_vec());
        let Some(next) = page.get("next_after_node_id") else { break };
        more["after_node_id"] = next.clone();
    }
    assert_eq!(json!(all), before["nodes"]);
}

#[test]
fn a_restore_gives_back_what_was_and_is_an_entry_that_can_be_undone() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::new(&bridge, "Plan", &[("task", "buy"), ("code", "x"), ("paragraph", "end")]);
    let set = json!({ "key": "koru.priority", "value": { "kind": "text", "value": "high" } });
    page.change(
        &bridge,
        &[
            operation("add_tag", &page.nodes[0], "buy", json!({ "tag": "a/b" })),
            operation("set_attribute", &page.nodes[0], "buy", set),
        ],
    );
    let good = newest(&bridge, &page);
    let before = page.read(&bridge);
    page.change(
        &bridge,
        &[
            operation("clear_attribute", &page.nodes[0], "buy", json!({ "key": "koru.priority" })),
            operation("remove_tag", &page.nodes[0], "buy", json!({ "tag": "a/b" })),
            operation("set_done", &page.nodes[0], "buy", json!({ "done": true })),
            operation("set_language", &page.nodes[1], "x", json!({ "language": "rust" })),
            move_last(&page.nodes[0], "buy", &page.nodes[2]),
            remove(&page.nodes[1], "x"),
            insert(&id(), &page.nodes[0], "quote", "under it"),
            replace(&page.root, "Plan", "Mess"),
        ],
    );
    let mess = page.read(&bridge);
    let count = entries(&bridge, &page).len();
    let restored = restore(&bridge, &page, &good);
    assert_eq!(page.read(&bridge)["nodes"], before["nodes"]);
    assert_eq!(restored["revision"], json!(page.now(&bridge)));
    assert_eq!(
        (&restored["history"]["reason"], &restored["history"]["boundary"]),
        (&json!("restore"), &json!("after"))
    );
    assert!(changes(&compare(&bridge, &page, &good, None)).is_empty());
    let listed = entries(&bridge, &page);
    assert_eq!(listed.len(), count + 2, "a restore writes two entries");
    assert_eq!(listed[0], restored["history"]);
    let title = bridge.ok("list_documents", json!({ "workspace_id": page.workspace }));
    assert_eq!(title["documents"][0]["title"], "Plan");
    let tags = bridge.ok("list_tags", json!({ "workspace_id": page.workspace }));
    assert_eq!(
        tags["tags"]
            .as_array()
            .and_then(|all| all.iter().find(|tag| tag["name"] == "a/b"))
            .map(|tag| tag["uses"].clone()),
        Some(json!(1))
    );

    restore(&bridge, &page, &text(&listed[1]["id"]));
    assert_eq!(page.read(&bridge)["nodes"], mess["nodes"], "its own before entry undoes it");
}

#[test]
fn a_restore_that_changes_nothing_writes_nothing() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Same", 2);
    let entry = newest(&bridge, &page);
    let restored = restore(&bridge, &page, &entry);
    assert_eq!(restored["revision"], page.revision);
    assert_eq!(restored["history"]["id"], entry);
    assert!(restored.get("replayed").is_none());
    assert_eq!(entries(&bridge, &page).len(), 1);
}

#[test]
fn an_edit_from_before_a_restore_lands_where_its_guards_hold() {
    let home = Home::new();
    let bridge = home.bridge();
    let other = home.bridge();
    let page = Page::new(&bridge, "Guards", &[("task", "one"), ("task", "two"), ("task", "three")]);
    let created = newest(&bridge, &page);
    let done = |node: &str, says: &str, done: bool| {
        operation("set_done", node, says, json!({ "done": done }))
    };
    page.change(
        &bridge,
        &[replace(&page.nodes[0], "one", "ONE"), done(&page.nodes[1], "two", true)],
    );
    let prepared = page.now(&other);
    restore(&bridge, &page, &created);
    let refused = [replace(&page.nodes[0], "ONE", "uno"), done(&page.nodes[1], "two", false)];
    for edit in refused {
        let error = other.err("edit_document", page.edit(&prepared, std::slice::from_ref(&edit)));
        assert_eq!(error["code"], "precondition_failed", "{edit}");
        assert!(conflicts(&error)[0]["changed_by"].is_string(), "{error}");
    }
    let lands = [replace(&page.nodes[1], "two", "dos"), done(&page.nodes[2], "three", true)];
    other.ok("edit_document", page.edit(&prepared, &lands));
    assert_eq!(page.texts(&bridge), ["one", "dos", "three"]);
}

/// Case C34: a revision from before a restore is not one after it, and none comes twice.
#[test]
fn no_revision_comes_twice() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Twice", 1);
    let created = newest(&bridge, &page);
    let mut seen = vec![page.revision.clone()];
    for round in 0..4 {
        let now = text(&nodes(&page.read(&bridge))[1]["text"]);
        seen.push(
            page.change(&bridge, &[replace(&page.nodes[0], &now, &format!("round {round}"))]),
        );
        seen.push(text(&restore(&bridge, &page, &created)["revision"]));
    }
    let all: std::collections::BTreeSet<&String> = seen.iter().collect();
    assert_eq!(all.len(), seen.len(), "the same state again has another revision");
    // Trash it, make another of the same title: the old revision is of no use there.
    assert!(home.run(&["document", "trash", &page.document]).status.success());
    let edit = page.edit(&page.revision, &[replace(&page.nodes[0], "line 0", "x")]);
    assert_eq!(bridge.err("edit_document", edit)["code"], "document_trashed");
    let twin = Page::of_lines(&bridge, "Twice", 1);
    let edit = twin.edit(&page.revision, &[replace(&twin.nodes[0], "line 0", "x")]);
    assert_eq!(bridge.err("edit_document", edit)["code"], "revision_conflict");
    let same_root =
        json!({ "workspace_id": page.workspace, "title": "Twice", "root_node_id": page.root });
    assert_eq!(bridge.err("create_document", same_root)["code"], "invalid_request");
}

/// Case C33: what a removed parent held comes back whole.
#[test]
fn a_removed_subtree_comes_back_whole() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Parent", 3);
    let (child, grandchild) = (id(), id());
    page.change(
        &bridge,
        &[
            insert(&child, &page.nodes[0], "task", "child"),
            insert(&grandchild, &child, "paragraph", "grandchild"),
        ],
    );
    let entry = newest(&bridge, &page);
    let base = page.now(&bridge);
    let before = page.read(&bridge);
    bridge.ok("edit_document", page.edit(&base, &[remove(&page.nodes[0], "line 0")]));
    let late = [
        replace(&child, "child", "edited"),
        move_last(&child, "child", &page.root),
        insert(&id(), &child, "paragraph", "added"),
    ];
    for edit in &late {
        let error = bridge.err("edit_document", page.edit(&base, std::slice::from_ref(edit)));
        assert_eq!(error["code"], "stale_node", "{edit}");
        assert!(text(&error["message"]).contains("removed by"), "{error}");
    }
    restore(&bridge, &page, &entry);
    assert_eq!(page.read(&bridge)["nodes"], before["nodes"]);
    bridge.ok("edit_document", page.edit(&page.now(&bridge), &late[..1]));
}

/// Case C28: a restore while others hold the document, and after a restart: content once.
#[test]
fn a_restore_brings_content_once() {
    let home = Home::new();
    let bridge = home.bridge();
    let other = home.bridge();
    let page = Page::of_lines(&bridge, "Once", 20);
    let created = newest(&bridge, &page);
    let lines = page.texts(&bridge);
    for round in 0..6 {
        let mut edits = vec![insert(&id(), &page.root, "paragraph", &format!("more {round}"))];
        edits.extend(
            page.nodes.iter().zip(&lines).take(5 + round).map(|(node, says)| remove(node, says)),
        );
        page.change(&other, &edits);
        if round % 2 == 0 {
            home.kill_service();
            until("the end of the service", || home.service_pids().is_empty().then_some(()));
        }
        let restoring = restoring(&page, &created, &page.now(&other));
        // While it is being killed, the bridge sends the call again; it applies once.
        if round == 3 {
            let call = bridge.post_call("restore_document_version", restoring);
            home.kill_service();
            assert!(matches!(bridge.wait(call), Reply::Ok(_) | Reply::Refused(_)));
            let state = page.texts(&bridge);
            if state != lines {
                restore(&bridge, &page, &created);
            }
        } else {
            bridge.ok("restore_document_version", restoring);
        }
        assert_eq!(page.texts(&bridge), lines, "round {round}");
        assert_eq!(page.texts(&other), lines, "round {round}");
    }
}

/// Case C44: documents made by every tool go back to each of their versions.
#[test]
fn whatever_made_a_document_its_versions_come_back() {
    let home = Home::new();
    let bridge = home.bridge();
    let created = Page::of_lines(&bridge, "Created", 6);
    let (extracted, _) = into_new(&bridge, &created, &created.nodes[0], "Extracted");
    let target = Page::of_lines(&bridge, "Target", 1);
    into_page(&bridge, &created, &created.nodes[1], &target);
    let bare =
        bridge.ok("create_document", json!({ "workspace_id": created.workspace, "title": "Bare" }));
    let bare = made(&bridge, &created, &bare);
    for page in [&created, &extracted, &target, &bare] {
        for round in 0..3 {
            page.change(&bridge, &[insert(&id(), &page.root, "task", &format!("{round}"))]);
        }
        let mut all: Vec<(String, serde_json::Value)> = entries(&bridge, page)
            .iter()
            .map(|entry| text(&entry["id"]))
            .map(|entry| (entry.clone(), version(&bridge, page, &entry)["nodes"].clone()))
            .collect();
        all.reverse();
        for (entry, then) in &all {
            let before = entries(&bridge, page).len();
            let restored = restore(&bridge, page, entry);
            assert_eq!(&page.read(&bridge)["nodes"], then);
            assert!(changes(&compare(&bridge, page, entry, None)).is_empty());
            if entries(&bridge, page).len() > before {
                assert_eq!(restored["history"]["reason"], "restore");
            }
        }
        for (entry, then) in &all {
            assert_eq!(&version(&bridge, page, entry)["nodes"], then, "no entry changes");
        }
    }
}

/// Case C48: there is an answer where there is nothing to compare.
#[test]
fn empty_versions_are_compared_and_restored() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::new(&bridge, "", &[]);
    let mut all = vec![newest(&bridge, &page)];
    page.change(&bridge, &[replace(&page.root, "", "Title only")]);
    all.push(newest(&bridge, &page));
    let blank = id();
    page.change(
        &bridge,
        &[
            replace(&page.root, "Title only", "  "),
            insert(&blank, &page.root, "paragraph", " \n\t "),
        ],
    );
    all.push(newest(&bridge, &page));
    let set = json!({ "key": "koru.color", "value": { "kind": "text", "value": "red" } });
    page.change(
        &bridge,
        &[
            replace(&page.root, "  ", ""),
            replace(&blank, " \n\t ", ""),
            operation("set_attribute", &blank, "", set),
        ],
    );
    all.push(newest(&bridge, &page));
    for left in &all {
        for right in &all {
            let found = changes(&compare(&bridge, &page, left, Some(right)));
            assert_eq!(found.is_empty(), left == right, "{found:?}");
        }
        restore(&bridge, &page, left);
        assert_eq!(page.read(&bridge)["nodes"], version(&bridge, &page, left)["nodes"]);
        assert!(changes(&compare(&bridge, &page, left, None)).is_empty());
    }
}

#[test]
fn what_an_extraction_took_comes_back_and_stays_where_it_went() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Source", 3);
    let created = newest(&bridge, &page);
    let before = page.read(&bridge);
    let (target, _) = into_new(&bridge, &page, &page.nodes[1], "Target");
    restore(&bridge, &page, &created);
    assert_eq!(page.read(&bridge)["nodes"], before["nodes"]);
    assert_eq!(target.texts(&bridge), ["line 1"]);
    // And it can leave again, to a third.
    let arguments =
        extracting(&bridge, &page, &page.nodes[1], json!({ "new_document_title": "Third" }));
    bridge.ok("extract_to_document", arguments);
    assert_eq!(nodes(&page.read(&bridge)).len(), 4);
}
