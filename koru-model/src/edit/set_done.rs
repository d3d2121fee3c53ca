//! `set_done`: a task's checkbox.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::edit::draft::{Draft, Looks};
use crate::edit::facts::Property;
use crate::edit::fault::Fault;
use crate::ids::NodeRef;
use crate::node::Kind;

/// Checks or unchecks a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetDone {
    /// The node: its ID, or a tail of it of at least 8 hex digits.
    pub node_id: NodeRef,
    /// The node's exact text.
    pub expected: String,
    /// Whether the task is done.
    pub done: bool,
}

impl SetDone {
    /// Applies the operation to a draft.
    ///
    /// # Errors
    /// When the node is no task, gone, carries another text or was checked after the base revision.
    pub fn apply(&self, draft: &mut Draft<'_>) -> Result<(), Fault> {
        let node = draft.expect(&self.node_id, &self.expected, Looks::Past)?;
        if node.kind != Kind::Task {
            let kind = node.kind.name();
            return Err(Fault::invalid(
                "node_id",
                format!("names a {kind}; only a task is done or not"),
            ));
        }
        draft.guard(&node, Property::Done, || node.done.into())?;
        if node.done != self.done {
            draft.change(node.id, |node| node.done = self.done);
        }
        Ok(())
    }
}
