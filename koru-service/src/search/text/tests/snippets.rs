//! Snippets.
