//! Properties of going back and of comparing, over random edits: a state that is restored is the one
//! that was stored as a plain copy, and the changes between two states, applied to the left one,
//! give the right one.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::compare::compare;
use crate::document::properties::{Chance, edit, fresh, setting};
use crate::document::read::{LinkTarget, Names};
use crate::document::{State, view};
use crate::edit::check::World;
use crate::ids::{DocumentId, FileId, NodeId, TagId};
use crate::inline::Lifecycle;
use crate::restore::restore;

struct NoNames;

impl Names for NoNames {
    fn tag(&mut self, tag: TagId) -> Option<(TagId, String)> {
        Some((tag, tag.to_string()))
    }
    fn link(&mut self, _: DocumentId, _: Option<NodeId>) -> LinkTarget {
        LinkTarget { title: None, lifecycle: Lifecycle::Missing, resolved: None }
    }
    fn file(&mut self, _: FileId) -> (Option<String>, Lifecycle) {
        (None, Lifecycle::Missing)
    }
}

/// A plain copy of what a state shows: the children of each node in order, and each node's content.
#[derive(Debug, Clone, PartialEq)]
struct Plain {
    children: BTreeMap<String, Vec<String>>,
    nodes: BTreeMap<String, Value>,
}

impl Plain {
    fn of(state: &State) -> Self {
        let mut plain = Self { children: BTreeMap::new(), nodes: BTreeMap::new() };
        for id in state.subtree(state.root()) {
            let json =
                crate::document::read::full_node(state, state.node(id).unwrap(), &mut NoNames);
            let mut json: Value = serde_json::from_slice(&json).unwrap();
            json.as_object_mut().unwrap().remove("parent_id");
            plain.nodes.insert(id.to_string(), json);
            let children: Vec<String> = state.children(id).map(|child| child.to_string()).collect();
            if !children.is_empty() {
                plain.children.insert(id.to_string(), children);
            }
        }
        plain
    }

    fn take_out(&mut self, id: &str) {
        for children in self.children.values_mut() {
            children.retain(|child| child != id);
        }
    }

    fn put(&mut self, id: &str, place: &Value) {
        let siblings = self.children.entry(text(&place["parent_id"])).or_default();
        let after = place["after_node_id"].as_str();
        let at = after.map_or(0, |after| siblings.iter().position(|one| one == after).unwrap() + 1);
        siblings.insert(at, id.to_owned());
    }

    fn apply(mut self, changes: &[Value]) -> Self {
        let of = |kind: &str| {
            let kind = kind.to_owned();
            changes.iter().filter(move |change| change["change"] == *kind)
        };
        for change in of("removed").chain(of("moved")).chain(of("reordered")) {
            self.take_out(&text(&change["node_id"]));
        }
        for change in of("removed") {
            let id = text(&change["node_id"]);
            self.nodes.remove(&id);
            self.children.remove(&id);
        }
        for change in changes {
            let id = text(&change["node_id"]);
            match change["change"].as_str().unwrap() {
                "added" => {
                    let mut node = change["node"].clone();
                    node.as_object_mut().unwrap().remove("parent_id");
                    self.nodes.insert(id.clone(), node);
                    self.put(&id, change);
                }
                "moved" | "reordered" => self.put(&id, &change["to"]),
                "modified" => modify(self.nodes.get_mut(&id).unwrap(), change),
                _ => {}
            }
        }
        self.children.retain(|_, children| !children.is_empty());
        self
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn modify(node: &mut Value, change: &Value) {
    for field in ["text", "done", "inlines"] {
        if change.get(field).is_some() {
            node[field] = change[field]["right"].clone();
        }
    }
    for field in ["attributes", "tags"] {
        let Some(exchange) = change.get(field) else { continue };
        let list = node[field].as_array_mut().unwrap();
        list.retain(|one| !exchange["removed"].as_array().unwrap().contains(one));
        list.extend(exchange["added"].as_array().unwrap().iter().cloned());
        list.sort_by_key(ToString::to_string);
    }
}

/// Offsets of inlines follow from the text; lists of attributes and tags have no order that counts.
fn settled(mut plain: Plain) -> Plain {
    for node in plain.nodes.values_mut() {
        for inline in node["inlines"].as_array_mut().unwrap() {
            inline.as_object_mut().unwrap().remove("at_utf8");
        }
        for field in ["attributes", "tags"] {
            node[field].as_array_mut().unwrap().sort_by_key(ToString::to_string);
        }
        node.as_object_mut().unwrap().remove("rows");
    }
    plain
}

#[test]
fn a_restored_state_is_the_stored_one_and_changes_lead_from_one_to_another() {
    let seed = setting("KORU_SEED", 1);
    for case in 0..setting("KORU_CASES", 64) {
        let mut chance = Chance(seed.wrapping_add(case).wrapping_mul(104_729));
        let (mut document, _) = fresh(1, &mut chance);
        let mut world = World::default();
        let mut states = vec![document.state().clone()];
        for step in 0..40 {
            if chance.below(8) > 0 {
                if edit(&mut document, &mut world, &mut chance).is_some() {
                    states.push(document.state().clone());
                }
            } else {
                let then = chance.pick(&states).clone();
                if let Some(plan) = restore(document.state(), &then, &mut world) {
                    document.carry_out(plan).unwrap();
                    states.push(document.state().clone());
                }
                let place = format!("seed {seed} case {case} step {step}");
                assert_eq!(Plain::of(document.state()), Plain::of(&then), "{place}");
                assert!(restore(document.state(), &then, &mut world).is_none(), "{place}");
                let seen = view::build(then.root(), document.replica().nodes().unwrap());
                assert!(seen == *document.state(), "{place}");
            }
            let (left, right) = (chance.pick(&states).clone(), chance.pick(&states).clone());
            let found = compare(&left, &right, &mut NoNames);
            let json = json!(found);
            let changes = json["changes"].as_array().unwrap();
            assert_eq!(
                settled(Plain::of(&left).apply(changes)),
                settled(Plain::of(&right)),
                "seed {seed} case {case} step {step}: {json:#}"
            );
            if left == right {
                assert!(changes.is_empty() && found.unchanged_nodes == left.live_nodes());
            }
        }
    }
}
