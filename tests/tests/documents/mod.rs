//! Documents as large as people make them.

mod large;
mod revisions;
