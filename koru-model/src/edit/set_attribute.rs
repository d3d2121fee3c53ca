//! `set_attribute`: one typed value under a key.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
