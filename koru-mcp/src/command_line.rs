//! The commands, their flags, and what they end with.

use std::io::Write as _;

use clap::{Parser, Subcommand, ValueEnum};
use koru_model::ids::WorkspaceId;
use koru_model::protocol::home::{Home, NoHome};
use koru_model::protocol::wire::Scope;

use crate::commands::{
    Done, Failure, attribute, call, demo, doctor, document, file, history, search, service, tag,
    workspace,
};
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
    /// Tell whether this installation works, and what to do where it does not.
    Doctor(doctor::Arguments),
    /// Call a tool.
    Call(call::Arguments),
    /// Watch an agent's conversation with Koru, in a home that is thrown away.
    Demo,
    /// List, make, rename, archive and delete workspaces.
    #[command(subcommand)]
    Workspace(workspace::Action),
    /// Search titles, texts, attributes and tags.
    Search(search::Arguments),
    /// List, show, move, extract, trash and restore documents.
    #[command(subcommand)]
    Document(document::Action),
    /// List, show, compare, restore and save versions of a document.
    #[command(subcommand)]
    History(history::Action),
    /// Add, list, fetch, annotate, remove and check files.
    #[command(subcommand)]
    File(file::Action),
    /// List, define and remove attributes.
    #[command(subcommand)]
    Attribute(attribute::Action),
    /// List, rename, merge and remove tags.
    #[command(subcommand)]
    Tag(tag::Action),
    /// Start, stop and ask the background process.
    #[command(subcommand)]
    Service(service::Action),
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
    let home = Home::from_environment();
    match command_line.command {
        Command::Serve { stdio: _, tool_pages, read_only, workspaces } => {
            let scope = Scope { workspaces, read_only };
            let options = Options { split_pages: tool_pages == Switch::On, scope };
            let served =
                home.map_err(|error| error.to_string()).and_then(|home| serve::run(home, options));
            served.map_or_else(|error| complain(&error), i32::from)
        }
        command => match block_on(execute(home, command)) {
            Ok(()) => 0,
            Err(Failure::Shown) => FAILED,
            // Whoever read the output has seen enough.
            Err(Failure::Stream(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => 0,
            Err(Failure::Usage(message)) => {
                complain(&message);
                WRONG_USAGE
            }
            Err(failure) => complain(&failure.to_string()),
        },
    }
}

async fn execute(home: Result<Home, NoHome>, command: Command) -> Done {
    if let Command::Doctor(arguments) = command {
        return doctor::run(home, arguments).await;
    }
    let home = home.map_err(|error| Failure::Said(error.to_string()))?;
    match command {
        Command::Call(arguments) => call::run(&home, arguments).await,
        Command::Workspace(action) => workspace::run(&home, action).await,
        Command::Search(arguments) => search::run(&home, arguments).await,
        Command::Document(action) => document::run(&home, action).await,
        Command::History(action) => history::run(&home, action).await,
        Command::File(action) => file::run(&home, action).await,
        Command::Attribute(action) => attribute::run(&home, action).await,
        Command::Tag(action) => tag::run(&home, action).await,
        Command::Service(action) => service::run(&home, action).await,
        Command::Demo => demo::run().await,
        Command::Serve { .. } | Command::Doctor(_) => Ok(()),
    }
}

fn block_on(command: impl Future<Output = Done>) -> Done {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(command)
}

fn complain(message: &str) -> i32 {
    let _ = writeln!(std::io::stderr(), "koru-mcp: {message}");
    FAILED
}
