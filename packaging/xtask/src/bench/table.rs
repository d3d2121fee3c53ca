//! What was measured, beside its target.

use std::fmt::Write as _;
use std::time::Duration;

/// One line of the table.
pub(super) struct Row {
    what: String,
    ours: String,
    baseline: String,
    ratio: String,
    target: String,
    met: Option<bool>,
}

/// Everything that was measured.
#[derive(Default)]
pub(super) struct Table {
    rows: Vec<Row>,
    /// What could not be measured, and why.
    pub(super) skipped: Vec<String>,
}

impl Table {
    pub(super) fn add(
        &mut self,
        what: impl Into<String>,
        ours: String,
        baseline: String,
    ) -> &mut Row {
        let row = Row {
            what: what.into(),
            ours,
            baseline,
            ratio: "–".into(),
            target: "–".into(),
            met: None,
        };
        self.rows.push(row);
        let last = self.rows.len() - 1;
        &mut self.rows[last]
    }

    pub(super) fn missed(&self) -> Vec<&str> {
        self.rows.iter().filter(|row| row.met == Some(false)).map(|row| row.what.as_str()).collect()
    }

    pub(super) fn markdown(&self) -> String {
        let mut text = String::from(
            "| measured | Koru | baseline | ratio | target | |\n|---|---:|---:|---:|---|---|\n",
        );
        for row in &self.rows {
            let met = match row.met {
                Some(true) => "met",
                Some(false) => "**missed**",
                None => "",
            };
            let Row { what, ours, baseline, ratio, target, .. } = row;
            let _ = writeln!(text, "| {what} | {ours} | {baseline} | {ratio} | {target} | {met} |");
        }
        for skipped in &self.skipped {
            let _ = writeln!(text, "\nNot measured: {skipped}.");
        }
        text
    }
}

impl Row {
    pub(super) fn ratio(&mut self, ratio: f64) -> &mut Self {
        self.ratio = format!("{ratio:.2}");
        self
    }

    pub(super) fn target(&mut self, target: &str, met: bool) {
        target.clone_into(&mut self.target);
        self.met = Some(met);
    }
}

/// A duration in milliseconds.
pub(super) fn millis(duration: Duration) -> String {
    format!("{:.2} ms", duration.as_secs_f64() * 1e3)
}

/// KiB in MiB.
#[expect(clippy::cast_precision_loss, reason = "for people to read")]
pub(super) fn mebibytes(kibibytes: u64) -> String {
    format!("{:.1} MiB", kibibytes as f64 / 1024.0)
}

/// How many times larger the first is.
pub(super) fn times(first: Duration, second: Duration) -> f64 {
    first.as_secs_f64() / second.as_secs_f64().max(1e-9)
}
