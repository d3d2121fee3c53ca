//! From a draft to the registers that must be written, and to what was touched.

use std::sync::Arc;

use crate::diff::{self, Budget};
use crate::document::crdt::Write;
use crate::document::state::{Node, State};
use crate::edit::draft::Draft;
use crate::edit::facts::Property;
use crate::ids::NodeId;
use crate::inline::Placed;

/// What a batch changes.
#[derive(Debug)]
pub struct Plan {
    /// The registers to write, only those whose value changes.
    pub writes: Vec<Write>,
    /// The properties that change.
    pub touched: Vec<(NodeId, Property)>,
    /// The state that results.
    pub state: State,
}

impl Plan {
    /// The plan of a draft; none where nothing changes.
    #[must_use]
    pub fn of(draft: Draft<'_>) -> Option<Self> {
        let mut writes = Vec::new();
        let mut touched = Vec::new();
        let mut budget = Budget::default();
        for id in draft.changed() {
            let Some(new) = draft.state().node(*id) else { continue };
            match draft.base().node(*id) {
                None => {
                    writes.push(Write::Create(Arc::clone(new)));
                    touched.push((*id, Property::Created));
                }
                Some(old) => {
                    compare(old, new, &mut writes, &mut touched, &mut budget);
                    if draft.is_placed(*id)
                        && old.shown != new.shown
                        && old.is_live()
                        && new.is_live()
                    {
                        touched.push((*id, Property::Place));
                    }
                }
            }
        }
        if writes.is_empty() {
            return None;
        }
        Some(Self { writes, touched, state: draft.into_state() })
    }
}

fn compare(
    old: &Node,
    new: &Node,
    writes: &mut Vec<Write>,
    touched: &mut Vec<(NodeId, Property)>,
    budget: &mut Budget,
) {
    let id = new.id;
    if old.removed != new.removed {
        writes.push(Write::Removed(id, new.removed));
    }
    if old.is_live() != new.is_live() {
        touched.push((id, Property::Removed));
    }
    if (old.parent, &old.order, old.lamport) != (new.parent, &new.order, new.lamport) {
        writes.push(Write::Place(id, new.parent, Arc::clone(&new.order), new.lamport));
    }
    if old.stored != new.stored || old.inlines != new.inlines {
        let text = |node: &Node| -> (Arc<str>, Arc<[Placed]>) {
            (Arc::clone(&node.stored), Arc::clone(&node.inlines))
        };
        let ((old_text, old_inlines), (new_text, new_inlines)) = (text(old), text(new));
        let splices = diff::splices((&old_text, &old_inlines), (&new_text, &new_inlines), budget);
        writes.push(Write::Text(id, splices));
        touched.push((id, Property::Text));
    }
    if old.done != new.done {
        writes.push(Write::Done(id, new.done));
        touched.push((id, Property::Done));
    }
    if old.language != new.language {
        writes.push(Write::Language(id, new.language.clone()));
        touched.push((id, Property::Language));
    }
    for (key, value) in &new.attributes {
        if old.attributes.get(key) != Some(value) {
            writes.push(Write::Attribute(id, key.clone(), Some(value.clone())));
            touched.push((id, Property::Attribute(key.clone())));
        }
    }
    for key in old.attributes.keys().filter(|key| !new.attributes.contains_key(*key)) {
        writes.push(Write::Attribute(id, key.clone(), None));
        touched.push((id, Property::Attribute(key.clone())));
    }
    for tag in old.tags.symmetric_difference(&new.tags) {
        writes.push(Write::Tag(id, *tag, new.tags.contains(tag)));
        touched.push((id, Property::Tag(*tag)));
    }
}
