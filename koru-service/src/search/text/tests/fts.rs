//! Against FTS5.
