//! What is written where: nothing of a document in logs, nothing that others can read.

use std::path::{Path, PathBuf};

use koru_tests::support::documents::{Page, operation, replace};
use koru_tests::support::home::Home;
use serde_json::json;

fn all_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the home") {
        let path = entry.expect("an entry").path();
        found.push(path.clone());
        if path.is_dir() {
            all_files(&path, found);
        }
    }
}

#[test]
fn logs_tell_nothing_of_documents() {
    const CANARY: &str = "canary7f3a";
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::new(&bridge, &format!("Title {CANARY}"), &[("paragraph", CANARY)]);
    page.change(
        &bridge,
        &[operation("add_tag", &page.nodes[0], CANARY, json!({ "tag": format!("tag {CANARY}") }))],
    );
    let said = page.refused(&bridge, &[replace(&page.nodes[0], &format!("not {CANARY}"), "x")]);
    assert!(said.to_string().contains(CANARY), "the client is told");
    bridge.err("read_document", page.reading(json!({ CANARY: CANARY, "node_id": CANARY })));
    assert!(bridge.send_line(&format!("no JSON {CANARY}")));
    assert!(bridge.other().is_some());
    let file = koru_tests::support::files::add(&home, CANARY, CANARY.as_bytes());
    let found =
        bridge.ok("search_files", json!({ "workspace_id": page.workspace, "query": CANARY }));
    assert_eq!(found["files"][0], file);
    assert!(home.kill_service());
    assert_eq!(page.texts(&bridge), [CANARY]);
    bridge.close();
    home.stop_service();
    let mut logs = Vec::new();
    all_files(&home.folders().logs, &mut logs);
    let mut written = String::new();
    for log in logs.iter().filter(|log| log.is_file()) {
        written.push_str(&String::from_utf8_lossy(&std::fs::read(log).expect("a log")));
    }
    assert!(
        written.contains("read_document") || written.contains("edit_document"),
        "tools are told"
    );
    assert!(!written.contains(CANARY), "a document's content is in the logs");
}

#[cfg(unix)]
#[test]
fn files_and_folders_are_the_users_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Private", 1);
    assert_eq!(page.texts(&bridge), ["line 0"]);
    let mut all = vec![home.path().to_owned()];
    all_files(home.path(), &mut all);
    assert!(all.len() > 6, "{all:?}");
    for path in all {
        let mode = std::fs::symlink_metadata(&path).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o077, 0, "{} is open to others: {mode:o}", path.display());
    }
}
