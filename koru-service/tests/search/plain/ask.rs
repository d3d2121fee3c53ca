//! Random searches.

use koru_model::node::Kind;
use koru_model::value::ValueKind;
use serde_json::{Value, json};

use super::chance::Chance;
use super::make::{KEYS, TAGS, WORDS, common};
use super::values::{compare, is_time, pool};
use super::world::World;

fn prefix(chance: &mut Chance, word: &str) -> String {
    let count = word.chars().count();
    word.chars().take(1 + chance.below(count)).collect()
}

/// A stretch of a text that stands somewhere.
fn stretch(chance: &mut Chance, world: &World) -> String {
    let document = chance.pick(&world.documents);
    let node = chance.pick(&document.nodes);
    let chars: Vec<char> = node.text.chars().filter(|c| *c != '"').collect();
    let start = chance.below(chars.len());
    chars.iter().skip(start).take(1 + chance.below(12)).collect()
}

pub(super) fn query(chance: &mut Chance, world: &World) -> String {
    let mut query = String::new();
    if chance.one_in(8) {
        return query;
    }
    let most = if chance.one_in(3) { 1 } else { 4 };
    for index in 0..=chance.below(most) {
        if index > 0 {
            query.push(' ');
        }
        match chance.below(8) {
            0 => query.push_str(&format!("\"{}\"", stretch(chance, world))),
            1 => query.push_str(&stretch(chance, world)),
            2 => {
                let word = chance.word(WORDS);
                query.push_str(&prefix(chance, word));
            }
            3 => query.push_str(&common(chance).to_uppercase()),
            4 if chance.one_in(4) => {
                query.push_str(chance.word(&["alphabte", "alhpa", "getuserrname"]));
            }
            _ => query.push_str(common(chance)),
        }
    }
    query.push_str(chance.word(&["", "", "", " ", " ", "*", "\"", ")", " -", "\u{301}"]));
    query
}

fn filter(chance: &mut Chance) -> Value {
    let (key, kinds) = *chance.pick(KEYS);
    let kind = *chance.pick(kinds);
    let pool = pool(kind);
    let mut operands = [chance.word(&pool), chance.word(&pool)];
    let value = koru_model::value::Value { kind, value: operands[0].to_owned() };
    if compare(&value, operands[1]).is_some_and(std::cmp::Ordering::is_gt) {
        operands.swap(0, 1);
    }
    let is_ordered = is_time(kind) || kind == ValueKind::Number;
    let op = match chance.below(if is_ordered { 7 } else { 4 }) {
        0 => "exists",
        1 => "missing",
        2 => "is",
        3 => "one_of",
        4 => "before",
        5 => "after",
        _ => "between",
    };
    let mut filter = json!({ "key": key, "op": op });
    let operands: &[&str] = match op {
        "exists" | "missing" => &[],
        "one_of" | "between" => &operands,
        _ => operands.get(..1).unwrap(),
    };
    if kind == ValueKind::Number && chance.one_in(2) && !operands.is_empty() {
        let numbers: Vec<serde_json::Number> =
            operands.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
        filter["numeric_values"] = json!(numbers);
    } else if !operands.is_empty() {
        filter["values"] = json!(operands);
    }
    if chance.one_in(3) {
        filter["kinds"] = json!([kind]);
    }
    filter
}

/// The arguments of a search, but for the page.
pub(super) fn params(chance: &mut Chance, world: &World) -> Value {
    let mut params = json!({ "query": query(chance, world) });
    for _ in 0..chance.below(4) {
        match chance.below(8) {
            0 => {
                let kinds: Vec<&str> =
                    (0..1 + chance.below(3)).map(|_| chance.pick(&Kind::ALL).name()).collect();
                params["kinds"] = json!(kinds);
            }
            1 => params["done"] = chance.one_in(2).into(),
            2 => {
                let tag = |chance: &mut Chance| match chance.below(4) {
                    0 => chance.word(TAGS).to_uppercase(),
                    1 => format!("#{}", chance.word(TAGS)),
                    _ => chance.word(TAGS).to_owned(),
                };
                let tags: Vec<String> = (0..1 + chance.below(2)).map(|_| tag(chance)).collect();
                params["tags"] = json!(tags);
            }
            3 | 4 => {
                let filters: Vec<Value> =
                    (0..1 + chance.below(2)).map(|_| filter(chance)).collect();
                params["attributes"] = json!(filters);
            }
            5 if params["document_id"].is_null() => {
                let ids: Vec<String> = (0..1 + chance.below(2))
                    .map(|_| chance.pick(&world.workspaces).id.to_string())
                    .collect();
                params["workspace_ids"] = json!(ids);
            }
            6 => params["lifecycle"] = json!(chance.word(&["live", "trash", "all"])),
            _ => {
                let document = chance.pick(&world.documents);
                let workspace = &world.workspaces[document.workspace];
                params["document_id"] = json!(document.id);
                // A document is looked for where the search looks.
                params["workspace_ids"] = if workspace.is_deleted || chance.one_in(2) {
                    json!([workspace.id])
                } else {
                    Value::Null
                };
                params["lifecycle"] = json!(chance.word(&["live", "trash", "all"]));
            }
        }
    }
    if chance.one_in(2) {
        params["per"] = json!(chance.word(&["document", "node"]));
    }
    if chance.one_in(2) {
        params["sort"] =
            json!(chance.word(&["relevance", "observed_modified", "last_used_workspace"]));
    }
    params
}
