//! What an operand of a filter means for values of each kind.
//!
//! A value and an operand may be different kinds of time. What has no zone is read in the service's:
//! a date against date-times is its whole day, from its first instant to that of the next day; a date-time without zone against
//! instants is the first instant at which a clock shows it (or would show it). Dates are compared with the day of
//! a date-time, date-times without zone with what a clock shows at an instant.

use std::cmp::Ordering;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use koru_model::comparable::{Comparable, Decimal, Moment, day_of};
use koru_model::value::{Value, ValueKind};

/// An operand of a filter.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operand {
    Date(Date),
    Instant(Moment),
    Local(DateTime),
    Number(Decimal),
    Other(Comparable),
}

/// An end of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// There is none.
    Open,
    /// The value is inside.
    With(Comparable),
    /// The value is outside.
    Without(Comparable),
}

/// Values of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) from: End,
    pub(super) until: End,
}

/// The values of one kind that an operand stands for; never none in the middle.
struct Extent {
    from: Comparable,
    until: End,
}

impl Operand {
    /// The operand as a value of the kind; none where it is no such value.
    pub(super) fn read(kind: ValueKind, text: &str) -> Option<Self> {
        let value = Value { kind, value: text.into() };
        value.check().ok()?;
        Some(match (kind, Comparable::of(&value)?) {
            (ValueKind::Date, _) => Self::Date(text.parse().ok()?),
            (ValueKind::DatetimeFloating, _) => Self::Local(text.parse().ok()?),
            (_, Comparable::Instant(moment)) => Self::Instant(moment),
            (_, Comparable::Number(number)) => Self::Number(number),
            (_, other) => Self::Other(other),
        })
    }

    fn extent(&self, kind: ValueKind, zone: &TimeZone) -> Option<Extent> {
        let one = |value: Comparable| Extent { from: value.clone(), until: End::With(value) };
        let day = |from, until| Extent { from, until: End::Without(until) };
        Some(match (self, kind) {
            (Self::Date(date), ValueKind::Date) => one(Comparable::Day(day_of(*date))),
            (Self::Date(date), ValueKind::DatetimeZoned) => day(
                Comparable::Instant(Moment::start_of_day(*date, zone)),
                Comparable::Instant(Moment::end_of_day(*date, zone)),
            ),
            (Self::Date(date), ValueKind::DatetimeFloating) => day(
                Comparable::Local(Moment::midnight(day_of(*date))),
                Comparable::Local(Moment::midnight(day_of(*date) + 1)),
            ),
            (Self::Instant(moment), ValueKind::Date) => {
                one(Comparable::Day(moment.to_local(zone).day()))
            }
            (Self::Instant(moment), ValueKind::DatetimeZoned) => one(Comparable::Instant(*moment)),
            (Self::Instant(moment), ValueKind::DatetimeFloating) => {
                one(Comparable::Local(moment.to_local(zone)))
            }
            (Self::Local(local), ValueKind::Date) => one(Comparable::Day(day_of(local.date()))),
            (Self::Local(local), ValueKind::DatetimeZoned) => {
                one(Comparable::Instant(Moment::of_local(*local, zone)))
            }
            (Self::Local(local), ValueKind::DatetimeFloating) => {
                one(Comparable::Local(Moment::of_civil(*local)))
            }
            (Self::Number(number), ValueKind::Number) => one(Comparable::Number(number.clone())),
            (Self::Other(value @ Comparable::Bool(_)), ValueKind::Bool)
            | (Self::Other(value @ Comparable::Text(_)), ValueKind::Text | ValueKind::Url) => {
                one(value.clone())
            }
            _ => return None,
        })
    }
}

impl Range {
    /// What the operand stands for.
    pub(super) fn is(operand: &Operand, kind: ValueKind, zone: &TimeZone) -> Option<Self> {
        let Extent { from, until } = operand.extent(kind, zone)?;
        Some(Self { from: End::With(from), until })
    }

    /// What comes before the operand.
    pub(super) fn before(operand: &Operand, kind: ValueKind, zone: &TimeZone) -> Option<Self> {
        let Extent { from, .. } = operand.extent(kind, zone)?;
        Some(Self { from: End::Open, until: End::Without(from) })
    }

    /// What comes after the operand.
    pub(super) fn after(operand: &Operand, kind: ValueKind, zone: &TimeZone) -> Option<Self> {
        let from = match operand.extent(kind, zone)?.until {
            End::With(last) => End::Without(last),
            End::Without(next) => End::With(next),
            End::Open => return None,
        };
        Some(Self { from, until: End::Open })
    }

    /// The operands and what lies between them.
    pub(super) fn between(
        low: &Operand,
        high: &Operand,
        kind: ValueKind,
        zone: &TimeZone,
    ) -> Option<Self> {
        let Extent { from, .. } = low.extent(kind, zone)?;
        let Extent { until, .. } = high.extent(kind, zone)?;
        Some(Self { from: End::With(from), until })
    }

    /// Whether nothing lies between the operands because the first is above the second.
    pub(super) fn is_reversed(
        low: &Operand,
        high: &Operand,
        kind: ValueKind,
        zone: &TimeZone,
    ) -> Option<bool> {
        let low = low.extent(kind, zone)?.from;
        let high = high.extent(kind, zone)?;
        let is_below = match &high.until {
            End::Open => false,
            End::With(until) => low > *until,
            End::Without(until) => low >= *until,
        };
        // A day that a zone left out has no instant, but is no later than itself.
        Some(is_below && low > high.from)
    }

    pub(super) fn holds(&self, value: &Comparable) -> bool {
        let from = match &self.from {
            End::Open => true,
            End::With(from) => value.cmp(from) != Ordering::Less,
            End::Without(from) => value.cmp(from) == Ordering::Greater,
        };
        let until = match &self.until {
            End::Open => true,
            End::With(until) => value.cmp(until) != Ordering::Greater,
            End::Without(until) => value.cmp(until) == Ordering::Less,
        };
        from && until
    }
}
