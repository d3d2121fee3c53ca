//! From the registers of the CRDT to the tree that clients see: the same on every replica.
//!
//! The rules (design, model and store, section 5):
//! 1. A node's parent is the one of its placement, the title where that is unknown. Each cycle is
//!    cut at its member with the greatest (Lamport time, ID), which goes under the title.
//! 2. A node is hidden where its removal mark names itself or a node that it still lies under. One
//!    that was moved out of what was removed stays.
//! 3. A node that stays below hidden ones is shown under the nearest ancestor that stays, where the
//!    hidden one would stand.

use std::collections::{BTreeMap, BTreeSet};

use crate::document::state::{Node, Shown, SortKey, State};
use crate::ids::NodeId;

/// Builds the state of a document from its nodes, whose `shown` is ignored.
#[must_use]
pub fn build(root: NodeId, nodes: Vec<Node>) -> State {
    let mut nodes: BTreeMap<NodeId, Node> = nodes.into_iter().map(|node| (node.id, node)).collect();
    let parents = effective_parents(root, &nodes);
    let hidden: BTreeSet<NodeId> =
        nodes.values().filter(|node| is_hidden(node, root, &parents)).map(|node| node.id).collect();

    let mut state = State::empty(root);
    let shown: Vec<(NodeId, Shown)> = nodes
        .keys()
        .map(|id| {
            let shown = if hidden.contains(id) {
                Shown::Hidden
            } else if *id == root {
                Shown::Root
            } else {
                let (parent, key) = place(*id, root, &nodes, &parents, &hidden);
                Shown::Under(parent, key)
            };
            (*id, shown)
        })
        .collect();
    for (id, shown) in shown {
        if let Some(mut node) = nodes.remove(&id) {
            node.shown = shown;
            state.put(node);
        }
    }
    state
}

/// The hidden nodes that are so only through a displaced one between them and what was removed:
/// they would come to light if that one were written down where it is shown.
#[must_use]
pub(crate) fn hidden_through_displaced(state: &State) -> Vec<NodeId> {
    let nodes: BTreeMap<NodeId, Node> =
        state.nodes().map(|node| (node.id, Node::clone(node))).collect();
    let parents = effective_parents(state.root(), &nodes);
    let passes = |node: &Node| {
        let mut at = node.id;
        while Some(at) != node.removed {
            match parents.get(&at) {
                Some(parent) => at = *parent,
                None => return false,
            }
            if state.node(at).is_some_and(|above| above.is_displaced()) {
                return true;
            }
        }
        false
    };
    nodes.values().filter(|node| !node.is_live() && passes(node)).map(|node| node.id).collect()
}

/// The parent of every node but the root, without cycles.
fn effective_parents(root: NodeId, nodes: &BTreeMap<NodeId, Node>) -> BTreeMap<NodeId, NodeId> {
    let mut parents: BTreeMap<NodeId, NodeId> = nodes
        .values()
        .filter(|node| node.id != root)
        .map(|node| {
            let parent = node.parent.filter(|parent| nodes.contains_key(parent)).unwrap_or(root);
            (node.id, parent)
        })
        .collect();
    let mut rooted: BTreeSet<NodeId> = BTreeSet::from([root]);
    for id in nodes.keys() {
        let mut path = Vec::new();
        let mut on_path = BTreeSet::new();
        let mut at = *id;
        while !rooted.contains(&at) {
            if !on_path.insert(at) {
                let start = path.iter().position(|member| *member == at).unwrap_or(0);
                let cycle = path.get(start..).unwrap_or_default();
                let cut = cycle
                    .iter()
                    .max_by_key(|member| (nodes.get(member).map(|node| node.lamport), **member));
                if let Some(cut) = cut {
                    parents.insert(*cut, root);
                }
                break;
            }
            path.push(at);
            at = parents.get(&at).copied().unwrap_or(root);
        }
        rooted.extend(path);
    }
    parents
}

fn is_hidden(node: &Node, root: NodeId, parents: &BTreeMap<NodeId, NodeId>) -> bool {
    let Some(removal) = node.removed.filter(|_| node.id != root) else { return false };
    let mut at = Some(node.id);
    while let Some(here) = at {
        if here == removal {
            return true;
        }
        at = parents.get(&here).copied();
    }
    false
}

/// The parent that a node is shown under, and its place among the children there.
fn place(
    id: NodeId,
    root: NodeId,
    nodes: &BTreeMap<NodeId, Node>,
    parents: &BTreeMap<NodeId, NodeId>,
    hidden: &BTreeSet<NodeId>,
) -> (NodeId, SortKey) {
    let mut path = vec![id];
    let mut parent = parents.get(&id).copied().unwrap_or(root);
    while hidden.contains(&parent) {
        path.push(parent);
        parent = parents.get(&parent).copied().unwrap_or(root);
    }
    let order = |id: &NodeId| nodes.get(id).map_or("", |node| &node.order);
    let mut members = path.iter().rev();
    let key =
        members.next().map_or_else(|| SortKey::of("", id), |top| SortKey::of(order(top), *top));
    let key = members.fold(key, |key, member| key.below(order(member), *member));
    (parent, key)
}
