//! The real bridge, driven over its streams.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may end it like the test itself")]

mod catalogue;
mod client;
mod ends;
mod guard;
#[cfg(unix)]
mod service;
