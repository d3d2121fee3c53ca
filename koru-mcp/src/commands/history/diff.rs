//! What is different between two versions, as a person reads it on a terminal.

use std::io;

use anstyle::{AnsiColor, Style};
use serde_json::Value;

use crate::output::{self, DIM, clean, styled};

const IN: Style = AnsiColor::Green.on_default();
const OUT: Style = AnsiColor::Red.on_default().strikethrough();

/// Prints what `compare_document_versions` gave.
///
/// # Errors
/// When stdout is closed.
pub(super) fn print(compared: &Value) -> io::Result<()> {
    for change in compared["changes"].as_array().into_iter().flatten() {
        output::line(&line(change))?;
    }
    let unchanged = &compared["unchanged_nodes"];
    output::line(&styled(DIM, &format!("{unchanged} nodes are unchanged")))
}

fn line(change: &Value) -> String {
    let kind = change["kind"].as_str().unwrap_or_default();
    let tail: String = change["node_id"].as_str().unwrap_or_default().chars().skip(28).collect();
    let name = styled(DIM, &format!("{kind} {tail}"));
    let text = |node: &Value| clean(node["text"].as_str().unwrap_or_default());
    match change["change"].as_str().unwrap_or_default() {
        "added" => format!("{} {name} {}", styled(IN, "+"), styled(IN, &text(&change["node"]))),
        "removed" => format!("{} {name} {}", styled(OUT, "-"), styled(OUT, &text(&change["node"]))),
        "moved" => format!("> {name} to another parent"),
        "reordered" => format!("~ {name} to another place"),
        _ => format!("* {name} {}", modified(change)),
    }
}

/// The words of a changed text, and the other properties.
fn modified(change: &Value) -> String {
    let mut parts = Vec::new();
    if let Some(segments) = change["text"]["segments"].as_array() {
        let words: String = segments
            .iter()
            .map(|segment| {
                let text = clean(segment["text"].as_str().unwrap_or_default());
                match segment["op"].as_str() {
                    Some("insert") => marked(IN, "+", &text),
                    Some("delete") => marked(OUT, "-", &text),
                    _ => text,
                }
            })
            .collect();
        parts.push(words);
    }
    for property in ["done", "language"] {
        if let Some(sides) = change.get(property) {
            parts.push(format!("{property}: {} > {}", sides["left"], sides["right"]));
        }
    }
    for (list, name) in [("attributes", "key"), ("tags", "name")] {
        for (side, sign, style) in [("removed", "-", OUT), ("added", "+", IN)] {
            for one in change[list][side].as_array().into_iter().flatten() {
                let value =
                    one["value"]["value"].as_str().map_or(String::new(), |v| format!("={v}"));
                let shown = format!("{sign}{}{value}", one[name].as_str().unwrap_or_default());
                parts.push(styled(style, &clean(&shown)));
            }
        }
    }
    if parts.is_empty() && change.get("inlines").is_some() {
        parts.push("its links".into());
    }
    parts.join("  ")
}

/// A piece in a colour, and in marks that are there without colours too.
fn marked(style: Style, sign: &str, text: &str) -> String {
    styled(style, &format!("[{sign}{text}{sign}]"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_changed_text_shows_its_words() {
        let change = json!({ "change": "modified", "kind": "task", "node_id": "0198c2f0-0000-7000-8000-0000000000ab",
            "text": { "segments": [
                { "op": "equal", "text": "call " }, { "op": "delete", "text": "Ada" },
                { "op": "insert", "text": "Bob" } ] },
            "done": { "left": false, "right": true } });
        let shown = anstream::adapter::strip_str(&line(&change)).to_string();
        assert_eq!(shown, "* task 000000ab call [-Ada-][+Bob+]  done: false > true");
    }
}
