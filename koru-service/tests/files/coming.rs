//! Uploads: what is taken, what is refused, and what a repeat does.

use koru_model::content::ContentHasher;
use koru_model::protocol::base64::Base64;
use koru_model::protocol::wire::Scope;
use koru_service::files::upload::{IDLE_MS, MOST};
use serde_json::{Value, json};
use uuid::Uuid;

use super::support::{Fixture, id};

fn hash(bytes: &[u8]) -> Value {
    let mut hasher = ContentHasher::default();
    hasher.update(bytes);
    json!(hasher.finish().0)
}

impl Fixture {
    fn begin(&self, id: &str, size: Value) -> Result<Value, Value> {
        let params = json!({ "upload_id": id, "name": "a", "size": size });
        self.answer("file.begin", &self.here(params))
    }

    fn chunk(&self, id: &str, offset: u64, bytes: &[u8]) -> Result<Value, Value> {
        let base64 = Base64(bytes.to_vec());
        self.answer("file.chunk", &json!({ "upload_id": id, "offset": offset, "base64": base64 }))
    }

    fn finish(&self, id: &str, hash: Value) -> Result<Value, Value> {
        self.answer("file.finish", &self.here(json!({ "upload_id": id, "hash": hash })))
    }
}

fn code(answer: Result<Value, Value>) -> String {
    answer.expect_err("a refusal")["code"].as_str().unwrap().into()
}

#[test]
fn a_repeat_of_any_step_does_no_harm() {
    let fixture = Fixture::new();
    let upload = id();
    fixture.begin(&upload, json!(6)).unwrap();
    fixture.chunk(&upload, 0, b"begun anew").unwrap_err();
    fixture.begin(&upload, json!(6)).unwrap();
    fixture.begin(&upload, json!(6)).unwrap();
    assert_eq!(fixture.chunk(&upload, 0, b"abc").unwrap()["received"], 3);
    assert_eq!(fixture.chunk(&upload, 0, b"abc").unwrap()["received"], 3);
    assert_eq!(fixture.chunk(&upload, 3, b"def").unwrap()["received"], 6);
    assert!(fixture.files().is_empty(), "nobody sees it before it is whole");
    assert_eq!(fixture.incoming(), [upload.as_str()]);
    let file = fixture.finish(&upload, hash(b"abcdef")).unwrap();
    assert_eq!(fixture.finish(&upload, hash(b"abcdef")).unwrap(), file);
    assert_eq!(file["file"]["file_id"], upload.as_str());
    assert_eq!(fixture.files(), [file["file"].clone()]);
    assert_eq!(code(fixture.finish(&upload, hash(b"other"))), "invalid_request");
    assert_eq!(code(fixture.begin(&upload, json!(6))), "invalid_request", "the ID is a file's now");
    assert_eq!(code(fixture.chunk(&upload, 6, b"more")), "not_found");
    fixture.answer("file.abort", &json!({ "upload_id": upload })).unwrap();
    fixture.is_sound();
}

#[test]
fn what_was_not_received_as_it_was_sent_is_no_file() {
    let fixture = Fixture::new();
    let upload = id();
    assert_eq!(code(fixture.chunk(&upload, 0, b"x")), "not_found");
    assert_eq!(code(fixture.finish(&upload, hash(b""))), "not_found");
    let begun = |size: Value| {
        let upload = id();
        fixture.begin(&upload, size).unwrap();
        upload
    };
    let upload = begun(json!(3));
    assert_eq!(code(fixture.chunk(&upload, 1, b"x")), "invalid_request", "a gap");
    assert_eq!(code(fixture.chunk(&upload, 0, b"")), "invalid_request", "nothing");
    assert_eq!(code(fixture.chunk(&upload, 0, &[0; (1 << 20) + 1])), "invalid_request", "too much");
    fixture.chunk(&upload, 0, b"abc").unwrap();
    assert_eq!(code(fixture.finish(&upload, hash(b"abd"))), "invalid_request");
    assert_eq!(code(fixture.finish(&upload, hash(b"abc"))), "not_found", "it is over");
    let upload = begun(json!(3));
    fixture.chunk(&upload, 0, b"ab").unwrap();
    assert_eq!(code(fixture.finish(&upload, hash(b"ab"))), "invalid_request", "too short");
    let upload = begun(json!(1));
    assert_eq!(code(fixture.chunk(&upload, 0, b"ab")), "invalid_request", "too long");
    let upload = begun(Value::Null);
    fixture.chunk(&upload, 0, b"ab").unwrap();
    for wrong in ["data:;base64,YWI=", "YWI", "YW\nI=", "-_-_"] {
        let params = json!({ "upload_id": upload, "offset": 2, "base64": wrong });
        assert_eq!(fixture.refused("file.chunk", params).0, "invalid_request", "{wrong}");
    }
    fixture.finish(&upload, hash(b"ab")).unwrap();
    let upload = begun(Value::Null);
    fixture.chunk(&upload, 0, b"given up").unwrap();
    fixture.answer("file.abort", &json!({ "upload_id": upload })).unwrap();
    assert_eq!(fixture.files().len(), 1);
    assert!(fixture.incoming().is_empty());
}

#[test]
fn a_file_that_has_no_room_is_refused_before_it_is_sent() {
    let fixture = Fixture::new();
    let error = fixture.begin(&id(), json!(i64::MAX)).unwrap_err();
    assert_eq!(error["code"], "storage_failed", "{error}");
    assert!(fixture.incoming().is_empty());
}

#[test]
fn names_are_kept_exactly_and_some_are_none() {
    let fixture = Fixture::new();
    let long = "é".repeat(150);
    let names = [
        "résumé 日本 🎉.pdf",
        "a`b$(c)\".txt",
        "CON",
        "../../etc/passwd",
        "a:b\\c",
        "end. ",
        "-rf",
        "a\nb\u{1b}[31m\u{7f}",
        "gpj.\u{202e}exe",
        "é",
        "e\u{301}",
        long.as_str(),
    ];
    for name in names {
        assert_eq!(fixture.add(name, b"same")["name"], name);
    }
    let listed: Vec<String> =
        fixture.files().iter().map(|file| file["name"].as_str().unwrap().into()).collect();
    assert_eq!(listed, names);
    assert_eq!(fixture.contents().len(), 1, "the same bytes are kept once");
    for name in ["", "a\0b", &"x".repeat(1_025)] {
        let params = json!({ "upload_id": id(), "name": name });
        let (code, said) = fixture.refused("file.begin", fixture.here(params));
        assert_eq!(code, "invalid_request");
        assert!(said.contains("\"name\""), "{said}");
    }
    let found = |query: &str| -> usize {
        let params = fixture.here(json!({ "query": query }));
        fixture.ok("search_files", params)["files"].as_array().unwrap().len()
    };
    assert_eq!(
        (found("É"), found("RÉSUMÉ"), found("日本"), found("%"), found("")),
        (4, 1, 1, 0, 12)
    );
    let limited = fixture.ok("search_files", fixture.here(json!({ "query": "", "limit": 2 })));
    assert_eq!(limited["files"].as_array().unwrap(), &fixture.files()[..2]);
}

#[test]
fn the_listing_comes_in_pages_that_fit() {
    let fixture = Fixture::new();
    for number in 0..120 {
        fixture.add(&format!("{number} {}", "n".repeat(250)), number.to_string().as_bytes());
    }
    let all = fixture.files();
    for size in [1, 7, 119, 120, 1_000] {
        let mut found = Vec::new();
        let mut after = Value::Null;
        loop {
            let params = json!({ "page_size": size, "after_file_id": after });
            let page = fixture.ok("list_files", fixture.here(params));
            let files = page["files"].as_array().unwrap();
            assert!(!files.is_empty() && files.len() <= size);
            assert!(page["files"].to_string().len() <= 24 * 1024);
            found.extend(files.clone());
            after = page["next_after_file_id"].clone();
            if after.is_null() {
                break;
            }
            assert_eq!(&after, &files.last().unwrap()["file_id"]);
        }
        assert!(found == all, "{size}");
    }
    let unknown = fixture.here(json!({ "after_file_id": id() }));
    assert_eq!(fixture.refused("list_files", unknown).0, "not_found");
}

#[test]
fn uploads_are_few_and_end_when_nobody_goes_on() {
    let fixture = Fixture::new();
    let all: Vec<String> = (0..MOST).map(|_| id()).collect();
    for upload in &all {
        fixture.begin(upload, Value::Null).unwrap();
        fixture.chunk(upload, 0, b"x").unwrap();
    }
    assert_eq!(code(fixture.begin(&id(), Value::Null)), "busy");
    fixture.begin(&all[0], Value::Null).unwrap();
    fixture.pass(IDLE_MS - 1);
    fixture.chunk(&all[0], 0, b"y").unwrap();
    fixture.pass(1);
    koru_service::files::upload::expire(&fixture.service, koru_service::files::upload::IDLE_MS);
    assert_eq!(fixture.incoming(), [all[0].as_str()], "the one that goes on stays");
    assert_eq!(code(fixture.chunk(&all[1], 1, b"x")), "not_found");
    fixture.finish(&all[0], hash(b"y")).unwrap();
    fixture.begin(&id(), Value::Null).unwrap();
}

#[test]
fn an_upload_reaches_no_further_than_its_connection() {
    let fixture = Fixture::new();
    let elsewhere =
        Scope { workspaces: vec![koru_model::ids::WorkspaceId(Uuid::new_v4())], read_only: false };
    let reading = Scope { read_only: true, ..Scope::default() };
    let upload = id();
    fixture.begin(&upload, Value::Null).unwrap();
    let begin = fixture.here(json!({ "upload_id": id(), "name": "a" }));
    let chunk = json!({ "upload_id": upload, "offset": 0, "base64": "eA==" });
    let finish = fixture.here(json!({ "upload_id": upload, "hash": hash(b"") }));
    let abort = json!({ "upload_id": upload });
    let steps = [
        ("file.begin", &begin),
        ("file.chunk", &chunk),
        ("file.finish", &finish),
        ("file.abort", &abort),
    ];
    for (call, params) in steps {
        for scope in [&elsewhere, &reading] {
            let error = fixture.answer_in(scope.clone(), call, params).unwrap_err();
            assert_eq!(error["code"], "permission_denied", "{call}: {error}");
        }
    }
    fixture.finish(&upload, hash(b"")).unwrap();
    let file = &fixture.files()[0]["file_id"];
    for tool in ["list_files", "get_file", "read_file", "ensure_file_note"] {
        let params = match tool {
            "list_files" => fixture.here(json!({})),
            _ => fixture.here(json!({ "file_id": file })),
        };
        let error = fixture.answer_in(elsewhere.clone(), tool, &params).unwrap_err();
        assert_eq!(error["code"], "permission_denied", "{tool}: {error}");
        let unknown = fixture.here(json!({ "file_id": id() }));
        if tool != "list_files" {
            assert_eq!(fixture.refused(tool, unknown).0, "not_found", "{tool}");
        }
    }
}
