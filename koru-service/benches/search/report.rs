//! What was measured, beside what it must be.

use std::fmt::Write as _;
use std::time::Duration;

use super::measure::{Measured, times};
use super::queries::Class;
use super::round::Round;
use crate::kit::known::Score;

/// One target.
struct Check {
    what: String,
    measured: String,
    target: String,
    is_met: bool,
    /// Whether the run fails where it is missed.
    is_must: bool,
}

/// All targets, and the known items.
#[derive(Default)]
pub(crate) struct Report {
    checks: Vec<Check>,
    relevance: String,
}

impl Report {
    fn add(&mut self, what: String, measured: String, target: String, is_met: bool, is_must: bool) {
        self.checks.push(Check { what, measured, target, is_met, is_must });
    }

    /// Takes in how well known items were found, which must be as well as on the other side.
    pub(crate) fn relevance(&mut self, corpus: &str, nodes: usize, score: Score) {
        let Score { name, ours, baseline, ours_found, baseline_found, items, .. } = &score;
        let nodes = thousands(nodes);
        let _ = writeln!(
            self.relevance,
            "| {corpus}, {nodes} nodes: {name} | {ours:.3} | {ours_found} of {items} | {baseline:.3} | {baseline_found} of {items} |",
        );
        let what = format!("mean reciprocal rank, {corpus}: {name}");
        let is_met = score.is_met() && *items > 0;
        self.add(what, format!("{ours:.3}"), format!("≥ {baseline:.3} - 0.01"), is_met, true);
    }

    /// The targets that must be met and are not.
    pub(crate) fn missed_musts(&self) -> Vec<String> {
        let missed = self.checks.iter().filter(|check| check.is_must && !check.is_met);
        missed
            .map(|check| format!("{}: {} ({})", check.what, check.measured, check.target))
            .collect()
    }

    /// The tables.
    pub(crate) fn markdown(&self, rounds: &[Round]) -> String {
        let mut text = String::from("| target | measured | demanded | |\n|---|---:|---:|---|\n");
        for check in &self.checks {
            let Check { what, measured, target, is_met, is_must } = check;
            let met = match (is_met, is_must) {
                (true, _) => "met",
                (false, true) => "**missed**",
                (false, false) => "missed",
            };
            let _ = writeln!(text, "| {what} | {measured} | {target} | {met} |");
        }
        text.push_str(
            "\nKnown items (mean reciprocal rank, found among the first 20):\n\n| items | Koru | found | baseline | found |\n|---|---:|---:|---:|---:|\n",
        );
        text.push_str(&self.relevance);
        for round in rounds {
            self::round(&mut text, round);
        }
        text
    }
}

/// Holds all sizes against the targets.
pub(crate) fn judge(rounds: &[Round], report: &mut Report) {
    for round in rounds {
        let size = thousands(round.nodes);
        let is_large = round.nodes >= 600_000;
        // A run of 20,000 nodes is for trying: there a plain index is fast, too.
        let is_judged = round.nodes >= 200_000;
        for measured in &round.measured {
            let Some(ratio) = measured.ratio() else { continue };
            let most = match measured.class {
                Class::Broad if is_judged => Some((if is_large { 0.03 } else { 0.10 }, true)),
                Class::Joined if is_large => Some((0.5, false)),
                _ => None,
            };
            let what = format!("p95 of {}, {size} nodes", measured.name);
            match most {
                Some((most, is_must)) => report.add(
                    what,
                    format!("{ratio:.3} ×"),
                    format!("≤ {most} × baseline"),
                    ratio <= most,
                    is_must,
                ),
                None => within(report, what, measured),
            }
        }
        let (worst, filtered) = (round.worst(), round.worst_filtered());
        report.add(
            format!("slowest p95 with one workspace or a tag on 1 %, {size} nodes"),
            millis(filtered),
            format!("≤ 3 × {}", millis(worst)),
            filtered <= worst * 3,
            false,
        );
        let (ours, theirs) = (round.edits, round.baseline_edits);
        let ratio = times(ours.mean, theirs.mean);
        report.add(
            format!("index cost of a one-node edit, mean, {size} nodes"),
            format!("{ratio:.2} × ({})", micros(ours.mean)),
            format!("≤ 1.5 × baseline ({})", micros(theirs.mean)),
            ratio <= 1.5,
            true,
        );
        report.add(
            format!("the same, p50, {size} nodes"),
            micros(ours.p50),
            "≤ 200 µs".into(),
            ours.p50 <= Duration::from_micros(200),
            false,
        );
        let share = ratio_of(round.sizes.index, round.sizes.text);
        report.add(
            format!("bytes of the index / of the text, {size} nodes"),
            format!("{share:.2} ×"),
            "≤ 2.6 ×".into(),
            share <= 2.6,
            true,
        );
        let longest = round.rebuilt.waits.longest;
        report.add(
            format!("longest wait for a write during a rebuild, {size} nodes"),
            millis(longest),
            "≤ 50 ms".into(),
            longest <= Duration::from_millis(50),
            false,
        );
        rates(report, round, &size);
        let corrections = round.corrections;
        let is_met = corrections.right * 10 >= corrections.all * 9;
        report.add(
            format!("misspelt words corrected as meant, {size} nodes"),
            format!("{} of {}", corrections.right, corrections.all),
            "≥ 90 %".into(),
            is_met,
            false,
        );
        report.add(
            format!("p95 of a correction, {size} nodes"),
            millis(corrections.times.p95),
            "≤ 20 ms".into(),
            corrections.times.p95 <= Duration::from_millis(20),
            false,
        );
        for (name, p50) in &round.ripgrep {
            let Some(measured) = round.of(name) else { continue };
            let part = if is_large { 20 } else { 10 };
            report.add(
                format!("p95 of {name} / p50 of ripgrep, {size} nodes"),
                format!("1/{:.0}", times(*p50, measured.ours.p95)),
                format!("≤ 1/{part} of {}", millis(*p50)),
                measured.ours.p95 * part <= *p50,
                false,
            );
        }
    }
    if let [small, .., large] = rounds {
        let growth = times(large.worst(), small.worst());
        report.add(
            format!("slowest p95, {} nodes / {}", thousands(large.nodes), thousands(small.nodes)),
            format!("{growth:.2} × ({} / {})", millis(large.worst()), millis(small.worst())),
            "≤ 2.5 ×".into(),
            growth <= 2.5,
            true,
        );
    }
}

fn within(report: &mut Report, what: String, measured: &Measured) {
    let Some(baseline) = measured.baseline.filter(|_| measured.class != Class::Own) else { return };
    let most = (baseline.p95 * 2).max(baseline.p95 + Duration::from_millis(6));
    report.add(
        what,
        millis(measured.ours.p95),
        format!("≤ {}", millis(most)),
        measured.ours.p95 <= most,
        false,
    );
}

fn rates(report: &mut Report, round: &Round, size: &str) {
    let baseline = rate(round.nodes, round.baseline_made);
    let rebuilt = round.rebuilt.rate();
    report.add(
        format!("nodes a second of a rebuild, {size} nodes"),
        format!("{rebuilt:.0}"),
        format!("≥ 0.35 × {baseline:.0} of the baseline"),
        rebuilt >= 0.35 * baseline,
        false,
    );
}

/// One size.
fn round(text: &mut String, round: &Round) {
    let size = thousands(round.nodes);
    let _ = writeln!(
        text,
        "\n{size} nodes in {} documents, p50 / p95 in ms:\n\n| query | Koru | baseline | p95 / p95 | find something |\n|---|---:|---:|---:|---:|",
        thousands(round.documents)
    );
    for measured in round.measured.iter().chain(&round.others) {
        let pair = |p50: Duration, p95: Duration| format!("{} / {}", short(p50), short(p95));
        let theirs = measured.baseline.map_or("–".into(), |times| pair(times.p50, times.p95));
        let ratio = measured.ratio().map_or("–".into(), |ratio| format!("{ratio:.3}"));
        let Measured { name, ours, ours_found, baseline_found, queries, .. } = measured;
        let ours = pair(ours.p50, ours.p95);
        let found = match measured.baseline {
            Some(_) => format!("{ours_found} and {baseline_found} of {queries}"),
            None => format!("{ours_found} of {queries}"),
        };
        let _ = writeln!(text, "| {name} | {ours} | {theirs} | {ratio} | {found} |");
    }
    for filter in ["one workspace", "a tag on 1 %"] {
        let all = round.filtered.iter().filter(|measured| measured.name.ends_with(filter));
        if let Some(slowest) = all.max_by_key(|measured| measured.ours.p95) {
            let Measured { name, ours, ours_found, queries, .. } = slowest;
            let _ = writeln!(
                text,
                "| slowest with {filter}: {name} | {} / {} | – | – | {ours_found} of {queries} |",
                short(ours.p50),
                short(ours.p95)
            );
        }
    }
    let corrections = round.corrections.times;
    let _ = writeln!(
        text,
        "| misspelt word | {} / {} | – | – | {} of {} as meant |",
        short(corrections.p50),
        short(corrections.p95),
        round.corrections.right,
        round.corrections.all
    );
    facts(text, round);
}

fn facts(text: &mut String, round: &Round) {
    let sizes = round.sizes;
    let _ = writeln!(
        text,
        "\n- Bytes: text {}, index {} (full-text tables {}; {} with all segments merged), the copy of texts and node IDs beside it {}, whole store {}; the baseline's index {} ({:.2} × the text).",
        mebibytes(sizes.text),
        mebibytes(sizes.index),
        mebibytes(sizes.postings),
        mebibytes(sizes.merged),
        mebibytes(sizes.copy),
        mebibytes(sizes.store),
        mebibytes(sizes.baseline),
        ratio_of(sizes.baseline, sizes.text),
    );
    let (ours, theirs) = (round.edits, round.baseline_edits);
    let _ = writeln!(
        text,
        "- What the index adds to an edit, mean / p50 / p95 / longest: {} / {} / {} / {}; the baseline's: {} / {} / {} / {}.",
        micros(ours.mean),
        micros(ours.p50),
        micros(ours.p95),
        micros(ours.longest),
        micros(theirs.mean),
        micros(theirs.p50),
        micros(theirs.p95),
        micros(theirs.longest),
    );
    let _ = writeln!(
        text,
        "- Made whole (replica, history, index): {:.0} nodes a second; the baseline's rows: {:.0} a second; index made again from the documents: {:.0} nodes a second, while p95 / longest of another's writes waited {} / {}.",
        rate(round.nodes, round.made),
        rate(round.nodes, round.baseline_made),
        round.rebuilt.rate(),
        millis(round.rebuilt.waits.p95),
        millis(round.rebuilt.waits.longest),
    );
    let _ = writeln!(text, "- The first search after a start: {}.", millis(round.first));
    if round.ripgrep.is_empty() {
        text.push_str("- ripgrep is not installed here and was not measured.\n");
    }
}

#[expect(clippy::cast_precision_loss, reason = "for people to read")]
fn rate(nodes: usize, took: Duration) -> f64 {
    nodes as f64 / took.as_secs_f64().max(1e-9)
}

#[expect(clippy::cast_precision_loss, reason = "for people to read")]
fn ratio_of(first: u64, second: u64) -> f64 {
    first as f64 / second.max(1) as f64
}

#[expect(clippy::cast_precision_loss, reason = "for people to read")]
fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / 1024.0 / 1024.0)
}

fn short(duration: Duration) -> String {
    format!("{:.2}", duration.as_secs_f64() * 1e3)
}

fn millis(duration: Duration) -> String {
    format!("{:.2} ms", duration.as_secs_f64() * 1e3)
}

fn micros(duration: Duration) -> String {
    format!("{:.0} µs", duration.as_secs_f64() * 1e6)
}

/// A number with its thousands parted.
fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut parted = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            parted.push(',');
        }
        parted.push(digit);
    }
    parted
}
