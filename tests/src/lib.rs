//! The real programs, tested from outside.
