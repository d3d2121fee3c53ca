//! `read_file` at every edge, as bytes and as text, and what is damaged.

use koru_model::protocol::base64::Base64;
use serde_json::{Value, json};

use super::support::{Fixture, noise};

const MIB: usize = 1 << 20;

#[test]
fn pieces_at_every_edge_are_what_the_file_holds() {
    let fixture = Fixture::new();
    for size in [0, 1, MIB - 1, MIB, MIB + 1, 2 * MIB, 2 * MIB + 3] {
        let whole = noise(size);
        let file = fixture.add("a", &whole);
        assert_eq!(file["size"], size);
        let offsets = [0, 1, MIB - 1, MIB, MIB + 1, size.saturating_sub(1), size];
        for offset in offsets.into_iter().filter(|offset| *offset <= size) {
            for length in [1, 2, MIB - 1, MIB] {
                let params =
                    json!({ "file_id": file["file_id"], "offset": offset, "length": length });
                let piece = fixture.ok("read_file", fixture.here(params));
                let end = (offset + length).min(size);
                let bytes: Base64 = serde_json::from_value(piece["base64"].clone()).unwrap();
                assert!(bytes.0 == whole[offset..end], "{size} from {offset}, {length}");
                assert_eq!(piece["offset"], offset);
                assert_eq!(piece["length"], end - offset);
                assert_eq!(piece["total_bytes"], size);
                assert_eq!(piece["eof"], end == size);
                assert_eq!(piece["file"], file);
                assert!(piece.get("text").is_none());
            }
        }
        for offset in [size as u64 + 1, u64::MAX] {
            let params = json!({ "file_id": file["file_id"], "offset": offset });
            let (code, said) = fixture.refused("read_file", fixture.here(params));
            assert_eq!(code, "invalid_request");
            assert!(said.contains("\"offset\"") && said.contains(&size.to_string()), "{said}");
        }
    }
}

#[test]
fn what_is_not_said_is_the_first_32_kib_as_base64() {
    let fixture = Fixture::new();
    let file = fixture.add("a", &noise(100_000));
    let piece = fixture.ok("read_file", fixture.here(json!({ "file_id": file["file_id"] })));
    assert_eq!((&piece["offset"], &piece["length"]), (&json!(0), &json!(32_768)));
    for length in [0, MIB + 1] {
        let params = json!({ "file_id": file["file_id"], "length": length });
        assert_eq!(fixture.refused("read_file", fixture.here(params)).0, "invalid_request");
    }
}

#[test]
fn text_is_cut_between_characters_and_joins_to_the_whole() {
    let fixture = Fixture::new();
    // A character lies across the edge of the first piece of the hash.
    let whole = format!("{}é日🎉{}", "x".repeat(MIB - 1), "ü\n".repeat(20_000));
    let file = fixture.add("a.txt", whole.as_bytes());
    assert_eq!(file["mime"], "text/plain");
    for length in [3, 4_096 + 1, 65_537, MIB] {
        let mut joined = String::new();
        if length == 3 {
            joined.push_str(whole.get(..MIB - 4).unwrap());
        }
        for _ in 0..whole.len() {
            let params = json!({ "file_id": file["file_id"], "as": "text", "offset": joined.len(), "length": length });
            let piece = fixture.ok("read_file", fixture.here(params));
            let text = piece["text"].as_str().unwrap();
            assert_eq!(piece["offset"], joined.len());
            assert_eq!(piece["length"], text.len());
            assert!(piece.get("base64").is_none());
            joined += text;
            assert_eq!(piece["eof"], joined.len() == whole.len());
            if piece["eof"] == true || (length == 3 && joined.len() > MIB + 20) {
                break;
            }
        }
        assert!(whole.starts_with(&joined) && (length == 3 || joined == whole), "{length}");
    }
    let inside = json!({ "file_id": file["file_id"], "as": "text", "offset": MIB, "length": 2 });
    let piece = fixture.ok("read_file", fixture.here(inside));
    assert_eq!((&piece["offset"], &piece["text"]), (&json!(MIB + 1), &json!("日")));
    let end = json!({ "file_id": file["file_id"], "as": "text", "offset": whole.len() });
    let piece = fixture.ok("read_file", fixture.here(end));
    assert_eq!((&piece["text"], &piece["eof"]), (&json!(""), &json!(true)));
}

#[test]
fn what_is_no_text_is_given_as_base64_only() {
    let fixture = Fixture::new();
    let file = fixture.add("a", b"fine\xffnot");
    let params = json!({ "file_id": file["file_id"], "as": "text" });
    let (code, said) = fixture.refused("read_file", fixture.here(params));
    assert_eq!(code, "invalid_request");
    assert!(said.contains("byte 4") && said.contains("base64"), "{said}");
}

fn verified(fixture: &Fixture) -> Value {
    let mut damaged = Vec::new();
    let mut next = Value::Null;
    for _ in 0..1_000 {
        let step = fixture.ok("file.verify", json!({ "next": next }));
        damaged.extend(step["damaged"].as_array().unwrap().clone());
        next = step["next"].clone();
        if next.is_null() {
            return damaged.into();
        }
    }
    panic!("a check comes to an end");
}

#[test]
fn damage_is_never_given_out_and_adding_again_repairs_it() {
    let fixture = Fixture::new();
    let whole = noise(3 * MIB + 5);
    let file = fixture.add("a", &whole);
    fixture.add("sound", b"sound");
    fixture.add("empty", b"");
    assert_eq!(verified(&fixture), json!([]));
    let path = fixture.content_path(&file);
    let read = |offset: usize, length: usize| {
        let params = json!({ "file_id": file["file_id"], "offset": offset, "length": length });
        fixture.answer("read_file", &fixture.here(params))
    };
    let mut bent = whole.clone();
    bent[MIB + 7] ^= 1;
    type Harm<'a> = (&'a str, Value, Box<dyn Fn() + 'a>);
    let harms: [Harm<'_>; 3] = [
        ("damaged", json!(MIB), Box::new(|| std::fs::write(&path, &bent).unwrap())),
        ("length", Value::Null, Box::new(|| std::fs::write(&path, &whole[1..]).unwrap())),
        ("missing", Value::Null, Box::new(|| std::fs::remove_file(&path).unwrap())),
    ];
    for (problem, offset, harm) in harms {
        harm();
        let error = read(2 * MIB - 1, 1).unwrap_err();
        assert_eq!(error["code"], "storage_failed", "{error}");
        assert_eq!(error["details"]["problem"], problem);
        assert!(error["message"].as_str().unwrap().contains("file verify"), "{error}");
        if problem == "damaged" {
            assert!(read(2 * MIB, MIB).is_ok(), "the other pieces are still given");
            assert!(read(MIB - 1, 1).is_ok());
        }
        let found = verified(&fixture);
        assert_eq!(found.as_array().unwrap().len(), 1, "{found}");
        assert_eq!((&found[0]["file_id"], &found[0]["name"]), (&file["file_id"], &json!("a")));
        assert_eq!((&found[0]["problem"], &found[0]["offset"]), (&json!(problem), &offset));
        let again = fixture.add("the same again", &whole);
        assert_eq!(verified(&fixture), json!([]), "{problem}");
        fixture.is_sound();
        fixture.ok("file.remove", fixture.here(json!({ "file_id": again["file_id"] })));
    }
}
