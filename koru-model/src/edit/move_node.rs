//! `move`: a node and all under it to another place of the same document.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::NodeRef;

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
