//! Decimal numbers, compared by all of their digits.

use std::cmp::Ordering;
use std::fmt;

/// A decimal number of any length: sign, and 0.digits × 10^exponent, so that each number has one form.
/// Exponents beyond 64 bits, which only numbers have that are 0 to a computer, count as the nearest of 64 bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decimal {
    is_negative: bool,
    exponent: i64,
    /// Without zeros at either end; empty: zero.
    digits: Box<str>,
}

impl Decimal {
    /// Reads a number as JSON writes it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (is_negative, text) =
            text.strip_prefix('-').map_or((false, text), |positive| (true, positive));
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if mantissa.is_empty() || whole.is_empty() || !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let all = format!("{whole}{fraction}");
        let digits = all.trim_start_matches('0');
        let zeros = all.len() - digits.len();
        let digits = digits.trim_end_matches('0');
        if digits.is_empty() {
            return Some(Self { is_negative: false, exponent: 0, digits: "".into() });
        }
        let length = |length: usize| i64::try_from(length).unwrap_or(i64::MAX);
        let exponent = exponent.saturating_add(length(whole.len()) - length(zeros));
        Some(Self { is_negative, exponent, digits: digits.into() })
    }

    /// The number that a float is usually written as; none where it is not finite.
    #[must_use]
    pub fn of_float(float: f64) -> Option<Self> {
        float.is_finite().then(|| Self::parse(&format!("{float:e}"))).flatten()
    }

    /// The nearest float, which never has the sign of a zero. It never falls where numbers rise.
    #[must_use]
    pub fn to_float(&self) -> f64 {
        let float = self.to_string().parse().unwrap_or(0.0);
        if float == 0.0 { 0.0 } else { float }
    }
}

fn parse_exponent(text: &str) -> Option<i64> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Digits that do not fit are too many.
    let size = digits.parse().unwrap_or(i64::MAX);
    Some(if is_negative { -size } else { size })
}

/// As [`Decimal::parse`] takes it, in the number's one form.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_negative { "-" } else { "" };
        match &*self.digits {
            "" => f.write_str("0"),
            digits => write!(f, "{sign}0.{digits}e{}", self.exponent),
        }
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |number: &Self| match (&*number.digits, number.is_negative) {
            ("", _) => 0,
            (_, true) => -1,
            (_, false) => 1,
        };
        let size =
            || self.exponent.cmp(&other.exponent).then_with(|| self.digits.cmp(&other.digits));
        sign(self).cmp(&sign(other)).then_with(|| match sign(self) {
            0 => Ordering::Equal,
            1 => size(),
            _ => size().reverse(),
        })
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_one_form_that_can_be_read_again() {
        for (text, form) in [
            ("0", "0"),
            ("-0.0e5", "0"),
            ("12.50", "0.125e2"),
            ("-0.00125E3", "-0.125e1"),
            ("9007199254740993", "0.9007199254740993e16"),
            ("1e-400", "0.1e-399"),
        ] {
            let number = Decimal::parse(text).unwrap();
            assert_eq!(number.to_string(), form, "{text}");
            assert_eq!(Decimal::parse(form), Some(number), "{text}");
        }
    }

    #[test]
    fn floats_are_what_they_are_written_as() {
        for float in [0.0, -0.0, 0.1, 1e300, -2.5e-308, 5e-324, 9_007_199_254_740_992.0] {
            let number = Decimal::of_float(float).unwrap();
            assert_eq!(number.to_float().to_bits(), (float + 0.0).to_bits(), "{float}");
        }
        assert_eq!(Decimal::of_float(f64::INFINITY), None);
    }

    #[test]
    fn no_exponent_is_too_large() {
        let parse = |text: &str| Decimal::parse(text).unwrap();
        let small = parse("1e-99999999999999999999999999");
        assert!(small > parse("0") && small < parse("1e-400"));
        assert_eq!(small.to_float(), 0.0);
        assert!(parse("-1e-9223372036854775807") < parse("0"));
    }
}
