//! Parameters of the tools that list and read documents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{DocumentId, NodeRef, WorkspaceId};

/// Parameters of `list_documents`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListDocuments {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The most documents, 1 to 1000; a page also ends at 24 KB. Absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub page_size: Option<u32>,
    /// next_after_document_id of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_document_id: Option<DocumentId>,
}

/// Parameters of `read_document`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("dependentRequired" = { "after_node_id": ["revision"] }))]
pub struct ReadDocument {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The document.
    pub document_id: DocumentId,
    /// Only this node and what is under it: its ID, or a tail of it (8 or more hex digits).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<NodeRef>,
    /// Levels below the first node, 0 to 48; children_omitted counts what is left out. Absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 48))]
    pub max_depth: Option<u32>,
    /// The most nodes, 1 to 2000; a page also ends at 24 KB. Absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 2000))]
    pub page_size: Option<u32>,
    /// next_after_node_id of the page before; wants revision too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_node_id: Option<NodeRef>,
    /// The first page's revision, so that pages fit together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// true: a short form of each node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compact: Option<bool>,
}

/// Parameters of `list_document_links`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListDocumentLinks {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The document.
    pub document_id: DocumentId,
}
