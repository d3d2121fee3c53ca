//! The typed document model of Koru MCP, and the contract that its two programs share.
//!
//! Invariant: no I/O, no clock, no chance outside [`protocol::home`]; ids and times come from the caller.

pub mod edit;
pub mod ids;
pub mod limits;
pub mod node;
pub mod protocol;
pub mod value;
