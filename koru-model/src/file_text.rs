//! A piece of a file as text: UTF-8, cut between characters.

/// How many bytes before a piece the caller gives along: a character has at most so many before its last.
pub const BEFORE: usize = 3;
/// How many bytes behind a piece the caller gives along, so that it holds a whole character in any case.
pub const BEHIND: usize = 6;

/// A text, and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Where it begins among the given bytes.
    pub start: usize,
    /// The text.
    pub text: &'a str,
}

/// The bytes are no UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotText {
    /// The first byte that belongs to no character, among the given ones.
    pub at: usize,
}

/// The characters of `bytes` that begin at or behind `from` and end at or before `to`, and the first of
/// them in any case, so that whoever goes on behind the text comes to an end.
///
/// A character that `from` lies inside is left out: it belongs to the piece before. `bytes` holds what
/// stands [`BEFORE`] and [`BEHIND`] the piece, as far as the file has it.
///
/// # Errors
/// When the piece is no UTF-8.
pub fn piece(bytes: &[u8], from: usize, to: usize) -> Result<Piece<'_>, NotText> {
    let start = first_character(bytes, from)?;
    let rest = bytes.get(start..).unwrap_or_default();
    let length = to.saturating_sub(start).min(rest.len());
    let text = match std::str::from_utf8(rest.get(..length).unwrap_or_default()) {
        Ok(text) => text,
        // The last character goes on behind the piece.
        Err(error) if error.error_len().is_none() && length < rest.len() => {
            valid(rest, error.valid_up_to())
        }
        Err(error) => return Err(NotText { at: start + error.valid_up_to() }),
    };
    if text.is_empty() && !rest.is_empty() {
        let first = (1..=rest.len().min(4)).find(|length| is_text(rest, *length));
        let length = first.ok_or(NotText { at: start })?;
        return Ok(Piece { start, text: valid(rest, length) });
    }
    Ok(Piece { start, text })
}

fn is_text(bytes: &[u8], length: usize) -> bool {
    bytes.get(..length).is_some_and(|bytes| std::str::from_utf8(bytes).is_ok())
}

/// The text of so many bytes that were found to be one.
fn valid(bytes: &[u8], length: usize) -> &str {
    bytes.get(..length).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
}

/// The first place at or behind `from` where a character begins.
fn first_character(bytes: &[u8], from: usize) -> Result<usize, NotText> {
    let continues = |byte: &u8| byte & 0b1100_0000 == 0b1000_0000;
    if !bytes.get(from).is_some_and(continues) {
        return Ok(from.min(bytes.len()));
    }
    let before = bytes.get(..from).unwrap_or_default();
    let back = before.iter().rev().take(BEFORE).take_while(|byte| continues(byte)).count();
    let lead = before.len().checked_sub(back + 1);
    let length = match lead.and_then(|at| bytes.get(at)) {
        Some(0xC2..=0xDF) => 2,
        Some(0xE0..=0xEF) => 3,
        Some(0xF0..=0xF4) => 4,
        _ => 0,
    };
    match lead {
        Some(lead) if lead + length > from => Ok(lead + length),
        _ => Err(NotText { at: from }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a reader of the whole file is given for a piece, as the service asks for it.
    fn read(file: &[u8], offset: usize, length: usize) -> Result<(usize, &str), usize> {
        let low = offset.saturating_sub(BEFORE);
        let high = (offset + length + BEHIND).min(file.len());
        match piece(&file[low..high], offset - low, offset + length - low) {
            Ok(found) => Ok((low + found.start, found.text)),
            Err(NotText { at }) => Err(low + at),
        }
    }

    #[test]
    fn pieces_of_every_length_join_to_the_whole() {
        for whole in ["", "a", "aé日🎉\u{feff}\0z", "🎉🎉🎉", "日本語\r\n", "e\u{301}e\u{301}"]
        {
            for length in 1..=whole.len() + 3 {
                let (mut at, mut joined) = (0, String::new());
                while at < whole.len() {
                    let (start, text) = read(whole.as_bytes(), at, length).unwrap();
                    assert_eq!(start, at, "whoever goes on stands between characters");
                    assert!(!text.is_empty() && text.len() <= length.max(4), "{whole:?} {length}");
                    joined += text;
                    at = start + text.len();
                }
                assert_eq!(joined, whole);
                assert_eq!(read(whole.as_bytes(), at, length), Ok((at, "")));
            }
        }
    }

    #[test]
    fn a_piece_that_begins_inside_a_character_begins_behind_it() {
        let whole = "aé日🎉z";
        for (offset, length, start, text) in [
            (2, 1, 3, "日"),
            (2, 100, 3, "日🎉z"),
            (4, 2, 6, "🎉"),
            (5, 5, 6, "🎉"),
            (7, 1, 10, "z"),
            (9, 1, 10, "z"),
            (1, 4, 1, "é"),
            (1, 5, 1, "é日"),
        ] {
            assert_eq!(
                read(whole.as_bytes(), offset, length),
                Ok((start, text)),
                "{offset} {length}"
            );
        }
        assert_eq!(read("é".as_bytes(), 1, 9), Ok((2, "")), "nothing behind the last one");
    }

    #[test]
    fn what_is_no_text_is_refused_where_it_stands() {
        for (bytes, offset, length, at) in [
            (&b"ab\xffcd"[..], 0, 5, 2),
            (b"\x80", 0, 1, 0),
            (b"a\x80\x80", 1, 2, 1),
            (b"\xe2\x80", 0, 2, 0),
            (b"ab\xe2\x80", 0, 9, 2),
            (b"\xf0\x9f\x8e\x89\x89", 4, 1, 4),
            (b"\xc3x", 0, 1, 0),
            (b"\xff\xfe\0\0", 0, 1, 0),
        ] {
            assert_eq!(read(bytes, offset, length), Err(at), "{bytes:?} {offset} {length}");
        }
        assert_eq!(read(b"ab\xffcd", 3, 2), Ok((3, "cd")), "a piece is judged by itself");
    }
}
