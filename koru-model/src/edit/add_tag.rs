//! `add_tag`: a tag on a node.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{NodeRef, TagId};

/// Tags a node; creates the tag and its parents where they do not exist.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddTag {
    /// The node: its ID, or a tail of it of at least 8 hex digits.
    pub node_id: NodeRef,
    /// The node's exact text.
    pub expected: String,
    /// The tag's name; / separates levels (family/calls). At most 200 characters. Either this or tag_id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// The ID of a tag that exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag_id: Option<TagId>,
}
