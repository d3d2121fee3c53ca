//! What a person does from the shell: one file for each command.

pub(crate) mod attribute;
pub(crate) mod call;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod document;
pub(crate) mod file;
pub(crate) mod history;
pub(crate) mod search;
pub(crate) mod service;
mod session;
pub(crate) mod tag;
pub(crate) mod workspace;

pub(crate) use session::Session;

use koru_model::protocol::error::ToolError;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The service refused, or could not be reached.
    #[error("{}: {}", .0.code.name(), .0.message)]
    Tool(#[from] ToolError),
    /// The command line names something that is not there, or is not clear.
    #[error("{0}")]
    Said(String),
    /// The flags do not go together, or say nothing.
    #[error("{0}")]
    Usage(String),
    /// Reading or writing failed.
    #[error(transparent)]
    Stream(#[from] std::io::Error),
    /// The failure is on stdout already.
    #[error("")]
    Shown,
}

/// How a command ends.
pub(crate) type Done = Result<(), Failure>;
