//! The state of a document: all nodes that it ever held and the tree that they show.
//!
//! It is a persistent structure: a clone costs nothing and is a real copy, so that a batch can be
//! tried on one and dropped (design, model and store, section 2).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use imbl::OrdMap;

use crate::ids::{NodeId, NodeRef, TagId};
use crate::inline::{Placed, RichText};
use crate::node::Kind;
use crate::table;
use crate::value::Value;

/// A node ID ordered by its hex digits from the last to the first, so that those with a common tail
/// are neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct TailKey([u8; 16]);

impl TailKey {
    fn of(id: NodeId) -> Self {
        let mut bytes = *id.as_bytes();
        bytes.reverse();
        Self(bytes.map(|byte| byte.rotate_left(4)))
    }

    /// How many digits, counted from the end of the IDs, are the same.
    fn common_digits(self, other: Self) -> usize {
        for (index, (l, r)) in self.0.iter().zip(other.0).enumerate() {
            if *l != r {
                return index * 2 + usize::from(l >> 4 == r >> 4);
            }
        }
        32
    }
}

/// Where a node is shown among its siblings: its order key, then its ID; a node that was lifted out
/// of hidden parents stands where they would.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SortKey(Arc<str>);

impl SortKey {
    /// The key of a node that is shown where its own placement says.
    #[must_use]
    pub fn of(order: &str, id: NodeId) -> Self {
        Self(format!("{order}!{}", id.to_compact()).into())
    }

    /// The key of a node that is shown below the place of a hidden parent.
    #[must_use]
    pub fn below(&self, order: &str, id: NodeId) -> Self {
        Self(format!("{}!{order}!{}", self.0, id.to_compact()).into())
    }

    /// The order key at its front.
    #[must_use]
    pub fn order(&self) -> &str {
        self.0.split('!').next().unwrap_or_default()
    }
}

/// Where a node is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// It is the title.
    Root,
    /// Under a parent.
    Under(NodeId, SortKey),
    /// It is removed.
    Hidden,
}

/// A node with all that the CRDT keeps of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its ID.
    pub id: NodeId,
    /// Its kind.
    pub kind: Kind,
    /// Its parent as placed; none: the root of the document.
    pub parent: Option<NodeId>,
    /// Its order key among the children of that parent.
    pub order: Arc<str>,
    /// When it was placed, in Lamport time.
    pub lamport: u64,
    /// The node whose removal took it away.
    pub removed: Option<NodeId>,
    /// Its text as the CRDT keeps it; [`Node::text`] is what clients see.
    pub stored: Arc<str>,
    /// Its inlines.
    pub inlines: Arc<[Placed]>,
    /// Whether a task is done.
    pub done: bool,
    /// A code block's language.
    pub language: Option<Arc<str>>,
    /// Its attributes by key.
    pub attributes: BTreeMap<String, Value>,
    /// Its tags.
    pub tags: BTreeSet<TagId>,
    /// Where it is shown; follows from all the rest of the document.
    pub shown: Shown,
}

impl Node {
    /// A node that is not placed yet.
    #[must_use]
    pub fn new(id: NodeId, kind: Kind) -> Self {
        Self {
            id,
            kind,
            parent: None,
            order: Arc::from(""),
            lamport: 0,
            removed: None,
            stored: Arc::from(""),
            inlines: Arc::from([]),
            done: false,
            language: None,
            attributes: BTreeMap::new(),
            tags: BTreeSet::new(),
            shown: Shown::Hidden,
        }
    }

    /// The text that clients see: short rows of a table are padded.
    #[must_use]
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        if self.kind == Kind::Table { table::padded(&self.stored) } else { (&*self.stored).into() }
    }

    /// The text with its inlines.
    #[must_use]
    pub fn rich(&self) -> RichText {
        RichText { text: self.stored.as_ref().to_owned(), inlines: self.inlines.to_vec() }
    }

    /// Gives it a text.
    pub fn set_rich(&mut self, rich: RichText) {
        self.stored = rich.text.into();
        self.inlines = rich.inlines.into();
    }

    /// The parent that it is shown under.
    #[must_use]
    pub fn shown_parent(&self) -> Option<NodeId> {
        match &self.shown {
            Shown::Under(parent, _) => Some(*parent),
            Shown::Root | Shown::Hidden => None,
        }
    }

    /// Whether it is part of the tree.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.shown != Shown::Hidden
    }

    /// Whether it is shown elsewhere than where it is placed.
    #[must_use]
    pub fn is_displaced(&self) -> bool {
        match &self.shown {
            Shown::Under(parent, key) => {
                self.removed.is_some()
                    || self.parent != Some(*parent)
                    || *key != SortKey::of(&self.order, self.id)
            }
            Shown::Root | Shown::Hidden => false,
        }
    }
}

/// What a name of a node stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    /// One node that the document holds or held.
    One(NodeId),
    /// Several nodes have that tail.
    Several(Vec<NodeId>),
    /// The document never held such a node.
    Unknown,
}

/// The children of one node, in order.
type Children = OrdMap<SortKey, NodeId>;

/// The state of a document.
#[derive(Debug, Clone)]
pub struct State {
    nodes: OrdMap<TailKey, Arc<Node>>,
    children: OrdMap<TailKey, Children>,
    displaced: imbl::OrdSet<NodeId>,
    root: NodeId,
    live: usize,
    max_lamport: u64,
}

impl State {
    /// A state without nodes, whose title node will be `root`.
    #[must_use]
    pub fn empty(root: NodeId) -> Self {
        Self {
            nodes: OrdMap::new(),
            children: OrdMap::new(),
            displaced: imbl::OrdSet::new(),
            root,
            live: 0,
            max_lamport: 0,
        }
    }

    /// The title node's ID.
    #[must_use]
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// The count of live nodes, the title included.
    #[must_use]
    pub fn live_nodes(&self) -> usize {
        self.live
    }

    /// The count of nodes ever held.
    #[must_use]
    pub fn all_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The latest Lamport time of a placement.
    #[must_use]
    pub fn max_lamport(&self) -> u64 {
        self.max_lamport
    }

    /// The nodes that are shown elsewhere than where they are placed.
    pub fn displaced(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.displaced.iter().copied()
    }

    /// A node that the document holds or held.
    #[must_use]
    pub fn node(&self, id: NodeId) -> Option<&Arc<Node>> {
        self.nodes.get(&TailKey::of(id))
    }

    /// A node that is part of the tree.
    #[must_use]
    pub fn live(&self, id: NodeId) -> Option<&Arc<Node>> {
        self.node(id).filter(|node| node.is_live())
    }

    /// All nodes ever held, in no order that means anything.
    pub fn nodes(&self) -> impl Iterator<Item = &Arc<Node>> {
        self.nodes.values()
    }

    /// The title's text.
    #[must_use]
    pub fn title(&self) -> &str {
        self.node(self.root).map_or("", |node| &node.stored)
    }

    /// The children of a node, in order.
    pub fn children(&self, id: NodeId) -> impl DoubleEndedIterator<Item = NodeId> + '_ {
        self.children
            .get(&TailKey::of(id))
            .into_iter()
            .flat_map(|children| children.values().copied())
    }

    /// The count of a node's children.
    #[must_use]
    pub fn child_count(&self, id: NodeId) -> usize {
        self.children.get(&TailKey::of(id)).map_or(0, OrdMap::len)
    }

    /// The children of `parent` from the one behind `key` on (from the first where there is none).
    pub fn children_behind<'a>(
        &'a self,
        parent: NodeId,
        key: Option<&SortKey>,
    ) -> impl Iterator<Item = (&'a SortKey, NodeId)> + 'a {
        use std::ops::Bound;
        let from = key.map_or(Bound::Unbounded, |key| Bound::Excluded(key.clone()));
        self.children
            .get(&TailKey::of(parent))
            .into_iter()
            .flat_map(move |children| children.range((from.clone(), Bound::Unbounded)))
            .map(|(key, id)| (key, *id))
    }

    /// The child of `parent` in front of `key` (the last one where there is none).
    #[must_use]
    pub fn child_before(&self, parent: NodeId, key: Option<&SortKey>) -> Option<NodeId> {
        let children = self.children.get(&TailKey::of(parent))?;
        match key {
            Some(key) => children.range(..key.clone()).next_back().map(|(_, id)| *id),
            None => children.get_max().map(|(_, id)| *id),
        }
    }

    /// How deep a live node stands; the title has depth 0.
    #[must_use]
    pub fn depth(&self, id: NodeId) -> usize {
        let mut depth = 0;
        let mut at = id;
        while let Some(parent) = self.node(at).and_then(|node| node.shown_parent()) {
            depth += 1;
            at = parent;
        }
        depth
    }

    /// Whether `id` is `above` or stands below it.
    #[must_use]
    pub fn is_within(&self, id: NodeId, above: NodeId) -> bool {
        let mut at = Some(id);
        while let Some(here) = at {
            if here == above {
                return true;
            }
            at = self.node(here).and_then(|node| node.shown_parent());
        }
        false
    }

    /// A node and all below it, in document order.
    #[must_use]
    pub fn subtree(&self, id: NodeId) -> Vec<NodeId> {
        let mut out = Vec::new();
        let mut stack = vec![id];
        while let Some(at) = stack.pop() {
            out.push(at);
            stack.extend(self.children(at).rev());
        }
        out
    }

    /// How many levels stand below a node.
    #[must_use]
    pub fn height(&self, id: NodeId) -> usize {
        let mut height = 0;
        let mut stack = vec![(id, 0)];
        while let Some((at, level)) = stack.pop() {
            height = height.max(level);
            stack.extend(self.children(at).map(|child| (child, level + 1)));
        }
        height
    }

    /// What a name of a node stands for, among all nodes that the document ever held.
    #[must_use]
    pub fn resolve(&self, name: &NodeRef) -> Resolved {
        let digits = match name {
            NodeRef::Whole(id) => {
                return if self.node(*id).is_some() {
                    Resolved::One(*id)
                } else {
                    Resolved::Unknown
                };
            }
            NodeRef::Tail(digits) => digits,
        };
        let padded = format!("{digits:0>32}");
        let Ok(lowest) = uuid::Uuid::try_parse(&padded) else { return Resolved::Unknown };
        let lowest = TailKey::of(NodeId(lowest));
        let found: Vec<NodeId> = self
            .nodes
            .range(lowest..)
            .take_while(|(key, _)| key.common_digits(lowest) >= digits.len())
            .map(|(_, node)| node.id)
            .collect();
        match found.as_slice() {
            [] => Resolved::Unknown,
            [one] => Resolved::One(*one),
            _ => Resolved::Several(found),
        }
    }

    /// The shortest tail of at least `digits` hex digits that names this node alone.
    #[must_use]
    pub fn tail(&self, id: NodeId, digits: usize) -> String {
        let key = TailKey::of(id);
        let before = self.nodes.range(..key).next_back().map_or(0, |(k, _)| k.common_digits(key));
        let after = self
            .nodes
            .range((std::ops::Bound::Excluded(key), std::ops::Bound::Unbounded))
            .next()
            .map_or(0, |(k, _)| k.common_digits(key));
        let needed = digits.max(before + 1).max(after + 1).min(32);
        let hex = id.hex();
        hex.get(32 - needed..).unwrap_or(&hex).to_owned()
    }

    /// Puts a node in place of the one with its ID, and keeps the tree and the counts right.
    pub fn put(&mut self, node: Node) {
        let key = TailKey::of(node.id);
        let old = self.nodes.get(&key).map(|old| old.shown.clone());
        if old.as_ref() != Some(&node.shown) {
            if let Some(Shown::Under(parent, sort)) = &old {
                let parent = TailKey::of(*parent);
                if let Some(children) = self.children.get_mut(&parent) {
                    children.remove(sort);
                    if children.is_empty() {
                        self.children.remove(&parent);
                    }
                }
            }
            if let Shown::Under(parent, sort) = &node.shown {
                self.children
                    .entry(TailKey::of(*parent))
                    .or_default()
                    .insert(sort.clone(), node.id);
            }
        }
        let was_live = old.is_some_and(|shown| shown != Shown::Hidden);
        match (was_live, node.is_live()) {
            (false, true) => self.live += 1,
            (true, false) => self.live -= 1,
            _ => {}
        }
        if node.is_displaced() {
            self.displaced.insert(node.id);
        } else {
            self.displaced.remove(&node.id);
        }
        self.max_lamport = self.max_lamport.max(node.lamport);
        self.nodes.insert(key, Arc::new(node));
    }

    /// Changes a node; nothing happens where there is none.
    pub fn change(&mut self, id: NodeId, change: impl FnOnce(&mut Node)) {
        if let Some(node) = self.node(id) {
            let mut node = Node::clone(node);
            change(&mut node);
            self.put(node);
        }
    }
}

impl PartialEq for State {
    /// Whether both show the same tree of the same nodes, and hide the same.
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root
            && self.live == other.live
            && self.nodes == other.nodes
            && self.children == other.children
    }
}
