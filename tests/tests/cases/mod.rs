//! The cases of sections A, B, C, F, G, H and I of `shared/cases.md`, one test each, named after them.
//!
//! Left out are those that need what the tools cannot do yet: importing (C11), and parts of others
//! that need restoring.

mod addressing;
mod arguments;
#[cfg(unix)]
mod files;
mod filters;
mod search;
mod serial;
mod size;
mod text;
mod trees;
mod values;
mod writers;
