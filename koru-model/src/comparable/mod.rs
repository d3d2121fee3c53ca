//! Attribute values in the form in which they are compared: made once when a value is written, and of
//! what a search compares it with.
//!
//! Texts and URLs are compared without case and composed (NFC), diacritics kept; numbers by all of their digits; date-times with a
//! zone as instants to the nanosecond; those without as what a clock shows.

mod decimal;
mod moment;

use std::borrow::Cow;

use jiff::civil::Date;

pub use self::decimal::Decimal;
pub use self::moment::{Moment, day_of};
use crate::tag;
use crate::value::{Value, ValueKind, split_civil};

/// Longer texts are compared by their digest, in bytes of the folded text.
const TEXT_BYTES: usize = 128;
/// Stands before a digest; no value holds it.
const DIGEST_MARK: char = '\u{fffc}';

/// A value that can be compared with others of its kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Comparable {
    /// A date: the day's number, 0 for 1970-01-01.
    Day(i32),
    /// A date-time with zone or offset.
    Instant(Moment),
    /// A date-time without zone.
    Local(Moment),
    /// A number.
    Number(Decimal),
    /// A bool.
    Bool(bool),
    /// A text or a URL, folded; a long one as its digest.
    Text(String),
}

impl Comparable {
    /// The comparable form of a value. None where the text is no value of its kind, or names a zone that is not
    /// known any more.
    #[must_use]
    pub fn of(value: &Value) -> Option<Self> {
        let text = value.value.as_str();
        match value.kind {
            ValueKind::Date => text.parse::<Date>().ok().map(|date| Self::Day(day_of(date))),
            ValueKind::DatetimeZoned => Moment::of_zoned(text).map(Self::Instant),
            ValueKind::DatetimeFloating => {
                let (civil, rest) = split_civil(text)?;
                let civil = civil.parse().ok().filter(|_| rest.is_empty())?;
                Some(Self::Local(Moment::of_civil(civil)))
            }
            ValueKind::Number => Decimal::parse(text).map(Self::Number),
            ValueKind::Bool => text.parse().ok().map(Self::Bool),
            ValueKind::Text | ValueKind::Url => Some(Self::Text(folded(text))),
        }
    }
}

fn folded(text: &str) -> String {
    let folded = tag::folded(text);
    if folded.len() <= TEXT_BYTES {
        return folded;
    }
    format!("{DIGEST_MARK}{}", blake3::hash(folded.as_bytes()).to_hex())
}

/// Whether values of a kind have an order to search by: before, after, between.
#[must_use]
pub fn is_ordered(kind: ValueKind) -> bool {
    is_time(kind) || kind == ValueKind::Number
}

/// Whether values of a kind are dates or times.
#[must_use]
pub fn is_time(kind: ValueKind) -> bool {
    match kind {
        ValueKind::Date | ValueKind::DatetimeZoned | ValueKind::DatetimeFloating => true,
        ValueKind::Text | ValueKind::Number | ValueKind::Bool | ValueKind::Url => false,
    }
}

/// Which of the three kinds of time a text has the shape of, right or not.
#[must_use]
pub fn time_shape(text: &str) -> ValueKind {
    let time: Cow<'_, str> = text.chars().skip(10).collect();
    if time.is_empty() {
        ValueKind::Date
    } else if time.contains(['+', '-', 'Z', 'z', '[']) {
        ValueKind::DatetimeZoned
    } else {
        ValueKind::DatetimeFloating
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: ValueKind, text: &str) -> Comparable {
        let value = Value { kind, value: text.into() };
        assert_eq!(value.check(), Ok(()), "{value:?}");
        Comparable::of(&value).unwrap()
    }

    #[test]
    fn values_of_a_kind_have_their_order() {
        use ValueKind::{Bool, Date, DatetimeFloating, DatetimeZoned, Number, Text, Url};
        // Each row: values that are equal; rows rise.
        let rising: &[(ValueKind, &[&[&str]])] = &[
            (Date, &[&["0001-01-01"], &["1969-12-31"], &["2028-02-29"], &["9999-12-31"]]),
            (
                DatetimeZoned,
                &[
                    &["0001-01-01T00:00:00+23:59"],
                    &["0001-01-01T00:00:00Z"],
                    &["2026-12-24T17:59:59.999999999Z"],
                    &[
                        "2026-12-24T18:00:00Z",
                        "2026-12-24T19:00:00+01:00[Europe/Berlin]",
                        "2026-12-24T19:00:00[Europe/Berlin]",
                        "2026-12-24T18:00:00.000Z[Europe/Berlin]",
                    ],
                    &["2026-12-24T18:00:00.000000001Z"],
                    &["9999-12-31T23:59:59Z"],
                    &["9999-12-31T23:59:59-23:59"],
                ],
            ),
            (
                DatetimeFloating,
                &[
                    &["0001-01-01T00:00:00"],
                    &["2026-03-29T02:30:00", "2026-03-29T02:30:00.000"],
                    &["2026-03-29T02:30:00.000000001"],
                    &["9999-12-31T23:59:59.999999999"],
                ],
            ),
            (
                Number,
                &[
                    &["-1e300"],
                    &["-9007199254740993"],
                    &["-9007199254740992"],
                    &["-1e-400"],
                    &["0", "-0", "0.000", "0e99999999999999999999"],
                    &["1e-400"],
                    &["0.1"],
                    &["0.1000000000000000055511151231257827"],
                    &["1", "1.0", "1e0", "10e-1", "0.1E+1"],
                    &["9007199254740992", "9007199254740992.0"],
                    &["9007199254740993", "9.007199254740993e15"],
                    &["123456789012345678901234567890.5"],
                ],
            ),
            (Bool, &[&["false"], &["true"]]),
            (Text, &[&["a", "A"], &["é", "É", "e\u{301}", "E\u{301}"]]),
            (Url, &[&["http://x.y/a", "HTTP://X.Y/A"]]),
        ];
        for (kind, rows) in rising {
            for (left_row, left) in rows.iter().enumerate() {
                for (right_row, right) in rows.iter().enumerate() {
                    for (left, right) in left.iter().flat_map(|l| right.iter().map(move |r| (l, r)))
                    {
                        let found = of(*kind, left).cmp(&of(*kind, right));
                        assert_eq!(found, left_row.cmp(&right_row), "{left} and {right}");
                    }
                }
            }
        }
        assert_ne!(of(Text, "e"), of(Text, "é"));
    }

    #[test]
    fn long_texts_are_compared_whole_in_little_room() {
        let long = "Ä".repeat(2_000);
        let text = |text: &str| match of(ValueKind::Text, text) {
            Comparable::Text(text) => text,
            other => panic!("{other:?}"),
        };
        assert_eq!(text(&long), text(&long.to_lowercase()));
        assert_ne!(text(&long), text(&format!("{long}x")));
        assert!(text(&long).len() <= TEXT_BYTES);
    }

    #[test]
    fn what_is_no_value_has_no_form() {
        use ValueKind::{Bool, Date, DatetimeFloating, DatetimeZoned, Number};
        for (kind, text) in [
            (Date, "2026-02-29"),
            (Date, ""),
            (DatetimeZoned, "2026-12-24T18:00:00"),
            (DatetimeZoned, "2026-12-24T18:00:00[Mars/Olympus]"),
            (DatetimeZoned, "é"),
            (DatetimeFloating, "2026-12-24T18:00:00Z"),
            (Number, "one"),
            (Number, "-"),
            (Number, "1e"),
            (Bool, "True"),
        ] {
            assert_eq!(Comparable::of(&Value { kind, value: text.into() }), None, "{text}");
        }
    }

    #[test]
    fn a_zone_that_is_not_known_any_more_leaves_the_offset() {
        let of = |text: &str| {
            Comparable::of(&Value { kind: ValueKind::DatetimeZoned, value: text.into() })
        };
        assert_eq!(of("2026-12-24T18:00:00+01:00[Mars/Olympus]"), of("2026-12-24T17:00:00Z"));
        assert!(of("2026-12-24T17:00:00Z").is_some());
    }

    #[test]
    fn times_are_told_apart_by_their_shape() {
        for (text, kind) in [
            ("2026-02-31", ValueKind::Date),
            ("tomorrow", ValueKind::Date),
            ("2026-12-24T18:00", ValueKind::DatetimeFloating),
            ("2026-12-24T18:00:00+25:00", ValueKind::DatetimeZoned),
            ("2026-12-24T18:00:00[X]", ValueKind::DatetimeZoned),
        ] {
            assert_eq!(time_shape(text), kind, "{text}");
        }
    }
}
