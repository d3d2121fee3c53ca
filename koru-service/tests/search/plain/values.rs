//! Attribute values of the random documents, and a plain reading of the filters' operators.

use std::cmp::Ordering;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use koru_model::protocol::tools::{AttributeFilter, AttributeOp};
use koru_model::value::{Value, ValueKind};

use super::world::Node;

/// Numbers with their place in the order; the same place: equal.
pub(super) const NUMBERS: &[(&str, u8)] = &[
    ("-7", 0),
    ("0", 1),
    ("-0.0", 1),
    ("0.1", 2),
    ("1", 3),
    ("1.0", 3),
    ("10e-1", 3),
    ("9007199254740992", 4),
    ("9007199254740993", 5),
    ("9.007199254740993e+15", 5),
    ("123456789012345678901234567890", 6),
];
pub(super) const DATES: &[&str] = &["2026-11-30", "2026-12-01", "2026-12-02", "2026-12-24"];
pub(super) const INSTANTS: &[&str] = &[
    "2026-12-01T00:00:00Z",
    "2026-11-30T23:59:59.999999999Z",
    "2026-12-01T01:00:00+01:00[Europe/Berlin]",
    "2026-12-01T12:00:00-08:00",
    "2026-12-02T00:00:00Z",
    "2026-12-24T18:00:00+01:00[Europe/Berlin]",
];
pub(super) const LOCALS: &[&str] =
    &["2026-12-01T00:00:00", "2026-11-30T23:59:59", "2026-12-01T12:00:00", "2026-12-24T18:00:00"];
pub(super) const TEXTS: &[&str] = &["alpha", "Alpha", "beta gamma", "1", "東京", "café", "CAFÉ"];
pub(super) const URLS: &[&str] =
    &["https://example.com/alpha", "HTTPS://example.com/Alpha", "https://example.org/"];

pub(super) fn pool(kind: ValueKind) -> Vec<&'static str> {
    match kind {
        ValueKind::Date => DATES.to_vec(),
        ValueKind::DatetimeZoned => INSTANTS.to_vec(),
        ValueKind::DatetimeFloating => LOCALS.to_vec(),
        ValueKind::Text => TEXTS.to_vec(),
        ValueKind::Number => NUMBERS.iter().map(|(text, _)| *text).collect(),
        ValueKind::Bool => vec!["true", "false"],
        ValueKind::Url => URLS.to_vec(),
    }
}

pub(super) fn is_time(kind: ValueKind) -> bool {
    matches!(kind, ValueKind::Date | ValueKind::DatetimeZoned | ValueKind::DatetimeFloating)
}

enum Time {
    Day(Date),
    Instant(Timestamp),
    Local(DateTime),
}

fn time(text: &str) -> Option<Time> {
    let pool = |pool: &[&str]| pool.contains(&text);
    if pool(DATES) {
        Some(Time::Day(text.parse().unwrap()))
    } else if pool(LOCALS) {
        Some(Time::Local(text.parse().unwrap()))
    } else if pool(INSTANTS) {
        let bare = text.split('[').next().unwrap();
        Some(Time::Instant(bare.parse().unwrap()))
    } else {
        None
    }
}

impl Time {
    fn clock(&self, zone: &TimeZone) -> DateTime {
        match self {
            Self::Day(date) => (*date).into(),
            Self::Instant(instant) => zone.to_datetime(*instant),
            Self::Local(local) => *local,
        }
    }
}

/// How a value of a kind stands to an operand; none where they cannot be compared.
pub(super) fn compare(value: &Value, operand: &str) -> Option<Ordering> {
    let zone = TimeZone::system();
    match value.kind {
        ValueKind::Number => {
            let place = |text: &str| NUMBERS.iter().find(|(number, _)| *number == text);
            Some(place(&value.value)?.1.cmp(&place(operand)?.1))
        }
        ValueKind::Text => Some(lower(&value.value).cmp(&lower(operand))),
        // Only an URL can be equal to one.
        ValueKind::Url => Some(lower(&value.value).cmp(&lower(operand))),
        ValueKind::Bool => {
            matches!(operand, "true" | "false").then(|| value.value.as_str().cmp(operand))
        }
        _ => Some(match (time(&value.value)?, time(operand)?) {
            (Time::Instant(value), Time::Instant(operand)) => value.cmp(&operand),
            (Time::Instant(value), Time::Local(operand)) => {
                value.cmp(&zone.to_timestamp(operand).unwrap())
            }
            (value @ Time::Day(_), operand) | (value, operand @ Time::Day(_)) => {
                value.clock(&zone).date().cmp(&operand.clock(&zone).date())
            }
            (value, operand) => value.clock(&zone).cmp(&operand.clock(&zone)),
        }),
    }
}

fn lower(text: &str) -> String {
    text.to_lowercase()
}

/// Whether a node, or its title, passes a filter.
pub(super) fn passes(filter: &AttributeFilter, node: &Node, title: &Node) -> bool {
    let holds = |node: &Node| {
        node.values.iter().any(|(key, value)| *key == filter.key && holds(filter, value))
    };
    match filter.op {
        AttributeOp::Missing => !holds(node) && !holds(title),
        _ => holds(node) || holds(title),
    }
}

fn holds(filter: &AttributeFilter, value: &Value) -> bool {
    let kinds = filter.kinds.as_deref().unwrap_or_default();
    if !kinds.is_empty() && !kinds.contains(&value.kind) {
        return false;
    }
    let mut operands: Vec<String> = filter.values.clone().unwrap_or_default();
    if value.kind == ValueKind::Number {
        operands.extend(filter.numeric_values.iter().flatten().map(ToString::to_string));
    }
    let orders: Vec<Option<Ordering>> =
        operands.iter().map(|operand| compare(value, operand)).collect();
    let is_ordered = is_time(value.kind) || value.kind == ValueKind::Number;
    match filter.op {
        AttributeOp::Exists | AttributeOp::Missing => true,
        AttributeOp::Is | AttributeOp::OneOf => orders.contains(&Some(Ordering::Equal)),
        AttributeOp::Before => is_ordered && orders == [Some(Ordering::Less)],
        AttributeOp::After => is_ordered && orders == [Some(Ordering::Greater)],
        AttributeOp::Between => {
            is_ordered
                && matches!(
                    orders[..],
                    [
                        Some(Ordering::Greater | Ordering::Equal),
                        Some(Ordering::Less | Ordering::Equal)
                    ]
                )
        }
    }
}
