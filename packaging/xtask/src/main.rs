//! Recipes of this repository: `cargo xtask demo|clients|bench|faults`.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what a recipe has to say, it says on the terminal"
)]

mod bench;
mod clients;
mod demo;
mod faults;
mod programs;

use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask demo              build both programs and watch an agent's conversation with Koru
cargo xtask clients           let real MCP clients list and call the tools (python3, npm)
cargo xtask bench [--quick]   measure, beside the baseline, and write docs/performance.md (npm, strace)
cargo xtask bench --versions  the lines about a long history alone
cargo xtask bench search [--quick] searches beside a plain full-text index, and their section of docs/performance.md
cargo xtask faults [--kills N] [--file-mib N]
                              kill in a loop; a large file; full disk and other users (root)";

/// What went wrong, for a person.
type Outcome = Result<(), String>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rest = arguments.get(1..).unwrap_or_default();
    let outcome = match arguments.first().map(String::as_str) {
        Some("demo") => demo::run(rest),
        Some("clients") => clients::run(),
        Some("bench") => bench::run(rest),
        Some("faults") => faults::run(rest),
        // A part of the bench, run by it in a release build.
        Some("cpu") => bench::print_cpu(),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}
