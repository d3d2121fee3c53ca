//! `remove`: a node and all under it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::state::Shown;
use crate::edit::draft::{Draft, Looks};
use crate::edit::fault::Fault;
use crate::ids::NodeRef;
use crate::node::Kind;

/// Removes a node with everything under it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Remove {
    /// The node: its ID, or a tail of it of at least 8 hex digits.
    pub node_id: NodeRef,
    /// The node's exact text.
    pub expected: String,
}

impl Remove {
    /// Applies the operation to a draft.
    ///
    /// # Errors
    /// When the node is the title, gone or carries another text, or a node under it was added or
    /// changed after the base revision.
    pub fn apply(&self, draft: &mut Draft<'_>) -> Result<(), Fault> {
        let node = draft.expect(&self.node_id, &self.expected, Looks::Past)?;
        if node.kind == Kind::Title {
            return Err(Fault::invalid("node_id", "names the title, which cannot be removed"));
        }
        let subtree = draft.state().subtree(node.id);
        let unread = draft.unread_among(subtree.get(1..).unwrap_or_default())?;
        if !unread.is_empty() {
            return Err(Fault::Unread { node: node.id, nodes: unread });
        }
        for id in subtree {
            draft.change(id, |below| {
                below.removed = Some(node.id);
                below.shown = Shown::Hidden;
            });
        }
        Ok(())
    }
}
