//! Random filters.

use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::scan::order;
use crate::world::{KEYS, TAGS, World, values};

/// The operators; the first three kinds of filter are `kinds`, `done` and `tags`.
pub(crate) const OPS: &[&str] =
    &["is", "one_of", "before", "after", "between", "exists", "missing"];

impl World {
    /// Adds a filter to the parameters of a search.
    pub(crate) fn a_filter(&mut self, which: usize, params: &mut Value) {
        match which {
            0 => {
                let kinds =
                    [&["task"][..], &["title"], &["heading", "title"], &["code", "quote", "task"]];
                params["kinds"] = json!(self.chance.pick(&kinds));
            }
            1 => params["done"] = self.chance.one_in(2).into(),
            2 => {
                let tag =
                    format!("{}{}", self.chance.pick(&["", "#", " "]), self.chance.pick(TAGS));
                let tag = if self.chance.one_in(2) { tag.to_uppercase() } else { tag };
                push(
                    params,
                    "tags",
                    if self.chance.one_in(12) { "unheard of".into() } else { tag.into() },
                );
            }
            _ => {
                let op = OPS[which - 3];
                let filter = self.attribute_filter(op);
                push(params, "attributes", filter);
            }
        }
    }

    fn attribute_filter(&mut self, op: &str) -> Value {
        let is_ordered = |kind: &str| kind == "number" || kind.starts_with("date");
        loop {
            let (key, kinds) = *self.chance.pick(KEYS);
            let needs_order = matches!(op, "before" | "after" | "between");
            if needs_order && !kinds.iter().any(|kind| is_ordered(kind)) {
                continue;
            }
            let mut filter = json!({ "key": key, "op": op });
            let taken: Vec<&str> =
                kinds.iter().copied().filter(|kind| !needs_order || is_ordered(kind)).collect();
            let mut compared = taken.clone();
            if self.chance.one_in(4) {
                compared = vec![*self.chance.pick(&taken)];
                filter["kinds"] = json!(compared);
            }
            let count = match op {
                "exists" | "missing" => 0,
                "between" => 2,
                "one_of" => 1 + self.chance.below(3),
                _ => 1,
            };
            // Any kind of time is an operand for any other.
            let mut kind = *self.chance.pick(&compared);
            if kind.starts_with("date") {
                kind = *self.chance.pick(&["date", "datetime_zoned", "datetime_floating"]);
            }
            let texts =
                if key == "koru.priority" { &["URGENT", "low", "none"] } else { values(kind) };
            let mut operands: Vec<&str> = (0..count).map(|_| *self.chance.pick(texts)).collect();
            if op == "between" {
                operands.sort_by(|left, right| {
                    order(kind, left, kind, right, &TimeZone::UTC).unwrap().then(left.cmp(right))
                });
            }
            if kind == "number" && self.chance.one_in(2) {
                let numbers: Vec<Value> =
                    operands.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
                filter["numeric_values"] = json!(numbers);
            } else if count > 0 {
                filter["values"] = json!(operands);
            }
            return filter;
        }
    }
}

fn push(params: &mut Value, field: &str, value: Value) {
    match params[field].as_array_mut() {
        Some(list) => list.push(value),
        None => params[field] = json!([value]),
    }
}
