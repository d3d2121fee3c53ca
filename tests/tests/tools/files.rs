//! `list_files`, `search_files`, `get_file`, `read_file`, `ensure_file_note`.

use koru_tests::support::documents::{Page, id, operation, personal, text};
use koru_tests::support::files::{add, piece};
use koru_tests::support::home::Home;
use serde_json::json;

#[test]
fn files_are_listed_searched_and_got() {
    let home = Home::new();
    let bridge = home.bridge();
    let workspace = personal(&bridge);
    assert_eq!(
        bridge.ok("list_files", json!({ "workspace_id": workspace })),
        json!({ "files": [] })
    );
    let scan = add(&home, "Scan 1.pdf", b"%PDF-1.7\n");
    let notes = add(&home, "notes.md", "# Notizen für Ä\n".as_bytes());
    let names: Vec<&String> = scan.as_object().expect("an object").keys().collect();
    assert_eq!(names, ["file_id", "name", "mime", "size", "hash", "root_node_id"]);
    assert_eq!((&scan["mime"], &scan["size"]), (&json!("application/pdf"), &json!(9)));
    assert_eq!(notes["mime"], "text/markdown");
    assert!(text(&scan["hash"]).starts_with("blake3:"));
    let listed = bridge.ok("list_files", json!({ "workspace_id": workspace }));
    assert_eq!(listed, json!({ "files": [scan, notes] }), "oldest first");
    let page = bridge.ok("list_files", json!({ "workspace_id": workspace, "page_size": 1 }));
    assert_eq!(page, json!({ "files": [scan], "next_after_file_id": scan["file_id"] }));
    let after =
        json!({ "workspace_id": workspace, "page_size": 1, "after_file_id": scan["file_id"] });
    assert_eq!(bridge.ok("list_files", after), json!({ "files": [notes] }));

    let found = bridge.ok("search_files", json!({ "workspace_id": workspace, "query": "SCAN" }));
    assert_eq!(found, json!({ "files": [scan] }));
    let one = json!({ "workspace_id": workspace, "file_id": notes["file_id"] });
    assert_eq!(bridge.ok("get_file", one), notes);
    for tool in ["get_file", "read_file", "ensure_file_note"] {
        let none = json!({ "workspace_id": workspace, "file_id": id() });
        assert_eq!(bridge.err(tool, none)["code"], "not_found", "{tool}");
        let nowhere = json!({ "workspace_id": id(), "file_id": scan["file_id"] });
        assert_eq!(bridge.err(tool, nowhere)["code"], "permission_denied", "{tool}");
    }
    for wrong in [json!({ "query": "x", "limit": 201 }), json!({ "limit": 1 })] {
        let mut call = wrong;
        call["workspace_id"] = json!(workspace);
        assert_eq!(bridge.err("search_files", call)["code"], "invalid_request");
    }
}

#[test]
fn files_are_read_as_bytes_and_as_text() {
    let home = Home::new();
    let bridge = home.bridge();
    let workspace = personal(&bridge);
    let file = add(&home, "a.txt", "aé日🎉".as_bytes());
    let (whole, bytes) = piece(&bridge, &workspace, &file, 0, 1 << 20);
    assert_eq!(bytes, "aé日🎉".as_bytes());
    assert_eq!(whole["file"], file);
    assert_eq!((&whole["total_bytes"], &whole["eof"]), (&json!(10), &json!(true)));
    let (end, bytes) = piece(&bridge, &workspace, &file, 10, 5);
    assert!(bytes.is_empty() && end["eof"] == true);
    let read = |offset: u64, length: u64| json!({ "workspace_id": workspace, "file_id": file["file_id"], "as": "text", "offset": offset, "length": length });
    let cut = bridge.ok("read_file", read(0, 5));
    assert_eq!(
        (&cut["text"], &cut["length"], &cut["eof"]),
        (&json!("aé"), &json!(3), &json!(false))
    );
    let inside = bridge.ok("read_file", read(4, 100));
    assert_eq!((&inside["text"], &inside["offset"]), (&json!("🎉"), &json!(6)));
    let beyond = bridge.err("read_file", read(11, 1));
    assert_eq!(beyond["code"], "invalid_request");
    assert!(text(&beyond["message"]).contains("10 bytes"), "{beyond}");
    let binary = add(&home, "b", b"\xff\xfe");
    let no_text = json!({ "workspace_id": workspace, "file_id": binary["file_id"], "as": "text" });
    assert!(text(&bridge.err("read_file", no_text)["message"]).contains("base64"));
}

#[test]
fn two_clients_get_one_note() {
    let home = Home::new();
    let bridges = [home.bridge(), home.bridge()];
    let workspace = personal(&bridges[0]);
    let file = add(&home, "Scan.pdf", b"%PDF-1.7\n");
    let call = json!({ "workspace_id": workspace, "file_id": file["file_id"] });
    let asked: Vec<_> = bridges
        .iter()
        .flat_map(|bridge| (0..4).map(move |_| bridge))
        .map(|bridge| (bridge, bridge.post_call("ensure_file_note", call.clone())))
        .collect();
    let mut notes = Vec::new();
    for (bridge, call) in asked {
        match bridge.wait(call) {
            koru_tests::support::bridge::Reply::Ok(note) => notes.push(note),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(notes.iter().filter(|note| note["created"] == true).count(), 1, "{notes:?}");
    assert!(notes.iter().all(|note| note["note_id"] == notes[0]["note_id"]));
    assert!(notes.iter().all(|note| note["lifecycle"] == "live"));
    let documents = bridges[0].ok("list_documents", json!({ "workspace_id": workspace }));
    let documents = documents["documents"].as_array().expect("documents");
    assert_eq!(documents.len(), 1);
    assert_eq!(
        (&documents[0]["kind"], &documents[0]["title"]),
        (&json!("file_note"), &json!("Scan.pdf"))
    );
    let read = json!({ "workspace_id": workspace, "document_id": notes[0]["note_id"] });
    assert_eq!(bridges[1].ok("read_document", read)["root_node_id"], file["root_node_id"]);

    assert!(home.run(&["document", "trash", &text(&notes[0]["note_id"])]).status.success());
    let again = bridges[1].ok("ensure_file_note", call.clone());
    assert_eq!((&again["lifecycle"], &again["created"]), (&json!("trash"), &json!(false)));
    let reading = home.bridge_with(&["--read-only"]);
    assert_eq!(reading.err("ensure_file_note", call)["code"], "permission_denied");
}

#[test]
fn an_attachment_is_an_inline_by_operation_and_by_token() {
    let home = Home::new();
    let bridge = home.bridge();
    let file = add(&home, "Scan.pdf", b"%PDF-1.7\n");
    let token = format!("[[attachment:{}]]", text(&file["file_id"]));
    let page = Page::new(&bridge, "Page", &[("paragraph", &token), ("paragraph", "see ")]);
    let inline = json!({ "type": "attachment", "file_id": file["file_id"], "label": "the scan" });
    let insert = json!({ "at_utf8": 4, "inline": inline });
    page.change(&bridge, &[operation("insert_inline", &page.nodes[1], "see ", insert)]);
    assert_eq!(page.texts(&bridge), [token.clone(), format!("see {token}")]);
    let by_token = &page.node(&bridge, &page.nodes[0])["inlines"][0];
    assert_eq!((&by_token["name"], &by_token["lifecycle"]), (&json!("Scan.pdf"), &json!("live")));
    let by_operation = &page.node(&bridge, &page.nodes[1])["inlines"][0];
    assert_eq!((&by_operation["label"], &by_operation["at_utf8"]), (&json!("the scan"), &json!(4)));
    let missing = json!({ "at_utf8": 0, "inline": { "type": "attachment", "file_id": id() } });
    let operation = operation("insert_inline", &page.nodes[0], &token, missing);
    assert_eq!(page.refused(&bridge, &[operation])["code"], "not_found");
}
