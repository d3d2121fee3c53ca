//! `set_language`: a code block's language.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::NodeRef;

/// Sets a code block's language.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetLanguage {
    /// The node: its ID, or a tail of it of at least 8 hex digits.
    pub node_id: NodeRef,
    /// The node's exact text.
    pub expected: String,
    /// The language, for example rust. Absent: found automatically.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}
