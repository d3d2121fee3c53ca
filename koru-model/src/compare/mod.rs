//! What leads from one state of a document to another, node by node.
//!
//! Order keys are never compared: a new key is not another order.

mod order;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::value::RawValue;

use crate::diff::Budget;
use crate::document::read::{self, Names};
use crate::document::{Node, State};
use crate::ids::{NodeId, TagId};
use crate::node::Kind;
use crate::value::Value;

pub use text::Segment;

/// Where a node stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Its parent.
    pub parent_id: NodeId,
    /// The sibling in front; none: it is the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_node_id: Option<NodeId>,
}

/// Two values of one property.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sides<T> {
    /// On the left.
    pub left: T,
    /// On the right.
    pub right: T,
}

/// A text on both sides, and the way between.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TextChange {
    /// On the left.
    pub left: String,
    /// On the right.
    pub right: String,
    /// The way from one to the other, along words.
    pub segments: Vec<Segment>,
}

/// What came and what went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exchange<T> {
    /// On the right alone.
    pub added: Vec<T>,
    /// On the left alone.
    pub removed: Vec<T>,
}

/// An attribute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Attribute {
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: Value,
}

/// A tag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tag {
    /// Its ID.
    pub tag_id: TagId,
    /// Its whole name.
    pub name: String,
}

/// What is different about a node but its place.
#[derive(Debug, Default, Serialize)]
pub struct Modification {
    /// Its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<TextChange>,
    /// Whether it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done: Option<Sides<bool>>,
    /// Its language.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<Sides<Option<String>>>,
    /// Its attributes; one with another value both came and went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Exchange<Attribute>>,
    /// Its tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Exchange<Tag>>,
    /// Its inlines, as reads give them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inlines: Option<Sides<Box<RawValue>>>,
}

impl Modification {
    fn is_empty(&self) -> bool {
        self.text.is_none()
            && self.done.is_none()
            && self.language.is_none()
            && self.attributes.is_none()
            && self.tags.is_none()
            && self.inlines.is_none()
    }
}

/// How a node differs.
#[derive(Debug, Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum What {
    /// It is on the right alone.
    Added {
        /// The node, as reads give it.
        node: Box<RawValue>,
        /// Where it stands.
        #[serde(flatten)]
        place: Place,
    },
    /// It is on the left alone.
    Removed {
        /// The node, as reads give it.
        node: Box<RawValue>,
        /// Where it stood.
        #[serde(flatten)]
        place: Place,
    },
    /// It stands under another parent.
    Moved {
        /// Where it stood.
        from: Place,
        /// Where it stands.
        to: Place,
    },
    /// It stands elsewhere among its siblings.
    Reordered {
        /// Where it stood.
        from: Place,
        /// Where it stands.
        to: Place,
    },
    /// Something else about it is different.
    Modified(Modification),
}

/// One difference.
#[derive(Debug, Serialize)]
pub struct Change {
    /// The node.
    pub node_id: NodeId,
    /// Its kind.
    pub kind: Kind,
    /// How it differs.
    #[serde(flatten)]
    pub what: What,
}

/// All differences of two states.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// How many nodes are the same on both sides.
    pub unchanged_nodes: usize,
    /// The differences in the order of the right side; removed nodes where they stood.
    pub changes: Vec<Change>,
}

/// Compares two states of one document.
#[must_use]
pub fn compare(left: &State, right: &State, names: &mut dyn Names) -> Comparison {
    let removed = removed_by_anchor(left, right);
    let reordered = order::reordered(left, right);
    let mut changes = Vec::new();
    let mut unchanged_nodes = 0;
    let mut budget = Budget::default();
    for id in right.subtree(right.root()) {
        let Some(new) = right.live(id) else { continue };
        let before = changes.len();
        match left.live(id) {
            None => changes.extend(place(right, id).map(|place| Change {
                node_id: id,
                kind: new.kind,
                what: What::Added { node: whole(right, new, names), place },
            })),
            Some(old) => {
                if let (Some(from), Some(to)) = (place(left, id), place(right, id)) {
                    let what = if from.parent_id != to.parent_id {
                        Some(What::Moved { from, to })
                    } else if reordered.contains(&id) {
                        Some(What::Reordered { from, to })
                    } else {
                        None
                    };
                    changes.extend(what.map(|what| Change { node_id: id, kind: new.kind, what }));
                }
                let modification = modification(old, new, names, &mut budget);
                if !modification.is_empty() {
                    let what = What::Modified(modification);
                    changes.push(Change { node_id: id, kind: new.kind, what });
                }
            }
        }
        if changes.len() == before {
            unchanged_nodes += 1;
        }
        for gone in removed.get(&id).into_iter().flatten() {
            let (Some(old), Some(place)) = (left.live(*gone), place(left, *gone)) else { continue };
            changes.push(Change {
                node_id: *gone,
                kind: old.kind,
                what: What::Removed { node: whole(left, old, names), place },
            });
        }
    }
    Comparison { unchanged_nodes, changes }
}

/// The nodes on the left alone, by the last node in front of them that is on both sides.
fn removed_by_anchor(left: &State, right: &State) -> BTreeMap<NodeId, Vec<NodeId>> {
    let mut anchor = right.root();
    let mut removed: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
    for id in left.subtree(left.root()) {
        if right.live(id).is_some() {
            anchor = id;
        } else {
            removed.entry(anchor).or_default().push(id);
        }
    }
    removed
}

/// Where a live node but the title stands.
fn place(state: &State, id: NodeId) -> Option<Place> {
    match &state.live(id)?.shown {
        crate::document::Shown::Under(parent, key) => Some(Place {
            parent_id: *parent,
            after_node_id: state.child_before(*parent, Some(key)),
        }),
        _ => None,
    }
}

fn raw(json: Vec<u8>) -> Box<RawValue> {
    String::from_utf8(json)
        .ok()
        .and_then(|json| RawValue::from_string(json).ok())
        .unwrap_or_default()
}

fn whole(state: &State, node: &Node, names: &mut dyn Names) -> Box<RawValue> {
    raw(read::full_node(state, node, names))
}

fn modification(
    old: &Node,
    new: &Node,
    names: &mut dyn Names,
    budget: &mut Budget,
) -> Modification {
    let mut found = Modification::default();
    let (left, right) = (old.text(), new.text());
    if left != right {
        found.text = Some(TextChange {
            segments: segments(old, new, (&left, &right), budget),
            left: left.into_owned(),
            right: right.into_owned(),
        });
    }
    if old.inlines != new.inlines && old.kind.has_inlines() {
        let mut side = |node: &Node| raw(read::inlines_json(node, names));
        let sides = Sides { left: side(old), right: side(new) };
        // Where only text in front of them changed, they are the same at other offsets.
        if bare(old) != bare(new) {
            found.inlines = Some(sides);
        }
    }
    if old.done != new.done {
        found.done = Some(Sides { left: old.done, right: new.done });
    }
    if old.language != new.language {
        let side = |node: &Node| node.language.as_deref().map(str::to_owned);
        found.language = Some(Sides { left: side(old), right: side(new) });
    }
    if old.attributes != new.attributes {
        let only = |one: &Node, other: &Node| {
            one.attributes
                .iter()
                .filter(|(key, value)| other.attributes.get(*key) != Some(value))
                .map(|(key, value)| Attribute { key: key.clone(), value: value.clone() })
                .collect()
        };
        found.attributes = Some(Exchange { added: only(new, old), removed: only(old, new) });
    }
    if old.tags != new.tags {
        let (left, right) = (read::tags(old, names), read::tags(new, names));
        let only = |one: &BTreeMap<TagId, String>, other: &BTreeMap<TagId, String>| {
            one.iter()
                .filter(|(tag, _)| !other.contains_key(*tag))
                .map(|(tag, name)| Tag { tag_id: *tag, name: name.clone() })
                .collect::<Vec<_>>()
        };
        let tags = Exchange { added: only(&right, &left), removed: only(&left, &right) };
        found.tags = (!tags.added.is_empty() || !tags.removed.is_empty()).then_some(tags);
    }
    found
}

fn bare(node: &Node) -> Vec<&crate::inline::Inline> {
    node.inlines.iter().map(|placed| &placed.inline).collect()
}

fn segments(
    old: &Node,
    new: &Node,
    (left, right): (&str, &str),
    budget: &mut Budget,
) -> Vec<Segment> {
    // A padded table differs from what is stored, and has no inlines.
    let of = |node: &Node| {
        if node.kind.has_inlines() { node.inlines.to_vec() } else { Vec::new() }
    };
    text::segments((left, &of(old)), (right, &of(new)), budget)
}

/// The IDs of nodes that are on both sides.
fn common(left: &State, right: &State, parent: NodeId) -> Vec<NodeId> {
    let under_left: BTreeSet<NodeId> = left.children(parent).collect();
    right.children(parent).filter(|id| under_left.contains(id)).collect()
}
