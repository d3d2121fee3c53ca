//! Orderly ends of bridges and services, and clients that end without a word.

use std::time::{Duration, Instant};

use koru_tests::support::bridge::Reply;
use koru_tests::support::documents::{Page, replace};
use koru_tests::support::home::Home;
use koru_tests::support::service::{Signal, signal};
use koru_tests::support::until;
use serde_json::json;

/// What a loaded machine may add to the 100 ms of the contract.
const SLACK: Duration = Duration::from_secs(2);

#[test]
fn the_end_of_input_ends_the_bridge_and_not_the_service() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Stays", 1);
    let running = home.service_pids();
    let began = Instant::now();
    assert!(bridge.close().success());
    assert!(began.elapsed() < SLACK);
    assert_eq!(home.service_pids(), running);
    assert_eq!(page.texts(&home.bridge()), ["line 0"]);
}

#[test]
fn signals_end_the_bridge_with_success() {
    for asked in [Signal::Terminate, Signal::Interrupt] {
        let home = Home::new();
        let bridge = home.bridge();
        assert!(!koru_tests::support::documents::personal(&bridge).is_empty());
        signal(bridge.pid(), asked);
        assert!(bridge.ended().success(), "{asked:?}");
    }
}

#[test]
fn calls_in_flight_at_the_end_of_input_are_answered() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Flight", 20);
    let calls: Vec<u64> = (0..20)
        .map(|number| {
            let edit = replace(&page.nodes[number], &format!("line {number}"), "x");
            bridge.post_call("edit_document", page.edit(&page.revision, &[edit]))
        })
        .collect();
    bridge.close_input();
    for call in calls {
        assert!(matches!(bridge.wait(call), Reply::Ok(_)));
    }
    assert!(bridge.ended().success());
}

#[test]
fn sigterm_ends_the_service_in_order_under_load() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Orderly", 100);
    let running = home.service_pids();
    let calls: Vec<u64> = (0..100)
        .map(|number| {
            let edit = replace(&page.nodes[number], &format!("line {number}"), "x");
            bridge.post_call("edit_document", page.edit(&page.revision, &[edit]))
        })
        .collect();
    signal(running[0], Signal::Terminate);
    for call in calls {
        assert!(matches!(bridge.wait(call), Reply::Ok(_)), "answered, or sent again by the bridge");
    }
    until("the end of the service", || (!home.service_pids().contains(&running[0])).then_some(()));
    assert_eq!(page.texts(&bridge), vec!["x"; 100]);
}

#[test]
fn a_person_stops_the_service() {
    let home = Home::new();
    let page = Page::of_lines(&home.bridge(), "Stopped", 1);
    let stopped = home.run(&["service", "stop"]);
    assert!(stopped.status.success(), "{stopped:?}");
    until("the end of the service", || home.service_pids().is_empty().then_some(()));
    assert!(!home.folders().socket.exists(), "no socket is left");
    assert_eq!(page.texts(&home.bridge()), ["line 0"]);
}

#[test]
fn c72_a_client_that_dies_takes_its_bridge_and_no_half_call() {
    let home = Home::new();
    let page = Page::of_lines(&home.bridge(), "Half", 2);
    let edit = |node: usize| {
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "edit_document",
            "arguments": page.edit(&page.revision, &[replace(&page.nodes[node], &format!("line {node}"), "x")]) } })
        .to_string()
    };
    let bridge = home.bridge();
    let half = edit(0);
    let (half, _) = half.split_at(half.len() / 2);
    assert!(bridge.send(half.as_bytes()));
    assert!(bridge.close().success(), "half a line is no request");
    let bridge = home.bridge();
    assert!(bridge.send_line(&edit(1).replace("\"id\":1", "\"id\":77")));
    bridge.kill();
    bridge.ended();
    let reader = home.bridge();
    let texts = page.texts(&reader);
    assert_eq!(texts[0], "line 0");
    assert!(["line 1", "x"].contains(&texts[1].as_str()));
}

#[test]
fn an_idle_service_ends_by_itself() {
    let home = Home::new();
    let mut command = home.command();
    command.args(["serve", "--stdio"]).env("KORU_IDLE_EXIT_S", "1");
    let bridge = koru_tests::support::bridge::Bridge::start(command);
    bridge.initialize("idle");
    assert!(!koru_tests::support::documents::personal(&bridge).is_empty());
    assert_eq!(home.service_pids().len(), 1);
    bridge.close();
    until("the end of the idle service", || home.service_pids().is_empty().then_some(()));
}
