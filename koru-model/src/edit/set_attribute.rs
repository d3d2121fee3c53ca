//! `set_attribute`: one typed value under a key.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::edit::draft::{Draft, Looks};
use crate::edit::facts::Property;
use crate::edit::fault::Fault;
use crate::ids::NodeRef;
use crate::value::Value;

/// Sets a typed attribute; what stood under the key is replaced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetAttribute {
    /// The node: its ID, or a tail of it of at least 8 hex digits.
    pub node_id: NodeRef,
    /// The node's exact text.
    pub expected: String,
    /// The attribute's key: koru.due, koru.priority, koru.color, koru.list, or one that list_attributes names.
    pub key: String,
    /// The value and its kind.
    pub value: Value,
}

impl SetAttribute {
    /// Applies the operation to a draft.
    ///
    /// # Errors
    /// When the node is gone or carries another text, the key is unknown or does not take the value,
    /// or another value was set after the base revision.
    pub fn apply(&self, draft: &mut Draft<'_>) -> Result<(), Fault> {
        let node = draft.expect(&self.node_id, &self.expected, Looks::Past)?;
        let attributes = draft.facts.attributes()?;
        let Some(definition) = attributes.iter().find(|definition| definition.key == self.key)
        else {
            return Err(Fault::UnknownAttribute {
                key: self.key.clone(),
                known: attributes.into_iter().map(|definition| definition.key).collect(),
            });
        };
        definition
            .check(&self.value)
            .map_err(|reason| Fault::AttributeRejected { key: self.key.clone(), reason })?;
        let present = node.attributes.get(&self.key);
        draft.guard(&node, Property::Attribute(self.key.clone()), || serde_json::json!(present))?;
        if present != Some(&self.value) {
            draft.change(node.id, |node| {
                node.attributes.insert(self.key.clone(), self.value.clone());
            });
        }
        Ok(())
    }
}
