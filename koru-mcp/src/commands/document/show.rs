//! A document as a person reads it on a terminal.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io;

use anstyle::{AnsiColor, Style};
use comfy_table::{ContentArrangement, Table, presets};
use serde_json::Value;

use crate::output::{self, BOLD, DIM, clean, styled};

const TITLE: Style = Style::new().bold().underline();
const HEADING: Style = AnsiColor::Cyan.on_default().bold();
const LINK: Style = AnsiColor::Blue.on_default().underline();
const CODE: Style = AnsiColor::Green.on_default();
const TAG: Style = AnsiColor::Magenta.on_default();

/// Prints what `read_document` gave.
///
/// # Errors
/// When stdout is closed.
pub(super) fn print(read: &Value) -> io::Result<()> {
    output::line(render(read).trim_end())
}

/// Where a node stands.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    /// How far it is set in: headings and the title set nothing in.
    indent: usize,
    /// Its depth among headings.
    level: usize,
}

fn render(read: &Value) -> String {
    let mut text = String::new();
    let mut places: HashMap<&str, Place> = HashMap::new();
    // How many numbered items stand before the next one, by parent; any other sibling begins anew.
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    for node in read["nodes"].as_array().into_iter().flatten() {
        let kind = field(node, "kind");
        let parent = field(node, "parent_id");
        let place = places.get(parent).copied().unwrap_or_default();
        let number = numbers.entry(parent).or_default();
        *number = if kind == "listblock" && is_numbered(node) { *number + 1 } else { 0 };
        let block = block(node, kind, place, *number);
        let under = match kind {
            "title" => Place::default(),
            "heading" => Place { indent: 0, level: place.level + 1 },
            _ => Place { indent: place.indent + 2, ..place },
        };
        places.insert(field(node, "node_id"), under);
        let loose = !matches!(kind, "listblock" | "task");
        if loose && !text.is_empty() && !text.ends_with("\n\n") {
            text.push('\n');
        }
        for line in block.lines() {
            let _ = writeln!(text, "{}{line}", " ".repeat(place.indent));
        }
        if loose {
            text.push('\n');
        }
    }
    text
}

fn block(node: &Value, kind: &str, place: Place, number: usize) -> String {
    let words = words(node);
    let marks = marks(node);
    match kind {
        "title" => format!("{}{marks}", styled(TITLE, &words)),
        "heading" => {
            let sign = "#".repeat(place.level + 1);
            format!("{}{marks}", styled(HEADING, &format!("{sign} {words}")))
        }
        "quote" => {
            words.lines().fold(String::new(), |mut all, line| {
                let _ = writeln!(all, "{} {line}", styled(DIM, "│"));
                all
            }) + &own_line(&marks)
        }
        "listblock" if number > 0 => item(&format!("{number}."), &words, &marks),
        "listblock" => item("•", &words, &marks),
        "task" => item(if node["done"] == true { "☑" } else { "☐" }, &words, &marks),
        "code" => {
            let language = node["language"].as_str().map(|name| styled(DIM, &clean(name)) + "\n");
            let lines = words.lines().fold(String::new(), |mut all, line| {
                let _ = writeln!(all, "    {}", styled(CODE, line));
                all
            });
            language.unwrap_or_default() + &lines + &own_line(&marks)
        }
        "table" => table(node, &words) + "\n" + &own_line(&marks),
        "contact" => {
            let mut lines = words.lines();
            let name = styled(BOLD, lines.next().unwrap_or_default());
            lines.fold(name, |all, line| format!("{all}\n  {line}")) + &marks
        }
        "divider" => styled(DIM, &"─".repeat(32)),
        _ => words + &marks,
    }
}

fn item(sign: &str, words: &str, marks: &str) -> String {
    let hanging = format!("\n{}", " ".repeat(sign.chars().count() + 1));
    format!("{sign} {}{marks}", words.replace('\n', &hanging))
}

fn table(node: &Value, words: &str) -> String {
    let cells = |row: &Value| -> Vec<String> {
        row.as_array()
            .into_iter()
            .flatten()
            .map(|cell| clean(cell.as_str().unwrap_or_default()))
            .collect()
    };
    let mut rows: Vec<Vec<String>> = match node["rows"].as_array() {
        Some(rows) => rows.iter().map(cells).collect(),
        None => words.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect(),
    };
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Dynamic);
    if !rows.is_empty() {
        table.set_header(rows.remove(0));
    }
    table.add_rows(rows);
    table.to_string()
}

/// The text, its links by their names.
fn words(node: &Value) -> String {
    let text = field(node, "text");
    let mut words = String::new();
    let mut rest = 0;
    for inline in node["inlines"].as_array().into_iter().flatten() {
        let Some(at) = inline["at_utf8"].as_u64().and_then(|at| usize::try_from(at).ok()) else {
            continue;
        };
        let Some(end) =
            text.get(at..).and_then(|token| token.find("]]")).map(|length| at + length + 2)
        else {
            continue;
        };
        words.push_str(&clean(text.get(rest..at).unwrap_or_default()));
        let name = ["label", "title", "name"].iter().find_map(|name| inline[name].as_str());
        words.push_str(&styled(
            LINK,
            &clean(name.unwrap_or_else(|| text.get(at..end).unwrap_or_default())),
        ));
        match field(inline, "lifecycle") {
            "" | "live" => {}
            lost => words.push_str(&styled(DIM, &format!(" ({lost})"))),
        }
        rest = end;
    }
    words.push_str(&clean(text.get(rest..).unwrap_or_default()));
    words
}

/// Tags and attributes, as they follow the text.
fn marks(node: &Value) -> String {
    let mut marks = String::new();
    for tag in node["tags"].as_array().into_iter().flatten() {
        let _ = write!(marks, "  {}", styled(TAG, &format!("#{}", clean(field(tag, "name")))));
    }
    for attribute in node["attributes"].as_array().into_iter().flatten() {
        let key = field(attribute, "key");
        if key == "koru.list" {
            continue;
        }
        let value = &attribute["value"]["value"];
        let value = value.as_str().map_or_else(|| value.to_string(), clean);
        let key = clean(key.strip_prefix("koru.").unwrap_or(key));
        let _ = write!(marks, "  {}", styled(DIM, &format!("{key}: {value}")));
    }
    marks
}

fn own_line(marks: &str) -> String {
    if marks.is_empty() { String::new() } else { format!("{}\n", marks.trim_start()) }
}

fn is_numbered(node: &Value) -> bool {
    node["attributes"].as_array().is_some_and(|attributes| {
        attributes.iter().any(|attribute| {
            attribute["key"] == "koru.list" && attribute["value"]["value"] == "number"
        })
    })
}

fn field<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_document_is_readable_without_colours() {
        let node = |id: &str, parent: &str, kind: &str, text: &str, more: Value| {
            let mut node =
                json!({ "node_id": id, "parent_id": parent, "kind": kind, "text": text });
            node.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            node
        };
        let number = json!({ "attributes": [{ "key": "koru.list", "value": { "kind": "text", "value": "number" } }] });
        let read = json!({ "nodes": [
            node("t", "", "title", "Plan", json!({})),
            node("h", "t", "heading", "First", json!({})),
            node("p", "h", "paragraph", "See [[document:x]] soon", json!({
                "inlines": [{ "at_utf8": 4, "type": "document", "title": "Ada", "lifecycle": "trash" }] })),
            node("h2", "h", "heading", "Second", json!({})),
            node("a", "h2", "listblock", "one", number.clone()),
            node("b", "h2", "listblock", "two", number),
            node("c", "b", "task", "do\nit", json!({ "done": true,
                "tags": [{ "name": "family/calls" }],
                "attributes": [{ "key": "koru.due", "value": { "kind": "date", "value": "2026-12-24" } }] })),
            node("q", "t", "quote", "said\nso", json!({})),
            node("k", "t", "code", "let a = 1;", json!({ "language": "rust" })),
            node("d", "t", "divider", "", json!({})),
            node("m", "t", "contact", "Ada\nphone: 1", json!({})),
            node("w", "t", "table", "A\tB\n1\t2", json!({ "rows": [["A", "B"], ["1", "2\u{9b}31m"]] })),
        ] });
        let shown = anstream::adapter::strip_str(&render(&read)).to_string();
        let expected = "\
Plan

# First

See Ada (trash) soon

## Second

1. one
2. two
  ☑ do
    it  #family/calls  due: 2026-12-24

│ said
│ so

rust
    let a = 1;

────────────────────────────────

Ada
  phone: 1

┌───┬───────┐
│ A ┆ B     │
╞═══╪═══════╡
│ 1 ┆ 2\u{FFFD}31m │
└───┴───────┘
";
        assert_eq!(shown.trim_end(), expected.trim_end());
    }
}
