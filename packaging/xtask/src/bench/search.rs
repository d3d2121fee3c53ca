//! `cargo xtask bench search`: what `koru-service/benches/search` measures in process, and the same searches once
//! through the real programs.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use koru_tests::support::home::Home;
use serde_json::{Value, json};

use super::driver::Driver;
use super::table::{Table, millis, times};
use crate::programs::{Profile, build, cargo};

type Outcome = Result<(), String>;

/// The headline of the section.
pub(super) const TITLE: &str = "## Search\n";
/// How often each search is timed.
const RUNS: usize = 15;

/// Measures, shows, and writes the section of the page, but for a quick run.
pub(super) fn run(is_quick: bool) -> Outcome {
    let home = Home::of(build(Profile::Release)?);
    let report = home.beside().join("report.json");
    let passed = in_process(&home, &report, is_quick)?;
    let said = std::fs::read_to_string(&report)
        .map_err(|error| format!("the benchmark of search left no report: {error}"))?;
    let said: Value = serde_json::from_str(&said).map_err(|error| error.to_string())?;
    println!("== the same through the bridge");
    let table = through_the_bridge(&home, &said)?;
    println!("{table}");
    if is_quick {
        println!("a quick run: {} is left as it is", super::PAGE);
    } else {
        let (before, _) = super::parts()?;
        let markdown = said["markdown"].as_str().unwrap_or_default();
        super::write(&before, &section(markdown, &table))?;
    }
    let missed: Vec<&str> =
        said["missed"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    match (passed, missed.as_slice()) {
        (true, []) => Ok(()),
        (_, missed) => Err(format!("targets missed: {}", missed.join("; "))),
    }
}

/// Runs the benchmark; whether everything that must hold does. It leaves a store in the home.
fn in_process(home: &Home, report: &Path, is_quick: bool) -> Result<bool, String> {
    let mut command = cargo();
    command.args(["bench", "--quiet", "--package", "koru-service", "--bench", "search", "--"]);
    command.arg("--home").arg(home.path()).arg("--report").arg(report);
    if is_quick {
        command.arg("--quick");
    }
    Ok(command.status().map_err(|error| error.to_string())?.success())
}

/// The common words, asked by an MCP client.
fn through_the_bridge(home: &Home, said: &Value) -> Result<String, String> {
    let mut command = home.command();
    command.args(["serve", "--stdio"]);
    let mut driver = Driver::ready(command)?;
    let queries = said["queries"].as_array().ok_or("no queries in the report")?;
    let mut all = Vec::new();
    for query in queries {
        let found = driver.call("search_documents", &json!({ "query": query }))?;
        if found["structuredContent"]["hits"].as_array().is_none_or(Vec::is_empty) {
            return Err("a common word finds nothing through the bridge".into());
        }
    }
    for _ in 0..RUNS {
        for query in queries {
            all.push(driver.once("search_documents", &json!({ "query": query }))?);
        }
    }
    driver.answered()?;
    all.sort_unstable();
    let at = |share: usize| all.get(all.len() * share / 100).copied().unwrap_or_default();
    let function = |place: usize| {
        Duration::from_micros(said["function_micros"][place].as_u64().unwrap_or_default())
    };
    let mut table = Table::default();
    let nodes = said["nodes"].as_u64().unwrap_or_default();
    for (place, share) in [50, 95].into_iter().enumerate() {
        table
            .add(
                format!(
                    "a common word among {nodes} nodes, p{share}: through the bridge / the function"
                ),
                millis(at(share)),
                millis(function(place)),
            )
            .ratio(times(at(share), function(place)));
    }
    Ok(table.markdown())
}

fn section(markdown: &str, table: &str) -> String {
    let mut section = format!("{TITLE}\nWritten by `cargo xtask bench search`; do not edit.\n\n");
    let _ = writeln!(section, "{}", super::surroundings());
    let _ = writeln!(section, "{NOTES}");
    let _ = writeln!(
        section,
        "{}\nThrough the real programs, by an MCP client; in place of the baseline the function itself:\n\n{table}",
        markdown.trim_end()
    );
    section
}

const NOTES: &str = "
Baseline: the same texts in SQLite's FTS5 (`unicode61`, `prefix = '2 3'`, external content), `ORDER BY rank LIMIT 20` with `snippet()`, same page cache, same run. The
texts: documents of about 21 nodes out of 150,000 made-up words after Zipf's law and, up to four in ten, real sentences (Markdown and doc comments of this repository's
dependencies), with headings, tasks, code and runs of other scripts; all of it follows from one seed. Searches are timed at the service's search function, a page of 20
with snippets and breadcrumbs: 20 queries a type, three runs a round, one of each side in turn, p50 and p95 of the median of five rounds. A query is what a client
sends: its last word is a prefix for Koru, never for the baseline. *missed* in bold is a demand that fails the run, the others are aims.

- *index cost of an edit*: a transaction that changes one node with its index entries, less one that differs by the index alone; 2,000 in turn, `synchronous = OFF` on both sides, since waiting for the disk would drown it.
- *bytes of the index*: `dbstat` over the full-text tables, the rows beside them without the texts that they repeat, and their indexes, after the upkeep of the index; the baseline optimized.
- *known items*: 200 titles, 200 headings, 200 times three words of a block that follow each other, unquoted; which place the document that they come from has.
- *a rebuild*: the full-text tables are made anew, as after damage, and all documents are read from their logs and indexed again, while somebody else writes every 5 ms.
";
