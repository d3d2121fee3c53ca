//! The typed document model of Koru MCP, and the contract that its two programs share.
//!
//! Invariant: no I/O, no clock, no chance outside [`protocol::home`]; ids and times come from the caller.

pub mod comparable;
pub mod compare;
pub mod content;
pub mod diff;
pub mod document;
pub mod edit;
pub mod extract;
pub mod file_name;
pub mod file_text;
#[cfg(test)]
mod history_properties;
pub mod ids;
pub mod inline;
pub mod limits;
pub mod node;
pub mod order;
pub mod protocol;
pub mod restore;
pub mod revision;
pub mod table;
pub mod tag;
pub mod text;
pub mod value;
