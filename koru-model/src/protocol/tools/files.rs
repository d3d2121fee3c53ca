//! Parameters of the tools about files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{FileId, WorkspaceId};
use crate::limits;

/// Parameters of `list_files`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListFiles {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The most files, 1 to 1000; a page also ends at 24 KB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_FILES))]
    pub page_size: Option<u32>,
    /// Continue behind this file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_file_id: Option<FileId>,
}

/// Parameters of `search_files`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchFiles {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// Part of the name, in any case.
    pub query: String,
    /// The most files, 1 to 200. Absent: 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::FOUND_FILES))]
    pub limit: Option<u32>,
}

/// Parameters of `get_file`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetFile {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The file's ID.
    pub file_id: FileId,
}

/// Parameters of `read_file`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadFile {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The file's ID.
    pub file_id: FileId,
    /// Where to begin, in bytes. Absent: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// How many bytes, 1 to 1048576. Absent: 32768.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::FILE_PIECE_BYTES))]
    pub length: Option<u32>,
    /// Absent: base64.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "as")]
    pub form: Option<FileForm>,
}

/// In which form a piece of a file is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "a doc on a variant makes its schema a union of constants")]
pub enum FileForm {
    Base64,
    Text,
}

/// Parameters of `ensure_file_note`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnsureFileNote {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The file's ID.
    pub file_id: FileId,
}
