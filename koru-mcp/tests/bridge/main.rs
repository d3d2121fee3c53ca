//! The real bridge, driven over its streams.

mod catalogue;
mod client;
mod ends;
mod guard;
#[cfg(unix)]
mod service;
