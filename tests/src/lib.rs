//! The real programs, tested from outside: a home to throw away, an MCP client, and what tests say about documents.
//!
//! Nothing here knows how the programs work inside; all goes through `koru-mcp serve --stdio`, the
//! command line, signals, and the hello of the socket.

pub mod support;
