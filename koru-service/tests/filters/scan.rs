//! What the contract means by filters, said plainly: every node of every document is looked at.

use std::cmp::Ordering;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;

use crate::world::Seen;

/// The plain meaning of the contract: whether this very node passes all filters.
pub(crate) fn passes(node: &Value, document: &Seen, params: &Value, zone: &TimeZone) -> bool {
    let list = |field: &str| params[field].as_array().cloned().unwrap_or_default();
    let carriers = [node, &document.nodes[0]];
    let kinds = list("kinds");
    let kind = kinds.is_empty() || kinds.contains(&node["kind"]);
    let done = match params["done"].as_bool() {
        Some(done) => node["kind"] == "task" && node["done"].as_bool().unwrap_or(false) == done,
        None => true,
    };
    let tags = list("tags").iter().all(|wanted| {
        let wanted = plain(wanted.as_str().unwrap().trim().trim_start_matches('#'));
        carriers.iter().any(|carrier| {
            carrier["tags"].as_array().into_iter().flatten().any(|tag| {
                let name = plain(tag["name"].as_str().unwrap());
                name == wanted || name.starts_with(&format!("{wanted}/"))
            })
        })
    });
    let attributes = list("attributes").iter().all(|filter| {
        let has = carriers.iter().any(|carrier| {
            let attributes = carrier["attributes"].as_array().into_iter().flatten();
            let mut values = attributes.filter(|found| found["key"] == filter["key"]);
            values.any(|found| is_met(&found["value"], filter, zone))
        });
        has != (filter["op"] == "missing")
    });
    kind && done && tags && attributes
}

fn plain(text: &str) -> String {
    text.nfc().collect::<String>().to_lowercase().nfc().collect()
}

/// Whether a value is what a filter asks for; for `missing`, whether it is there.
fn is_met(value: &Value, filter: &Value, zone: &TimeZone) -> bool {
    let kind = value["kind"].as_str().unwrap();
    if let Some(kinds) = filter["kinds"].as_array()
        && !kinds.contains(&value["kind"])
    {
        return false;
    }
    let has_order = kind == "number" || kind.starts_with("date");
    let needs_order = ["before", "after", "between"].iter().any(|op| filter["op"] == *op);
    if needs_order && !has_order {
        return false;
    }
    let texts = filter["values"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|text| text.as_str().unwrap().to_owned());
    let numbers = filter["numeric_values"]
        .as_array()
        .into_iter()
        .flatten()
        .map(ToString::to_string)
        .filter(|_| kind == "number");
    let orders: Vec<Option<Ordering>> = texts
        .chain(numbers)
        .map(|operand| {
            let operand_kind = if !kind.starts_with("date") {
                kind
            } else if operand.len() == 10 {
                "date"
            } else if operand.len() < 30
                && !operand.contains('Z')
                && operand.matches(['+', '[']).count() == 0
                && operand.matches('-').count() == 2
            {
                "datetime_floating"
            } else {
                "datetime_zoned"
            };
            order(kind, value["value"].as_str().unwrap(), operand_kind, &operand, zone)
        })
        .collect();
    let is = |place: usize, wanted: &[Ordering]| {
        orders.get(place).copied().flatten().is_some_and(|found| wanted.contains(&found))
    };
    match filter["op"].as_str().unwrap() {
        "is" | "one_of" => (0..orders.len()).any(|place| is(place, &[Ordering::Equal])),
        "before" => is(0, &[Ordering::Less]),
        "after" => is(0, &[Ordering::Greater]),
        "between" => {
            is(0, &[Ordering::Equal, Ordering::Greater])
                && is(1, &[Ordering::Equal, Ordering::Less])
        }
        _ => true,
    }
}

/// Where a value stands to an operand; equal where it lies within a day. None where they cannot be compared.
pub(crate) fn order(
    kind: &str,
    value: &str,
    operand_kind: &str,
    operand: &str,
    zone: &TimeZone,
) -> Option<Ordering> {
    let instant = |text: &str| text.split('[').next().unwrap().parse::<jiff::Timestamp>().ok();
    let date = |text: &str| text.parse::<Date>().ok();
    let local = |text: &str| text.parse::<DateTime>().ok();
    let clock = |at: jiff::Timestamp| zone.to_datetime(at);
    Some(match (kind, operand_kind) {
        ("date", "date") => date(value)?.cmp(&date(operand)?),
        ("date", "datetime_zoned") => date(value)?.cmp(&clock(instant(operand)?).date()),
        ("date", "datetime_floating") => date(value)?.cmp(&local(operand)?.date()),
        ("datetime_zoned", "date") => clock(instant(value)?).date().cmp(&date(operand)?),
        ("datetime_zoned", "datetime_zoned") => instant(value)?.cmp(&instant(operand)?),
        ("datetime_zoned", "datetime_floating") => {
            instant(value)?.cmp(&zone.to_timestamp(local(operand)?).ok()?)
        }
        ("datetime_floating", "date") => local(value)?.date().cmp(&date(operand)?),
        ("datetime_floating", "datetime_zoned") => local(value)?.cmp(&clock(instant(operand)?)),
        ("datetime_floating", "datetime_floating") => local(value)?.cmp(&local(operand)?),
        ("number", "number") => number_order(value, operand)?,
        // What has no order is equal or not.
        _ => plain(value).cmp(&plain(operand)),
    })
}

/// Compares two numbers by their digits, written out.
fn number_order(left: &str, right: &str) -> Option<Ordering> {
    let (left, right) = (written_out(left)?, written_out(right)?);
    Some(match (left.0, right.0) {
        (false, false) => left.1.cmp(&right.1),
        (true, true) => right.1.cmp(&left.1),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
    })
}

/// Whether a number is negative, and 500 digits on either side of its point.
fn written_out(text: &str) -> Option<(bool, String)> {
    serde_json::from_str::<serde_json::Number>(text).ok()?;
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let point = 500 - exponent.parse::<i32>().ok()?;
    let point = usize::try_from(point).ok()?;
    let mut digits = vec![b'0'; 1_100];
    for (place, digit) in whole.bytes().rev().enumerate() {
        digits[point - 1 - place] = digit;
    }
    for (place, digit) in fraction.bytes().enumerate() {
        digits[point + place] = digit;
    }
    let digits = String::from_utf8(digits).unwrap();
    let is_zero = digits.bytes().all(|digit| digit == b'0');
    Some((negative && !is_zero, digits))
}
