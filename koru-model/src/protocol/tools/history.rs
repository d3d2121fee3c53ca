//! Parameters of the tools about the versions of a document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{DocumentId, EntryId, WorkspaceId};
use crate::limits;

/// Parameters of `list_document_versions`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("dependentRequired" = { "before_id": ["before_at"] }))]
pub struct ListDocumentVersions {
    /// The workspace's ID.
    pub workspace_id: WorkspaceId,
    /// The document's ID.
    pub document_id: DocumentId,
    /// Continue before this time: next_before_at of the page before, together with before_id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_at: Option<String>,
    /// Continue before this entry: next_before_id of the page before; wants before_at too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_id: Option<EntryId>,
    /// The most entries in the answer, 1 to 200. Absent: 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u32>,
}

/// Parameters of `save_document_version`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SaveDocumentVersion {
    /// The workspace's ID.
    pub workspace_id: WorkspaceId,
    /// The document's ID.
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
