//! Random batches of several writers, sent with bases that are often stale: what was accepted, replayed one
//! after the other in the order of its history entries on a second document, gives the same tree.

use std::sync::Mutex;

use koru_tests::support::bridge::{Bridge, Reply};
use koru_tests::support::documents::{
    Page, id, insert, move_last, nodes, operation, personal, remove, replace, text,
};
use koru_tests::support::home::Home;
use serde_json::{Value, json};

const WRITERS: u64 = 4;
const ROUNDS: usize = 40;

/// A small generator; its seed is in every message of failure.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % sides.max(1)
    }
}

/// A page with the nodes of another, under the same IDs.
fn make(bridge: &Bridge, ids: &[String]) -> Page {
    let root = id();
    let operations: Vec<Value> = ids
        .iter()
        .enumerate()
        .map(|(number, node)| {
            let kind = if number % 2 == 0 { "task" } else { "paragraph" };
            insert(node, &root, kind, &format!("node {number}"))
        })
        .collect();
    let workspace = personal(bridge);
    let made = bridge.ok(
        "create_document",
        json!({ "workspace_id": workspace, "title": "Serial", "root_node_id": root, "initial_operations": operations }),
    );
    Page {
        workspace,
        document: text(&made["document_id"]),
        root,
        revision: text(&made["revision"]),
        nodes: ids.to_vec(),
    }
}

/// A batch against what was read: always one new text, so that it never changes nothing.
fn batch(dice: &mut Dice, read: &Value, root: &str) -> Vec<Value> {
    let all = nodes(read).get(1..).unwrap_or_default();
    let new = id();
    let mut operations = Vec::new();
    if all.is_empty() || dice.roll(4) == 0 {
        operations.push(insert(&new, root, "paragraph", &format!("new {new}")));
        return operations;
    }
    let node = &all[dice.roll(all.len())];
    let (name, says) = (text(&node["node_id"]), text(&node["text"]));
    let other = text(&all[dice.roll(all.len())]["node_id"]);
    match dice.roll(5) {
        0 => {
            operations.push(move_last(&name, &says, if dice.roll(2) == 0 { root } else { &other }));
        }
        1 if all.len() > 8 => {
            operations.push(remove(&name, &says));
            operations.push(insert(&new, root, "task", &format!("instead {new}")));
            return operations;
        }
        2 if node["kind"] == "task" => {
            let done = json!({ "done": node["done"] != true });
            operations.push(operation("set_done", &name, &says, done));
        }
        3 => operations.push(insert(&new, &other, "paragraph", &format!("child {new}"))),
        _ => {}
    }
    operations.push(replace(&name, &says, &format!("{says} {}", dice.roll(1000))));
    operations
}

/// What a tree says, whatever document it is.
fn tree(read: &Value, page: &Page) -> Vec<Value> {
    nodes(read)
        .iter()
        .map(|node| {
            let of = |name: &str| {
                if node[name] == page.root { json!("the title") } else { node[name].clone() }
            };
            json!([of("node_id"), of("parent_id"), node["kind"], node["text"], node["done"]])
        })
        .collect()
}

#[test]
fn accepted_batches_equal_their_serial_order() {
    let seed =
        std::env::var("KORU_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_261_130);
    let home = Home::new();
    let bridges = [home.bridge(), home.bridge()];
    let ids: Vec<String> = (0..20).map(|_| id()).collect();
    let (page, twin) = (make(&bridges[0], &ids), make(&bridges[0], &ids));
    let accepted: Mutex<Vec<(u64, Vec<Value>)>> = Mutex::default();
    let refused: usize = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (page, accepted) = (&page, &accepted);
                let bridge = &bridges[usize::from(writer % 2 == 1)];
                scope.spawn(move || {
                    let mut dice = Dice(seed + writer);
                    let mut read = page.read(bridge);
                    let mut refused = 0;
                    for _ in 0..ROUNDS {
                        let operations = batch(&mut dice, &read, &page.root);
                        let edit = page.edit(&text(&read["revision"]), &operations);
                        match bridge.call("edit_document", edit) {
                            Reply::Ok(result) => {
                                let version = result["history"]["version"].as_u64().unwrap_or(0);
                                accepted
                                    .lock()
                                    .expect("no writer failed")
                                    .push((version, operations));
                            }
                            Reply::Refused(_) => refused += 1,
                            other => panic!("seed {seed}: {other:?}"),
                        }
                        if dice.roll(3) == 0 {
                            read = page.read(bridge);
                        }
                    }
                    refused
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().expect("a writer that ends")).sum()
    });
    let mut accepted = accepted.into_inner().expect("no writer failed");
    accepted.sort_by_key(|(version, _)| *version);
    assert!(accepted.windows(2).all(|pair| pair[0].0 < pair[1].0), "seed {seed}: one order");
    assert!(accepted.len() > 20 && refused > 0, "{} accepted, {refused} refused", accepted.len());
    let mut base = twin.revision.clone();
    for (version, operations) in accepted {
        let operations: Vec<Value> = operations
            .into_iter()
            .map(|mut operation| {
                if operation["parent_id"] == page.root {
                    operation["parent_id"] = json!(twin.root);
                }
                operation
            })
            .collect();
        match bridges[1].call("edit_document", twin.edit(&base, &operations)) {
            Reply::Ok(result) => base = text(&result["revision"]),
            other => panic!("seed {seed}, version {version}: {other:?}"),
        }
    }
    let (found, replayed) = (page.read(&bridges[0]), twin.read(&bridges[0]));
    assert_eq!(tree(&found, &page), tree(&replayed, &twin), "seed {seed}");
}
