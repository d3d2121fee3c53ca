//! The one place that knows where the tools' table, their argument check and the documentation come from.
//!
//! STAND-IN: to be replaced by `koru_model::protocol::{tools, documentation}` at integration; the signatures stay.

use std::sync::LazyLock;

use koru_model::protocol::error::{Code, ToolError};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// A tool as it is declared.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Its name.
    pub(crate) name: &'static str,
    /// What a person sees.
    pub(crate) title: &'static str,
    /// What an agent reads.
    pub(crate) description: &'static str,
    /// Whether it changes nothing.
    pub(crate) read_only: bool,
    /// Whether it may take something away.
    pub(crate) destructive: bool,
    /// Whether a repeat changes nothing more.
    pub(crate) idempotent: bool,
    /// The schema of its arguments.
    pub(crate) input_schema: Map<String, Value>,
}

/// The URI of the documentation.
pub(crate) const DOCUMENTATION_URI: &str = "koru://docs/model";
/// The documentation, in Markdown.
pub(crate) const DOCUMENTATION: &str = "# Koru\n";
/// What the client is told when it connects.
pub(crate) const INSTRUCTIONS: &str =
    "Read koru://docs/model (or call get_documentation) before your first change.";
/// The tool that the bridge answers itself.
pub(crate) const GET_DOCUMENTATION: &str = "get_documentation";

/// All tools, in their fixed order.
pub(crate) fn all() -> &'static [Entry] {
    static ALL: LazyLock<Vec<Entry>> = LazyLock::new(stand_ins);
    &ALL
}

fn stand_ins() -> Vec<Entry> {
    const TOOLS: &[(&str, bool, bool, bool)] = &[
        ("get_documentation", true, false, true),
        ("list_workspaces", true, false, true),
        ("list_documents", true, false, true),
        ("read_document", true, false, true),
        ("list_document_links", true, false, true),
        ("list_tags", true, false, true),
        ("list_attributes", true, false, true),
        ("list_document_versions", true, false, true),
        ("create_document", false, false, false),
        ("edit_document", false, true, true),
        ("save_document_version", false, false, false),
    ];
    let schema = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    let schema = schema.as_object().cloned().unwrap_or_default();
    TOOLS
        .iter()
        .map(|&(name, read_only, destructive, idempotent)| Entry {
            name,
            title: name,
            description: "A stand-in.",
            read_only,
            destructive,
            idempotent,
            input_schema: schema.clone(),
        })
        .collect()
}

/// Checks a tool's arguments, and gives them in the form that the service reads.
///
/// # Errors
/// `invalid_request`, with every fault.
pub(crate) fn check(name: &str, arguments: Map<String, Value>) -> Result<Box<RawValue>, ToolError> {
    let _ = name;
    serde_json::value::to_raw_value(&Value::Object(arguments))
        .map_err(|error| ToolError::new(Code::Internal, error.to_string()))
}
