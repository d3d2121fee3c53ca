//! Parameters of the tools about the versions of a document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{DocumentId, EntryId, NodeRef, WorkspaceId};
use crate::limits;

/// Parameters of `list_document_versions`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("dependentRequired" = { "before_id": ["before_at"] }))]
pub struct ListDocumentVersions {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The document.
    pub document_id: DocumentId,
    /// next_before_at of the page before; wants before_id too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_at: Option<String>,
    /// next_before_id of the page before; wants before_at too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_id: Option<EntryId>,
    /// The most entries, 1 to 200. Absent: 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u32>,
}

/// Parameters of `save_document_version`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SaveDocumentVersion {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The document.
    pub document_id: DocumentId,
    /// A short name for the version: one line, at most 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::ENTRY_LABEL_CHARS))]
    pub label: Option<String>,
    /// A longer note, at most 10000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::ENTRY_MESSAGE_CHARS))]
    pub message: Option<String>,
}

/// Parameters of `read_document_version`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadDocumentVersion {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The history entry's ID, from list_document_versions.
    pub entry_id: EntryId,
    /// Only this node and what is under it: its ID, or a tail of it (8 or more hex digits).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<NodeRef>,
    /// Levels below the first node, 0 to 48. Absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 48))]
    pub max_depth: Option<u32>,
    /// The most nodes, 1 to 2000; a page also ends at 24 KB. Absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 2000))]
    pub page_size: Option<u32>,
    /// next_after_node_id of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_node_id: Option<NodeRef>,
    /// true: the short form of each node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compact: Option<bool>,
}

/// Parameters of `compare_document_versions`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompareDocumentVersions {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The earlier side: a history entry's ID.
    pub left_entry_id: EntryId,
    /// The later side: another entry of the same document. Absent: the document as it is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub right_entry_id: Option<EntryId>,
}

/// Parameters of `restore_document_version`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RestoreDocumentVersion {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The document.
    pub document_id: DocumentId,
    /// The history entry whose state shall come back.
    pub entry_id: EntryId,
    /// The document's present revision; anything changed since is refused.
    pub base_revision: String,
}
