//! Instants and local times over all years that values may name, and the way between them in a zone. No
//! step can fail: jiff's own timestamps end a day before the last local times of the year 9999.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};

use crate::value::split_civil;

const SECOND: i128 = 1_000_000_000;
const DAY: i128 = 86_400 * SECOND;
const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// Nanoseconds since 1970-01-01T00:00:00: in UTC, an instant; on a clock somewhere, a local time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(i128);

/// The number of a day, 0 for 1970-01-01.
#[must_use]
pub fn day_of(date: Date) -> i32 {
    Moment::of_civil(date.into()).day()
}

impl Moment {
    /// What a clock shows, as a local time.
    #[must_use]
    pub fn of_civil(local: DateTime) -> Self {
        Self(local.duration_since(EPOCH).as_nanos())
    }

    /// The instant of a date-time with offset, zone or both. Where the zone is not known or has other rules by now,
    /// the offset counts; none where there is none.
    #[must_use]
    pub fn of_zoned(text: &str) -> Option<Self> {
        let parser = DateTimeParser::new();
        let (civil, rest) = split_civil(text)?;
        let (offset, zone) = rest.find('[').map_or((rest, ""), |at| rest.split_at(at));
        if !zone.is_empty()
            && let Ok(zoned) = parser.parse_zoned_datetime_with(&TimeZoneDatabase::bundled(), text)
        {
            return Some(Self(zoned.timestamp().as_nanosecond()));
        }
        let local = Self::of_civil(parser.parse_datetime(civil).ok()?);
        Some(Self(local.0 - i128::from(offset_seconds(offset)?) * SECOND))
    }

    /// The instant at which a clock in the zone shows a local time: the first one where it shows it
    /// twice; where it leaves it out, as much later as it leaves out.
    #[must_use]
    pub fn of_local(local: DateTime, zone: &TimeZone) -> Self {
        let offset = match zone.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset,
            AmbiguousOffset::Gap { before, .. } | AmbiguousOffset::Fold { before, .. } => before,
        };
        Self(Self::of_civil(local).0 - i128::from(offset.seconds()) * SECOND)
    }

    /// The first instant of a day in the zone.
    #[must_use]
    pub fn start_of_day(date: Date, zone: &TimeZone) -> Self {
        let midnight = DateTime::from(date);
        let start = Self::of_local(midnight, zone);
        if !matches!(zone.to_ambiguous_timestamp(midnight).offset(), AmbiguousOffset::Gap { .. }) {
            return start;
        }
        // Midnight is left out: the day begins where the clock is put forward.
        let change = Timestamp::from_nanosecond(start.0 + 1)
            .ok()
            .and_then(|after| zone.preceding(after).next())
            .map(|change| Self(change.timestamp().as_nanosecond()));
        change.unwrap_or(start)
    }

    /// The first instant after a day in the zone.
    #[must_use]
    pub fn end_of_day(date: Date, zone: &TimeZone) -> Self {
        match date.tomorrow() {
            Ok(next) => Self::start_of_day(next, zone),
            // The last day that there is.
            Err(_) => Self(Self::start_of_day(date, zone).0 + DAY),
        }
    }

    /// What a clock in the zone shows at this instant.
    #[must_use]
    pub fn to_local(self, zone: &TimeZone) -> Self {
        let known = Timestamp::from_nanosecond(self.0);
        let nearest = known.unwrap_or(if self.0 < 0 { Timestamp::MIN } else { Timestamp::MAX });
        Self(self.0 + i128::from(zone.to_offset(nearest).seconds()) * SECOND)
    }

    /// Midnight at the start of the day of that number, as a local time.
    #[must_use]
    pub fn midnight(day: i32) -> Self {
        Self(i128::from(day) * DAY)
    }

    /// The number of its day, 0 for 1970-01-01.
    #[must_use]
    pub fn day(self) -> i32 {
        // The years of values keep it far inside.
        i32::try_from(self.0.div_euclid(DAY)).unwrap_or(if self.0 < 0 {
            i32::MIN
        } else {
            i32::MAX
        })
    }

    /// Whole microseconds since 1970, rounded down.
    #[must_use]
    pub fn microseconds(self) -> i64 {
        let whole = self.0.div_euclid(1_000);
        i64::try_from(whole).unwrap_or(if whole < 0 { i64::MIN } else { i64::MAX })
    }

    /// The nanoseconds beyond [`Self::microseconds`], 0 to 999.
    #[must_use]
    pub fn nanoseconds(self) -> i64 {
        i64::try_from(self.0.rem_euclid(1_000)).unwrap_or(0)
    }

    /// Puts together what [`Self::microseconds`] and [`Self::nanoseconds`] took apart.
    #[must_use]
    pub fn of_parts(microseconds: i64, nanoseconds: i64) -> Self {
        Self(i128::from(microseconds) * 1_000 + i128::from(nanoseconds))
    }
}

/// `Z` or `+01:00` in seconds.
fn offset_seconds(text: &str) -> Option<i32> {
    if text == "Z" {
        return Some(0);
    }
    let (sign, time) = match text.strip_prefix('-') {
        Some(time) => (-1, time),
        None => (1, text.strip_prefix('+')?),
    };
    let (hours, minutes) = time.split_once(':')?;
    Some(sign * (hours.parse::<i32>().ok()? * 60 + minutes.parse::<i32>().ok()?) * 60)
}

#[cfg(test)]
mod tests {
    use jiff::tz::offset;

    use super::*;

    fn zone(name: &str) -> TimeZone {
        TimeZoneDatabase::bundled().get(name).unwrap()
    }

    fn at(text: &str) -> Moment {
        Moment::of_zoned(text).unwrap()
    }

    #[test]
    fn a_day_begins_and_ends_in_its_zone() {
        for (name, day, start, end) in [
            ("Europe/Berlin", "2026-12-24", "2026-12-23T23:00:00Z", "2026-12-24T23:00:00Z"),
            // 23 and 25 hours.
            ("Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"),
            ("Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"),
            ("Pacific/Kiritimati", "2026-04-01", "2026-03-31T10:00:00Z", "2026-04-01T10:00:00Z"),
            // Midnight is left out, at it and around it.
            ("America/Sao_Paulo", "2015-10-18", "2015-10-18T03:00:00Z", "2015-10-19T02:00:00Z"),
            ("America/Toronto", "1919-03-31", "1919-03-31T04:30:00Z", "1919-04-01T04:00:00Z"),
            // A day that the islands left out.
            ("Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00Z", "2011-12-30T10:00:00Z"),
        ] {
            let (zone, date) = (zone(name), day.parse::<Date>().unwrap());
            assert_eq!(Moment::start_of_day(date, &zone), at(start), "{name} {day}");
            assert_eq!(Moment::end_of_day(date, &zone), at(end), "{name} {day}");
        }
    }

    #[test]
    fn local_times_that_a_clock_shows_never_or_twice_have_an_instant() {
        let berlin = zone("Europe/Berlin");
        for (local, instant, back) in [
            ("2026-03-29T02:30:00", "2026-03-29T01:30:00Z", "2026-03-29T03:30:00"),
            ("2026-10-25T02:30:00", "2026-10-25T00:30:00Z", "2026-10-25T02:30:00"),
            (
                "2026-07-01T12:00:00.000000001",
                "2026-07-01T10:00:00.000000001Z",
                "2026-07-01T12:00:00.000000001",
            ),
        ] {
            let found = Moment::of_local(local.parse().unwrap(), &berlin);
            assert_eq!(found, at(instant), "{local}");
            assert_eq!(found.to_local(&berlin), Moment::of_civil(back.parse().unwrap()), "{local}");
        }
    }

    #[test]
    fn nothing_overflows_at_the_ends_of_time() {
        let zones = [
            TimeZone::UTC,
            TimeZone::fixed(offset(14)),
            TimeZone::fixed(offset(-12)),
            zone("Europe/Berlin"),
            zone("America/New_York"),
            zone("Pacific/Kiritimati"),
        ];
        for zone in &zones {
            for day in ["0001-01-01", "9999-12-30", "9999-12-31"] {
                let date: Date = day.parse().unwrap();
                let (start, end) =
                    (Moment::start_of_day(date, zone), Moment::end_of_day(date, zone));
                assert_eq!(end.0 - start.0, DAY, "{day}");
                assert_eq!(start.to_local(zone), Moment::of_civil(date.into()), "{day}");
                assert_eq!(start.to_local(zone).day(), day_of(date), "{day}");
                let last = Moment(end.0 - 1);
                assert_eq!(last.to_local(zone).day(), day_of(date), "{day}");
                assert_eq!(Moment::of_parts(last.microseconds(), last.nanoseconds()), last);
            }
        }
    }

    #[test]
    fn an_instant_before_1970_comes_apart_and_together() {
        let moment = at("1969-12-31T23:59:59.999999999Z");
        assert_eq!((moment.microseconds(), moment.nanoseconds()), (-1, 999));
        assert_eq!(Moment::of_parts(-1, 999), moment);
        assert_eq!(moment.day(), -1);
    }
}
