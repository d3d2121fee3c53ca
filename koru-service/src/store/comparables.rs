//! Attribute values as `attribute_use` keeps them, so that SQLite's own order finds them.
//!
//! `value` is a day's number, microseconds since 1970 (UTC, or as a clock shows them), the nearest float, 0 or 1, or the folded
//! text. It never falls where values rise, but may be equal for different ones; `exact` then tells what it leaves out:
//! nanoseconds, or all digits of a number. It is NULL where nothing is left out. A value that cannot be compared has
//! neither.

use koru_model::comparable::{Comparable, Decimal, Moment};
use koru_model::value::{Value, ValueKind};
use rusqlite::types::{Value as Column, ValueRef};

/// The columns of a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Columns {
    /// Its kind.
    pub kind: u8,
    /// Where it stands among others of its kind.
    pub value: Column,
    /// What `value` leaves out.
    pub exact: Column,
}

/// The number that stands for a kind of value in the store.
#[must_use]
pub fn code(kind: ValueKind) -> u8 {
    let place = ValueKind::ALL.iter().position(|known| *known == kind).unwrap_or_default();
    u8::try_from(place).unwrap_or_default()
}

/// The columns of a value.
#[must_use]
pub fn columns(value: &Value) -> Columns {
    let comparable = Comparable::of(value);
    let (place, exact) = match &comparable {
        Some(comparable) => (place(comparable), exact(comparable)),
        None => (Column::Null, Column::Null),
    };
    Columns { kind: code(value.kind), value: place, exact }
}

/// Where a value stands among others of its kind: the column `value`.
#[must_use]
pub fn place(comparable: &Comparable) -> Column {
    match comparable {
        Comparable::Day(day) => Column::Integer((*day).into()),
        Comparable::Instant(moment) | Comparable::Local(moment) => {
            Column::Integer(moment.microseconds())
        }
        Comparable::Number(number) => Column::Real(number.to_float()),
        Comparable::Bool(is_true) => Column::Integer((*is_true).into()),
        Comparable::Text(text) => Column::Text(text.clone()),
    }
}

fn exact(comparable: &Comparable) -> Column {
    match comparable {
        Comparable::Instant(moment) | Comparable::Local(moment) => match moment.nanoseconds() {
            0 => Column::Null,
            more => Column::Integer(more),
        },
        Comparable::Number(number)
            if Decimal::of_float(number.to_float()).as_ref() != Some(number) =>
        {
            Column::Text(number.to_string())
        }
        Comparable::Day(_) | Comparable::Number(_) | Comparable::Bool(_) | Comparable::Text(_) => {
            Column::Null
        }
    }
}

/// The value again; none where it cannot be compared.
#[must_use]
pub fn read(kind: ValueKind, value: ValueRef<'_>, exact: ValueRef<'_>) -> Option<Comparable> {
    let moment = || {
        let nanoseconds = exact.as_i64_or_null().ok()?.unwrap_or(0);
        Some(Moment::of_parts(value.as_i64().ok()?, nanoseconds))
    };
    Some(match kind {
        ValueKind::Date => Comparable::Day(value.as_i64().ok()?.try_into().ok()?),
        ValueKind::DatetimeZoned => Comparable::Instant(moment()?),
        ValueKind::DatetimeFloating => Comparable::Local(moment()?),
        ValueKind::Number => Comparable::Number(match exact.as_str_or_null().ok()? {
            Some(exact) => Decimal::parse(exact)?,
            None => Decimal::of_float(value.as_f64().ok()?)?,
        }),
        ValueKind::Bool => Comparable::Bool(value.as_i64().ok()? != 0),
        ValueKind::Text | ValueKind::Url => Comparable::Text(value.as_str().ok()?.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_from_their_columns() {
        use ValueKind::{Bool, Date, DatetimeFloating, DatetimeZoned, Number, Text, Url};
        for (kind, text, is_whole) in [
            (Date, "0001-01-01", true),
            (Date, "9999-12-31", true),
            (DatetimeZoned, "2026-12-24T18:00:00.123456+01:00[Europe/Berlin]", true),
            (DatetimeZoned, "0001-01-01T00:00:00.123456789+14:00", false),
            (DatetimeZoned, "9999-12-31T23:59:59.999999999-12:00", false),
            (DatetimeFloating, "2026-12-24T18:00:00", true),
            (DatetimeFloating, "2026-12-24T18:00:00.000000001", false),
            (Number, "-0", true),
            (Number, "0.1", true),
            (Number, "9007199254740992", true),
            (Number, "9007199254740993", false),
            (Number, "1e-400", false),
            (Bool, "true", true),
            (Text, "Äpfel", true),
            (Url, "HTTPS://x.y/Z", true),
        ] {
            let value = Value { kind, value: text.into() };
            let found = columns(&value);
            assert_eq!(found.exact == Column::Null, is_whole, "{text}");
            let again = read(kind, (&found.value).into(), (&found.exact).into());
            assert_eq!(again, Comparable::of(&value), "{text}");
            assert!(again.is_some(), "{text}");
        }
        let unknown =
            Value { kind: DatetimeZoned, value: "2026-12-24T18:00:00[Mars/Olympus]".into() };
        let found = columns(&unknown);
        assert_eq!((found.value, found.exact), (Column::Null, Column::Null));
        assert_eq!(read(DatetimeZoned, ValueRef::Null, ValueRef::Null), None);
    }
}
