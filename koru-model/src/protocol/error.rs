//! The error codes of the contract, and the one shape in which a failure reaches a client.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::limits;

/// What kind of failure it is. The wire name is the variant in `snake_case`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The change could not be written to disk; it is not applied.
    StorageFailed,
    /// A node, neighbour or parent is gone, or never was.
    StaleNode,
    /// Something is not as the call expects it.
    PreconditionFailed,
    /// The revision is not of this document's history.
    RevisionConflict,
    /// The key was used before with other input.
    IdempotencyConflict,
    /// The workspace defines no such attribute.
    UnknownAttribute,
    /// The attribute does not take that value.
    AttributeRejected,
    /// The arguments are wrong.
    InvalidRequest,
    /// The connection may not do that, or the workspace is outside it.
    PermissionDenied,
    /// Reserved: the documentation is compiled in.
    DocumentationMissing,
    /// The workspace holds no such document, file or entry.
    NotFound,
    /// The document lies in the trash.
    DocumentTrashed,
    /// The service cannot be reached or started.
    ServiceUnavailable,
    /// Bridge and service cannot talk with each other.
    VersionMismatch,
    /// A limit of the service on work at the same time.
    Busy,
    /// A limit of size.
    TooLarge,
    /// A write whose answer was lost and could not be looked up.
    OutcomeUnknown,
    /// A fault of the program.
    Internal,
}

impl Code {
    /// The name as clients see it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::StorageFailed => "storage_failed",
            Self::StaleNode => "stale_node",
            Self::PreconditionFailed => "precondition_failed",
            Self::RevisionConflict => "revision_conflict",
            Self::IdempotencyConflict => "idempotency_conflict",
            Self::UnknownAttribute => "unknown_attribute",
            Self::AttributeRejected => "attribute_rejected",
            Self::InvalidRequest => "invalid_request",
            Self::PermissionDenied => "permission_denied",
            Self::DocumentationMissing => "documentation_missing",
            Self::NotFound => "not_found",
            Self::DocumentTrashed => "document_trashed",
            Self::ServiceUnavailable => "service_unavailable",
            Self::VersionMismatch => "version_mismatch",
            Self::Busy => "busy",
            Self::TooLarge => "too_large",
            Self::OutcomeUnknown => "outcome_unknown",
            Self::Internal => "internal",
        }
    }
}

/// A failure as a client sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// What kind of failure it is.
    pub code: Code,
    /// One or two sentences that tell an agent what to do next.
    pub message: String,
    /// What the message leaves out, for a program to act on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

/// A fault of the arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Where in the arguments, as a JSON path: `operations[3].at_utf8`.
    pub path: String,
    /// What is wrong there, and what would be right.
    pub reason: String,
}

impl Problem {
    /// Names a fault at a path of the arguments.
    #[must_use]
    pub fn new(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { path: path.into(), reason: reason.into() }
    }
}

impl ToolError {
    /// A failure without details.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: None }
    }

    /// The same failure with details.
    #[must_use]
    pub fn with(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// The arguments are wrong in these places; the first is named in the message.
    ///
    /// As many are listed as the limits on their number and on the size of an error let stand;
    /// `problems_omitted` counts the rest.
    #[must_use]
    pub fn invalid(problems: &[Problem]) -> Self {
        let first = problems.first().map_or_else(String::new, |first| {
            let place = if first.path.is_empty() { "arguments" } else { first.path.as_str() };
            format!("{place}: {}", first.reason.trim_end_matches('.'))
        });
        let message = match problems.len() {
            0 | 1 => format!("{first}. Nothing was changed; correct the call and send it again."),
            count => {
                let more = if count > limits::PROBLEMS { "More than " } else { "" };
                let count = count.min(limits::PROBLEMS);
                format!(
                    "{more}{count} faults in the arguments, the first at {first}. Nothing was changed; correct all of details.problems and send the call again."
                )
            }
        };
        // What stands around the problems: code, keys, the count of those left out.
        let mut room = limits::ERROR_BYTES.saturating_sub(escaped_bytes(&message) + 150);
        let listed: Vec<&Problem> = problems
            .iter()
            .take(limits::PROBLEMS)
            .take_while(|problem| {
                let bytes = 24 + escaped_bytes(&problem.path) + escaped_bytes(&problem.reason);
                room.checked_sub(bytes).map(|left| room = left).is_some()
            })
            .collect();
        let mut details = json!({ "problems": listed });
        if problems.len() > listed.len() {
            details["problems_omitted"] = json!(problems.len() - listed.len());
        }
        Self::new(Code::InvalidRequest, message).with(details)
    }
}

/// The length of a text as a JSON string, in bytes.
fn escaped_bytes(text: &str) -> usize {
    serde_json::to_string(text).map_or(text.len(), |json| json.len())
}
