//! Versions that are read, compared and restored, and blocks that move between documents.

mod authors;
mod comparing;
mod crash;
mod extracting;
mod following;
mod random;
mod refusals;
mod repeats;
mod restoring;
mod support;
