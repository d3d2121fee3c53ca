//! Section H: files.
//!
//! C64 (base64 that is not strict) has no tool that it could meet, for none takes bytes; what the
//! service takes from the command line is tested in `koru-service/tests/files`.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Output;

use koru_model::file_name::folded;
use koru_tests::support::documents::{personal, text};
use koru_tests::support::files::{add, content};
use koru_tests::support::home::Home;
use serde_json::{Value, json};

/// Adds paths as a person would; how that ended, with what was added.
fn add_paths(home: &Home, paths: &[&Path]) -> (Output, Vec<Value>) {
    let mut command = home.command();
    command.args(["file", "add", "--json", "--"]).args(paths);
    let output = command.output().expect("koru-mcp runs");
    let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let files = said["files"].as_array().cloned().unwrap_or_default();
    (output, files)
}

fn listed(home: &Home) -> Vec<Value> {
    let output = home.run(&["file", "list", "--json"]);
    let said: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    said["files"].as_array().expect("a list of files").clone()
}

#[test]
fn c63_what_is_added_comes_back_byte_for_byte() {
    let home = Home::new();
    let bridge = home.bridge();
    let workspace = personal(&bridge);
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    png.extend((0..=255_u8).cycle().take(70_000));
    let five = b"0123456789abcdef".repeat(5 * 65_536);
    for (name, bytes, mime) in [
        ("a.png", png.as_slice(), "image/png"),
        ("a.md", png.as_slice(), "image/png"),
        ("a.pdf", b"%PDF-1.7\r\n\x80\r", "application/pdf"),
        ("a.zip", b"PK\x03\x04\x14\0\0\0", "application/zip"),
        ("empty", b"", "text/plain"),
        ("one", b"\0", "application/octet-stream"),
        ("five.txt", &five, "text/plain"),
        ("text.exe", b"only text\r\n", "text/plain"),
        ("crlf.md", b"\xef\xbb\xbf# Title\r\n", "text/markdown"),
    ] {
        let file = add(&home, name, bytes);
        assert_eq!((&file["mime"], &file["size"]), (&json!(mime), &json!(bytes.len())), "{name}");
        assert!(content(&bridge, &workspace, &file) == bytes, "{name}");
        let got = home.run(&["file", "get", &text(&file["file_id"]), "--output", "-"]);
        assert!(got.status.success() && got.stdout == bytes, "{name}");
    }
    let verified = home.run(&["file", "verify"]);
    assert!(verified.status.success(), "{verified:?}");
}

#[test]
fn c63_a_sparse_file_is_a_file() {
    let home = Home::new();
    let bridge = home.bridge();
    let path = home.beside().join("sparse.img");
    let file = std::fs::File::create(&path).expect("a file");
    file.set_len(20 * 1024 * 1024 + 1).expect("a file system that has holes");
    let (output, added) = add_paths(&home, &[&path]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(added[0]["size"], 20 * 1024 * 1024 + 1);
    let read = content(&bridge, &personal(&bridge), &added[0]);
    assert!(read.len() == 20 * 1024 * 1024 + 1 && read.iter().all(|byte| *byte == 0));
}

#[test]
fn c64_pieces_are_standard_base64() {
    let home = Home::new();
    let bridge = home.bridge();
    let file = add(&home, "odd", &[0xfb, 0xff, 0xfe, 0xff]);
    let call = json!({ "workspace_id": personal(&bridge), "file_id": file["file_id"] });
    assert_eq!(bridge.ok("read_file", call)["base64"], "+//+/w==");
}

#[test]
fn c65_only_files_that_a_person_means_are_added() {
    use std::os::unix::fs::symlink;
    let home = Home::new();
    let _bridge = home.bridge();
    assert!(home.run(&["file", "list"]).status.success(), "the store is there");
    let at = |name: &str| home.beside().join(name);
    std::fs::create_dir_all(at("folder/below")).expect("folders");
    std::fs::write(at("folder/below/plain"), "plain").expect("a file");
    std::fs::write(at("key"), "secret").expect("a file");
    symlink(at("key"), at("folder/link")).expect("a link");
    symlink(at("nowhere"), at("folder/dangling")).expect("a link");
    symlink(at("folder"), at("folder/below/loop")).expect("a link");
    let fifo = rustix::fs::FileType::Fifo;
    let mode = rustix::fs::Mode::RUSR;
    rustix::fs::mknodat(rustix::fs::CWD, at("folder/pipe"), fifo, mode, 0).expect("a pipe");

    let (output, added) = add_paths(&home, &[&at("folder")]);
    assert!(output.status.success(), "what is passed over in a folder is no failure: {output:?}");
    assert_eq!(added.len(), 1);
    assert_eq!(added[0]["name"], "plain");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    for passed_over in ["folder/link", "folder/dangling", "below/loop", "folder/pipe"] {
        assert!(said.contains(passed_over), "{passed_over} in {said}");
    }

    let store = home.folders().store;
    symlink(&store, at("way")).expect("a link");
    let refused = [
        at("folder/link"),
        at("folder/pipe"),
        at("nowhere"),
        at("key/below"),
        "/dev/zero".into(),
        "/proc/cpuinfo".into(),
        store.join("koru.sqlite"),
        store.clone(),
        at("way/koru.sqlite"),
        at("folder/../home/store/koru.lock"),
        home.folders().logs.clone(),
    ];
    for path in &refused {
        let (output, added) = add_paths(&home, &[path, &at("folder/below/../below/plain")]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{}: {said}", path.display());
        assert_eq!(added.len(), 1, "the others go on: {said}");
        assert!(said.lines().count() == 2, "one line, and the sum: {said}");
    }
    assert_eq!(listed(&home).len(), 1 + refused.len());
    // A folder above the store gives what else is in it.
    let (output, added) = add_paths(&home, &[home.path()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(added.is_empty(), "{added:?}");
}

#[test]
fn c65_a_file_that_grows_while_it_is_read_is_not_added() {
    use std::io::Write as _;
    use std::sync::atomic::{AtomicBool, Ordering};
    let home = Home::new();
    let path = home.beside().join("log");
    std::fs::write(&path, vec![b'x'; 4 << 20]).expect("a file");
    let stop = AtomicBool::new(false);
    let (output, added) = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = std::fs::File::options().append(true).open(&path).expect("the file");
            while !stop.load(Ordering::Relaxed) {
                file.write_all(b"more").expect("room for more");
                std::thread::yield_now();
            }
        });
        let ended = add_paths(&home, &[&path]);
        stop.store(true, Ordering::Relaxed);
        ended
    });
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("changed while it was read"));
    assert!(added.is_empty() && listed(&home).is_empty());
    let left = std::fs::read_dir(home.folders().store.join("files/incoming")).expect("a folder");
    assert_eq!(left.count(), 0, "what was sent of it is gone");
}

#[test]
fn c66_names_are_kept_shown_and_exported_safely() {
    let home = Home::new();
    let bridge = home.bridge();
    let folder = home.beside().join("names");
    std::fs::create_dir(&folder).expect("a folder");
    let long = format!("{}.txt", "ü".repeat(125));
    let names = [
        "résumé 日本 🎉.pdf",
        "a`b$(c)\".txt",
        "CON",
        "aux.md",
        "a:b",
        "end.",
        "end ",
        "-rf",
        "a\nb\u{1b}[31m",
        "gpj.\u{202e}exe",
        "é",
        "e\u{301}",
        "Case",
        "case",
        "a\\b",
        long.as_str(),
    ];
    for name in names {
        std::fs::write(folder.join(name), name).expect("a file of that name");
    }
    let odd = folder.join(std::ffi::OsStr::from_bytes(b"latin\xe9"));
    std::fs::write(&odd, "latin").expect("a file of that name");
    let (output, added) = add_paths(&home, &[&folder]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("no UTF-8") && said.lines().count() == 2, "{said}");
    let found: BTreeSet<String> = added.iter().map(|file| text(&file["name"])).collect();
    assert_eq!(found, names.iter().map(ToString::to_string).collect());
    for name in ["../../etc/passwd", &"n".repeat(300)] {
        assert_eq!(add(&home, name, name.as_bytes())["name"], name);
    }

    let shown = home.run(&["file", "list"]);
    let shown = String::from_utf8(shown.stdout).expect("UTF-8");
    assert_eq!(shown.lines().count(), 1 + names.len() + 2, "one line each: {shown}");
    assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{shown:?}");
    assert!(!shown.contains('\u{202e}'));

    let target = home.beside().join("exported");
    std::fs::create_dir(&target).expect("a folder");
    let target_name = target.to_str().expect("UTF-8");
    for file in listed(&home) {
        let got = home.run(&["file", "get", &text(&file["file_id"]), "--output", target_name]);
        assert!(got.status.success(), "{file}: {got:?}");
    }
    let mut exported = BTreeSet::new();
    for entry in std::fs::read_dir(&target).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("UTF-8");
        assert!(name.len() <= 255 && !name.ends_with(['.', ' ']) && !name.starts_with(['-', '.']));
        assert!(exported.insert(folded(&name)), "{name} is another's elsewhere");
    }
    assert_eq!(exported.len(), names.len() + 2);
    assert!(std::fs::read_to_string(target.join("_CON")).is_ok_and(|held| held == "CON"));
    let _ = personal(&bridge);
}
