//! Notes, attachments, and what a removal does to them.

use std::sync::Barrier;

use serde_json::{Value, json};
use uuid::Uuid;

use super::support::{Fixture, id};

impl Fixture {
    fn ensure(&self, file: &Value) -> Value {
        self.ok("ensure_file_note", self.here(json!({ "file_id": file["file_id"] })))
    }

    fn documents(&self) -> Vec<Value> {
        let listed = self.ok("list_documents", self.here(json!({})));
        listed["documents"].as_array().unwrap().clone()
    }

    /// A page with one paragraph of this text; its document, revision and node.
    fn page(&self, text: &str) -> (Value, Value, String) {
        let (root, node) = (id(), id());
        let made = self.ok(
            "create_document",
            self.here(json!({ "title": "Page", "root_node_id": root, "initial_operations": [
                { "op": "insert", "node_id": node, "parent_id": root, "kind": "paragraph", "text": text } ] })),
        );
        (made["document_id"].clone(), made["revision"].clone(), node)
    }

    fn inline(&self, document: &Value, node: &str) -> Value {
        let params = self.here(json!({ "document_id": document, "node_id": node }));
        self.ok("read_document", params)["nodes"][0]["inlines"][0].clone()
    }

    fn remove(&self, file: &Value, force: bool) -> Result<Value, Value> {
        let params = json!({ "file_id": file["file_id"], "force": force });
        self.answer("file.remove", &self.here(params))
    }
}

#[test]
fn a_file_has_one_note_whoever_asks() {
    let fixture = Fixture::new();
    let file = fixture.add("Scan\n1.pdf", b"%PDF-1.7");
    let barrier = Barrier::new(8);
    let notes: Vec<Value> = std::thread::scope(|scope| {
        let ask = || {
            barrier.wait();
            fixture.ensure(&file)
        };
        let asking: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        asking.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let created = notes.iter().filter(|note| note["created"] == true).count();
    assert_eq!(created, 1, "{notes:?}");
    assert!(notes.iter().all(|note| note["note_id"] == notes[0]["note_id"]));
    let documents = fixture.documents();
    assert_eq!(documents.len(), 1);
    assert_eq!(documents[0]["kind"], "file_note");
    assert_eq!(documents[0]["title"], "Scan 1.pdf");
    let read = fixture.here(json!({ "document_id": notes[0]["note_id"] }));
    assert_eq!(fixture.ok("read_document", read)["root_node_id"], file["root_node_id"]);
    let listed = &fixture.files()[0];
    assert_eq!(listed["note_id"], notes[0]["note_id"]);
    assert!(file.get("note_id").is_none());

    let trash = fixture.here(json!({ "document_id": notes[0]["note_id"] }));
    fixture.ok("document.trash", trash);
    let again = fixture.ensure(&file);
    assert_eq!(
        again,
        json!({ "note_id": notes[0]["note_id"], "created": false, "lifecycle": "trash" })
    );
}

#[test]
fn the_same_call_once_more_says_again_that_the_note_was_made() {
    let fixture = Fixture::new();
    let file = fixture.add("a", b"a");
    let key = Uuid::new_v4();
    let ask = || {
        let params = fixture.here(json!({ "file_id": file["file_id"] }));
        let request = koru_model::protocol::wire::Request {
            id: 1,
            call: "ensure_file_note".into(),
            params: serde_json::value::to_raw_value(&params).unwrap(),
            key: Some(key),
            client: None,
            scope: koru_model::protocol::wire::Scope::default(),
        };
        let answer = koru_service::dispatch::answer(&fixture.service, 1, request).ok.unwrap();
        serde_json::from_str::<Value>(answer.get()).unwrap()
    };
    let first = ask();
    assert_eq!(first["created"], true);
    assert_eq!(ask(), first);
    assert_eq!(fixture.ensure(&file)["created"], false);
}

#[test]
fn the_title_node_of_a_note_to_come_is_kept_for_it() {
    let fixture = Fixture::new();
    let file = fixture.add("a", b"a");
    let params = fixture.here(json!({ "title": "T", "root_node_id": file["root_node_id"] }));
    let (code, said) = fixture.refused("create_document", params);
    assert_eq!(code, "invalid_request");
    assert!(said.contains("note of a file"), "{said}");
    assert_eq!(fixture.ensure(&file)["created"], true);
}

#[test]
fn attachments_are_named_when_they_are_read() {
    let fixture = Fixture::new();
    let file = fixture.add("Scan.pdf", b"%PDF-1.7");
    let token = format!("[[attachment:{}]]", file["file_id"].as_str().unwrap());
    let (document, _, node) = fixture.page(&format!("see {token}"));
    let inline = fixture.inline(&document, &node);
    let expected = json!({ "at_utf8": 4, "type": "attachment", "file_id": file["file_id"], "name": "Scan.pdf", "lifecycle": "live" });
    assert_eq!(inline, expected);

    let (document, revision, node) = fixture.page("see ");
    let insert = |file: &Value| {
        fixture.here(json!({ "document_id": document, "base_revision": revision, "operations": [
            { "op": "insert_inline", "node_id": node, "expected": "see ", "at_utf8": 4,
              "inline": { "type": "attachment", "file_id": file, "label": "the scan" } } ] }))
    };
    assert_eq!(fixture.refused("edit_document", insert(&json!(id()))).0, "not_found");
    fixture.ok("edit_document", insert(&file["file_id"]));
    let inline = fixture.inline(&document, &node);
    assert_eq!((&inline["name"], &inline["label"]), (&json!("Scan.pdf"), &json!("the scan")));

    let (document, _, node) = fixture.page(&format!("[[attachment:{}]]", id()));
    let inline = fixture.inline(&document, &node);
    assert_eq!((inline.get("name"), &inline["lifecycle"]), (None, &json!("missing")));
}

#[test]
fn a_file_in_use_is_removed_by_force_alone() {
    let fixture = Fixture::new();
    let file = fixture.add("Scan.pdf", b"%PDF-1.7");
    let note = fixture.ensure(&file)["note_id"].clone();
    let token = format!("[[attachment:{}]]", file["file_id"].as_str().unwrap());
    let (document, revision, node) = fixture.page(&token);
    let error = fixture.remove(&file, false).unwrap_err();
    assert_eq!(error["code"], "precondition_failed", "{error}");
    assert_eq!(error["details"]["attached"], json!([{ "document_id": document, "node_id": node }]));
    fixture.is_sound();

    // Taken out of the text it is used no more; put back by a restore it is used again.
    let edit = fixture
        .here(json!({ "document_id": document, "base_revision": revision, "operations": [
        { "op": "replace_text", "node_id": node, "expected": token, "text": "nothing" } ] }));
    let edited = fixture.ok("edit_document", edit);
    let versions =
        fixture.ok("list_document_versions", fixture.here(json!({ "document_id": document })));
    let created = versions["entries"].as_array().unwrap().last().unwrap()["id"].clone();
    let restore = fixture.here(json!({ "document_id": document, "entry_id": created, "base_revision": edited["revision"] }));
    fixture.ok("restore_document_version", restore);
    assert!(fixture.remove(&file, false).is_err());

    fixture.remove(&file, true).unwrap();
    assert!(fixture.files().is_empty() && fixture.contents().is_empty());
    assert_eq!(fixture.inline(&document, &node)["lifecycle"], "missing");
    let then = fixture.ok("read_document_version", fixture.here(json!({ "entry_id": created })));
    assert_eq!(then["nodes"][1]["text"], token.as_str(), "the history stays readable");
    let documents = fixture.documents();
    let kept = documents.iter().find(|document| document["id"] == note).unwrap();
    assert_eq!(kept["kind"], "page", "the note stays, as a page");
    assert_eq!(fixture.remove(&file, false).unwrap_err()["code"], "not_found");
    let (code, _) =
        fixture.refused("read_file", fixture.here(json!({ "file_id": file["file_id"] })));
    assert_eq!(code, "not_found");
}

#[test]
fn a_content_goes_with_its_last_file() {
    let mut fixture = Fixture::new();
    let first = fixture.add("a", b"the same bytes");
    let second = fixture.add("b", b"the same bytes");
    let personal = fixture.workspace.clone();
    let other = json!(id());
    fixture.ok("workspace.create", json!({ "workspace_id": other, "name": "Other" }));
    fixture.workspace = other;
    let third = fixture.add("c", b"the same bytes");
    assert_eq!(
        fixture.refused("get_file", fixture.here(json!({ "file_id": first["file_id"] }))).0,
        "not_found"
    );
    assert_eq!(fixture.contents().len(), 1);
    fixture.remove(&third, false).unwrap();
    fixture.workspace = personal;
    fixture.is_sound();
    fixture.remove(&first, false).unwrap();
    fixture.is_sound();
    fixture.remove(&second, false).unwrap();
    assert!(fixture.contents().is_empty());
    fixture.add("d", b"the same bytes");
    fixture.is_sound();
}

#[test]
fn a_removal_and_an_upload_of_the_same_bytes_never_meet() {
    let fixture = Fixture::new();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..40 {
                    let file = fixture.add("a", b"contended");
                    let read = fixture.read(&file).unwrap_or_else(|error| panic!("{error}"));
                    assert_eq!(read, b"contended");
                    fixture.remove(&file, false).unwrap();
                }
            });
        }
    });
    assert!(fixture.contents().is_empty() && fixture.incoming().is_empty());
}

#[test]
fn a_store_without_files_and_search_is_brought_up_to_date() {
    let mut fixture = Fixture::new();
    let (document, ..) = fixture.page("kept");
    fixture.service.store.close();
    fixture
        .database()
        .execute_batch(
            "DROP TABLE search_words; DROP TABLE search_head_words; DROP TABLE search_head; DROP TABLE search_body;
             DROP TABLE search_node; DROP TABLE search_more;
             DROP INDEX document_unindexed; ALTER TABLE document DROP COLUMN unindexed;
             ALTER TABLE tag_use DROP COLUMN n;
             DROP INDEX attribute_use_by_value;
             ALTER TABLE attribute_use DROP COLUMN n; ALTER TABLE attribute_use DROP COLUMN kind;
             ALTER TABLE attribute_use DROP COLUMN value; ALTER TABLE attribute_use DROP COLUMN exact;
             DROP TABLE file; DROP TABLE content; DROP TABLE attachment; PRAGMA user_version = 1",
        )
        .unwrap();
    fixture.again(std::sync::Arc::new(koru_service::files::disk::RealDisk));
    assert_eq!(fixture.documents()[0]["id"], document);
    fixture.add("a", b"a");
    fixture.is_sound();
}
