//! `replace_text`: one node's whole text.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::NodeRef;

/// Replaces a node's text by the smallest change that leads from one to the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplaceText {
    /// The node: its ID, or a tail of it of at least 8 hex digits.
    pub node_id: NodeRef,
    /// The node's exact text as the operation finds it: what was read, or what an earlier operation of this batch left.
    pub expected: String,
    /// The new text, at most 1 MiB, literal (no Markdown). Keep the tokens [[...]] of inlines that shall stay.
    pub text: String,
}
