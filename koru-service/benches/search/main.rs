//! `cargo bench --package koru-service --bench search`: searches, edits and sizes beside a plain full-text
//! index of the same texts, made and asked in the same run.
//!
//! `--quick` takes 20,000 nodes; without it 200,000 and 1,000,000; `--nodes N` takes others. `--home DIR` leaves the
//! first store there, as a home of the service, and `--report FILE` writes what was measured as JSON for
//! `cargo xtask bench search`. `--only TEXT` measures the types of query whose names hold it and nothing else, for a
//! profiler; `--only edits` and `--only rebuild` measure these.

#![expect(clippy::print_stdout, reason = "what is measured is said on the terminal")]

mod edits;
mod measure;
mod queries;
mod rebuild;
mod relevance;
mod report;
mod ripgrep;
mod round;
mod sizes;

#[path = "../kit/mod.rs"]
mod kit;

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;

use kit::{Outcome, text};
use report::Report;
use round::Round;

/// The seed of all that is made up.
const SEED: u64 = 0x6B6F_7275;

const USAGE: &str = "usage: cargo bench --package koru-service --bench search -- [--quick|--nodes N…] [--only TEXT] [--home DIR] [--report FILE]";

struct Arguments {
    sizes: Vec<usize>,
    home: Option<PathBuf>,
    report: Option<PathBuf>,
    only: Option<String>,
}

fn main() -> ExitCode {
    let mut arguments = Arguments { sizes: Vec::new(), home: None, report: None, only: None };
    let mut is_bench = false;
    let mut given = std::env::args().skip(1);
    while let Some(argument) = given.next() {
        match argument.as_str() {
            // What Cargo says to each benchmark.
            "--bench" => is_bench = true,
            "--quick" => arguments.sizes.push(20_000),
            "--nodes" => {
                arguments.sizes.extend(given.next().and_then(|nodes| nodes.parse::<usize>().ok()));
            }
            "--home" => arguments.home = given.next().map(PathBuf::from),
            "--only" => arguments.only = given.next(),
            "--report" => arguments.report = given.next().map(PathBuf::from),
            _ => {
                println!("{USAGE}");
                return ExitCode::from(2);
            }
        }
    }
    if !is_bench {
        println!("not measured: this runs under `cargo bench`");
        return ExitCode::SUCCESS;
    }
    if arguments.sizes.is_empty() {
        arguments.sizes = vec![200_000, 1_000_000];
    }
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("search: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Measures all; whether everything that must hold does.
fn run(arguments: &Arguments) -> Outcome<bool> {
    let folder = tempfile::Builder::new().prefix("koru-bench-").tempdir().map_err(text)?;
    println!("== real prose");
    let files = kit::prose::read(usize::MAX)?;
    let mut report = Report::default();
    if let Some(only) = &arguments.only {
        for size in &arguments.sizes {
            Round::only(*size, folder.path(), &kit::prose::sentences(&files), only)?;
        }
        return Ok(true);
    }
    relevance::of_prose(&files, folder.path(), &mut report)?;
    let sentences = kit::prose::sentences(&files);
    let mut rounds: Vec<Round> = Vec::new();
    for size in &arguments.sizes {
        let own = folder.path().join(size.to_string());
        let home = arguments
            .home
            .clone()
            .filter(|_| rounds.is_empty())
            .unwrap_or_else(|| own.join("home"));
        rounds.push(Round::run(*size, &home, &own, &sentences, &mut report)?);
        // A million nodes take room.
        let _ = std::fs::remove_dir_all(&own);
    }
    report::judge(&rounds, &mut report);
    let markdown = report.markdown(&rounds);
    println!("{markdown}");
    let missed = report.missed_musts();
    if let Some(file) = &arguments.report {
        let first = rounds.first();
        let said = json!({
            "markdown": markdown,
            "missed": missed,
            "nodes": first.map(|round| round.nodes),
            "queries": first.map(|round| &round.common),
            "function_micros": first.and_then(Round::common_micros),
        });
        std::fs::write(file, said.to_string()).map_err(text)?;
    }
    for missed in &missed {
        println!("MISSED: {missed}");
    }
    Ok(missed.is_empty())
}
