//! Attribute filters as they are given, checked and made ready: all faults at once, with their paths.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use koru_model::comparable::{is_ordered, is_time, time_shape};
use koru_model::protocol::error::Problem;
use koru_model::protocol::tools::{AttributeFilter, AttributeOp};
use koru_model::text;
use koru_model::value::{Value, ValueKind};

use super::range::{Operand, Range};

/// The most operands of one filter: each one is looked up.
const OPERANDS: usize = 1_000;

/// A filter that has been checked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Condition {
    pub(super) key: String,
    pub(super) test: Test,
}

/// What holds for a node that passes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Test {
    /// It has a value of one of the kinds, or of any where none is given.
    Exists(Vec<ValueKind>),
    /// It has none.
    Missing(Vec<ValueKind>),
    /// It has a value in one of the ranges.
    In(Vec<(ValueKind, Range)>),
}

/// The keys of the searched workspaces, each with all kinds that it takes in one of them.
pub(super) type Known = BTreeMap<String, Vec<ValueKind>>;

/// What is wrong with filters.
#[derive(Debug, Default)]
pub(super) struct Faults {
    pub(super) problems: Vec<Problem>,
    /// Keys that no workspace knows, with their paths.
    pub(super) unknown: Vec<(String, String)>,
}

impl Faults {
    pub(super) fn add(&mut self, path: impl Into<String>, reason: impl Into<String>) {
        self.problems.push(Problem::new(path, reason));
    }
}

/// The filter ready for use; none where it is wrong, which `faults` tells then.
pub(super) fn condition(
    index: usize,
    filter: &AttributeFilter,
    known: &Known,
    zone: &TimeZone,
    faults: &mut Faults,
) -> Option<Condition> {
    let before = (faults.problems.len(), faults.unknown.len());
    let path = format!("attributes[{index}]");
    let takes = known.get(&filter.key);
    if takes.is_none() {
        faults.unknown.push((format!("{path}.key"), filter.key.clone()));
    }
    let reading = Reading { filter, path, zone };
    let is_counted = reading.count(faults);
    let given = filter.kinds.as_deref().unwrap_or_default();
    let test = match filter.op {
        AttributeOp::Exists => Test::Exists(given.to_vec()),
        AttributeOp::Missing => Test::Missing(given.to_vec()),
        _ => {
            let kinds = reading.kinds(given, takes, faults)?;
            let operands = reading.operands(&kinds, faults);
            if !is_counted || faults.problems.len() > before.0 {
                return None;
            }
            Test::In(reading.ranges(&kinds, &operands, faults))
        }
    };
    let is_right = (faults.problems.len(), faults.unknown.len()) == before;
    is_right.then(|| Condition { key: filter.key.clone(), test })
}

/// An operand may be read as values of several kinds: `1` is a number and a text.
type Readings = Vec<Operand>;

struct Reading<'a> {
    filter: &'a AttributeFilter,
    path: String,
    zone: &'a TimeZone,
}

impl Reading<'_> {
    fn values(&self) -> &[String] {
        self.filter.values.as_deref().unwrap_or_default()
    }

    fn numbers(&self) -> &[serde_json::Number] {
        self.filter.numeric_values.as_deref().unwrap_or_default()
    }

    /// Whether there are as many operands as the operator takes.
    fn count(&self, faults: &mut Faults) -> bool {
        let count = self.values().len() + self.numbers().len();
        let (is_right, takes) = match self.filter.op {
            AttributeOp::Is => (count == 1, "is takes one operand (one_of takes several)"),
            AttributeOp::OneOf => {
                ((1..=OPERANDS).contains(&count), "one_of takes 1 to 1,000 operands")
            }
            AttributeOp::Before => (count == 1, "before takes one operand"),
            AttributeOp::After => (count == 1, "after takes one operand"),
            AttributeOp::Between => (count == 2, "between takes two operands, the lower one first"),
            AttributeOp::Exists => (count == 0, "exists takes no operands"),
            AttributeOp::Missing => (count == 0, "missing takes no operands"),
        };
        if !is_right {
            let field =
                if self.values().is_empty() && count > 0 { "numeric_values" } else { "values" };
            let reason = format!("{takes}, in values or numeric_values; here are {count}");
            faults.add(format!("{}.{field}", self.path), reason);
        }
        is_right
    }

    /// The kinds of value that are compared; none where they are not known or cannot be.
    fn kinds(
        &self,
        given: &[ValueKind],
        takes: Option<&Vec<ValueKind>>,
        faults: &mut Faults,
    ) -> Option<Vec<ValueKind>> {
        let needs_order = match self.filter.op {
            AttributeOp::Before | AttributeOp::After | AttributeOp::Between => true,
            AttributeOp::Is | AttributeOp::OneOf | AttributeOp::Exists | AttributeOp::Missing => {
                false
            }
        };
        let can_be_compared = |kind: &ValueKind| !needs_order || is_ordered(*kind);
        let instead = "before, after and between take date, datetime_zoned, datetime_floating and number; is and one_of take all kinds";
        if given.is_empty() {
            let kinds: Vec<_> = takes?.iter().copied().filter(can_be_compared).collect();
            if kinds.is_empty() {
                let takes = names(takes?);
                let key = text::window(&self.filter.key, 0);
                let reason = format!("{key} takes {takes}, which has no order; {instead}");
                faults.add(format!("{}.op", self.path), reason);
                return None;
            }
            return Some(kinds);
        }
        for (index, kind) in given.iter().enumerate().filter(|(_, kind)| !can_be_compared(kind)) {
            let reason = format!("{} has no order; {instead}", kind.name());
            faults.add(format!("{}.kinds[{index}]", self.path), reason);
        }
        Some(given.iter().copied().filter(can_be_compared).collect())
    }

    fn operands(&self, kinds: &[ValueKind], faults: &mut Faults) -> Vec<Readings> {
        let values = self.values().iter().take(OPERANDS).enumerate().map(|(index, text)| {
            let readings = readings(kinds, text);
            let fault = (readings.is_empty() && !kinds.is_empty()).then(|| fault(kinds, text));
            (format!("values[{index}]"), readings, fault)
        });
        let has_numbers = kinds.contains(&ValueKind::Number);
        let numbers = self.numbers().iter().take(OPERANDS).enumerate().map(|(index, number)| {
            let kinds = if has_numbers { &[ValueKind::Number][..] } else { &[] };
            let readings = readings(kinds, &number.to_string());
            let fault = readings.is_empty().then(|| {
                if has_numbers {
                    "is no finite number".to_owned()
                } else {
                    let compared = names(&self.filter.kinds.clone().unwrap_or_else(|| kinds.to_vec()));
                    let kinds = if compared.is_empty() { "no numbers".into() } else { compared };
                    format!("numbers are compared with values of the kind number alone, and here are {kinds}; use values")
                }
            });
            (format!("numeric_values[{index}]"), readings, fault)
        });
        let mut operands = Vec::new();
        for (field, readings, fault) in values.chain(numbers) {
            if let Some(reason) = fault {
                faults.add(format!("{}.{field}", self.path), reason);
            }
            operands.push(readings);
        }
        operands
    }

    fn ranges(
        &self,
        kinds: &[ValueKind],
        operands: &[Readings],
        faults: &mut Faults,
    ) -> Vec<(ValueKind, Range)> {
        let zone = self.zone;
        let of_one = |range: fn(&Operand, ValueKind, &TimeZone) -> Option<Range>| {
            let mut ranges = Vec::new();
            for readings in operands {
                for kind in kinds {
                    let found = readings.iter().find_map(|operand| range(operand, *kind, zone));
                    let range = found.map(|range| (*kind, range));
                    // Each is looked up once, however often it is named.
                    ranges.extend(range.filter(|range| !ranges.contains(range)));
                }
            }
            ranges
        };
        match self.filter.op {
            AttributeOp::Before => of_one(Range::before),
            AttributeOp::After => of_one(Range::after),
            AttributeOp::Between => self.between(kinds, operands, faults),
            AttributeOp::Is | AttributeOp::OneOf | AttributeOp::Exists | AttributeOp::Missing => {
                of_one(Range::is)
            }
        }
    }

    fn between(
        &self,
        kinds: &[ValueKind],
        operands: &[Readings],
        faults: &mut Faults,
    ) -> Vec<(ValueKind, Range)> {
        let [low, high] = operands else { return Vec::new() };
        let zone = self.zone;
        let pairs = || low.iter().flat_map(|low| high.iter().map(move |high| (low, high)));
        let ranges: Vec<_> = kinds
            .iter()
            .filter_map(|kind| {
                pairs().find_map(|(low, high)| {
                    let range = Range::between(low, high, *kind, zone)?;
                    let is_reversed = Range::is_reversed(low, high, *kind, zone)?;
                    Some((*kind, range, is_reversed))
                })
            })
            .collect();
        let field = if self.values().is_empty() { "numeric_values" } else { "values" };
        let path = format!("{}.{field}", self.path);
        if ranges.is_empty() {
            faults.add(path, "the two operands are of different kinds; give two of one kind");
        } else if ranges.iter().all(|(_, _, is_reversed)| *is_reversed) {
            faults.add(path, "the first operand is above the second; give the lower one first");
        }
        ranges.into_iter().map(|(kind, range, _)| (kind, range)).collect()
    }
}

fn names(kinds: &[ValueKind]) -> String {
    kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ")
}

/// What a text stands for among values of the kinds. Any kind of time can be compared with any other.
fn readings(kinds: &[ValueKind], text: &str) -> Readings {
    let mut read: Vec<ValueKind> = kinds.iter().copied().filter(|kind| !is_time(*kind)).collect();
    if read.len() < kinds.len() {
        read.push(time_shape(text));
    }
    read.into_iter().filter_map(|kind| Operand::read(kind, text)).collect()
}

/// Why a text stands for none.
fn fault(kinds: &[ValueKind], text: &str) -> String {
    let has_times = kinds.iter().any(|kind| is_time(*kind));
    let others = kinds.iter().copied().filter(|kind| !is_time(*kind));
    let tried: Vec<ValueKind> = others.chain(has_times.then(|| time_shape(text))).collect();
    let reasons =
        tried.iter().filter_map(|kind| Value { kind: *kind, value: text.into() }.check().err());
    let mut reasons: Vec<String> = reasons.collect();
    reasons.dedup();
    reasons.join("; it ")
}
