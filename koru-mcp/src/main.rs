//! The MCP bridge and the command line of Koru.

mod command_line;
mod commands;
mod output;
mod serve;
mod service;

fn main() {
    // Not by returning: the thread that reads stdin would keep the process alive.
    std::process::exit(command_line::run());
}
