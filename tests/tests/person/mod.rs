//! The command line, with a real service behind it.

mod commands;
mod files;
mod history;
mod privacy;
mod search;
mod tags;
