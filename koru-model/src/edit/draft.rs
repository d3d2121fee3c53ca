//! The copy that a batch is tried on, and the checks that operations share.
//!
//! Invariant: there is no separate validation. An operation checks and changes the draft; whoever
//! refuses drops it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::document::state::{Node, Resolved, Shown, SortKey, State};
use crate::document::view;
use crate::edit::facts::{Facts, Property, Touch};
use crate::edit::fault::{Fault, Role};
use crate::ids::{NodeId, NodeRef};
use crate::inline::RichText;
use crate::limits;
use crate::order;
use crate::text;

/// Whether an operation looks into the text of its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looks {
    /// It does: `expected` is the text as the operation finds it.
    IntoText,
    /// It does not: the text from before the batch serves too.
    Past,
}

/// A place among the children of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The parent.
    pub parent: NodeId,
    /// The sibling in front; none: the place is the first.
    pub after: Option<NodeId>,
}

/// How an operation names a place.
#[derive(Debug, Clone, Copy)]
pub struct PlaceNames<'a> {
    /// The parent.
    pub parent: &'a NodeRef,
    /// The sibling in front.
    pub after: Option<&'a NodeRef>,
    /// Whether the place is the last.
    pub at_end: Option<bool>,
}

/// A copy of a document on which a batch is tried.
pub struct Draft<'a> {
    base: &'a State,
    state: State,
    /// The facts of the world around.
    pub facts: &'a mut dyn Facts,
    base_seq: u64,
    head_seq: u64,
    lamport: u64,
    changed: Vec<NodeId>,
    is_changed: BTreeSet<NodeId>,
    placed: BTreeSet<NodeId>,
}

impl<'a> Draft<'a> {
    /// A draft of a document whose newest change is `head_seq`, for a client that has read it as it
    /// was after change `base_seq`.
    pub fn new(base: &'a State, base_seq: u64, head_seq: u64, facts: &'a mut dyn Facts) -> Self {
        let mut draft = Self {
            base,
            state: base.clone(),
            facts,
            base_seq,
            head_seq,
            lamport: base.max_lamport() + 1,
            changed: Vec::new(),
            is_changed: BTreeSet::new(),
            placed: BTreeSet::new(),
        };
        draft.settle();
        draft
    }

    /// The state as it is after the operations so far.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The state from before the batch.
    #[must_use]
    pub fn base(&self) -> &State {
        self.base
    }

    /// The nodes that differ from before the batch, in the order of their first change.
    #[must_use]
    pub fn changed(&self) -> &[NodeId] {
        &self.changed
    }

    /// Whether an operation placed the node; others only get a new key to make room.
    #[must_use]
    pub fn is_placed(&self, id: NodeId) -> bool {
        self.placed.contains(&id)
    }

    /// The state, without the means to change it further.
    #[must_use]
    pub fn into_state(self) -> State {
        self.state
    }

    /// Writes down where displaced nodes are shown, so that what follows stands on firm ground.
    fn settle(&mut self) {
        let displaced: Vec<NodeId> = self.state.displaced().collect();
        self.bind(self.state.loose().collect());
        for id in displaced {
            let Some(node) = self.state.node(id) else { continue };
            let Shown::Under(parent, key) = node.shown.clone() else { continue };
            let after = self.state.child_before(parent, Some(&key));
            self.put_at(id, &Place { parent, after });
        }
    }

    /// Makes loose nodes hidden for their own sake.
    fn bind(&mut self, loose: Vec<NodeId>) {
        for id in loose {
            self.change(id, |node| node.removed = Some(id));
        }
        self.state.set_loose(Vec::new());
    }

    /// Keeps hidden what stays hidden, after removed nodes were brought back.
    pub fn bind_loose(&mut self) {
        self.bind(view::loose(&self.state));
    }

    /// Changes a node of the draft.
    pub fn change(&mut self, id: NodeId, change: impl FnOnce(&mut Node)) {
        self.note(id);
        self.state.change(id, change);
    }

    /// Adds a node to the draft, at a place.
    pub fn add(&mut self, node: Node, place: &Place) {
        let id = node.id;
        self.note(id);
        self.state.put(node);
        self.put_at(id, place);
    }

    /// Hides a live node, as part of the removal of `top`.
    pub fn hide(&mut self, id: NodeId, top: NodeId) {
        self.change(id, |node| {
            node.removed = Some(top);
            node.shown = Shown::Hidden;
        });
    }

    /// Brings a node with all that it carries to a place, whether the document once held it or not.
    pub fn bring(&mut self, node: &Node, place: &Place) {
        let mut node = node.clone();
        node.removed = None;
        node.shown = Shown::Hidden;
        self.add(node, place);
    }

    /// Gives a node a place by its order key.
    pub fn place_as(&mut self, id: NodeId, parent: NodeId, order: &str) {
        self.placed.insert(id);
        self.set_place(id, parent, order);
    }

    fn note(&mut self, id: NodeId) {
        if self.is_changed.insert(id) {
            self.changed.push(id);
        }
    }

    /// The live node of that name.
    ///
    /// # Errors
    /// When the name is ambiguous, or the node gone or unknown.
    pub fn find(
        &mut self,
        field: &'static str,
        name: &NodeRef,
        role: Role,
    ) -> Result<Arc<Node>, Fault> {
        let id = match self.state.resolve(name) {
            Resolved::One(id) => id,
            Resolved::Several(candidates) => return Err(Fault::Ambiguous { field, candidates }),
            Resolved::Unknown => {
                return Err(Fault::Gone { name: name.to_string(), node: None, role, change: None });
            }
        };
        if let Some(node) = self.state.live(id) {
            return Ok(Arc::clone(node));
        }
        let change = self.facts.last_change(id, &Property::Removed)?;
        Err(Fault::Gone { name: name.to_string(), node: Some(id), role, change })
    }

    /// The live node that an operation changes, once its text is the expected one.
    ///
    /// # Errors
    /// As [`Draft::find`], and when the text differs.
    pub fn expect(
        &mut self,
        name: &NodeRef,
        expected: &str,
        looks: Looks,
    ) -> Result<Arc<Node>, Fault> {
        let node = self.find("node_id", name, Role::Node)?;
        let expected = canonical_expected(&node, expected);
        let actual = node.text();
        if expected == actual {
            return Ok(node);
        }
        let from_before_batch = self.base.node(node.id).is_some_and(|old| old.text() == expected);
        if from_before_batch && looks == Looks::Past {
            return Ok(node);
        }
        let change = self.facts.last_change(node.id, &Property::Text)?;
        Err(Fault::TextDiffers {
            node: node.id,
            expected,
            actual: actual.into_owned(),
            from_before_batch,
            change,
        })
    }

    /// Refuses where a property of the node was changed after the base revision.
    ///
    /// # Errors
    /// When it was.
    pub fn guard(
        &mut self,
        node: &Node,
        property: Property,
        present: impl FnOnce() -> serde_json::Value,
    ) -> Result<(), Fault> {
        if self.base_seq >= self.head_seq {
            return Ok(());
        }
        match self.facts.last_change(node.id, &property)? {
            Some(change) if change.seq > self.base_seq => {
                Err(Fault::Changed { node: node.id, property, present: present(), change })
            }
            _ => Ok(()),
        }
    }

    /// The nodes among these that were added or changed after the base revision.
    ///
    /// # Errors
    /// When the store cannot be asked.
    pub fn unread_among(&mut self, nodes: &[NodeId]) -> Result<Vec<(NodeId, Touch)>, Fault> {
        if self.base_seq >= self.head_seq {
            return Ok(Vec::new());
        }
        let changed = self.facts.changed_after(self.base_seq)?;
        Ok(nodes.iter().filter_map(|id| Some((*id, changed.get(id)?.clone()))).collect())
    }

    /// The place that an operation names.
    ///
    /// # Errors
    /// When the parent or the neighbour is gone, the neighbour stands elsewhere, or both a neighbour
    /// and the end are named.
    pub fn place(&mut self, names: PlaceNames<'_>) -> Result<Place, Fault> {
        let parent = self.find("parent_id", names.parent, Role::Parent)?;
        let at_end = names.at_end == Some(true);
        let Some(after) = names.after else {
            let last = if at_end { self.state.child_before(parent.id, None) } else { None };
            return Ok(Place { parent: parent.id, after: last });
        };
        if at_end {
            return Err(Fault::invalid(
                "at_end",
                "stands beside after_node_id; give one of the two",
            ));
        }
        let after = self.find("after_node_id", after, Role::Neighbour)?;
        if after.shown_parent() != Some(parent.id) {
            return Err(Fault::NeighbourElsewhere {
                neighbour: after.id,
                parent: parent.id,
                present_parent: after.shown_parent(),
            });
        }
        Ok(Place { parent: parent.id, after: Some(after.id) })
    }

    /// Checks that a node of this kind, `height` levels high, may stand under the parent.
    ///
    /// # Errors
    /// When it may not.
    pub fn check_fits(
        &self,
        kind: crate::node::Kind,
        height: usize,
        parent: NodeId,
    ) -> Result<(), Fault> {
        let Some(parent) = self.state.live(parent) else { return Ok(()) };
        if !kind.may_stand_under(parent.kind) {
            let reason = if !parent.kind.has_children() {
                format!(
                    "names a {}, which holds no other nodes; choose another parent",
                    parent.kind.name()
                )
            } else {
                format!(
                    "names a {}: a {} stands only under the title or a heading",
                    parent.kind.name(),
                    kind.name()
                )
            };
            return Err(Fault::invalid("parent_id", reason));
        }
        let depth = self.state.depth(parent.id) + 1 + height;
        if depth > limits::DEPTH {
            return Err(Fault::invalid(
                "parent_id",
                format!("would make the tree {depth} levels deep; the limit is {}", limits::DEPTH),
            ));
        }
        Ok(())
    }

    /// Puts a node at a place. Nothing happens where it stands there already.
    pub fn put_at(&mut self, id: NodeId, place: &Place) {
        let stands_there = self.state.node(id).is_some_and(|node| match &node.shown {
            Shown::Under(parent, key) => {
                *parent == place.parent
                    && !node.is_displaced()
                    && self.state.child_before(*parent, Some(key)) == place.after
            }
            _ => false,
        });
        if stands_there {
            return;
        }
        let order = self.order_at(id, place).unwrap_or_else(|| {
            self.make_room(id, place);
            self.order_at(id, place).unwrap_or_default()
        });
        self.placed.insert(id);
        self.set_place(id, place.parent, &order);
    }

    fn set_place(&mut self, id: NodeId, parent: NodeId, order: &str) {
        let lamport = self.lamport;
        self.change(id, |node| {
            node.parent = Some(parent);
            node.order = order.into();
            node.lamport = lamport;
            node.removed = None;
            node.shown = Shown::Under(parent, SortKey::of(order, id));
        });
    }

    /// An order key for a node at a place; none where there is no room for a short one.
    fn order_at(&self, id: NodeId, place: &Place) -> Option<String> {
        let key_of = |id: NodeId| {
            self.state.node(id).and_then(|node| match &node.shown {
                Shown::Under(_, key) => Some(key.clone()),
                _ => None,
            })
        };
        let left = place.after.and_then(key_of);
        let right = self
            .state
            .children_behind(place.parent, left.as_ref())
            .find(|(_, sibling)| *sibling != id)
            .map(|(key, _)| key.clone());
        let (left, right) = (left.as_ref().map(SortKey::order), right.as_ref().map(SortKey::order));
        if let (Some(left), Some(right)) = (left, right)
            && left >= right
        {
            return None;
        }
        let chance = id.as_bytes().last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let key = order::between(left, right, chance);
        (key.len() <= order::MAX_KEY).then_some(key)
    }

    /// Gives the siblings around a place new order keys, with room between them.
    fn make_room(&mut self, id: NodeId, place: &Place) {
        const HALF: usize = 32;
        let siblings: Vec<NodeId> =
            self.state.children(place.parent).filter(|sibling| *sibling != id).collect();
        let at = place
            .after
            .and_then(|after| siblings.iter().position(|sibling| *sibling == after))
            .map_or(0, |index| index + 1);
        let order = |index: usize| {
            siblings
                .get(index)
                .and_then(|id| self.state.node(*id))
                .map(|node| node.order.to_string())
        };
        let (from, to) = (at.saturating_sub(HALF), (at + HALF).min(siblings.len()));
        let left = from.checked_sub(1).and_then(order);
        let right = order(to);
        let has_room = left.as_ref().zip(right.as_ref()).is_none_or(|(left, right)| left < right);
        let keys = order::spread(left.as_deref(), right.as_deref(), to - from);
        let (from, to, keys) = if has_room && keys.iter().all(|key| key.len() < order::MAX_KEY) {
            (from, to, keys)
        } else {
            (0, siblings.len(), order::spread(None, None, siblings.len()))
        };
        for (sibling, key) in siblings.get(from..to).unwrap_or_default().iter().zip(keys) {
            self.set_place(*sibling, place.parent, &key);
        }
    }
}

/// The expected text as the node's own text is written: line ends LF, IDs of tokens in lower case.
fn canonical_expected(node: &Node, expected: &str) -> String {
    let expected = text::with_line_feeds(expected);
    if node.kind.has_inlines() && expected.contains("[[") {
        RichText::with_tokens(&expected).text
    } else {
        expected.into_owned()
    }
}
