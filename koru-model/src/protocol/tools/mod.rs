//! The tools' parameters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::edit::Operation;
use crate::ids::{DocumentId, EntryId, NodeId, NodeRef, WorkspaceId};

/// The parameters of a tool, for each of the tools.
macro_rules! params {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $kind:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name { $($(#[$field_doc])* pub $field: $kind,)* }
    )*};
}

params! {
    /// Parameters of `get_documentation`.
    GetDocumentation {
        /// The document to get: only koru://docs/model.
        uri: String,
    }
    /// Parameters of `list_workspaces`.
    ListWorkspaces {}
    /// Parameters of `list_documents`.
    ListDocuments {
        /// The workspace's ID.
        workspace_id: WorkspaceId,
        /// The most documents in the answer, 1 to 1000. Absent: all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        page_size: Option<u32>,
        /// Continue behind this document (next_after_document_id of the page before).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after_document_id: Option<DocumentId>,
    }
    /// Parameters of `read_document`.
    ReadDocument {
        /// The workspace's ID.
        workspace_id: WorkspaceId,
        /// The document's ID.
        document_id: DocumentId,
        /// Read only this node and what is under it: its ID, or a tail of it of at least 8 hex digits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node_id: Option<NodeRef>,
        /// How many levels below the first node to read, 0 to 48; nodes with children left out say children_omitted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_depth: Option<u32>,
        /// The most nodes in the answer, 1 to 2000; a page also ends at 24 KB. Absent: all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        page_size: Option<u32>,
        /// Continue behind this node (next_after_node_id of the page before), together with revision.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after_node_id: Option<NodeRef>,
        /// The first page's revision: that state is served, so that pages fit together.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        revision: Option<String>,
        /// true: a short form of each node that costs far fewer characters.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        compact: Option<bool>,
    }
    /// Parameters of `list_document_links`.
    ListDocumentLinks {
        /// The workspace's ID.
        workspace_id: WorkspaceId,
        /// The document's ID.
        document_id: DocumentId,
    }
    /// Parameters of `list_tags`.
    ListTags {
        /// The workspace's ID.
        workspace_id: WorkspaceId,
    }
    /// Parameters of `list_attributes`.
    ListAttributes {
        /// The workspace's ID.
        workspace_id: WorkspaceId,
    }
    /// Parameters of `list_document_versions`.
    ListDocumentVersions {
        /// The workspace's ID.
        workspace_id: WorkspaceId,
        /// The document's ID.
        document_id: DocumentId,
        /// Continue before this time (next_before_at of the page before), together with before_id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before_at: Option<String>,
        /// Continue before this entry (next_before_id of the page before).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before_id: Option<EntryId>,
        /// The most entries in the answer, 1 to 200. Absent: 50.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }
    /// Parameters of `create_document`.
    CreateDocument {
        /// The workspace's ID.
        workspace_id: WorkspaceId,
        /// The title: one line, at most 1000 characters.
        title: String,
        /// The document's kind: only page. Absent: page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<DocumentKind>,
        /// The document to stand under. Absent: the workspace's root.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent_document_id: Option<DocumentId>,
        /// A UUID that names this creation: the same call again gives the same document.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        idempotency_key: Option<uuid::Uuid>,
        /// The title node's ID, a whole UUID that you choose. Required with initial_operations.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        root_node_id: Option<NodeId>,
        /// The document's content: only insert, insert_inline, set_done, set_language. At most 10000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        initial_operations: Option<Vec<Operation>>,
    }
    /// Parameters of `edit_document`.
    EditDocument {
        /// The workspace's ID.
        workspace_id: WorkspaceId,
        /// The document's ID.
        document_id: DocumentId,
        /// The revision that the changes are based on: from read_document, create_document or edit_document.
        base_revision: String,
        /// The operations, applied in order, all or none. 1 to 10000.
        operations: Vec<Operation>,
    }
    /// Parameters of `save_document_version`.
    SaveDocumentVersion {
        /// The workspace's ID.
        workspace_id: WorkspaceId,
        /// The document's ID.
        document_id: DocumentId,
        /// A short name for the version, one line, at most 200 characters.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        label: Option<String>,
        /// A longer note, at most 10000 characters.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    }
}

/// What a new document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DocumentKind {
    Page,
}
