//! `remove_tag`: a node without a tag.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{NodeRef, TagId};

/// Takes a tag off a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveTag {
    /// The node: its ID, or a tail of it of at least 8 hex digits.
    pub node_id: NodeRef,
    /// The node's exact text.
    pub expected: String,
    /// The tag's name; a name that matches nothing changes nothing. Either this or tag_id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// The ID of the tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag_id: Option<TagId>,
}
