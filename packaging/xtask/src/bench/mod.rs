//! `cargo xtask bench`: one run, beside the baseline on the same text, driven by the same client.

mod cpu;
mod driver;
mod measures;
mod search;
mod strace;
mod table;
mod texts;
mod versions;
mod writers;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use koru_tests::support::home::Home;

use crate::Outcome;
use crate::clients::Node;
use crate::programs::{Profile, build, is_there, output, repository};
pub(crate) use cpu::print as print_cpu;
use table::Table;

/// Where the figures are kept.
const PAGE: &str = "docs/performance.md";
const BASELINE: &str = "@modelcontextprotocol/server-filesystem";
const BASELINE_VERSION: &str = "2026.8.31";

/// What is measured, and how often.
pub(crate) struct Bench {
    home: Home,
    node: Node,
    baseline: PathBuf,
    /// A folder with the texts as Markdown, for the baseline.
    files: PathBuf,
    /// How often a call is timed.
    count: usize,
    /// Whether the figures are good enough to be kept.
    quick: bool,
}

impl Bench {
    fn new(quick: bool) -> Result<Self, String> {
        let programs = build(Profile::Release)?;
        let node = Node::new()?;
        let folder = node.package(BASELINE, BASELINE_VERSION)?;
        let home = Home::of(programs);
        let files = home.beside().join("files");
        std::fs::create_dir_all(&files).map_err(|error| error.to_string())?;
        let baseline = folder.join("node_modules").join(BASELINE).join("dist/index.js");
        Ok(Self { home, node, baseline, files, count: if quick { 20 } else { 200 }, quick })
    }

    fn ours(&self) -> Command {
        let mut command = self.home.command();
        command.args(["serve", "--stdio"]);
        command
    }

    fn theirs(&self) -> Command {
        let mut command = Command::new(self.node.program());
        self.home.clear(&mut command);
        command.env("HOME", self.home.beside()).arg(&self.baseline).arg(&self.files);
        command
    }
}

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let quick = match arguments {
        [] => false,
        [flag] if flag == "--quick" => true,
        [flag] if flag == "--versions" => return only_versions(),
        [what] if what == "search" => return search::run(false),
        [what, flag] if what == "search" && flag == "--quick" => return search::run(true),
        _ => return Err("usage: cargo xtask bench [search] [--quick|--versions]".into()),
    };
    let bench = Bench::new(quick)?;
    let mut table = Table::default();
    println!("== starting, memory");
    measures::start(&bench, &mut table)?;
    println!("== reading, characters");
    measures::reading(&bench, &mut table)?;
    println!("== durable edits");
    writers::one(&bench, &mut table)?;
    if cfg!(target_os = "linux") && is_there("strace") {
        println!("== eight writers, under strace");
        writers::eight(&bench, &mut table)?;
    } else {
        println!("== SKIPPED, NOT MEASURED: syncs of eight writers: strace is missing");
        table.skipped.push("eight writers (strace is missing)".into());
    }
    println!("== CPU of an edit");
    cpu::measure(&mut table)?;
    println!("== memory of the service");
    measures::open_documents(&bench, &mut table)?;
    println!("== versions");
    versions::measure(&bench.home, &mut table)?;
    let text = table.markdown();
    println!("{text}");
    let missed = table.missed();
    if bench.quick {
        println!("a quick run: docs/performance.md is left as it is");
    } else {
        let (_, search) = parts()?;
        write(&page(&text), &search)?;
    }
    if missed.is_empty() { Ok(()) } else { Err(format!("targets missed: {}", missed.join("; "))) }
}

/// The lines about a long history alone, which need no baseline.
fn only_versions() -> Outcome {
    let mut table = Table::default();
    versions::measure(&Home::of(build(Profile::Release)?), &mut table)?;
    println!("{}", table.markdown());
    let missed = table.missed();
    if missed.is_empty() { Ok(()) } else { Err(format!("targets missed: {}", missed.join("; "))) }
}

/// The page as it is: what stands before the section about search, and that section.
fn parts() -> Result<(String, String), String> {
    let path = repository().join(PAGE);
    let page =
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let at = page.find(search::TITLE).unwrap_or(page.len());
    let (before, search) = page.split_at(at);
    Ok((before.to_owned(), search.to_owned()))
}

/// Writes the page of both its parts.
fn write(before: &str, search: &str) -> Outcome {
    let path = repository().join(PAGE);
    let page = format!("{}\n\n{search}", before.trim_end());
    let page = format!("{}\n", page.trim_end());
    std::fs::write(&path, page).map_err(|error| format!("{}: {error}", path.display()))
}

/// When and where it was measured.
fn surroundings() -> String {
    let said = |program: &str, arguments: &[&str]| {
        output(Command::new(program).args(arguments)).map_or_else(
            |_| "unknown".to_owned(),
            |(_, said, _)| said.trim().lines().next().unwrap_or_default().to_owned(),
        )
    };
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    format!(
        "Measured {} on {cores} cores ({}), kernel {}, store on {}, load {} at the end.",
        said("date", &["-u", "+%Y-%m-%d"]),
        said("uname", &["-m"]),
        said("uname", &["-r"]),
        said("stat", &["-f", "-c", "%T", "/tmp"]),
        said("cut", &["-d ", "-f1", "/proc/loadavg"]),
    )
}

fn page(table: &str) -> String {
    let mut page =
        String::from("# Performance\n\nWritten by `cargo xtask bench`; do not edit.\n\n");
    let _ = writeln!(page, "{}", surroundings());
    let _ = writeln!(
        page,
        "Baseline: `{BASELINE}` {BASELINE_VERSION} on Node {} with the same text as Markdown, driven by the same client over stdio. Durations are medians to the last byte of the answer, unparsed. Other work on the machine moves them; trust the ratios.\n",
        crate::clients::NODE_VERSION,
    );
    page.push_str(table);
    page.push_str(NOTES);
    page
}

const NOTES: &str = "
What the lines mean:

- *durable edit*: one `replace_text` in 1,000 nodes, acknowledged after the disk has it, beside an append of 4 KiB with `fdatasync` to a file on the same file system, one of each in turn.
- *syncs an edit*: `fdatasync` and `fsync` of the service, counted by strace while eight clients edit one document each.
- *throughput*: acknowledged edits a second with 5 ms added to each sync by strace, eight writers beside one.
- *characters*: what an agent reads and writes to find one block and change it: the answer of the read (compact), the arguments and the answer of the edit; baseline: `read_text_file`, `edit_file`.
- *bytes of versions*: by how much the store grew, in one file after an orderly end: content, entries, receipts, the guards' table, keyframes, and what is free in between.
- *read of a version*: 40 of them, spread over all, each read once after a start of the service (median of five); the cold read is the first of the document after a start, page cache warm.
- *compact / plain*: the compact answer against the same text as Markdown.
";
