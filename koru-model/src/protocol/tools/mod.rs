//! The tools: what each is called, what an agent is told of it, and what it takes.

mod documents;
mod editing;
mod files;
mod history;
mod search;
mod table;
mod workspaces;

use std::sync::LazyLock;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::error::{Code, Problem, ToolError};
use super::{arguments, schema};

pub use documents::{ListDocumentLinks, ListDocuments, ReadDocument};
pub use editing::{CreateDocument, DocumentKind, EditDocument, ExtractToDocument};
pub use files::{EnsureFileNote, FileForm, GetFile, ListFiles, ReadFile, SearchFiles};
pub use history::{
    CompareDocumentVersions, ListDocumentVersions, ReadDocumentVersion, RestoreDocumentVersion,
    SaveDocumentVersion,
};
pub use search::{
    AttributeFilter, AttributeOp, Lifecycles, MOST_HITS, PAGE_SIZE, Per, SearchDocuments, Sort,
};
pub use table::Call;
pub use workspaces::{GetDocumentation, ListAttributes, ListTags, ListWorkspaces};

/// A tool as a client sees it. None reaches outside this computer.
#[derive(Debug)]
pub struct Tool {
    /// The name by which it is called.
    pub name: &'static str,
    /// The name that a person is shown.
    pub title: &'static str,
    /// What an agent is told, at most 1,000 characters, the vital part first.
    pub description: &'static str,
    /// Whether it changes nothing.
    pub read_only: bool,
    /// Whether what it changes may be lost to the reader, though never to the history.
    pub destructive: bool,
    /// Whether the same call a second time changes nothing more.
    pub idempotent: bool,
    /// The JSON Schema of its arguments, in the portable dialect.
    pub input_schema: Map<String, Value>,
    /// The same with what only the check needs.
    checked_schema: Map<String, Value>,
}

/// The hints of a tool: read-only, destructive, idempotent.
type Hints = (bool, bool, bool);
const READ: Hints = (true, false, true);
const ADD: Hints = (false, false, false);
const CHANGE: Hints = (false, true, true);
const ENSURE: Hints = (false, false, true);
const MOVE_OUT: Hints = (false, true, false);

impl Tool {
    fn new<P: schemars::JsonSchema>(
        name: &'static str,
        title: &'static str,
        (read_only, destructive, idempotent): Hints,
        description: &'static str,
    ) -> Self {
        let checked_schema = schema::checked::<P>();
        let input_schema = schema::advertised(&checked_schema);
        Self {
            name,
            title,
            description,
            read_only,
            destructive,
            idempotent,
            input_schema,
            checked_schema,
        }
    }

    /// The schema of the arguments with what only the check needs: formats of IDs, and the exact fields of each
    /// operation under [`Operation::VARIANTS`](crate::edit::Operation::VARIANTS).
    #[must_use]
    pub fn checked_schema(&self) -> &Map<String, Value> {
        &self.checked_schema
    }

    /// Brings arguments into the form that the schema promises.
    ///
    /// # Errors
    /// The faults of the arguments; see [`arguments::normalize`].
    pub fn normalize(&self, arguments: Value) -> Result<Value, Vec<Problem>> {
        arguments::normalize(&self.checked_schema, arguments)
    }

    fn parse<P: DeserializeOwned>(&self, arguments: Value) -> Result<P, ToolError> {
        let normal = self.normalize(arguments).map_err(|problems| ToolError::invalid(&problems))?;
        serde_path_to_error::deserialize(normal).map_err(|error| {
            let path = error.path().to_string();
            ToolError::invalid(&[Problem::new(path, error.into_inner().to_string())])
        })
    }
}

static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(table::tools);

/// Every tool, in the order in which they are listed.
#[must_use]
pub fn all() -> &'static [Tool] {
    &TOOLS
}

/// The tool of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Tool> {
    all().iter().find(|tool| tool.name == name)
}

fn no_such_tool(name: &str) -> ToolError {
    let names: Vec<&str> = all().iter().map(|tool| tool.name).collect();
    let near = arguments::nearest(name, &names)
        .map_or_else(String::new, |near| format!(" Did you mean {near}?"));
    ToolError::new(Code::InvalidRequest, format!("There is no such tool.{near}"))
}
