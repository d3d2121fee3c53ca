//! The cases of sections A, B, C, G, H and I of `shared/cases.md`, one test each, named after them.
//!
//! Left out are those that need what the tools cannot do yet: importing (C11), and parts of others
//! that need restoring or searching.

mod addressing;
mod arguments;
#[cfg(unix)]
mod files;
mod serial;
mod size;
mod text;
mod trees;
mod values;
mod writers;
