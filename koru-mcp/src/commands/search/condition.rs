//! Conditions on attributes, as a person types them: `koru.due<2026-12-24`.

use std::str::Chars;

use jiff::Span;
use jiff::civil::Date;
use koru_model::protocol::tools::{AttributeFilter, AttributeOp};

/// What `--help` says of a condition.
pub(super) const HELP: &str = "\
Conditions (quote them, so that the shell leaves them alone):
  KEY           the attribute is there
  !KEY          it is not there
  KEY=VALUE     it has this value
  KEY=A|B|C     one of these
  KEY=A..B      from A to B, both included
  KEY<VALUE     less or earlier
  KEY>VALUE     greater or later
A date is 2026-12-24, today, or today+7 and today-7. Numbers, texts and true or false as they are.
Times may be compared with dates. A backslash takes the next character as it is: title=a\\|b.

  koru-mcp search --open --where 'koru.due=today..today+7'
  koru-mcp search boiler --kind task --where 'koru.priority=urgent|high'";

/// What a person can be told of a condition that is none.
const FORMS: &str = "write KEY, !KEY, KEY=VALUE, KEY=A|B, KEY=A..B, KEY<VALUE or KEY>VALUE";

/// Reads a condition; `today` is the day in the local time zone.
///
/// # Errors
/// What is wrong with it, for the person who typed it.
pub(super) fn parse(text: &str, today: Date) -> Result<AttributeFilter, String> {
    let (wanted, text) = match text.trim().strip_prefix('!') {
        Some(rest) => (AttributeOp::Missing, rest),
        None => (AttributeOp::Exists, text.trim()),
    };
    let (key, comparison) = split(text);
    if key.is_empty() {
        return Err(format!("it names no attribute; {FORMS}"));
    }
    let Some((operator, rest)) = comparison else {
        return Ok(filter(key, wanted, Vec::new()));
    };
    if wanted == AttributeOp::Missing {
        return Err("!KEY asks for nodes without the attribute, and takes no value".into());
    }
    if key.ends_with('!') {
        return Err(format!("there is no !=; {FORMS}"));
    }
    if rest.starts_with('=') {
        return Err(if operator == '=' {
            "write one =, not two".into()
        } else {
            format!(
                "{operator} leaves its bound out, and there is no {operator}=; KEY=A..B includes both ends"
            )
        });
    }
    let (op, operands) = match operator {
        '<' => (AttributeOp::Before, vec![rest]),
        '>' => (AttributeOp::After, vec![rest]),
        _ => match (range(rest), parts(rest)) {
            (Some([from, until]), _) => (AttributeOp::Between, vec![from, until]),
            (None, parts) if parts.len() > 1 => (AttributeOp::OneOf, parts),
            (None, parts) => (AttributeOp::Is, parts),
        },
    };
    if operands.iter().any(|operand| operand.trim().is_empty()) {
        return Err(match op {
            AttributeOp::Between => "a range needs both ends: KEY=A..B; or KEY>A, KEY<B".into(),
            _ => format!("a value is missing; {FORMS}"),
        });
    }
    let values = operands.into_iter().map(|operand| value(operand, today));
    Ok(filter(key, op, values.collect::<Result<_, _>>()?))
}

fn filter(key: String, op: AttributeOp, values: Vec<String>) -> AttributeFilter {
    let values = (!values.is_empty()).then_some(values);
    AttributeFilter { key, op, values, numeric_values: None, kinds: None }
}

/// The key; the operator and what follows it, if there is one.
fn split(text: &str) -> (String, Option<(char, &str)>) {
    let mut key = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => key.extend(chars.next()),
            '=' | '<' | '>' => return (key.trim().to_owned(), Some((c, chars.as_str()))),
            _ => key.push(c),
        }
    }
    (key.trim().to_owned(), None)
}

/// Skips the character behind a backslash, so that it stands for nothing but itself.
fn next(chars: &mut Chars<'_>) -> Option<char> {
    let c = chars.next()?;
    if c == '\\' {
        chars.next();
    }
    Some(c)
}

/// The ends of a range. More than two dots in a row make none.
fn range(text: &str) -> Option<[&str; 2]> {
    let mut chars = text.chars();
    loop {
        let from = chars.as_str();
        let dots = from.chars().take_while(|c| *c == '.').count();
        if dots == 2 {
            let until = from.strip_prefix("..")?;
            return Some([text.strip_suffix(from)?, until]);
        }
        for _ in 0..dots.max(1) {
            next(&mut chars)?;
        }
    }
}

/// The parts between bars.
fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    let mut chars = rest.chars();
    loop {
        let from = chars.as_str();
        match next(&mut chars) {
            None => break,
            Some('|') => {
                parts.push(rest.strip_suffix(from).unwrap_or_default());
                rest = chars.as_str();
            }
            Some(_) => {}
        }
    }
    parts.push(rest);
    parts
}

/// What an operand stands for.
fn value(operand: &str, today: Date) -> Result<String, String> {
    let operand = operand.trim();
    if let Some(days) = operand.strip_prefix("today") {
        let days = if days.is_empty() { Ok(0) } else { days.replace(' ', "").parse::<i32>() };
        if let Ok(days) = days {
            return Span::new()
                .try_days(days)
                .and_then(|days| today.checked_add(days))
                .map(|date| date.to_string())
                .map_err(|_| format!("{operand} lies outside the calendar"));
        }
    }
    let mut text = String::new();
    let mut chars = operand.chars();
    while let Some(c) = chars.next() {
        text.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_as_they_are_meant() {
        use AttributeOp::{After, Before, Between, Exists, Is, Missing, OneOf};
        let today = jiff::civil::date(2026, 12, 24);
        for (text, key, op, values) in [
            ("koru.due", "koru.due", Exists, &[][..]),
            (" ! koru.due ", "koru.due", Missing, &[]),
            ("koru.due<2026-12-24", "koru.due", Before, &["2026-12-24"]),
            (
                "koru.due > 2026-12-24T18:00:00+01:00[Europe/Berlin]",
                "koru.due",
                After,
                &["2026-12-24T18:00:00+01:00[Europe/Berlin]"],
            ),
            ("koru.priority = urgent", "koru.priority", Is, &["urgent"]),
            ("koru.priority=urgent|high", "koru.priority", OneOf, &["urgent", "high"]),
            ("price=10..20", "price", Between, &["10", "20"]),
            ("price=-1.5 .. 9007199254740993", "price", Between, &["-1.5", "9007199254740993"]),
            ("koru.due=today", "koru.due", Is, &["2026-12-24"]),
            ("koru.due=today..today+8", "koru.due", Between, &["2026-12-24", "2027-01-01"]),
            ("koru.due<today - 1", "koru.due", Before, &["2026-12-23"]),
            ("note=todays", "note", Is, &["todays"]),
            ("note=\\today", "note", Is, &["today"]),
            ("note=wait...", "note", Is, &["wait..."]),
            ("note=...", "note", Is, &["..."]),
            ("note=a\\..b", "note", Is, &["a..b"]),
            ("note=a\\|b|c", "note", OneOf, &["a|b", "c"]),
            ("note=a\\\\|c", "note", OneOf, &["a\\", "c"]),
            ("note<a|b", "note", Before, &["a|b"]),
            ("link=https://a.example/?b=c", "link", Is, &["https://a.example/?b=c"]),
            ("note=\\=x", "note", Is, &["=x"]),
            ("a\\=b=c", "a=b", Is, &["c"]),
            ("\\!odd", "!odd", Exists, &[]),
            ("größe=ü", "größe", Is, &["ü"]),
        ] {
            let found = parse(text, today).unwrap();
            assert_eq!((found.key.as_str(), found.op), (key, op), "{text}");
            assert_eq!(found.values.unwrap_or_default(), values, "{text}");
            assert_eq!((found.numeric_values, found.kinds), (None, None), "{text}");
        }
        for (text, says) in [
            ("", "no attribute"),
            ("=x", "no attribute"),
            ("!", "no attribute"),
            ("!koru.due=x", "takes no value"),
            ("koru.due!=x", "there is no !="),
            ("koru.due<=x", "no <="),
            ("koru.due>=x", "includes both ends"),
            ("koru.due==x", "one ="),
            ("koru.due=", "a value is missing"),
            ("koru.due<", "a value is missing"),
            ("koru.due=a||b", "a value is missing"),
            ("koru.due=a..", "both ends"),
            ("koru.due=..b", "both ends"),
            ("koru.due=today+99999999", "outside the calendar"),
        ] {
            let refused = parse(text, today).unwrap_err();
            assert!(refused.contains(says), "{text}: {refused}");
        }
    }
}
