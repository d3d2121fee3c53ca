//! Parameters of the tools that create and change documents.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::edit::Operation;
use crate::ids::{DocumentId, NodeId, NodeRef, WorkspaceId};
use crate::limits;

/// Parameters of `create_document`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("dependentRequired" = { "initial_operations": ["root_node_id"] }))]
pub struct CreateDocument {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The title: one line, at most 1000 characters.
    #[schemars(length(max = limits::TITLE_CHARS))]
    pub title: String,
    /// The document's kind: only page. Absent: page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<DocumentKind>,
    /// The document to stand under. Absent: the root of the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_document_id: Option<DocumentId>,
    /// A new UUID that names this creation: the same call again gives the same document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<uuid::Uuid>,
    /// The title node's ID, a UUID that you choose. Required with initial_operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_node_id: Option<NodeId>,
    /// The content, in order: only insert, insert_inline, set_done, set_language; at most 10000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "initial_operations")]
    pub initial_operations: Option<Vec<Operation>>,
}

fn initial_operations(generator: &mut SchemaGenerator) -> Schema {
    let items = Operation::flat_schema(generator, Operation::INITIAL).to_value();
    schemars::json_schema!({
        "type": "array",
        "items": items,
        "maxItems": json!(limits::BATCH_OPERATIONS),
    })
}

/// Parameters of `edit_document`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditDocument {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The document.
    pub document_id: DocumentId,
    /// The revision that you read, or were given by your last change.
    pub base_revision: String,
    /// The operations, 1 to 10000, applied in order, all or none.
    #[schemars(length(min = 1, max = limits::BATCH_OPERATIONS))]
    pub operations: Vec<Operation>,
}

/// What a new document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DocumentKind {
    /// A page of nodes.
    Page,
}

/// Parameters of `extract_to_document`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExtractToDocument {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The document that the blocks leave.
    pub source_document_id: DocumentId,
    /// The revision of the source that you read.
    pub base_revision: String,
    /// The block to take, with all under it.
    pub source_node_id: NodeRef,
    /// Siblings of it to take along; they need not adjoin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra_source_node_ids: Option<Vec<NodeRef>>,
    /// The exact text of source_node_id.
    pub expected: String,
    /// The title of a new document: one line, at most 1000 characters. Or give target_document_id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::TITLE_CHARS))]
    pub new_document_title: Option<String>,
    /// A document that exists. Or give new_document_title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_document_id: Option<DocumentId>,
    /// The node of the target under which the blocks come last. Absent: its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under_node_id: Option<NodeRef>,
}
