//! `kill -9` of the service in a loop while blocks are extracted, against a ledger: both documents or neither.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use koru_tests::support::bridge::{Bridge, Reply};
use koru_tests::support::documents::{Page, nodes, text};
use koru_tests::support::home::Home;
use koru_tests::support::service::{Signal, hello, signal};
use serde_json::{Value, json};

use super::support::{entries, ids, made};

const CLIENTS: usize = 2;
const BLOCKS: usize = 400;
const A_KILL: Duration = Duration::from_secs(15);

fn kills() -> usize {
    std::env::var("KORU_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(30)
}

/// The answer to a call, sent again where the outcome is not known.
fn surely(bridge: &Bridge, arguments: &Value) -> Value {
    loop {
        match bridge.call("extract_to_document", arguments.clone()) {
            Reply::Ok(result) => return result,
            Reply::Refused(error)
                if ["outcome_unknown", "service_unavailable", "busy"]
                    .contains(&error["code"].as_str().unwrap_or_default()) => {}
            other => panic!("an extraction failed: {other:?}"),
        }
    }
}

/// Extracts one block after the other, every third into a document of its own; the answers.
fn extract(bridge: &Bridge, page: &Page, target: &Page, stop: &AtomicBool) -> Vec<Value> {
    let mut base = page.revision.clone();
    let mut answers = Vec::new();
    for (number, node) in page.nodes.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let mut call = json!({ "workspace_id": page.workspace, "source_document_id": page.document,
            "base_revision": base, "source_node_id": node, "expected": format!("line {number}") });
        if number % 3 == 2 {
            call["new_document_title"] = json!(format!("Own {number}"));
        } else {
            call["target_document_id"] = json!(target.document);
        }
        let answer = surely(bridge, &call);
        base = text(&answer["source_revision"]);
        answers.push(answer);
    }
    answers
}

fn kill_in_a_loop(home: &Home, working: &dyn Fn() -> bool) {
    let mut last_run = String::new();
    for round in 0..kills() {
        let deadline = Instant::now() + A_KILL;
        let run = loop {
            match hello(home.path()) {
                Some(hello) if hello.start_id != last_run => break hello,
                _ if !working() => return,
                _ => std::thread::park_timeout(Duration::from_millis(1)),
            }
            assert!(Instant::now() < deadline, "no service came up after kill {round}");
        };
        let until = Instant::now() + Duration::from_millis(20 + (round as u64 * 37) % 60);
        while Instant::now() < until {
            std::thread::park_timeout(until.saturating_duration_since(Instant::now()));
        }
        signal(run.pid, Signal::Kill);
        last_run = run.start_id;
    }
}

#[test]
fn both_documents_change_or_neither() {
    let home = Home::new();
    let bridges: Vec<Bridge> = (0..CLIENTS).map(|_| home.bridge()).collect();
    let target = Page::of_lines(&bridges[0], "Target", 0);
    let sources: Vec<Page> = (0..CLIENTS)
        .map(|number| Page::of_lines(&bridges[0], &format!("Source {number}"), BLOCKS))
        .collect();
    let stop = AtomicBool::new(false);
    let ledger: Vec<Vec<Value>> = std::thread::scope(|scope| {
        let (target, stop) = (&target, &stop);
        let working: Vec<_> = bridges
            .iter()
            .zip(&sources)
            .map(|(bridge, page)| scope.spawn(move || extract(bridge, page, target, stop)))
            .collect();
        let killed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            kill_in_a_loop(&home, &|| working.iter().all(|one| !one.is_finished()));
        }));
        stop.store(true, Ordering::Relaxed);
        let ledger =
            working.into_iter().map(|one| one.join().expect("a client that extracts")).collect();
        killed.expect("the kills are survived");
        ledger
    });

    let reader = home.bridge();
    let listed = reader.ok("list_documents", json!({ "workspace_id": target.workspace }));
    let documents = listed["documents"].as_array().expect("documents").len();
    let own: usize = ledger.iter().map(|answers| answers.len() / 3).sum();
    assert_eq!(documents, 1 + CLIENTS + own, "a document each, and none besides");
    let mut into_target = 0;
    let mut where_it_is: BTreeMap<String, usize> = BTreeMap::new();
    for (page, answers) in sources.iter().zip(&ledger) {
        let read = page.read(&reader);
        let links: Vec<String> =
            answers.iter().map(|answer| text(&answer["source_link_node_id"])).collect();
        let expected: Vec<String> =
            links.iter().chain(&page.nodes[answers.len()..]).cloned().collect();
        assert_eq!(ids(&read), expected, "a link for each that left, and the others");
        assert_eq!(entries(&reader, page).len(), 1 + 2 * answers.len());
        for (number, answer) in answers.iter().enumerate() {
            if number % 3 == 2 {
                let own = made(&reader, page, answer);
                assert_eq!(own.nodes, [page.nodes[number].clone()]);
                assert_eq!(entries(&reader, &own).len(), 3);
            } else {
                assert_eq!(answer["document_id"], target.document);
                into_target += 1;
                where_it_is.insert(page.nodes[number].clone(), number);
            }
        }
    }
    let there = target.read(&reader);
    assert_eq!(nodes(&there).len(), 1 + into_target);
    for node in nodes(&there).iter().skip(1) {
        let number = where_it_is.remove(&text(&node["node_id"])).expect("a block that left");
        assert_eq!(node["text"], format!("line {number}"));
    }
    assert_eq!(entries(&reader, &target).len(), 1 + 2 * into_target);
    assert!(into_target > CLIENTS, "the clients got nowhere");
    assert!(home.run(&["doctor"]).status.success());
}
