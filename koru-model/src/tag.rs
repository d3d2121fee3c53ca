//! Tag names: `family/calls`, compared without case.

use unicode_normalization::UnicodeNormalization as _;

use crate::limits;
use crate::text;

/// Why a name is no tag name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TagFault {
    /// A level is empty.
    #[error("has an empty level; write names between the slashes, as family/calls")]
    EmptyLevel,
    /// It holds a control character.
    #[error("holds the control character U+{0:04X}; leave it out")]
    Control(u32),
    /// It is too long.
    #[error("has {0} characters; the limit is {limit}", limit = limits::TAG_CHARS)]
    TooLong(usize),
}

/// A tag's name as it is kept: trimmed, without a leading `#`, each level trimmed.
///
/// # Errors
/// When it is no tag name.
pub fn accept(name: &str) -> Result<String, TagFault> {
    let name = name.trim();
    let name = name.strip_prefix('#').unwrap_or(name).trim();
    if let Some(c) = name.chars().find(|c| c.is_control() || text::is_forbidden(*c)) {
        return Err(TagFault::Control(c.into()));
    }
    let levels: Vec<&str> = name.split('/').map(str::trim).collect();
    if levels.iter().any(|level| level.is_empty()) {
        return Err(TagFault::EmptyLevel);
    }
    let name = levels.join("/");
    let chars = name.chars().count();
    if chars > limits::TAG_CHARS { Err(TagFault::TooLong(chars)) } else { Ok(name) }
}

/// What tells tags apart: the name without case, composed (NFC).
#[must_use]
pub fn folded(name: &str) -> String {
    name.nfc().collect::<String>().to_lowercase().nfc().collect()
}

/// The name of a level under a tag, or at the top.
#[must_use]
pub fn below(above: Option<&str>, level: &str) -> String {
    above.map_or_else(|| level.to_owned(), |above| format!("{above}/{level}"))
}

/// The last level of a name.
#[must_use]
pub fn level(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(_, level)| level)
}

/// The name of the tag above, if there is one.
#[must_use]
pub fn parent(name: &str) -> Option<&str> {
    name.rsplit_once('/').map(|(parent, _)| parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_one_rule() {
        for (given, kept) in [
            ("a/b", Ok("a/b")),
            ("#x", Ok("x")),
            (" x ", Ok("x")),
            ("two words", Ok("two words")),
            ("🌍MOC", Ok("🌍MOC")),
            ("2024", Ok("2024")),
            ("a / b", Ok("a/b")),
            ("a,\"b\"", Ok("a,\"b\"")),
            ("/a", Err(TagFault::EmptyLevel)),
            ("a//b", Err(TagFault::EmptyLevel)),
            ("", Err(TagFault::EmptyLevel)),
            ("#", Err(TagFault::EmptyLevel)),
            ("a\nb", Err(TagFault::Control(10))),
        ] {
            assert_eq!(accept(given), kept.map(str::to_owned), "{given:?}");
        }
        assert_eq!(accept(&"x".repeat(201)), Err(TagFault::TooLong(201)));
    }

    #[test]
    fn names_are_compared_without_case_and_form() {
        assert_eq!(folded("ÜBUNG"), folded("u\u{308}bung"));
        assert_eq!(folded("Family/Calls"), folded("family/calls"));
        assert_ne!(folded("a"), folded("á"));
    }
}
