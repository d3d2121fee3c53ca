//! Attribute values: kind and exact text, and which values a key takes.

use jiff::civil::Date;
use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::TimeZoneDatabase;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits;
use crate::text;

/// The kind of an attribute value.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "a doc on a variant makes its schema a union of constants")]
pub enum ValueKind {
    Date,
    DatetimeZoned,
    DatetimeFloating,
    Text,
    Number,
    Bool,
    Url,
}

impl ValueKind {
    /// All kinds, in the order of the documentation.
    pub const ALL: [Self; 7] = [
        Self::Date,
        Self::DatetimeZoned,
        Self::DatetimeFloating,
        Self::Text,
        Self::Number,
        Self::Bool,
        Self::Url,
    ];

    /// The kind's name, as it is written in JSON and in the CRDT.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::DatetimeZoned => "datetime_zoned",
            Self::DatetimeFloating => "datetime_floating",
            Self::Text => "text",
            Self::Number => "number",
            Self::Bool => "bool",
            Self::Url => "url",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A typed value: its kind and its exact text.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Value {
    /// date (2026-12-24), datetime_zoned (2026-12-24T18:00:00+01:00[Europe/Berlin]), datetime_floating (2026-12-24T18:00:00), text, number, bool, url.
    pub kind: ValueKind,
    /// The value as text.
    pub value: String,
}

/// What a key stands for in a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The key.
    pub key: String,
    /// What people see.
    pub label: String,
    /// The kinds of value that it takes.
    pub kinds: Vec<ValueKind>,
    /// The only texts that it takes; none: any.
    pub options: Option<Vec<String>>,
    /// Whether a text `#rrggbb` is taken beside the options.
    pub takes_rgb: bool,
}

/// The keys that every workspace has.
#[must_use]
pub fn built_in() -> Vec<Definition> {
    let texts = |key: &str, label: &str, options: &[&str], takes_rgb| Definition {
        key: key.into(),
        label: label.into(),
        kinds: vec![ValueKind::Text],
        options: Some(options.iter().map(|option| (*option).to_owned()).collect()),
        takes_rgb,
    };
    let colors = ["gray", "red", "orange", "yellow", "green", "teal", "blue", "purple", "pink"];
    vec![
        Definition {
            key: "koru.due".into(),
            label: "Due".into(),
            kinds: vec![ValueKind::Date, ValueKind::DatetimeZoned, ValueKind::DatetimeFloating],
            options: None,
            takes_rgb: false,
        },
        texts("koru.priority", "Priority", &["urgent", "high", "medium", "low"], false),
        texts("koru.color", "Color", &colors, true),
        texts("koru.list", "List", &["bullet", "number"], false),
    ]
}

fn is_rgb(text: &str) -> bool {
    text.strip_prefix('#')
        .is_some_and(|digits| digits.len() == 6 && digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

impl Definition {
    /// Checks that the key takes the value.
    ///
    /// # Errors
    /// The reason, to stand behind "the value".
    pub fn check(&self, value: &Value) -> Result<(), String> {
        if !self.kinds.contains(&value.kind) {
            let kinds: Vec<&str> = self.kinds.iter().map(|kind| kind.name()).collect();
            return Err(format!(
                "has the kind {}; {} takes {}",
                value.kind.name(),
                self.key,
                kinds.join(", ")
            ));
        }
        value.check()?;
        let takes_as_rgb = self.takes_rgb && is_rgb(&value.value);
        match &self.options {
            Some(options) if !takes_as_rgb && !options.contains(&value.value) => {
                let rgb = if self.takes_rgb { ", or a color as #rrggbb" } else { "" };
                let shown: Vec<String> =
                    options.iter().take(10).map(|option| crate::text::window(option, 0)).collect();
                let more = match options.len() - shown.len() {
                    0 => String::new(),
                    more => format!(" and {more} more, which list_attributes gives"),
                };
                let shown = shown.join(", ");
                Err(format!("is not one of the options of {}: {shown}{more}{rgb}", self.key))
            }
            _ => Ok(()),
        }
    }
}

impl Value {
    /// Checks that the text is a value of its kind.
    ///
    /// # Errors
    /// The reason, to stand behind "the value".
    pub fn check(&self) -> Result<(), String> {
        let text = self.value.as_str();
        if text.len() > limits::VALUE_BYTES {
            return Err(format!("is longer than {} bytes", limits::VALUE_BYTES));
        }
        if let Some(c) = text.chars().find(|c| text::is_forbidden(*c) || *c == '\r') {
            return Err(format!(
                "holds the character U+{:04X}, which no text may hold",
                u32::from(c)
            ));
        }
        match self.kind {
            ValueKind::Date => check_date(text),
            ValueKind::DatetimeZoned => check_zoned(text),
            ValueKind::DatetimeFloating => check_floating(text),
            ValueKind::Text => Ok(()),
            ValueKind::Number => check_number(text),
            ValueKind::Bool if matches!(text, "true" | "false") => Ok(()),
            ValueKind::Bool => Err("is no bool: write true or false".into()),
            ValueKind::Url => check_url(text),
        }
    }
}

/// Whether the text has the digits of `pattern`, in which `0` stands for a digit and all else for itself.
fn has_shape(text: &str, pattern: &str) -> bool {
    text.len() == pattern.len()
        && text
            .bytes()
            .zip(pattern.bytes())
            .all(|(byte, want)| if want == b'0' { byte.is_ascii_digit() } else { byte == want })
}

fn check_date(text: &str) -> Result<(), String> {
    let is_date = has_shape(text, "0000-00-00")
        && text.parse::<Date>().is_ok_and(|date| (1..=9999).contains(&date.year()));
    if is_date { Ok(()) } else { Err("is no date: write year-month-day, as 2026-12-24".into()) }
}

/// Splits `2026-12-24T18:00:00.123` off the front of a text.
pub(crate) fn split_civil(text: &str) -> Option<(&str, &str)> {
    let head = text.get(..19)?;
    let is_leap_second = head.ends_with(":60");
    if !has_shape(head, "0000-00-00T00:00:00") || is_leap_second {
        return None;
    }
    let rest = text.get(19..)?;
    let fraction = rest
        .strip_prefix('.')
        .map_or(0, |digits| 1 + digits.bytes().take_while(u8::is_ascii_digit).count());
    if fraction == 1 || fraction > 10 {
        return None;
    }
    text.split_at_checked(19 + fraction)
}

fn check_floating(text: &str) -> Result<(), String> {
    let is_datetime = split_civil(text).is_some_and(|(civil, rest)| {
        rest.is_empty()
            && DateTimeParser::new()
                .parse_datetime(civil)
                .is_ok_and(|datetime| (1..=9999).contains(&datetime.year()))
    });
    if is_datetime {
        Ok(())
    } else {
        Err("is no date and time without zone: write 2026-12-24T18:00:00".into())
    }
}

fn check_zoned(text: &str) -> Result<(), String> {
    let form = "write 2026-12-24T18:00:00+01:00[Europe/Berlin], or end in an offset or Z";
    let (civil, rest) = split_civil(text).ok_or_else(|| format!("is no date and time: {form}"))?;
    let parser = DateTimeParser::new();
    if !parser.parse_datetime(civil).is_ok_and(|at| (1..=9999).contains(&at.year())) {
        return Err(format!("names a day or time that does not exist: {form}"));
    }
    if rest.is_empty() {
        return Err(format!("has neither offset nor zone: {form}, or use datetime_floating"));
    }
    let (offset, zone) = rest.find('[').map_or((rest, ""), |at| rest.split_at(at));
    if !offset.is_empty() && !is_offset(offset) {
        return Err(format!("has no offset between -23:59 and +23:59: {form}"));
    }
    // The instant itself is not computed without a zone: the last day of 9999 is one, too.
    let agrees = zone.is_empty()
        || parser.parse_zoned_datetime_with(&TimeZoneDatabase::bundled(), text).is_ok();
    if agrees {
        Ok(())
    } else {
        Err(format!("has a zone that is unknown or disagrees with its offset: {form}"))
    }
}

/// Whether the text is `Z` or an offset as `+01:00`.
fn is_offset(text: &str) -> bool {
    text == "Z"
        || text.strip_prefix(['+', '-']).is_some_and(|time| {
            let below = |part: Option<&str>, limit: u8| {
                part.and_then(|part| part.parse::<u8>().ok()).is_some_and(|number| number < limit)
            };
            has_shape(time, "00:00") && below(time.get(..2), 24) && below(time.get(3..), 60)
        })
}

fn check_number(text: &str) -> Result<(), String> {
    let is_number = serde_json::from_str::<serde_json::Number>(text).is_ok()
        && text.trim() == text
        && text.parse::<f64>().is_ok_and(f64::is_finite);
    if is_number {
        Ok(())
    } else {
        Err("is no finite decimal number: write digits as in JSON, as 12.5 or -3e2".into())
    }
}

fn check_url(text: &str) -> Result<(), String> {
    let wrong = || "is no absolute http, https or mailto URL".to_owned();
    if text.chars().any(|c| c.is_whitespace() || c.is_control() || c == '\\') {
        return Err(wrong());
    }
    let (scheme, rest) = text.split_once(':').ok_or_else(wrong)?;
    let fits = match scheme.to_ascii_lowercase().as_str() {
        "http" | "https" => rest.strip_prefix("//").is_some_and(is_authority),
        "mailto" => rest.split('?').next().is_some_and(|address| {
            address
                .rsplit_once('@')
                .is_some_and(|(local, domain)| !local.is_empty() && !domain.is_empty())
        }),
        _ => false,
    };
    if fits { Ok(()) } else { Err(wrong()) }
}

/// Whether what stands behind `//` begins with a host, and a port where there is one.
fn is_authority(rest: &str) -> bool {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let (name, port) = if let Some(inside) = host.strip_prefix('[') {
        let Some((address, port)) = inside.split_once(']') else { return false };
        if address.parse::<std::net::Ipv6Addr>().is_err() {
            return false;
        }
        (address, port.strip_prefix(':').map_or_else(|| port.is_empty().then_some("0"), Some))
    } else {
        host.split_once(':').map_or((host, Some("0")), |(name, port)| (name, Some(port)))
    };
    !name.is_empty() && port.is_some_and(|port| port.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_checked_by_kind() {
        use ValueKind::{Bool, Date, DatetimeFloating, DatetimeZoned, Number, Url};
        for (kind, right, wrong) in [
            (
                Date,
                &["2026-12-24", "0001-01-01", "9999-12-31", "2028-02-29"][..],
                &[
                    "2026-02-29",
                    "2026-13-01",
                    "26-1-1",
                    "2026-12-24T00:00:00",
                    "",
                    "0000-01-01",
                    " 2026-12-24",
                ][..],
            ),
            (
                DatetimeZoned,
                &[
                    "2026-12-24T18:00:00+01:00[Europe/Berlin]",
                    "2026-12-24T18:00:00Z",
                    "2026-12-24T18:00:00.5-11:00",
                    "2026-12-24T18:00:00+05:30",
                    "9999-12-31T23:59:59Z",
                ],
                &[
                    "2026-12-24T18:00:00+25:00",
                    "2026-12-24T18:00:60Z",
                    "2026-12-24T18:00:00+02:00[Europe/Berlin]",
                    "2026-12-24T18:00:00",
                    "2026-12-24T18:00:00Z[Mars/Olympus]",
                    "2026-12-24",
                    "2026-02-29T18:00:00Z",
                    "2026-12-24t18:00:00z",
                ],
            ),
            (
                DatetimeFloating,
                &["2026-12-24T18:00:00", "2026-12-24T18:00:00.125"],
                &[
                    "2026-12-24T18:00",
                    "2026-12-24 18:00:00",
                    "2026-12-24T25:00:00",
                    "2026-12-24T18:00:00Z",
                ],
            ),
            (
                Number,
                &[
                    "0",
                    "-0",
                    "1e3",
                    "0.1",
                    "-12.50",
                    "9007199254740993",
                    "123456789012345678901234567890.5",
                ],
                &["007", "1.", ".5", "NaN", "inf", "1e999", "", " 1", "0x10", "1,5"],
            ),
            (Bool, &["true", "false"], &["True", "1", "yes", ""]),
            (
                Url,
                &[
                    "https://example.org/a?b#c",
                    "http://localhost:8080",
                    "mailto:a@b.c",
                    "HTTPS://[::1]/",
                ],
                &[
                    "example.org",
                    "/a",
                    "ftp://x.y",
                    "javascript:alert(1)",
                    "https://",
                    "https:// x",
                    "mailto:a",
                    "https://:80",
                ],
            ),
        ] {
            for value in right {
                let value = Value { kind, value: (*value).into() };
                assert_eq!(value.check(), Ok(()), "{value:?}");
            }
            for value in wrong {
                let value = Value { kind, value: (*value).into() };
                assert!(value.check().is_err(), "{value:?}");
            }
        }
    }

    #[test]
    fn hosts_and_ports_of_urls_are_checked() {
        for right in ["http://[::1]:80", "https://me@x.y:443/", "http://x"] {
            assert_eq!(check_url(right), Ok(()), "{right}");
        }
        let wrong = [
            "http://[",
            "http://[x",
            "http://[x]",
            "http://x:abc",
            "http://x:99999",
            "http://a\\b",
        ];
        for wrong in wrong {
            assert!(check_url(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn options_are_enforced() {
        let keys = built_in();
        let text = |value: &str| Value { kind: ValueKind::Text, value: value.into() };
        for (key, value, takes) in [
            ("koru.priority", "urgent", true),
            ("koru.priority", "Urgent", false),
            ("koru.color", "#12aBcd", true),
            ("koru.color", "#12aBc", false),
            ("koru.list", "number", true),
            ("koru.due", "2026-12-24", false),
        ] {
            let definition = keys.iter().find(|definition| definition.key == key).unwrap();
            assert_eq!(definition.check(&text(value)).is_ok(), takes, "{key} {value}");
        }
    }
}
