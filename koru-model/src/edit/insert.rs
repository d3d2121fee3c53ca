//! `insert`: a new node.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{NodeId, NodeRef};
use crate::node::Kind;

/// Inserts a new node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Insert {
    /// The new node's ID: a whole UUID that you choose, never used in this document.
    pub node_id: NodeId,
    /// The parent: the title node, or any node that may have children.
    pub parent_id: NodeRef,
    /// The sibling to stand behind. Absent: first under the parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_node_id: Option<NodeRef>,
    /// true: last under the parent (in place of after_node_id).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_end: Option<bool>,
    /// The node's kind; it never changes. A heading stands only under the title or a heading.
    pub kind: Kind,
    /// The text, at most 1 MiB, literal (no Markdown). Absent: empty. A table has rows by line feed and cells by tab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}
