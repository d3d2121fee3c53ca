//! Starting, memory, reading, and what an agent pays in characters.

use std::time::{Duration, Instant};

use koru_tests::support::documents::Page;
use serde_json::{Value, json};

use super::Bench;
use super::driver::{Driver, in_turn, median, resident};
use super::table::{Table, mebibytes, millis, times};
use super::texts::Text;

type Outcome = Result<(), String>;

#[expect(clippy::cast_precision_loss, reason = "ratios for people to read")]
fn ratio(first: usize, second: usize) -> f64 {
    first as f64 / second.max(1) as f64
}

/// From the start of the process to the answered list of tools; and what it holds then.
pub(super) fn start(bench: &Bench, table: &mut Table) -> Outcome {
    // Not the first start of all: the service runs, as it does for every client but the first of a day.
    let page = Page::of_lines(&bench.home.bridge(), "Start", 20);
    let rounds = (bench.count / 10).max(5);
    let mut ours = Vec::new();
    let mut theirs = Vec::new();
    for _ in 0..rounds {
        let began = Instant::now();
        let driver = Driver::ready(bench.ours())?;
        ours.push(began.elapsed());
        drop(driver);
        let began = Instant::now();
        let driver = Driver::ready(bench.theirs())?;
        theirs.push(began.elapsed());
        drop(driver);
    }
    let (ours, theirs) = (median(ours), median(theirs));
    let faster = times(theirs, ours);
    table
        .add("start to answered `tools/list`", millis(ours), millis(theirs))
        .ratio(faster)
        .target("≥ 60 × faster", faster >= 60.0);

    std::fs::write(bench.files.join("small.md"), "line\n").map_err(|error| error.to_string())?;
    let mut bridge = Driver::ready(bench.ours())?;
    let mut baseline = Driver::ready(bench.theirs())?;
    for _ in 0..20 {
        bridge.call("read_document", &page.this())?;
        baseline.call("read_text_file", &json!({ "path": bench.files.join("small.md") }))?;
    }
    let (ours, theirs) = (bridge.resident(), baseline.resident());
    let share = times(Duration::from_millis(ours), Duration::from_millis(theirs));
    table
        .add("memory of the bridge", mebibytes(ours), mebibytes(theirs))
        .ratio(share)
        .target("≤ 1/8", share <= 0.125);
    Ok(())
}

/// Reads of both forms, and the characters of a change.
pub(super) fn reading(bench: &Bench, table: &mut Table) -> Outcome {
    let setup = bench.home.bridge();
    let mut servers = [Driver::ready(bench.ours())?, Driver::ready(bench.theirs())?];
    for nodes in [20, 100, 1000] {
        let text = Text::new(bench, &setup, nodes)?;
        let path = json!({ "path": text.file });
        let compact = text.page.reading(json!({ "compact": true }));
        let calls = [
            (1, "read_text_file", &path),
            (0, "read_document", &compact),
            (0, "read_document", &text.page.this()),
        ];
        let [baseline, compact, full] = in_turn(&mut servers, &calls, bench.count)?[..] else {
            return Err("three calls are timed".into());
        };
        let faster = times(baseline, full);
        let row = table.add(format!("read {nodes} nodes, full"), millis(full), millis(baseline));
        row.ratio(faster);
        if nodes == 20 {
            row.target("≥ 1.5 × faster", faster >= 1.5);
        }
        let faster = times(baseline, compact);
        let row =
            table.add(format!("read {nodes} nodes, compact"), millis(compact), millis(baseline));
        row.ratio(faster);
        if nodes == 1000 {
            row.target("≥ 1 × as fast", faster >= 1.0);
        }
        let [ours, theirs] = &mut servers;
        characters(ours, theirs, &text, nodes, table)?;
    }
    Ok(())
}

/// What an agent sees of a result.
fn seen(result: &Value) -> usize {
    result["content"][0]["text"].as_str().map_or(0, |text| text.chars().count())
}

fn characters(
    ours: &mut Driver,
    theirs: &mut Driver,
    text: &Text,
    nodes: usize,
    table: &mut Table,
) -> Outcome {
    let place = text.middle();
    let old = &text.blocks[place].text;
    let new = format!("{old} Changed.");

    let reading = text.page.reading(json!({ "compact": true }));
    let read = ours.call("read_document", &reading)?;
    let node = &read["structuredContent"]["nodes"][place + 1]["id"];
    let operation = json!({ "op": "replace_text", "node_id": node, "expected": old, "text": new });
    let base = read["structuredContent"]["revision"].as_str().unwrap_or_default();
    let edit = text.page.edit(base, &[operation]);
    let edited = ours.call("edit_document", &edit)?;
    let cost = seen(&read)
        + reading.to_string().chars().count()
        + edit.to_string().chars().count()
        + seen(&edited);

    let reading = json!({ "path": text.file });
    let their_read = theirs.call("read_text_file", &reading)?;
    let their_edit = json!({ "path": text.file, "edits": [{ "oldText": old, "newText": new }] });
    let their_edited = theirs.call("edit_file", &their_edit)?;
    let their_cost = seen(&their_read)
        + reading.to_string().chars().count()
        + their_edit.to_string().chars().count()
        + seen(&their_edited);
    table
        .add(
            format!("characters to find and change one block of {nodes}"),
            cost.to_string(),
            their_cost.to_string(),
        )
        .ratio(ratio(cost, their_cost));

    let plain = text.plain.chars().count();
    let compact = ratio(seen(&read), plain);
    table
        .add(format!("compact / plain, {nodes} nodes"), seen(&read).to_string(), plain.to_string())
        .ratio(compact)
        .target("≤ 1.7", compact <= 1.7);
    Ok(())
}

/// 100 documents of 100 nodes, all read.
pub(super) fn open_documents(bench: &Bench, table: &mut Table) -> Outcome {
    bench.home.stop_service();
    let bridge = bench.home.bridge();
    for number in 0..100 {
        let page = Page::of_lines(&bridge, &format!("Open {number}"), 99);
        let _ = page.read(&bridge);
    }
    let Some(pid) = bench.home.service_pids().first().copied() else {
        return Err("the service does not run".into());
    };
    let held = resident(pid);
    table
        .add("memory of the service, 100 documents of 100 nodes", mebibytes(held), "–".into())
        .target("≤ 60 MB", held * 1024 <= 60_000_000);
    Ok(())
}
