//! Going back to an earlier state, by writing forward: nodes that come back keep their IDs.

use std::collections::BTreeMap;

use crate::document::{Shown, State};
use crate::edit::draft::{Draft, Place};
use crate::edit::facts::Facts;
use crate::edit::plan::Plan;
use crate::ids::NodeId;

/// What makes the present state show what an earlier one of the same document shows. None where it
/// does already.
#[must_use]
pub fn restore(present: &State, earlier: &State, facts: &mut dyn Facts) -> Option<Plan> {
    let mut draft = Draft::new(present, 0, 0, facts);
    remove_what_came_later(&mut draft, present, earlier);
    for id in earlier.subtree(earlier.root()) {
        let Some(then) = earlier.live(id) else { continue };
        if let Shown::Under(parent, _) = &then.shown
            && !then.is_displaced()
            && draft.state().node(id).is_some_and(|now| now.shown != then.shown)
        {
            draft.place_as(id, *parent, &then.order);
        }
        let Some(now) = draft.state().node(id) else { continue };
        let is_same = now.stored == then.stored
            && now.inlines == then.inlines
            && now.done == then.done
            && now.language == then.language
            && now.attributes == then.attributes
            && now.tags == then.tags;
        if !is_same {
            draft.change(id, |node| {
                node.stored = then.stored.clone();
                node.inlines = then.inlines.clone();
                node.done = then.done;
                node.language.clone_from(&then.language);
                node.attributes.clone_from(&then.attributes);
                node.tags.clone_from(&then.tags);
            });
        }
    }
    // Only a state with merged changes of several replicas holds displaced nodes.
    for id in earlier.subtree(earlier.root()) {
        if let Some(Shown::Under(parent, key)) =
            earlier.live(id).filter(|node| node.is_displaced()).map(|node| &node.shown)
        {
            let after = earlier.child_before(*parent, Some(key));
            draft.put_at(id, &Place { parent: *parent, after });
        }
    }
    draft.bind_loose();
    Plan::of(draft)
}

/// Removes the nodes that the earlier state does not show, each with the topmost of them above it.
fn remove_what_came_later(draft: &mut Draft<'_>, present: &State, earlier: &State) {
    let mut removal: BTreeMap<NodeId, NodeId> = BTreeMap::new();
    for id in present.subtree(present.root()) {
        if earlier.live(id).is_some() {
            continue;
        }
        let parent = present.node(id).and_then(|node| node.shown_parent());
        let top = parent.and_then(|parent| removal.get(&parent).copied()).unwrap_or(id);
        removal.insert(id, top);
        // A node that stays may stand below it in the CRDT until it is placed anew.
        draft.hide(id, top);
    }
}
