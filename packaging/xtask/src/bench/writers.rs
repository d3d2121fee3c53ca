//! Durable edits: one writer beside the disk itself, and eight beside one.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use koru_tests::support::documents::{Page, replace, text};
use serde_json::json;

use super::Bench;
use super::driver::{Driver, median};
use super::strace::Traced;
use super::table::{Table, millis};
use super::texts::Text;

type Outcome = Result<(), String>;

const WRITERS: usize = 8;
const DELAY: Duration = Duration::from_millis(5);

/// Edits in 1,000 nodes and appends with fdatasync, one of each in turn.
pub(super) fn one(bench: &Bench, table: &mut Table) -> Outcome {
    let document = Text::new(bench, &bench.home.bridge(), 1000)?;
    let mut driver = Driver::ready(bench.ours())?;
    let failed = |error: std::io::Error| error.to_string();
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(bench.home.beside().join("appended"))
        .map_err(failed)?;
    let place = document.middle();
    let node = &document.page.nodes[place];
    let mut says = document.blocks[place].text.clone();
    let mut base = document.page.revision.clone();
    let mut edits = Vec::new();
    let mut appends = Vec::new();
    for number in 0..bench.count.max(200) {
        let new = format!("{} {number}", document.blocks[place].text);
        let edit = document.page.edit(&base, &[replace(node, &says, &new)]);
        let params = json!({ "name": "edit_document", "arguments": edit });
        let began = Instant::now();
        let result = driver.ask("tools/call", params)?;
        edits.push(began.elapsed());
        base = text(&result["structuredContent"]["revision"]);
        says = new;
        let began = Instant::now();
        file.write_all(&[0x2e; 4096]).map_err(failed)?;
        file.sync_data().map_err(failed)?;
        appends.push(began.elapsed());
    }
    let (edit, append) = (median(edits), median(appends));
    let over = edit.saturating_sub(append);
    table
        .add("durable edit in 1,000 nodes / 4 KiB append + fdatasync", millis(edit), millis(append))
        .target("≤ the append + 1 ms", over <= Duration::from_millis(1));
    Ok(())
}

/// So many clients that edit a document each for so long; how many edits were acknowledged.
fn edits(bench: &Bench, pages: &[Page], duration: Duration) -> Result<usize, String> {
    let count = AtomicUsize::new(0);
    let until = Instant::now() + duration;
    std::thread::scope(|scope| {
        let writers: Vec<_> = pages
            .iter()
            .map(|page| {
                let count = &count;
                scope.spawn(move || -> Outcome {
                    let mut driver = Driver::ready(bench.ours())?;
                    let read = driver.call("read_document", &page.this())?;
                    let mut base = text(&read["structuredContent"]["revision"]);
                    let mut says = text(&read["structuredContent"]["nodes"][1]["text"]);
                    for number in 0_u64.. {
                        if Instant::now() >= until {
                            break;
                        }
                        let new = format!("{number} of {}", page.document);
                        let new = if new == says { format!("{new}.") } else { new };
                        let edit = page.edit(&base, &[replace(&page.nodes[0], &says, &new)]);
                        let result = driver.call("edit_document", &edit)?;
                        base = text(&result["structuredContent"]["revision"]);
                        says = new;
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                    Ok(())
                })
            })
            .collect();
        for writer in writers {
            writer.join().map_err(|_| "a writer failed".to_owned())??;
        }
        Ok(count.load(Ordering::Relaxed))
    })
}

/// Syncs an edit, and throughput where syncs are slow.
pub(super) fn eight(bench: &Bench, table: &mut Table) -> Outcome {
    let bridge = bench.home.bridge();
    let pages: Vec<Page> = (0..WRITERS)
        .map(|number| Page::of_lines(&bridge, &format!("Writer {number}"), 20))
        .collect();
    let alone = pages.get(..1).unwrap_or_default();
    let duration = Duration::from_secs(if bench.quick { 2 } else { 6 });
    let traced = Traced::start(&bench.home, Duration::ZERO)?;
    let before = traced.syncs();
    let count = edits(bench, &pages, duration)?;
    let syncs = traced.syncs().saturating_sub(before);
    drop(traced);
    let each = per(syncs, count);
    table
        .add(
            format!("syncs an acknowledged edit, {WRITERS} writers"),
            format!("{each:.3}"),
            "–".into(),
        )
        .target("≤ 0.4", each <= 0.4);

    let traced = Traced::start(&bench.home, DELAY)?;
    let single = edits(bench, alone, duration)?;
    let many = edits(bench, &pages, duration)?;
    drop(traced);
    let faster = per(many, single);
    let rate = |count: usize| format!("{:.0} a second", per(count, 1) / duration.as_secs_f64());
    table
        .add(
            format!(
                "throughput with 5 ms a sync: {WRITERS} writers / one (in place of the baseline)"
            ),
            rate(many),
            rate(single),
        )
        .ratio(faster)
        .target("≥ 4 ×", faster >= 4.0);
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "ratios for people to read")]
fn per(first: usize, second: usize) -> f64 {
    first as f64 / second.max(1) as f64
}
