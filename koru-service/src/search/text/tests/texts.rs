//! Random texts and hostile queries.
