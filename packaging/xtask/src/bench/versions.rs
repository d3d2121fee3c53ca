//! A long history: what it takes on the disk, and how long any version takes to read.

use std::time::Duration;

use koru_tests::support::documents::{Page, replace, text};
use koru_tests::support::home::Home;
use serde_json::{Value, json};

use super::driver::{Driver, median};
use super::table::{Table, millis, times};

type Outcome = Result<(), String>;

const NODES: usize = 1000;
const VERSIONS: usize = 1000;
/// How many versions are read, spread over all.
const SAMPLES: usize = 40;
/// How often each is read, the service started anew in between.
const PASSES: usize = 5;

/// The bytes of the store, once the service has ended and all is in one file.
fn stored(home: &Home) -> Result<u64, String> {
    home.stop_service();
    let folder = home.folders().database();
    let folder = folder.parent().ok_or("a store in a folder")?;
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder).map_err(|error| error.to_string())? {
        let entry = entry.map_err(|error| error.to_string())?;
        bytes += entry.metadata().map_err(|error| error.to_string())?.len();
    }
    Ok(bytes)
}

/// Three operations each: new words, a priority, another place.
fn edit(driver: &mut Driver, page: &Page) -> Result<Vec<String>, String> {
    let mut texts: Vec<String> = (0..NODES - 1).map(|number| format!("line {number}")).collect();
    let mut base = page.revision.clone();
    let mut entries = Vec::with_capacity(VERSIONS);
    for number in 0..VERSIONS {
        let one = number * 7919 % texts.len();
        let two = (number * 104_729 + 13) % texts.len();
        let three = (number * 1_299_709 + 29) % texts.len();
        let after = page.nodes.get((three + 500) % texts.len()).cloned().unwrap_or_default();
        let new = format!("{} and words of version {number}", texts.get(one).map_or("", |t| t));
        let priority = ["low", "medium", "high"].get(number % 3).copied().unwrap_or_default();
        let says = |at: usize| texts.get(at).cloned().unwrap_or_default();
        let named = |at: usize| page.nodes.get(at).cloned().unwrap_or_default();
        let operations = [
            json!({ "op": "set_attribute", "node_id": named(two), "expected": says(two), "key": "koru.priority",
                "value": { "kind": "text", "value": priority } }),
            json!({ "op": "move", "node_id": named(three), "expected": says(three), "parent_id": page.root,
                "after_node_id": after }),
            replace(&named(one), &says(one), &new),
        ];
        let result = driver.call("edit_document", &page.edit(&base, &operations))?;
        let result = &result["structuredContent"];
        base = text(&result["revision"]);
        entries.push(text(&result["history"]["id"]));
        if let Some(says) = texts.get_mut(one) {
            *says = new;
        }
    }
    Ok(entries)
}

fn ours(home: &Home) -> Result<Driver, String> {
    let mut command = home.command();
    command.args(["serve", "--stdio"]);
    Driver::ready(command)
}

/// Writes the history and reads it.
pub(super) fn measure(home: &Home, table: &mut Table) -> Outcome {
    let page = Page::of_lines(&home.bridge(), "Versions", NODES - 1);
    let before = stored(home)?;
    let entries = edit(&mut ours(home)?, &page)?;
    let added = stored(home)?.saturating_sub(before);
    table
        .add(
            format!("bytes of {VERSIONS} versions of {NODES} nodes, three operations each"),
            format!("{:.2} MB", megabytes(added)),
            "–".into(),
        )
        .target("≤ 3 MB", added <= 3_000_000);

    let samples: Vec<&String> = entries.iter().step_by(VERSIONS / SAMPLES).collect();
    let mut cold = Vec::new();
    let mut reads: Vec<Vec<Duration>> = vec![Vec::new(); samples.len()];
    for _ in 0..PASSES {
        home.stop_service();
        let mut driver = ours(home)?;
        driver.call("list_documents", &json!({ "workspace_id": page.workspace }))?;
        cold.push(once(&mut driver, "read_document", &page.this())?);
        for (entry, took) in samples.iter().zip(&mut reads) {
            let read = json!({ "workspace_id": page.workspace, "entry_id": entry });
            took.push(once(&mut driver, "read_document_version", &read)?);
        }
    }
    let cold = median(cold);
    let reads: Vec<Duration> = reads.into_iter().map(median).collect();
    let slowest = reads.iter().copied().max().unwrap_or_default();
    table.add(
        format!("read of a version, median of {SAMPLES} / cold read of the document"),
        millis(median(reads)),
        millis(cold),
    );
    let ratio = times(slowest, cold);
    table
        .add(
            "read of a version, the slowest / cold read of the document",
            millis(slowest),
            millis(cold),
        )
        .ratio(ratio)
        .target("≤ 3 ×", ratio <= 3.0);
    Ok(())
}

fn once(driver: &mut Driver, tool: &str, arguments: &Value) -> Result<Duration, String> {
    let took = driver.once(tool, arguments)?;
    // What was timed must be an answer and no refusal.
    driver.answered()?;
    Ok(took)
}

#[expect(clippy::cast_precision_loss, reason = "for people to read")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
