//! ripgrep over the same texts as Markdown, where it is installed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use koru_model::node::Kind;

use super::measure::percentile;
use super::queries::{Class, Set};
use crate::kit::corpus::Page;
use crate::kit::{Outcome, text};

/// How many queries of a type are tried, and how often.
const QUERIES: usize = 5;
const RUNS: usize = 3;

/// A folder with one Markdown file for each document; nothing where there is no ripgrep.
pub(crate) struct Files {
    folder: Option<PathBuf>,
    count: usize,
}

/// Whether ripgrep can be run.
pub(crate) fn is_installed() -> bool {
    let mut command = Command::new("rg");
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

impl Files {
    pub(crate) fn new(folder: &Path) -> Outcome<Self> {
        let folder = is_installed().then(|| folder.to_owned());
        if let Some(folder) = &folder {
            std::fs::create_dir_all(folder).map_err(text)?;
        }
        Ok(Self { folder, count: 0 })
    }

    pub(crate) fn add(&mut self, page: &Page) -> Outcome<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let mut markdown = format!("# {}\n", page.title);
        for block in &page.blocks {
            let mark = match block.kind {
                Kind::Heading => "## ",
                Kind::Listblock => "- ",
                Kind::Task if block.done => "- [x] ",
                Kind::Task => "- [ ] ",
                Kind::Quote => "> ",
                _ => "",
            };
            markdown.push_str(&format!("\n{mark}{}\n", block.text));
        }
        self.count += 1;
        std::fs::write(folder.join(format!("{}.md", self.count)), markdown).map_err(text)
    }
}

/// p50 of each type of words, with the start of the process.
pub(crate) fn measure(files: &Files, sets: &[Set]) -> Outcome<Vec<(String, std::time::Duration)>> {
    let Some(folder) = &files.folder else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for set in sets.iter().filter(|set| set.class != Class::Own) {
        let mut times = Vec::new();
        for query in set.queries.iter().take(QUERIES) {
            let Some(words) = &query.pattern else { continue };
            // All words on one line, in their order.
            let pattern = words.split_whitespace().collect::<Vec<_>>().join(".*");
            for _ in 0..RUNS {
                let mut command = Command::new("rg");
                command.args(["--ignore-case", "--no-config", "--", &pattern]).arg(folder);
                command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
                let began = Instant::now();
                command.status().map_err(text)?;
                times.push(began.elapsed());
            }
        }
        all.push((set.name.clone(), percentile(&mut times, 50)));
    }
    Ok(all)
}
