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
    /// The workspace's ID.
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
    /// The title node's ID, a whole UUID that you choose. Required with initial_operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_node_id: Option<NodeId>,
    /// The content, applied in order: only insert, insert_inline, set_done, set_language; at most 10000.
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
    /// The workspace's ID.
    pub workspace_id: WorkspaceId,
    /// The document's ID.
    pub document_id: DocumentId,
    /// The revision that the changes are based on, from read_document, create_document or edit_document.
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
    /// The workspace's ID.
    pub workspace_id: WorkspaceId,
    /// The document that the blocks leave.
    pub source_document_id: DocumentId,
    /// The revision of the source that you read.
    pub base_revision: String,
    /// The block to take, with all under it: its ID, or a tail of it of at least 8 hex digits.
    pub source_node_id: NodeRef,
    /// Siblings of that block to take along; they need not adjoin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra_source_node_ids: Option<Vec<NodeRef>>,
    /// The exact text of source_node_id.
    pub expected: String,
    /// The title of a new document for the blocks: one line, at most 1000 characters. Either this or target_document_id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::TITLE_CHARS))]
    pub new_document_title: Option<String>,
    /// A document that exists, for the blocks. Either this or new_document_title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_document_id: Option<DocumentId>,
    /// The node of the target under which the blocks come last. Absent: its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under_node_id: Option<NodeRef>,
}
