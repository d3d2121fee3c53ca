//! `kill -9` of the service while files come in: what was acknowledged is there whole, what was not is not seen.

use std::process::Stdio;
use std::time::Duration;

use koru_model::content::ContentHasher;
use koru_tests::support::documents::personal;
use koru_tests::support::files::content;
use koru_tests::support::home::Home;
use koru_tests::support::until;
use serde_json::{Value, json};

/// How many kills; `cargo xtask faults` takes more.
fn kills() -> u64 {
    std::env::var("KORU_FILE_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(12)
}

fn hash(bytes: &[u8]) -> String {
    let mut hasher = ContentHasher::default();
    hasher.update(bytes);
    hasher.finish().0.to_string()
}

#[test]
fn a_killed_service_leaves_whole_files_or_none() {
    let home = Home::new();
    let bridge = home.bridge();
    let workspace = personal(&bridge);
    let (mut acknowledged, mut failed, mut unsaid) = (Vec::new(), 0, 0);
    let mut bytes = vec![0_u8; 3 * 1024 * 1024 + 11];
    for round in 0..kills() {
        bytes[..8].copy_from_slice(&round.to_le_bytes());
        let name = format!("file {round}");
        let path = home.beside().join(&name);
        std::fs::write(&path, &bytes).expect("a file beside the home");
        let mut command = home.command();
        command.args(["file", "add", "--json"]).arg(&path).stdout(Stdio::piped());
        let child = command.stderr(Stdio::null()).spawn().expect("koru-mcp runs");
        // Spread over the whole of an upload, which takes some 60 ms.
        std::thread::park_timeout(Duration::from_millis((round * 13) % 90));
        home.kill_service();
        let output = child.wait_with_output().expect("koru-mcp ends");
        let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        match (output.status.success(), said["files"].get(0)) {
            (true, Some(file)) => {
                assert_eq!(file["hash"], hash(&bytes), "round {round}");
                acknowledged.push(file.clone());
            }
            (true, None) => panic!("round {round}: {output:?}"),
            (false, _) => failed += 1,
        }
        let listed = bridge.ok("list_files", json!({ "workspace_id": workspace }));
        let listed = listed["files"].as_array().expect("a list of files").clone();
        for file in &acknowledged {
            assert!(listed.contains(file), "round {round}: {file} is gone");
        }
        // The last may be there without having been acknowledged; then it is whole.
        assert!(listed.len() <= acknowledged.len() + 1, "round {round}: {listed:?}");
        if let Some(last) = listed.last().filter(|file| file["name"] == json!(name)) {
            assert!(content(&bridge, &workspace, last) == bytes, "round {round}");
            if !acknowledged.contains(last) {
                acknowledged.push(last.clone());
                unsaid += 1;
            }
        }
    }
    assert!(!acknowledged.is_empty(), "an upload is begun again where the service died");
    let counts = (acknowledged.len(), failed, unsaid);
    report(&format!("{} kills; there, failed, there without an answer: {counts:?}", kills()));
    assert!(home.run(&["file", "verify"]).status.success());
    home.stop_service();
    until("the end of the service", || home.service_pids().is_empty().then_some(()));
    assert!(home.run(&["file", "list"]).status.success());
    let left = std::fs::read_dir(home.folders().store.join("files/incoming")).expect("a folder");
    assert_eq!(left.count(), 0, "what earlier lives left half done is gone");
}

#[test]
fn a_killed_command_leaves_nothing() {
    let home = Home::new();
    let _bridge = home.bridge();
    let path = home.beside().join("large");
    let file = std::fs::File::create(&path).expect("a file");
    file.set_len(1 << 30).expect("a file system that has holes");
    let mut child = home
        .command()
        .args(["file", "add"])
        .arg(&path)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("koru-mcp runs");
    let incoming = home.folders().store.join("files/incoming");
    until("the beginning of an upload", || {
        let mut entries = std::fs::read_dir(&incoming).ok()?.filter_map(Result::ok);
        entries.any(|entry| entry.metadata().is_ok_and(|found| found.len() > 0)).then_some(())
    });
    child.kill().expect("the command is ours");
    child.wait().expect("it ends");
    let listed = home.run(&["file", "list", "--json"]);
    assert_eq!(String::from_utf8_lossy(&listed.stdout).trim(), r#"{"files":[]}"#);
    home.stop_service();
    assert!(home.run(&["file", "list"]).status.success());
    assert_eq!(std::fs::read_dir(&incoming).expect("a folder").count(), 0);
}

#[expect(clippy::print_stderr, reason = "what a long run did is shown with --nocapture")]
fn report(summary: &str) {
    eprintln!("{summary}");
}
