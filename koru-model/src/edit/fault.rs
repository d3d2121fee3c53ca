//! Why an operation is refused: data, no sentences; codes and words are given where it is answered.

use serde_json::Value;

use crate::edit::facts::{FactsError, Property, Touch};
use crate::ids::NodeId;

/// What a node is to the operation that names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The node that is changed.
    Node,
    /// The parent to stand under.
    Parent,
    /// The sibling to stand behind.
    Neighbour,
}

/// What is not found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A tag of the workspace.
    Tag,
    /// A document of the workspace.
    Document,
    /// A file of the workspace.
    File,
}

/// Why an operation is refused.
#[derive(Debug)]
pub enum Fault {
    /// The text is not the expected one.
    TextDiffers {
        /// The node.
        node: NodeId,
        /// What the operation expects.
        expected: String,
        /// What is there.
        actual: String,
        /// Whether the expected text is the one from before an earlier operation of this batch.
        from_before_batch: bool,
        /// The last change of the text.
        change: Option<Touch>,
    },
    /// A node is gone, or never was.
    Gone {
        /// The node as the operation names it.
        name: String,
        /// The node, where the document ever held it.
        node: Option<NodeId>,
        /// What it is to the operation.
        role: Role,
        /// Its removal.
        change: Option<Touch>,
    },
    /// The neighbour stands under another parent.
    NeighbourElsewhere {
        /// The neighbour.
        neighbour: NodeId,
        /// The parent that the operation names.
        parent: NodeId,
        /// The parent that the neighbour has.
        present_parent: Option<NodeId>,
    },
    /// The property was changed after the base revision.
    Changed {
        /// The node.
        node: NodeId,
        /// The property.
        property: Property,
        /// What it is now.
        present: Value,
        /// The change.
        change: Touch,
    },
    /// What would be removed holds what was added or changed after the base revision.
    Unread {
        /// The node to remove.
        node: NodeId,
        /// The nodes, with their last change.
        nodes: Vec<(NodeId, Touch)>,
    },
    /// The operation is wrong whatever the document holds.
    Invalid {
        /// The field of the operation.
        field: &'static str,
        /// What is wrong with it, and what would be right.
        reason: String,
    },
    /// Several nodes have the tail.
    Ambiguous {
        /// The field of the operation.
        field: &'static str,
        /// The nodes.
        candidates: Vec<NodeId>,
    },
    /// The workspace defines no such attribute.
    UnknownAttribute {
        /// The key.
        key: String,
        /// The keys that it defines.
        known: Vec<String>,
    },
    /// The attribute does not take the value.
    AttributeRejected {
        /// The key.
        key: String,
        /// What is wrong, to stand behind "the value".
        reason: String,
    },
    /// The workspace does not hold it.
    NotFound {
        /// What.
        target: Target,
        /// The field of the operation.
        field: &'static str,
        /// Its ID.
        id: String,
    },
    /// The world could not be asked.
    Facts(FactsError),
}

impl Fault {
    /// The operation is wrong in a field.
    #[must_use]
    pub fn invalid(field: &'static str, reason: impl Into<String>) -> Self {
        Self::Invalid { field, reason: reason.into() }
    }
}

impl From<FactsError> for Fault {
    fn from(error: FactsError) -> Self {
        Self::Facts(error)
    }
}
