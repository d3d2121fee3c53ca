//! The one place that writes to stdout, apart from the bridge.

use std::io::{self, IsTerminal as _, Write as _};

use anstyle::Style;
use comfy_table::{ContentArrangement, Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;
use serde_json::value::RawValue;

/// What stands out.
pub(crate) const BOLD: Style = Style::new().bold();
/// What steps back.
pub(crate) const DIM: Style = Style::new().dimmed();

/// A line; colours are left out where nobody could see them.
///
/// # Errors
/// When stdout is closed.
pub(crate) fn line(text: &str) -> io::Result<()> {
    writeln!(anstream::stdout(), "{text}")
}

/// A JSON value: readable on a terminal, in one line for a program.
///
/// # Errors
/// When stdout is closed.
pub(crate) fn json(value: &Value) -> io::Result<()> {
    if io::stdout().is_terminal() { line(&format!("{value:#}")) } else { line(&value.to_string()) }
}

/// Ready JSON, as [`json`] prints it.
///
/// # Errors
/// When stdout is closed.
pub(crate) fn ready(raw: &RawValue) -> io::Result<()> {
    match serde_json::from_str(raw.get()) {
        Ok(value) if io::stdout().is_terminal() => json(&value),
        _ => line(raw.get()),
    }
}

/// Rows under their headings.
///
/// # Errors
/// When stdout is closed.
pub(crate) fn rows(headings: &[&str], rows: Vec<Vec<String>>) -> io::Result<()> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(headings.iter().copied());
    table.add_rows(rows);
    // The style without borders still sets every line in by one.
    let lines =
        table.lines().map(|line| line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned());
    line(&lines.collect::<Vec<_>>().join("\n"))
}

/// A text in a style.
pub(crate) fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// How far something of so many bytes has come, on a terminal; nothing in a pipe.
pub(crate) fn progress(bytes: u64, what: &str) -> ProgressBar {
    let bar = ProgressBar::new(bytes);
    let style = "{bar:24} {bytes}/{total_bytes}  {msg}";
    bar.set_style(
        ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    bar.set_message(what.to_owned());
    bar
}

/// A text without what could command a terminal or begin a new line.
pub(crate) fn one_line(text: &str) -> String {
    clean(text).replace(['\n', '\t', '\u{2028}', '\u{2029}'], "\u{FFFD}")
}

/// A text without what could command a terminal.
pub(crate) fn clean(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\n' | '\t' => character,
            character if character.is_control() => '\u{FFFD}',
            // What turns the direction of writing can make one text look like another.
            '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => '\u{FFFD}',
            character => character,
        })
        .collect()
}
