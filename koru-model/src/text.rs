//! Rules of literal text: line ends, forbidden characters, byte offsets, differences.

use std::borrow::Cow;

use crate::limits;

/// Why a text is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TextFault {
    /// It holds a character that no text may hold.
    #[error(
        "holds the character U+{character:04X} at byte {at_utf8}, which no text may hold; leave it out"
    )]
    Forbidden {
        /// The character's number.
        character: u32,
        /// Where it stands, in bytes of UTF-8.
        at_utf8: usize,
    },
    /// It is longer than it may be.
    #[error("is {bytes} bytes long; the limit is {limit} bytes")]
    TooLong {
        /// Its length in bytes of UTF-8.
        bytes: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// It has a line break where only one line may stand.
    #[error("has a line break at byte {at_utf8}; it must be one line")]
    LineBreak {
        /// Where the line break stands, in bytes of UTF-8.
        at_utf8: usize,
    },
    /// It has more characters than it may have.
    #[error("has {chars} characters; the limit is {limit}")]
    TooManyChars {
        /// The count of its characters.
        chars: usize,
        /// The limit.
        limit: usize,
    },
}

/// The text with CRLF and CR as LF; nothing else is changed.
#[must_use]
pub fn with_line_feeds(text: &str) -> Cow<'_, str> {
    if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Whether no text may hold the character: C0 controls but TAB and LF, and U+FFFC.
#[must_use]
pub fn is_forbidden(character: char) -> bool {
    matches!(character, '\u{0}'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{fffc}')
}

/// The text as it is stored: line ends made LF.
///
/// # Errors
/// When it holds a forbidden character or is longer than [`limits::TEXT_BYTES`].
pub fn accept(text: &str) -> Result<Cow<'_, str>, TextFault> {
    let text = with_line_feeds(text);
    if let Some((at_utf8, character)) = text.char_indices().find(|(_, c)| is_forbidden(*c)) {
        return Err(TextFault::Forbidden { character: character.into(), at_utf8 });
    }
    if text.len() > limits::TEXT_BYTES {
        return Err(TextFault::TooLong { bytes: text.len(), limit: limits::TEXT_BYTES });
    }
    Ok(text)
}

/// A text of one line and at most `limit` characters, as it is stored.
///
/// # Errors
/// As [`accept`], and when it has a line break or too many characters.
pub fn accept_line(text: &str, limit: usize) -> Result<Cow<'_, str>, TextFault> {
    let text = accept(text)?;
    if let Some(at_utf8) = text.find('\n') {
        return Err(TextFault::LineBreak { at_utf8 });
    }
    let chars = text.chars().count();
    if chars > limit {
        return Err(TextFault::TooManyChars { chars, limit });
    }
    Ok(text)
}

/// The first place where two texts differ.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Difference {
    /// Where, in bytes of UTF-8 from the start of either text.
    pub at_utf8: usize,
    /// The character of the expected text there, as `U+0020`, or `end`.
    pub expected: String,
    /// The character of the actual text there.
    pub actual: String,
}

/// Finds the first difference; none where the texts are equal.
#[must_use]
pub fn first_difference(expected: &str, actual: &str) -> Option<Difference> {
    let mut left = expected.char_indices();
    let mut right = actual.chars();
    loop {
        let (at, l) = match left.next() {
            Some((at, c)) => (at, Some(c)),
            None => (expected.len(), None),
        };
        let r = right.next();
        if l != r {
            let name = |c: Option<char>| {
                c.map_or_else(|| "end".to_owned(), |c| format!("U+{:04X}", u32::from(c)))
            };
            return Some(Difference { at_utf8: at, expected: name(l), actual: name(r) });
        }
        l?;
    }
}

/// A window of [`limits::WINDOW_CHARS`] characters of the text around a byte offset; `…` marks a cut.
#[must_use]
pub fn window(text: &str, at_utf8: usize) -> String {
    let before: usize = text.get(..at_utf8).map_or(0, |head| head.chars().count());
    let start = before.saturating_sub(limits::WINDOW_CHARS / 4);
    let total = text.chars().count();
    if total <= limits::WINDOW_CHARS {
        return text.to_owned();
    }
    let start = start.min(total - limits::WINDOW_CHARS);
    let mut out = String::new();
    if start > 0 {
        out.push('…');
    }
    out.extend(text.chars().skip(start).take(limits::WINDOW_CHARS));
    if start + limits::WINDOW_CHARS < total {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_become_line_feeds_and_nothing_else_changes() {
        assert_eq!(accept("a\r\nb\rc\nd").unwrap(), "a\nb\nc\nd");
        for kept in
            [" x ", "\u{feff}x", "\u{85}\u{2028}", "e\u{301}", "$& $1 \\0 %s", "‘%s’", "\u{7f}"]
        {
            assert_eq!(accept(kept).unwrap(), kept);
        }
    }

    #[test]
    fn controls_and_the_object_character_are_refused_where_they_stand() {
        for (text, at) in [("foo\0bar", 3), ("\u{1}", 0), ("é\u{1b}", 2), ("a\u{fffc}", 1)] {
            assert!(
                matches!(accept(text), Err(TextFault::Forbidden { at_utf8, .. }) if at_utf8 == at),
                "{text:?}"
            );
        }
    }

    #[test]
    fn the_first_difference_names_the_characters() {
        let difference = first_difference("a b", "a\u{a0}b").unwrap();
        assert_eq!((difference.at_utf8, difference.expected.as_str()), (1, "U+0020"));
        assert_eq!(difference.actual, "U+00A0");
        assert_eq!(first_difference("ab", "a").unwrap().actual, "end");
        assert_eq!(first_difference("é", "é"), None);
    }

    #[test]
    fn a_window_holds_the_difference_and_marks_what_it_leaves_out() {
        let long = "é".repeat(1_000);
        let shown = window(&long, 1_000);
        assert_eq!(shown.chars().count(), limits::WINDOW_CHARS + 2);
        assert_eq!(window("short", 3), "short");
    }
}
