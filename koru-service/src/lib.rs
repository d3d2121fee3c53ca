//! The background process that owns the document store of Koru MCP, as a library, so that tests and
//! benchmarks can run it in process.
//!
//! Invariants: SQL stands below [`store`] and [`search`] alone; async ends at the dispatcher, everything below it
//! is plain functions on threads that may block.

pub mod boot;
pub mod dispatch;
pub mod documents;
pub mod errors;
pub mod files;
pub mod handlers;
pub mod listener;
mod log;
pub mod outside;
#[cfg(unix)]
mod peer;
mod process;
pub mod search;
pub mod service;
pub mod session;
pub mod socket;
pub mod store;
