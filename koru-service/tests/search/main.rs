//! Search over a real store: what is found, in which order, page by page, and that the index equals the documents.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod beside;
mod damage;
mod equality;
mod finding;
mod kill;
mod paging;
mod plain;
mod support;
mod tags;
mod upkeep;
