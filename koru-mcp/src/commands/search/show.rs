//! Hits as a person reads them on a terminal.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use serde_json::Value;

use crate::output::{BOLD, DIM, clean, styled};

/// What matches the query.
const MATCH: Style = AnsiColor::Yellow.on_default().bold();
/// How many digits of an ID name a document or a node.
const TAIL_DIGITS: usize = 8;

/// What `search_documents` gave; `workspaces` is what `list_workspaces` gave.
pub(super) fn render(found: &Value, query: &str, workspaces: &Value) -> String {
    let mut text = String::new();
    let hits: Vec<&Value> = found["hits"].as_array().into_iter().flatten().collect();
    if let Some(corrected) = found["corrected_query"].as_str() {
        let (query, corrected) = (one_line(query.trim()), one_line(corrected.trim()));
        let _ =
            writeln!(text, "nothing holds {query}; did you mean {}?\n", styled(BOLD, &corrected));
    }
    let places: BTreeSet<&str> = hits.iter().map(|hit| field(hit, "workspace")).collect();
    for hit in &hits {
        text.push_str(&render_hit(hit, places.len() > 1));
        text.push('\n');
    }
    if hits.is_empty() {
        text.push_str("nothing found\n");
    }
    for note in notes(found, workspaces) {
        let _ = writeln!(text, "{}", styled(DIM, &note));
    }
    text
}

fn render_hit(hit: &Value, several_workspaces: bool) -> String {
    let title = field(hit, "title");
    // A hit in the title is the title, unless that is so long that only a part of it is shown.
    let is_whole_title = field(hit, "field") == "title" && field(hit, "snippet") == title;
    let shown = if is_whole_title { marked(hit, BOLD) } else { styled(BOLD, &one_line(title)) };
    let above: Vec<String> = hit["breadcrumb"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(one_line)
        .collect();
    let mut text = shown;
    if !above.is_empty() {
        let _ = write!(text, "  {}", styled(DIM, &above.join(" › ")));
    }
    text.push('\n');
    if !is_whole_title && !field(hit, "snippet").is_empty() {
        let _ = writeln!(text, "  {}", marked(hit, Style::new()));
    }
    let _ = writeln!(text, "  {}", styled(DIM, &facts(hit, several_workspaces).join(" · ")));
    text
}

/// The line below a hit: where it is and how to get there.
fn facts(hit: &Value, several_workspaces: bool) -> Vec<String> {
    let mut facts = vec![tail(field(hit, "document"))];
    if let Some(node) = hit["node"].as_str() {
        facts.push(format!("{} {}", clean(field(hit, "kind")), tail(node)));
    }
    match field(hit, "field") {
        "attribute" => facts.push("in an attribute".into()),
        "tag" => facts.push("in a tag".into()),
        "breadcrumb" => facts.push("in the titles above".into()),
        _ => {}
    }
    match hit["other_matches"].as_u64() {
        None | Some(0) => {}
        Some(1) => facts.push("1 more place".into()),
        Some(others) => facts.push(format!("{others} more places")),
    }
    let modified = field(hit, "modified_at");
    facts.push(clean(modified.split_once('T').map_or(modified, |(day, _)| day)));
    if field(hit, "lifecycle") == "trash" {
        facts.push("in the trash".into());
    }
    if several_workspaces {
        facts.push(one_line(field(hit, "workspace_name")));
    }
    facts
}

/// What a person should know besides the hits.
fn notes(found: &Value, workspaces: &Value) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(next) = found["next_offset"].as_u64() {
        notes.push(format!("more hits: --offset {next}"));
    }
    if found["incomplete"] == true {
        notes.push("there was too much to look at: weaker hits may be missing".into());
    }
    if found["query_cut"] == true {
        notes.push("the query is too long: only its beginning was searched".into());
    }
    let all = workspaces["workspaces"].as_array();
    for id in found["updating_workspaces"].as_array().into_iter().flatten() {
        let name = all
            .into_iter()
            .flatten()
            .find(|workspace| workspace["id"] == *id)
            .map_or_else(|| field_of(id), |workspace| field(workspace, "name"));
        notes.push(format!("the index of {} is being made: hits may be missing", one_line(name)));
    }
    notes
}

/// The snippet in a style, with what matches the query standing out.
fn marked(hit: &Value, style: Style) -> String {
    let snippet = field(hit, "snippet");
    let mut text = String::new();
    let mut at = 0;
    let offset = |span: &Value, name: &str| {
        span[name].as_u64().and_then(|offset| usize::try_from(offset).ok())
    };
    let plain = |text: &mut String, part: &str| {
        if !part.is_empty() {
            text.push_str(&styled(style, &one_line(part)));
        }
    };
    for span in hit["spans"].as_array().into_iter().flatten() {
        let (Some(start), Some(end)) = (offset(span, "start_utf8"), offset(span, "end_utf8"))
        else {
            continue;
        };
        let (Some(before), Some(matching)) = (snippet.get(at..start), snippet.get(start..end))
        else {
            continue;
        };
        plain(&mut text, before);
        text.push_str(&styled(MATCH, &one_line(matching)));
        at = end;
    }
    plain(&mut text, snippet.get(at..).unwrap_or_default());
    text
}

/// A text in one line without what could command a terminal.
fn one_line(text: &str) -> String {
    clean(text).replace(['\n', '\t'], " ")
}

/// The end of an ID, by which other commands take it.
fn tail(id: &str) -> String {
    let digits: Vec<char> = id.chars().filter(char::is_ascii_hexdigit).collect();
    let from = digits.len().saturating_sub(TAIL_DIGITS);
    digits.into_iter().skip(from).collect()
}

fn field<'a>(value: &'a Value, name: &str) -> &'a str {
    field_of(&value[name])
}

fn field_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    fn hit(more: &Value) -> Value {
        let mut hit = json!({
            "workspace": "w1", "workspace_name": "Personal",
            "document": "0198c2f0-7a3b-7c1d-9e2f-4b5a6c7d8e9f", "document_kind": "page",
            "node": "0198c2f0-7a3b-7c1d-9e2f-0000000000ab", "kind": "task", "field": "text",
            "title": "Trip", "breadcrumb": ["Travel", "To do"],
            "snippet": "Buy the tickets\nfor Rome", "spans": [{ "start_utf8": 8, "end_utf8": 15 }, { "start_utf8": 20, "end_utf8": 24 }],
            "lifecycle": "live", "score": 1.5, "modified_at": "2026-12-01T08:00:00.000Z",
        });
        hit.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        hit
    }

    #[test]
    fn hits_are_readable_without_colours() {
        let title = json!({ "node": null, "kind": "title", "field": "title", "title": "Rome", "breadcrumb": [],
            "snippet": "Rome", "spans": [{ "start_utf8": 0, "end_utf8": 4 }], "workspace": "w2",
            "workspace_name": "Wo\nrk", "lifecycle": "trash", "other_matches": 1 });
        let tag = json!({ "field": "tag", "snippet": "travel/rome", "spans": [{ "start_utf8": 7, "end_utf8": 11 }],
            "other_matches": 7 });
        let found = json!({ "hits": [hit(&json!({})), hit(&title), hit(&tag)], "next_offset": 3,
            "incomplete": true, "query_cut": true, "updating_workspaces": ["w2", "w3"] });
        let workspaces = json!({ "workspaces": [{ "id": "w2", "name": "Work" }] });
        let expected = "\
Trip  Travel › To do
  Buy the tickets for Rome
  6c7d8e9f · task 000000ab · 2026-12-01 · Personal

Rome
  6c7d8e9f · 1 more place · 2026-12-01 · in the trash · Wo rk

Trip  Travel › To do
  travel/rome
  6c7d8e9f · task 000000ab · in a tag · 7 more places · 2026-12-01 · Personal

more hits: --offset 3
there was too much to look at: weaker hits may be missing
the query is too long: only its beginning was searched
the index of Work is being made: hits may be missing
the index of w3 is being made: hits may be missing
";
        assert_eq!(plain(&render(&found, "rome", &workspaces)), expected);
    }

    #[test]
    fn matches_stand_out_and_wrong_spans_harm_nothing() {
        let found = marked(&hit(&json!({})), Style::new());
        assert!(
            found.contains(&styled(MATCH, "tickets")) && found.contains(&styled(MATCH, "Rome")),
            "{found:?}"
        );
        for spans in [
            json!([{ "start_utf8": 1, "end_utf8": 2 }]),
            json!([{ "start_utf8": 4, "end_utf8": 2 }]),
            json!([{ "start_utf8": 0, "end_utf8": 99 }]),
            json!([{ "start_utf8": 0, "end_utf8": 2 }, { "start_utf8": 0, "end_utf8": 2 }]),
            json!([{ "start_utf8": -1, "end_utf8": "x" }]),
            json!("none"),
        ] {
            let odd = hit(&json!({ "snippet": "üü", "spans": spans }));
            assert_eq!(plain(&marked(&odd, BOLD)), "üü", "{odd}");
        }
    }

    #[test]
    fn nothing_of_a_text_commands_the_terminal() {
        let evil = "\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\r\u{8}";
        let odd = hit(
            &json!({ "title": evil, "snippet": evil, "breadcrumb": [evil], "workspace_name": evil,
            "kind": evil, "modified_at": evil, "spans": [{ "start_utf8": 0, "end_utf8": 1 }] }),
        );
        let found = json!({ "hits": [odd, hit(&json!({ "workspace": "w2", "workspace_name": evil }))],
            "corrected_query": evil, "updating_workspaces": ["w2", evil] });
        let workspaces = json!({ "workspaces": [{ "id": "w2", "name": evil }] });
        let shown = plain(&render(&found, evil, &workspaces));
        let commands =
            |c: char| c != '\n' && (c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c));
        assert!(!shown.contains(commands), "{shown:?}");
    }

    #[test]
    fn nothing_found_and_what_was_meant_are_said() {
        let none = json!({ "hits": [], "updating_workspaces": [] });
        assert_eq!(plain(&render(&none, "x", &json!({}))), "nothing found\n");
        let corrected = json!({ "hits": [hit(&json!({}))], "corrected_query": "tickets" });
        let shown = plain(&render(&corrected, "tikets", &json!({})));
        assert!(
            shown.starts_with("nothing holds tikets; did you mean tickets?\n\nTrip"),
            "{shown}"
        );
    }
}
