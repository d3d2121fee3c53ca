//! The MCP bridge and the command line of Koru.

mod service;

fn main() {}
