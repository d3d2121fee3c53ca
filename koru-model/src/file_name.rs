//! Names of files. A name is data, kept exactly as it came; only here it becomes something else.

use unicode_normalization::UnicodeNormalization as _;

use crate::limits;
use crate::text;

/// What a name becomes of which nothing is left.
const NAMELESS: &str = "File";
/// The longest name that all three systems take, in bytes of UTF-8 (Linux counts bytes, the others fewer).
const SAFE_BYTES: usize = 255;
/// The longest part behind the last dot that counts as an ending, in bytes, the dot included.
const ENDING_BYTES: usize = 32;
/// Names that Windows gives to devices, whatever their ending.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Why a file cannot have that name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameFault {
    /// It is empty.
    #[error("is empty; a file has a name")]
    Empty,
    /// It holds U+0000.
    #[error("holds U+0000, which no system takes in a name; leave it out")]
    Nul,
    /// It is too long.
    #[error("is {0} bytes long; the limit is {limit} bytes", limit = limits::FILE_NAME_BYTES)]
    TooLong(usize),
}

/// Checks the name of a file: anything but empty, U+0000 and more than [`limits::FILE_NAME_BYTES`].
///
/// # Errors
/// When it is none.
pub fn check(name: &str) -> Result<(), NameFault> {
    if name.is_empty() {
        return Err(NameFault::Empty);
    }
    if name.contains('\0') {
        return Err(NameFault::Nul);
    }
    if name.len() > limits::FILE_NAME_BYTES {
        return Err(NameFault::TooLong(name.len()));
    }
    Ok(())
}

/// What names are searched by, and told apart by where two could fall together: without case, composed.
#[must_use]
pub fn folded(name: &str) -> String {
    let lower = name.nfc().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    lower.nfc().collect()
}

/// The title of the note of a file: one line of at most [`limits::TITLE_CHARS`] characters.
#[must_use]
pub fn title(name: &str) -> String {
    let is_odd = |c: char| c.is_control() || text::is_forbidden(c);
    let title: String = name
        .chars()
        .map(|c| if is_odd(c) || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c })
        .take(limits::TITLE_CHARS)
        .collect();
    if title.trim().is_empty() { NAMELESS.to_owned() } else { title }
}

/// A name for the file in a folder: one that Linux, macOS and Windows take, of at most 255 bytes, and
/// not taken.
///
/// `is_taken` is asked for the [`folded`] form of each candidate, so that names which differ only by case
/// or by composed form stay apart everywhere. What is not taken anywhere becomes `_`; a number
/// before the ending makes it unique.
#[must_use]
pub fn safe_name(name: &str, mut is_taken: impl FnMut(&str) -> bool) -> String {
    let plain: String = name.nfc().map(|c| if is_unsafe(c) { '_' } else { c }).collect();
    // Windows drops dots and spaces at the end; a leading dot hides, a leading hyphen looks like a flag.
    let plain = plain.trim_end_matches(['.', ' ']).trim_start_matches(' ');
    let mut plain = match plain.chars().next() {
        None => NAMELESS.to_owned(),
        Some('.' | '-' | '~') => format!("_{}", plain.get(1..).unwrap_or_default()),
        Some(_) => plain.to_owned(),
    };
    if is_device(&plain) {
        plain.insert(0, '_');
    }
    let (stem, ending) = parts(&plain);
    let mut number = 1_u64;
    loop {
        let mark = if number == 1 { String::new() } else { format!(" ({number})") };
        let room = SAFE_BYTES.saturating_sub(mark.len() + ending.len());
        let stem = cut(stem, room).trim_end_matches(['.', ' ']);
        let candidate = format!("{stem}{mark}{ending}");
        if !is_taken(&folded(&candidate)) {
            return candidate;
        }
        number += 1;
    }
}

/// Characters that one of the systems refuses, or that make a name look like another.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|')
        || matches!(c, '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{FEFF}' | '\u{FFFC}')
}

fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_lowercase();
    let port = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
    let is_port = port.is_some_and(|number| {
        matches!(number, "¹" | "²" | "³")
            || (number.len() == 1 && number.as_bytes()[0].is_ascii_digit())
    });
    is_port || DEVICES.contains(&stem.as_str())
}

/// The name before its ending, and the ending with its dot.
fn parts(name: &str) -> (&str, &str) {
    match name.rfind('.').filter(|at| *at > 0 && name.len() - at <= ENDING_BYTES) {
        Some(at) => name.split_at(at),
        None => (name, ""),
    }
}

/// The longest beginning of at most so many bytes.
fn cut(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn safe(name: &str) -> String {
        safe_name(name, |_| false)
    }

    #[test]
    fn any_name_is_kept_but_three() {
        for kept in ["a", " ", "..", "a/b", "\n\u{7f}", "CON", "\u{202e}", &"é".repeat(150)] {
            assert_eq!(check(kept), Ok(()), "{kept:?}");
        }
        assert_eq!(check(""), Err(NameFault::Empty));
        assert_eq!(check("a\0"), Err(NameFault::Nul));
        assert_eq!(check(&"x".repeat(1_025)), Err(NameFault::TooLong(1_025)));
    }

    /// Case C66.
    #[test]
    fn an_exported_name_is_taken_by_all_systems() {
        for (name, expected) in [
            ("résumé 日本 🎉.pdf", "résumé 日本 🎉.pdf"),
            ("a`b$(c)\".txt", "a`b$(c)_.txt"),
            ("CON", "_CON"),
            ("aux.md", "_aux.md"),
            ("Com1.tar.gz", "_Com1.tar.gz"),
            ("lpt².x", "_lpt².x"),
            ("com10", "com10"),
            ("a:b", "a_b"),
            ("a/b\\c", "a_b_c"),
            ("end.", "end"),
            ("end ", "end"),
            (" . . ", "File"),
            ("-rf", "_rf"),
            ("a\nb", "a_b"),
            ("..", "File"),
            (".", "File"),
            ("", "File"),
            ("   ", "File"),
            (".profile", "_profile"),
            ("~", "_"),
            ("gpj.\u{202e}exe", "gpj._exe"),
            ("e\u{301}.txt", "é.txt"),
        ] {
            assert_eq!(safe(name), expected, "{name:?}");
        }
    }

    #[test]
    fn long_names_keep_their_ending() {
        let long = format!("{}.pdf", "é".repeat(300));
        let made = safe(&long);
        assert!(made.len() <= 255 && made.ends_with("é.pdf"), "{made}");
        let taken: BTreeSet<String> = [folded(&made)].into();
        let second = safe_name(&long, |name| taken.contains(name));
        assert!(second.len() <= 255 && second.ends_with("é (2).pdf"), "{second}");
        assert_eq!(safe(&"x".repeat(255)).len(), 255);
        assert_eq!(safe(&format!("a.{}", "x".repeat(300))).len(), 255);
    }

    #[test]
    fn names_that_one_system_takes_for_the_same_stay_apart() {
        let mut taken = BTreeSet::new();
        let mut made = Vec::new();
        for name in ["A.txt", "a.txt", "a.txt", "é", "e\u{301}", "a/b", "a:b", "STRASSE", "straße"]
        {
            let safe = safe_name(name, |folded| taken.contains(folded));
            assert!(taken.insert(folded(&safe)), "{safe}");
            made.push(safe);
        }
        let wanted = [
            "A.txt",
            "a (2).txt",
            "a (3).txt",
            "é",
            "é (2)",
            "a_b",
            "a_b (2)",
            "STRASSE",
            "straße (2)",
        ];
        assert_eq!(made, wanted);
    }

    #[test]
    fn a_safe_name_is_safe_whatever_it_is_made_of() {
        let pool: Vec<char> =
            "aB.- ~/\\:*?\"<>|\u{0}\u{1}\n\u{7f}\u{202e}\u{feff}é日🎉conCON1".chars().collect();
        let mut state = 7_usize;
        for round in 0..20_000 {
            let name: String = (0..round % 40)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    pool[(state >> 33) % pool.len()]
                })
                .collect();
            let made = safe(&name);
            assert!(!made.is_empty() && made.len() <= 255, "{name:?}");
            assert!(!made.chars().any(is_unsafe), "{name:?}: {made:?}");
            assert!(!made.ends_with(['.', ' ']) && !made.starts_with(['.', ' ', '-']), "{made:?}");
            assert!(!is_device(&made), "{name:?}: {made:?}");
            assert_eq!(safe(&made), made, "a safe name stays what it is");
        }
    }

    #[test]
    fn titles_are_one_line() {
        for (name, expected) in [
            ("scan.pdf", "scan.pdf"),
            ("a\nb\tc\r", "a b c "),
            ("\n\u{1}", "File"),
            ("x\u{fffc}\u{2028}y", "x  y"),
        ] {
            let made = title(name);
            assert_eq!(made, expected, "{name:?}");
            assert_eq!(text::accept_line(&made, limits::TITLE_CHARS).as_deref(), Ok(expected));
        }
        assert_eq!(title(&"x".repeat(1_024)).chars().count(), limits::TITLE_CHARS);
    }

    #[test]
    fn names_are_found_without_case_and_form() {
        assert!(folded("ΟΔΟΣ.pdf").contains(&folded("δος")));
        assert!(folded("Straße").contains(&folded("STRASS")));
        assert_eq!(folded("e\u{301}"), folded("É"));
        assert_ne!(folded("a"), folded("á"));
    }
}
