//! `remove`: a node and all under it.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::NodeRef;

/// Removes a node with everything under it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Remove {
    /// The node: its ID, or a tail of it of at least 8 hex digits.
    pub node_id: NodeRef,
    /// The node's exact text.
    pub expected: String,
}
