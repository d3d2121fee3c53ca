//! What the bridge offers: the tools of the shared table, and the documentation.

use koru_model::protocol::documentation;
use koru_model::protocol::error::{Code, ToolError};
use koru_model::protocol::tools;
pub(crate) use koru_model::protocol::tools::{Tool as Entry, all};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The URI of the documentation.
pub(crate) const DOCUMENTATION_URI: &str = documentation::URI;
/// The documentation, in Markdown.
pub(crate) const DOCUMENTATION: &str = documentation::TEXT;
/// What the client is told when it connects.
pub(crate) const INSTRUCTIONS: &str = documentation::INSTRUCTIONS;
/// The tool that the bridge answers itself.
pub(crate) const GET_DOCUMENTATION: &str = "get_documentation";

/// Checks a tool's arguments, and gives them in the form that the service reads.
///
/// # Errors
/// `invalid_request`, with every fault.
pub(crate) fn check(name: &str, arguments: Map<String, Value>) -> Result<Box<RawValue>, ToolError> {
    let tool = tools::find(name)
        .ok_or_else(|| ToolError::new(Code::InvalidRequest, "There is no tool of that name."))?;
    let normal = tool
        .normalize(Value::Object(arguments))
        .map_err(|problems| ToolError::invalid(&problems))?;
    serde_json::value::to_raw_value(&normal)
        .map_err(|_| ToolError::new(Code::Internal, "The arguments could not be written as JSON."))
}
