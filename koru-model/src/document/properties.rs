//! Properties over random edits: the state that is kept step by step is the one that the CRDT
//! shows, a refused batch changes nothing, and replicas that exchange updates agree.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::document::{Document, view};
use crate::edit::batch;
use crate::edit::check::{World, operations};
use crate::ids::NodeId;

/// A small generator of chance with a seed that failures print (splitmix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    fn node(&mut self) -> NodeId {
        let (high, low) = (self.next(), self.next());
        NodeId(uuid::Uuid::from_u64_pair(high, low))
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

const TEXTS: [&str; 7] = [
    "",
    "one two three",
    "one 2 three",
    "😭😊",
    "Привет! One",
    "x [[document:0198c2f0-0000-7000-8000-0000000000d0]] y",
    "a\nb",
];

/// One random operation; it may well be refused.
fn operation(document: &Document, chance: &mut Chance) -> Value {
    let state = document.state();
    let live = state.subtree(state.root());
    let at = *chance.pick(&live);
    let node = state.node(at).unwrap();
    let parent = *chance.pick(&live);
    let siblings: Vec<NodeId> = state.children(parent).collect();
    let after = if siblings.is_empty() || chance.below(3) == 0 {
        Value::Null
    } else {
        json!(chance.pick(&siblings))
    };
    let text = *chance.pick(&TEXTS);
    let named = json!({"node_id": at, "expected": node.text()});
    let mut operation = match chance.below(12) {
        0..=3 => {
            json!({"op": "insert", "node_id": chance.node(), "parent_id": parent, "after_node_id": after,
            "kind": chance.pick(&["paragraph", "task", "heading", "listblock", "code", "quote"]), "text": text})
        }
        4 | 5 => json!({"op": "move", "parent_id": parent, "after_node_id": after}),
        6 | 7 => json!({"op": "replace_text", "text": text}),
        8 => json!({"op": "remove"}),
        9 => json!({"op": "set_done", "done": chance.below(2) == 0}),
        10 => json!({"op": "add_tag", "tag": chance.pick(&["a", "b/c"])}),
        _ => {
            json!({"op": "set_attribute", "key": "count", "value": {"kind": "number", "value": chance.below(9).to_string()}})
        }
    };
    if operation["op"] != "insert" {
        operation.as_object_mut().unwrap().extend(named.as_object().unwrap().clone());
    }
    operation
}

/// Tries a random batch and returns its update where it was accepted.
fn edit(document: &mut Document, world: &mut World, chance: &mut Chance) -> Option<Vec<u8>> {
    let batch: Vec<Value> = (0..1 + chance.below(3)).map(|_| operation(document, chance)).collect();
    let before = document.state().clone();
    match batch::apply(document.state(), 1, 1, &operations(&json!(batch)), world) {
        Ok(Some(plan)) => Some(document.carry_out(plan).unwrap()),
        Ok(None) | Err(_) => {
            assert!(*document.state() == before, "a refused batch changed the document");
            None
        }
    }
}

fn fresh(client: u64, chance: &mut Chance) -> (Document, Vec<u8>) {
    let root = chance.node();
    Document::create(client, root, "Title", &[], &mut World::default()).unwrap()
}

#[test]
fn the_kept_state_is_the_one_that_the_crdt_shows() {
    let seed = setting("KORU_SEED", 1);
    for case in 0..setting("KORU_CASES", 64) {
        let mut chance = Chance(seed.wrapping_add(case));
        let (mut document, first) = fresh(1, &mut chance);
        let mut world = World::default();
        let mut log = vec![first];
        for step in 0..60 {
            log.extend(edit(&mut document, &mut world, &mut chance));
            if step % 20 == 19 {
                let seen =
                    view::build(document.state().root(), document.replica().nodes().unwrap());
                assert!(seen == *document.state(), "seed {seed} case {case} step {step}");
            }
        }
        let from_log = Document::load(2, None, &log).unwrap();
        assert!(from_log.state() == document.state(), "log: seed {seed} case {case}");
        let from_keyframe =
            Document::load(3, Some(&document.replica().encode().unwrap()), [[]; 0]).unwrap();
        assert!(from_keyframe.state() == document.state(), "keyframe: seed {seed} case {case}");
    }
}

#[test]
fn replicas_that_exchange_updates_show_the_same_tree() {
    let seed = setting("KORU_SEED", 1);
    for case in 0..setting("KORU_CASES", 64) {
        let mut chance = Chance(seed.wrapping_add(case).wrapping_mul(7_919));
        let (document, first) = fresh(1, &mut chance);
        let count = 2 + chance.below(3);
        let mut replicas = vec![document];
        for client in 1..count {
            replicas.push(Document::load(10 + client as u64, None, [&first]).unwrap());
        }
        let mut worlds: Vec<World> = replicas.iter().map(|_| World::default()).collect();
        let mut sent: Vec<Vec<Vec<u8>>> = vec![Vec::new(); count];
        let mut taken: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for _ in 0..60 {
            let at = chance.below(count);
            if chance.below(4) > 0 {
                let update = edit(&mut replicas[at], &mut worlds[at], &mut chance);
                sent[at].extend(update);
                continue;
            }
            // Everything that the other has sent and seen, so that delivery is causal.
            let from = chance.below(count);
            if from != at {
                let whole = replicas[from].replica().encode().unwrap();
                let mut merged = replicas.remove(at);
                merged = {
                    let mut replica =
                        crate::document::Replica::new(100 + chance.next() % 1_000_000);
                    replica.apply_state(&merged.replica().encode().unwrap()).unwrap();
                    replica.apply_state(&whole).unwrap();
                    Document::of(replica).unwrap()
                };
                replicas.insert(at, merged);
                *taken.entry((at, from)).or_default() += 1;
            }
        }
        let states: Vec<Vec<u8>> =
            replicas.iter().map(|replica| replica.replica().encode().unwrap()).collect();
        let merged: Vec<Document> = (0..count)
            .map(|turn| {
                let mut replica = crate::document::Replica::new(7 + turn as u64);
                for offset in 0..count {
                    replica.apply_state(&states[(turn + offset) % count]).unwrap();
                }
                Document::of(replica).unwrap()
            })
            .collect();
        for other in &merged[1..] {
            assert!(other.state() == merged[0].state(), "seed {seed} case {case}");
        }
        let state = merged[0].state();
        let shown = state.subtree(state.root());
        let once: BTreeSet<NodeId> = shown.iter().copied().collect();
        assert_eq!(once.len(), shown.len(), "a node twice: seed {seed} case {case}");
        assert_eq!(shown.len(), state.live_nodes(), "a node lost: seed {seed} case {case}");
        // A batch on a merged document stands on firm ground again.
        let mut settled = merged.into_iter().next().unwrap();
        let root = json!(settled.state().root());
        let batch = operations(
            &json!([{"op": "insert", "node_id": chance.node(), "parent_id": root, "kind": "paragraph"}]),
        );
        let before = settled.state().live_nodes();
        let plan =
            batch::apply(settled.state(), 1, 1, &batch, &mut World::default()).unwrap().unwrap();
        settled.carry_out(plan).unwrap();
        assert_eq!(settled.state().displaced().count(), 0, "seed {seed} case {case}");
        assert_eq!(settled.state().live_nodes(), before + 1, "seed {seed} case {case}");
        let seen = view::build(settled.state().root(), settled.replica().nodes().unwrap());
        assert!(seen == *settled.state(), "settled: seed {seed} case {case}");
    }
}
