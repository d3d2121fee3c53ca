//! `set_done`: a task's checkbox.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::NodeRef;

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
