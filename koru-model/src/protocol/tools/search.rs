//! Parameters of `search_documents`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{DocumentId, WorkspaceId};
use crate::node::Kind;
use crate::value::ValueKind;

/// The most hits of a page where none is said.
pub const PAGE_SIZE: u32 = 20;
/// The most hits of a page.
pub const MOST_HITS: u32 = 200;

/// Parameters of `search_documents`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchDocuments {
    /// Words that must all hold; "…" is a phrase. May be empty beside a filter.
    pub query: String,
    /// Absent or empty: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_ids: Option<Vec<WorkspaceId>>,
    /// Kinds of node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds: Option<Vec<Kind>>,
    /// Absent: live.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<Lifecycles>,
    /// Absent: relevance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<Sort>,
    /// The most hits, 1 to 200. Absent: 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = MOST_HITS))]
    pub page_size: Option<u32>,
    /// next_offset of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u32>,
    /// Names of tags, all of which must hold; those below a tag count as it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// Conditions, all of which must hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Vec<AttributeFilter>>,
    /// Only tasks done, or not done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<bool>,
    /// Only this document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document_id: Option<DocumentId>,
    /// One hit a document or a node. Absent: document; with document_id node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per: Option<Per>,
}

/// What a hit stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "a doc on a variant makes its schema a union of constants")]
pub enum Per {
    Document,
    Node,
}

/// Which documents are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "a doc on a variant makes its schema a union of constants")]
pub enum Lifecycles {
    Live,
    Trash,
    All,
}

/// In which order hits come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "a doc on a variant makes its schema a union of constants")]
pub enum Sort {
    Relevance,
    ObservedModified,
    LastUsedWorkspace,
}

/// One condition on a node's attributes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AttributeFilter {
    /// The key.
    pub key: String,
    /// before and after exclude their bound, between includes both.
    pub op: AttributeOp,
    /// What to compare with: a date as 2026-12-24.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<String>>,
    /// The same for numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<f64>>")]
    pub numeric_values: Option<Vec<serde_json::Number>>,
    /// Kinds of value. Absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds: Option<Vec<ValueKind>>,
}

/// How an attribute is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "a doc on a variant makes its schema a union of constants")]
pub enum AttributeOp {
    Is,
    OneOf,
    Before,
    After,
    Between,
    Exists,
    Missing,
}
