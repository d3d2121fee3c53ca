//! The way to the service: finding it, starting it, and calling it so that nothing is applied twice.

mod client;
mod connection;
#[cfg(test)]
mod fake;
mod launch;
mod program;
mod retry;
mod socket;
mod started;

pub(crate) use client::{Call, Client, Kind, Start};
pub(crate) use launch::{admin_request, has_left};
pub(crate) use program::find as find_program;
pub(crate) use socket::find;
