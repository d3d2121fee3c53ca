//! `insert_inline`: a link to a document, or an attachment, inside a text.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{DocumentId, FileId, NodeId, NodeRef};

/// Inserts a link or an attachment into a node's text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InsertInline {
    /// The node: its ID, or a tail of it of at least 8 hex digits.
    pub node_id: NodeRef,
    /// The node's exact text as the operation finds it.
    pub expected: String,
    /// Where in `expected`, in bytes of UTF-8 from its start; on a character boundary, not inside a token.
    pub at_utf8: u64,
    /// What to insert.
    pub inline: NewInline,
}

/// A link to a document or an attachment, as an operation names it. What a read adds to an inline is ignored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NewInline {
    /// document: a link; attachment: a file.
    #[serde(rename = "type")]
    pub kind: InlineKind,
    /// document: the target document's ID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document_id: Option<DocumentId>,
    /// document: a node of the target document to point at; its whole ID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<NodeId>,
    /// attachment: the file's ID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_id: Option<FileId>,
    /// The text to show in place of the target's title or name: one line, at most 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// What an inline is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InlineKind {
    Document,
    Attachment,
}
