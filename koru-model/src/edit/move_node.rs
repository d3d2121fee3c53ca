//! `move`: a node and all under it to another place of the same document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::state::Shown;
use crate::edit::draft::{Draft, Looks, PlaceNames};
use crate::edit::facts::Property;
use crate::edit::fault::Fault;
use crate::ids::NodeRef;
use crate::node::Kind;

/// Moves a node with its children; every ID stays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveNode {
    /// The node: its ID, or a tail of it of at least 8 hex digits.
    pub node_id: NodeRef,
    /// The node's exact text.
    pub expected: String,
    /// The new parent; not the node itself, nor one below it.
    pub parent_id: NodeRef,
    /// The sibling to stand behind. Absent: first under the parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_node_id: Option<NodeRef>,
    /// true: last under the parent (in place of after_node_id).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_end: Option<bool>,
}

impl MoveNode {
    /// Applies the operation to a draft.
    ///
    /// # Errors
    /// When the node is the title, gone, carries another text or was moved after the base revision,
    /// or when the place is gone, lies within the node or does not take it.
    pub fn apply(&self, draft: &mut Draft<'_>) -> Result<(), Fault> {
        let node = draft.expect(&self.node_id, &self.expected, Looks::Past)?;
        if node.kind == Kind::Title {
            return Err(Fault::invalid("node_id", "names the title, which cannot be moved"));
        }
        draft.guard(
            &node,
            Property::Place,
            || serde_json::json!({ "parent_id": node.shown_parent() }),
        )?;
        let place = draft.place(PlaceNames {
            parent: &self.parent_id,
            after: self.after_node_id.as_ref(),
            at_end: self.at_end,
        })?;
        if draft.state().is_within(place.parent, node.id) {
            return Err(Fault::invalid(
                "parent_id",
                "names the node itself or one below it; choose a parent outside",
            ));
        }
        let mut place = place;
        if place.after == Some(node.id) {
            if self.at_end != Some(true) {
                return Err(Fault::invalid(
                    "after_node_id",
                    "names the node itself; name the sibling to stand behind",
                ));
            }
            place.after = match &node.shown {
                Shown::Under(parent, key) => draft.state().child_before(*parent, Some(key)),
                _ => None,
            };
        }
        draft.check_fits(node.kind, draft.state().height(node.id), place.parent)?;
        draft.put_at(node.id, &place);
        Ok(())
    }
}
