//! The contract that both programs share: tools, errors, the wire, and where things are.
//!
//! Invariant: the document modules of this crate know nothing of this one; a test holds it.

pub mod admin;
pub mod arguments;
pub mod base64;
pub mod documentation;
pub mod error;
pub mod home;
pub mod log_file;
mod schema;
pub mod tools;
pub mod wire;
