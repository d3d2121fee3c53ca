//! Search: what a text is found by, and by which queries.

pub mod text;
