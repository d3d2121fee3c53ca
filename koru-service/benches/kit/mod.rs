//! What the benchmark and the test of search share: texts, a store and a plain full-text index that
//! hold them, and known items.
//!
//! All of it is made from a seed: the same numbers give the same texts, IDs and times.

pub(crate) mod baseline;
pub(crate) mod corpus;
pub(crate) mod known;
pub(crate) mod prose;
pub(crate) mod random;
pub(crate) mod store;
pub(crate) mod words;

/// What went wrong, for a person.
pub(crate) type Outcome<T> = Result<T, String>;

/// An error as a text.
pub(crate) fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
