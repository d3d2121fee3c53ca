//! The commands, their flags, and what they end with.

use std::io::Write as _;

use clap::{Parser, Subcommand, ValueEnum};
use koru_model::ids::WorkspaceId;
use koru_model::protocol::home::Home;
use koru_model::protocol::wire::Scope;

use crate::serve::{self, Options};

const FAILED: i32 = 1;
const WRONG_USAGE: i32 = 2;

/// Koru: documents that agents and people edit together.
#[derive(Debug, Parser)]
#[command(name = "koru-mcp", version, disable_help_subcommand = true, max_term_width = 100)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// The bridge: what an MCP client runs.
    Serve {
        /// Speak MCP over stdin and stdout.
        #[arg(long, required = true)]
        stdio: bool,
        /// Whether the list of tools comes in pages.
        #[arg(long, value_name = "on|off", default_value = "off")]
        tool_pages: Switch,
        /// Neither list nor take the tools that change something.
        #[arg(long)]
        read_only: bool,
        /// Reach this workspace alone (an ID); may be given more than once.
        #[arg(long = "workspace", value_name = "ID")]
        workspaces: Vec<WorkspaceId>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

/// Runs what the command line says; the exit code.
pub(crate) fn run() -> i32 {
    let command_line = match CommandLine::try_parse() {
        Ok(command_line) => command_line,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { WRONG_USAGE } else { 0 };
        }
    };
    let home = match Home::from_environment() {
        Ok(home) => home,
        Err(error) => return complain(&error.to_string()),
    };
    match command_line.command {
        Command::Serve { stdio: _, tool_pages, read_only, workspaces } => {
            let scope = Scope { workspaces, read_only };
            let options = Options { split_pages: tool_pages == Switch::On, scope };
            serve::run(home, options).map_or_else(|error| complain(&error), i32::from)
        }
    }
}

fn complain(message: &str) -> i32 {
    let _ = writeln!(std::io::stderr(), "koru-mcp: {message}");
    FAILED
}
