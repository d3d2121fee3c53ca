//! The way to the service: finding it, starting it, and calling it so that nothing is applied twice.

mod client;
mod connection;
#[cfg(test)]
mod fake;
mod launch;
mod retry;
mod socket;

pub(crate) use client::{Call, Client, Kind, Start};
pub(crate) use launch::{admin_request, has_left};
pub(crate) use socket::find;
