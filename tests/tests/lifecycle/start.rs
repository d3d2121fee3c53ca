//! Any number of bridges that start at once end up with one service.

use std::collections::BTreeSet;
use std::time::Instant;

use koru_tests::support::documents::{Page, personal};
use koru_tests::support::home::Home;
use koru_tests::support::service::{Signal, hello, signal};
use koru_tests::support::until;
use serde_json::json;

const BRIDGES: usize = 64;

/// Starts so many bridges at once; the workspaces that they saw, and the runs of the service.
fn at_once(home: &Home, count: usize) -> (BTreeSet<String>, BTreeSet<String>) {
    std::thread::scope(|scope| {
        let started: Vec<_> = (0..count)
            .map(|_| {
                scope.spawn(|| {
                    let bridge = home.bridge();
                    let workspace = personal(&bridge);
                    let run = hello(home.path()).expect("a service that answers").start_id;
                    (workspace, run)
                })
            })
            .collect();
        started.into_iter().map(|one| one.join().expect("a bridge that is served")).unzip()
    })
}

#[test]
fn sixty_four_bridges_on_an_empty_home_share_one_service() {
    let home = Home::new();
    let (workspaces, runs) = at_once(&home, BRIDGES);
    assert_eq!(runs.len(), 1, "one service, from the first to the last");
    assert_eq!(workspaces.len(), 1, "one first start");
    assert_eq!(home.service_pids().len(), 1);
}

#[test]
fn c69_bridges_find_one_service_again_and_again() {
    let home = Home::new();
    let page = Page::of_lines(&home.bridge(), "Kept", 3);
    for _ in 0..5 {
        assert!(home.kill_service());
        let (workspaces, runs) = at_once(&home, 12);
        assert_eq!((workspaces.len(), runs.len(), home.service_pids().len()), (1, 1, 1));
    }
    assert_eq!(page.texts(&home.bridge()).len(), 3);
    // One started by hand ends by itself and says who runs.
    let mut second = std::process::Command::new(&home.programs().service);
    home.clear(&mut second);
    let running = home.service_pids();
    let said = second.output().expect("the service runs");
    assert!(said.status.success());
    assert!(!said.stderr.is_empty());
    assert_eq!(home.service_pids(), running);
}

#[test]
fn c70_what_a_killed_service_leaves_behind_stops_nobody() {
    let home = Home::new();
    let page = Page::of_lines(&home.bridge(), "Kept", 1);
    let folders = home.folders();
    let own = std::process::id().to_string();
    for left in [b"".as_slice(), b"garbage\0\xff".as_slice(), own.as_bytes()] {
        assert!(home.kill_service());
        until("the end of the service", || home.service_pids().is_empty().then_some(()));
        std::fs::write(folders.lock(), left).expect("the lock's file is ours");
        std::fs::write(folders.start_lock(), left).expect("the lock's file is ours");
        assert_eq!(page.texts(&home.bridge()), ["line 0"]);
    }
    assert!(home.kill_service());
    until("the end of the service", || home.service_pids().is_empty().then_some(()));
    std::fs::remove_file(&folders.socket).expect("a socket was left");
    std::fs::write(&folders.socket, "a file in its place").expect("the folder is ours");
    assert_eq!(page.texts(&home.bridge()), ["line 0"]);
}

#[test]
fn c70_a_service_that_stands_still_is_reported() {
    let home = Home::new();
    let page = Page::of_lines(&home.bridge(), "Kept", 1);
    let bridge = home.bridge();
    let pids = home.service_pids();
    signal(pids[0], Signal::Stop);
    let began = Instant::now();
    let said = bridge.err("read_document", page.this());
    let code = said["code"].as_str().unwrap_or_default();
    assert!(["service_unavailable", "busy"].contains(&code), "{said}");
    assert!(began.elapsed().as_secs() <= 20);
    assert_eq!(
        bridge.ok("get_documentation", json!({ "uri": "koru://docs/model" }))["uri"],
        "koru://docs/model"
    );
    signal(pids[0], Signal::Continue);
    assert_eq!(page.texts(&bridge), ["line 0"]);
    assert_eq!(home.service_pids(), pids, "nobody killed it");
}

#[test]
fn c71_a_home_with_a_long_or_odd_path_works() {
    for name in ["with spaces and é 日本", &"long".repeat(40)] {
        let above = tempfile::tempdir().expect("a folder");
        let folder = above.path().join(name);
        std::fs::create_dir(&folder).expect("a folder of that name");
        let home =
            Home::in_folder(koru_tests::support::programs::Programs::beside_this_test(), &folder);
        assert_eq!(Page::of_lines(&home.bridge(), "There", 1).texts(&home.bridge()), ["line 0"]);
    }
}

#[test]
fn c73_stdout_carries_the_protocol_alone() {
    let home = Home::new();
    let mut command = home.command();
    command.args(["serve", "--stdio"]).env("RUST_LOG", "trace");
    let bridge = koru_tests::support::bridge::Bridge::start(command);
    bridge.initialize("strict");
    assert!(!personal(&bridge).is_empty());
    home.kill_service();
    assert!(!personal(&bridge).is_empty());
    bridge.close_input();
    assert_eq!(bridge.other(), None, "a line that is no answer");
}
