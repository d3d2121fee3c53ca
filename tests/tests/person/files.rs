//! `koru-mcp file`: each command used well, and refused, with its exit code.

use koru_tests::support::bridge::Bridge;
use koru_tests::support::documents::{Page, personal, text};
use koru_tests::support::files::add;
use koru_tests::support::home::Home;
use serde_json::{Value, json};

struct Person {
    home: Home,
    bridge: Bridge,
}

impl Person {
    fn new() -> Self {
        let home = Home::new();
        Self { bridge: home.bridge(), home }
    }

    fn ok(&self, arguments: &[&str]) -> String {
        let output = self.home.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.ok(arguments)).expect("one JSON object")
    }

    /// What is said on stderr of a command that fails.
    fn fails(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.home.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
        String::from_utf8(output.stderr).expect("UTF-8")
    }

    fn path(&self, name: &str) -> String {
        self.home.beside().join(name).to_str().expect("UTF-8").to_owned()
    }

    fn write(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.path(name);
        std::fs::create_dir_all(std::path::Path::new(&path).parent().expect("a folder"))
            .and_then(|()| std::fs::write(&path, bytes))
            .expect("a file beside the home");
        path
    }
}

#[test]
fn files_and_folders_are_added_and_listed() {
    let person = Person::new();
    for name in ["in/b.txt", "in/deep/er/a.txt", "in/c.txt"] {
        person.write(name, name.as_bytes());
    }
    let one = person.write("one.md", b"# One");
    let said = person.ok(&["file", "add", &one, &person.path("in")]);
    let names: Vec<&str> = said.lines().filter_map(|line| line.split("  ").nth(1)).collect();
    assert_eq!(names, ["one.md", "b.txt", "c.txt", "a.txt"], "in the order of the names");
    let listed = person.json(&["file", "list", "--json"]);
    let call = json!({ "workspace_id": personal(&person.bridge) });
    assert_eq!(listed, person.bridge.ok("list_files", call));
    assert!(person.ok(&["file", "list"]).contains("one.md"));

    person.ok(&["workspace", "create", "Work"]);
    assert!(person.fails(1, &["file", "add", &one]).contains("more than one live workspace"));
    let added = person.json(&["file", "add", "--workspace", "Work", "--json", &one]);
    assert_eq!(added["files"][0]["hash"], listed["files"][0]["hash"]);
    assert_eq!(person.json(&["file", "list", "--workspace", "Work", "--json"]), added);
    assert!(person.fails(2, &["file", "add"]).contains("PATH"));
    assert!(
        person
            .fails(1, &["file", "add", "--workspace", "Work", "--name", "x", &one, &one])
            .contains("one file")
    );
    let missing = person.path("missing");
    let said = person.fails(1, &["file", "add", "--workspace", "Work", &missing, &one]);
    assert!(said.contains("is not there") && said.contains("1 of them was not added"), "{said}");
    assert_eq!(
        person.json(&["file", "list", "--workspace", "Work", "--json"])["files"]
            .as_array()
            .map(Vec::len),
        Some(2)
    );
}

#[test]
fn a_file_is_fetched_whole_and_nothing_is_overwritten_unasked() {
    let person = Person::new();
    let bytes: Vec<u8> = (0..=255).cycle().take(3_000_001).collect();
    let file = add(&person.home, "a/b:c.bin", &bytes);
    let id = text(&file["file_id"]);
    let get = |arguments: &[&str]| {
        let mut command = person.home.command();
        command.current_dir(person.home.beside()).args(["file", "get"]).args(arguments);
        let output = command.output().expect("koru-mcp runs");
        (output.status.code(), String::from_utf8(output.stdout).unwrap_or_default())
    };
    assert_eq!(get(&["a/b:c.bin"]), (Some(0), "a_b_c.bin\n".into()));
    assert_eq!(get(&[&id]), (Some(0), "a_b_c (2).bin\n".into()));
    assert_eq!(get(&[&id, "--force"]), (Some(0), "a_b_c.bin\n".into()));
    let held = |name: &str| std::fs::read(person.path(name)).unwrap_or_default();
    assert!(held("a_b_c.bin") == bytes && held("a_b_c (2).bin") == bytes);
    person.write("mine", b"mine");
    assert_eq!(get(&[&id, "--output", "mine"]).0, Some(1));
    assert_eq!(held("mine"), b"mine");
    assert_eq!(get(&[&id, "--output", "mine", "--force"]).0, Some(0));
    assert!(held("mine") == bytes);
    assert_eq!(get(&[&id, "--output", "no/such/folder"]).0, Some(1));
    assert_eq!(get(&["nothing"]).0, Some(1));
    let piped = person.home.run(&["file", "get", &id, "--output", "-"]);
    assert!(piped.status.success() && piped.stdout == bytes && piped.stderr.is_empty());
    let left = std::fs::read_dir(person.home.beside()).expect("a folder");
    let left = left.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    assert!(!left.into_iter().any(|name| name.starts_with(".koru-")), "nothing half written stays");
}

#[test]
fn a_name_that_means_several_files_is_refused() {
    let person = Person::new();
    let first = add(&person.home, "same", b"1");
    let second = add(&person.home, "same", b"2");
    let said = person.fails(1, &["file", "note", "same"]);
    for file in [&first, &second] {
        assert!(said.contains(&text(&file["file_id"])), "{said}");
    }
    let id = text(&second["file_id"]).replace('-', "");
    let tail = id.get(id.len() - 12..).expect("digits");
    let note = person.json(&["file", "note", tail, "--json"]);
    assert_eq!(note["created"], true);
    let printed = person.ok(&["file", "note", tail]);
    assert_eq!(printed.trim(), note["note_id"]);
    assert!(person.ok(&["document", "show", printed.trim()]).contains("same"));
}

#[test]
fn a_file_in_use_is_removed_by_force_alone() {
    let person = Person::new();
    let file = add(&person.home, "Scan.pdf", b"%PDF-1.7");
    let token = format!("[[attachment:{}]]", text(&file["file_id"]));
    let page = Page::new(&person.bridge, "Uses the scan", &[("paragraph", &token)]);
    let said = person.fails(1, &["file", "remove", "Scan.pdf"]);
    assert!(said.contains("Uses the scan") && said.contains(&page.document), "{said}");
    person.ok(&["file", "remove", "Scan.pdf", "--force"]);
    let inline = &page.node(&person.bridge, &page.nodes[0])["inlines"][0];
    assert_eq!(inline["lifecycle"], "missing");
    assert_eq!(page.texts(&person.bridge), [token]);
    assert!(person.fails(1, &["file", "remove", "Scan.pdf"]).contains("no file"));
    assert_eq!(person.json(&["file", "list", "--json"]), json!({ "files": [] }));
}

#[test]
fn damage_is_found_and_told() {
    let person = Person::new();
    assert!(person.ok(&["file", "verify"]).contains("0 contents"));
    let file = add(&person.home, "a\nb", b"sound");
    add(&person.home, "other", b"sound, too").as_object().expect("an entry");
    assert_eq!(person.json(&["file", "verify", "--json"])["ok"], true);
    let hex = text(&file["hash"]).trim_start_matches("blake3:").to_owned();
    let folder = person.home.folders().store.join("files").join(hex.get(..2).expect("hex"));
    std::fs::write(folder.join(&hex), b"bent.").expect("the content");
    let said = person.home.run(&["file", "verify", "--json"]);
    assert_eq!(said.status.code(), Some(1));
    let found: Value = serde_json::from_slice(&said.stdout).expect("one JSON object");
    assert_eq!((&found["ok"], &found["checked_bytes"]), (&json!(false), &json!(15)));
    assert_eq!(found["damaged"][0]["file_id"], file["file_id"]);
    assert!(person.fails(1, &["file", "verify"]).contains("1 damaged"));
    assert!(
        person.fails(1, &["file", "get", "a\nb", "--output", "-"]).contains("damaged on the disk")
    );
    let call = json!({ "workspace_id": personal(&person.bridge), "file_id": file["file_id"] });
    assert_eq!(person.bridge.err("read_file", call)["code"], "storage_failed");
}
