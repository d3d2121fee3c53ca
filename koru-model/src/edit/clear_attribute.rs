//! `clear_attribute`: no value under a key any more.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::edit::draft::{Draft, Looks};
use crate::edit::facts::Property;
use crate::edit::fault::Fault;
use crate::ids::NodeRef;

/// Removes what stands under an attribute's key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClearAttribute {
    /// The node: its ID, or a tail of it of at least 8 hex digits.
    pub node_id: NodeRef,
    /// The node's exact text.
    pub expected: String,
    /// The attribute's key.
    pub key: String,
}

impl ClearAttribute {
    /// Applies the operation to a draft. Nothing under the key is fine.
    ///
    /// # Errors
    /// When the node is gone or carries another text, the key is unknown, or a value was set after
    /// the base revision.
    pub fn apply(&self, draft: &mut Draft<'_>) -> Result<(), Fault> {
        let node = draft.expect(&self.node_id, &self.expected, Looks::Past)?;
        let present = node.attributes.get(&self.key);
        if present.is_none() {
            let attributes = draft.facts.attributes()?;
            if attributes.iter().any(|definition| definition.key == self.key) {
                return Ok(());
            }
            return Err(Fault::UnknownAttribute {
                key: self.key.clone(),
                known: attributes.into_iter().map(|definition| definition.key).collect(),
            });
        }
        draft.guard(&node, Property::Attribute(self.key.clone()), || serde_json::json!(present))?;
        draft.change(node.id, |node| {
            node.attributes.remove(&self.key);
        });
        Ok(())
    }
}
