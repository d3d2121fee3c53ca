//! `kill -9` of the service and of bridges under load, against a ledger that the clients keep.
//!
//! Every client writes to one document: its counter, and a line for each count, in one batch. A call
//! whose bridge died is sent again with the same base through a new bridge. In the end the ledger and the document
//! must agree: what was acknowledged is there, once; and the number of history entries shows that nothing was
//! applied besides.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use koru_tests::support::bridge::{Bridge, Reply};
use koru_tests::support::documents::{Page, id, insert, nodes, replace, text};
use koru_tests::support::home::Home;
use koru_tests::support::service::{Signal, hello, signal};
use serde_json::{Value, json};

const CLIENTS: usize = 4;
/// How long one kill may take to be survived, at most.
const A_KILL: Duration = Duration::from_secs(15);

fn kills() -> usize {
    std::env::var("KORU_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(30)
}

/// A client whose bridge may die at any time.
struct Client<'home> {
    home: &'home Home,
    bridge: Mutex<Arc<Bridge>>,
    resent: AtomicUsize,
}

impl Client<'_> {
    fn bridge(&self) -> MutexGuard<'_, Arc<Bridge>> {
        self.bridge.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Kills the bridge as it is now.
    fn kill(&self) {
        self.bridge().kill();
    }

    /// A bridge whose client said hello, however often it takes.
    fn replace_bridge(&self) {
        loop {
            let mut command = self.home.command();
            command.args(["serve", "--stdio"]);
            let bridge = Arc::new(Bridge::start(command));
            *self.bridge() = Arc::clone(&bridge);
            let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": { "name": "ledger", "version": "1" } });
            if matches!(bridge.wait(bridge.post("initialize", hello)), Reply::Ok(_)) {
                bridge.notify("notifications/initialized");
                return;
            }
        }
    }

    /// The result of a call, sent again where its bridge died or the outcome is not known.
    fn surely(&self, tool: &str, arguments: &Value) -> Value {
        loop {
            let bridge = Arc::clone(&self.bridge());
            match bridge.call(tool, arguments.clone()) {
                Reply::Ok(result) => return result,
                Reply::Gone => self.replace_bridge(),
                Reply::Refused(error)
                    if ["outcome_unknown", "service_unavailable", "busy"]
                        .contains(&error["code"].as_str().unwrap_or_default()) => {}
                other => panic!("{tool} failed: {other:?}"),
            }
            self.resent.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Counts until told to stop; how far, every count acknowledged.
fn count(client: &Client<'_>, page: &Page, number: usize, stop: &AtomicBool) -> usize {
    let (heading, counter) = (&page.nodes[2 * number], &page.nodes[2 * number + 1]);
    let mut base = page.revision.clone();
    let mut reached = 0;
    while !stop.load(Ordering::Relaxed) {
        let batch = [
            replace(counter, &format!("{reached}"), &format!("{}", reached + 1)),
            insert(&id(), heading, "paragraph", &format!("{}", reached + 1)),
        ];
        let result = client.surely("edit_document", &page.edit(&base, &batch));
        base = text(&result["revision"]);
        reached += 1;
    }
    reached
}

fn newest_version(bridge: &Bridge, page: &Page) -> u64 {
    let listed = bridge.ok("list_document_versions", page.reading(json!({ "limit": 1 })));
    listed["entries"][0]["version"].as_u64().unwrap_or_default()
}

/// Kills the service, and every fifth time a bridge, some milliseconds after it came up.
fn kill_in_a_loop(home: &Home, clients: &[Client<'_>], working: &dyn Fn() -> bool) {
    let mut last_run = String::new();
    for round in 0..kills() {
        let deadline = Instant::now() + A_KILL;
        let run = loop {
            assert!(working(), "a client failed");
            match hello(home.path()) {
                Some(hello) if hello.start_id != last_run => break hello,
                _ => std::thread::park_timeout(Duration::from_millis(1)),
            }
            assert!(Instant::now() < deadline, "no service came up after kill {round}");
        };
        // Spread over the life of a call, from 20 ms after the service answers.
        let pause = Duration::from_millis(20 + (round as u64 * 37) % 60);
        let until = Instant::now() + pause;
        while Instant::now() < until {
            std::thread::park_timeout(until.saturating_duration_since(Instant::now()));
        }
        if round % 5 == 4 {
            clients[round / 5 % clients.len()].kill();
        }
        signal(run.pid, Signal::Kill);
        last_run = run.start_id;
    }
}

#[test]
fn nothing_acknowledged_is_lost_and_nothing_applied_twice() {
    let home = Home::new();
    let setup = home.bridge();
    let texts: Vec<String> = (0..CLIENTS).map(|number| format!("client {number}")).collect();
    let mut all = Vec::new();
    for text in &texts {
        all.extend([("heading", text.as_str()), ("paragraph", "0")]);
    }
    let page = Page::new(&setup, "Ledger", &all);
    let before = newest_version(&setup, &page);

    let clients: Vec<Client<'_>> = (0..CLIENTS)
        .map(|_| Client {
            home: &home,
            bridge: Mutex::new(Arc::new(home.bridge())),
            resent: AtomicUsize::new(0),
        })
        .collect();
    let stop = AtomicBool::new(false);
    let reached: Vec<usize> = std::thread::scope(|scope| {
        let (page, stop) = (&page, &stop);
        let counting: Vec<_> = clients
            .iter()
            .enumerate()
            .map(|(number, client)| scope.spawn(move || count(client, page, number, stop)))
            .collect();
        let working = || counting.iter().all(|one| !one.is_finished());
        // A client that failed must not leave the others counting for ever.
        let killed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            kill_in_a_loop(&home, &clients, &working);
        }));
        stop.store(true, Ordering::Relaxed);
        let reached = counting.into_iter().map(|one| one.join().expect("a client that counts"));
        let reached = reached.collect();
        killed.expect("the kills are survived");
        reached
    });

    let reader = home.bridge();
    let found =
        Found { read: page.read(&reader), entries: newest_version(&reader, &page) - before };
    assert_eq!(disagreements(&reached, &page, &found), Vec::<String>::new());
    the_check_can_fail(&reached, &page, &found);
    let total: usize = reached.iter().sum();
    assert!(total >= CLIENTS, "the clients got nowhere");
    let resent: usize = clients.iter().map(|one| one.resent.load(Ordering::Relaxed)).sum();
    report(&format!("{} kills, {total} edits acknowledged, {resent} calls sent again", kills()));
}

/// What the document and its history say in the end.
#[derive(Clone)]
struct Found {
    read: Value,
    entries: u64,
}

/// Where the ledger and what was found differ.
fn disagreements(ledger: &[usize], page: &Page, found: &Found) -> Vec<String> {
    let mut all = Vec::new();
    for (number, reached) in ledger.iter().enumerate() {
        let (heading, counter) = (&page.nodes[2 * number], &page.nodes[2 * number + 1]);
        let says = nodes(&found.read).iter().find(|node| node["node_id"] == *counter);
        let count = json!(reached.to_string());
        if says.is_none_or(|node| node["text"] != count) {
            all.push(format!("the counter of client {number} is not {reached}: {says:?}"));
        }
        let lines: Vec<String> = nodes(&found.read)
            .iter()
            .filter(|node| node["parent_id"] == *heading && node["node_id"] != *counter)
            .map(|node| text(&node["text"]))
            .collect();
        if lines != (1..=*reached).map(|number| number.to_string()).collect::<Vec<_>>() {
            all.push(format!("client {number} wrote {reached} lines; found {lines:?}"));
        }
    }
    let total: usize = ledger.iter().sum();
    if found.entries != 2 * total as u64 {
        all.push(format!("{total} edits wrote {} entries, not two each", found.entries));
    }
    all
}

/// The twin: an edit that is lost, doubled, or made besides is noticed.
fn the_check_can_fail(ledger: &[usize], page: &Page, found: &Found) {
    let mut longer = ledger.to_vec();
    longer[0] += 1;
    assert!(!disagreements(&longer, page, found).is_empty(), "a lost edit");
    let besides = Found { entries: found.entries + 2, ..found.clone() };
    assert!(!disagreements(ledger, page, &besides).is_empty(), "an edit besides");
    let mut doubled = found.clone();
    let all = doubled.read["nodes"].as_array_mut().expect("nodes");
    let line = all.iter().find(|node| node["text"] == "1").cloned().expect("a first line");
    all.push(line);
    assert!(!disagreements(ledger, page, &doubled).is_empty(), "a doubled line");
}

#[expect(clippy::print_stderr, reason = "what a long run did is shown with --nocapture")]
fn report(summary: &str) {
    eprintln!("{summary}");
}
