//! Parameters of the tools about a workspace as a whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::WorkspaceId;

/// Parameters of `get_documentation`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetDocumentation {
    /// Which text: only koru://docs/model.
    #[schemars(extend("enum" = ["koru://docs/model"]))]
    pub uri: String,
}

/// Parameters of `list_workspaces`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListWorkspaces {}

/// Parameters of `list_tags`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListTags {
    /// The workspace.
    pub workspace_id: WorkspaceId,
}

/// Parameters of `list_attributes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListAttributes {
    /// The workspace.
    pub workspace_id: WorkspaceId,
}
