//! Lines of the input, of which the too long ones are not kept.

use std::io::{self, BufRead};

use koru_model::limits::REQUEST_BYTES;
use serde_json::Value;

use super::id_scan::IdScan;

/// A line, without its end.
#[derive(Debug)]
pub(super) enum Line<'a> {
    /// A line within the limit.
    Whole(&'a [u8]),
    /// A line over the limit, and the request's id where it has one.
    TooLong(Option<Value>),
}

/// The lines of a reader.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    line: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, line: Vec::new() }
    }

    /// The next line; none at the end. A last line without an end counts.
    ///
    /// # Errors
    /// When the reader fails.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        // One huge line shall not be paid for by all that follow.
        self.line.shrink_to(256 * 1024);
        let mut long: Option<IdScan> = None;
        loop {
            let available = match self.reader.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let end = available.iter().position(|byte| *byte == b'\n');
            let piece = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
            let is_last = end.is_some() || available.is_empty();
            let at_end = available.is_empty();
            match &mut long {
                Some(scan) => scan.feed(piece),
                None if self.line.len() + piece.len() > REQUEST_BYTES => {
                    let scan = long.insert(IdScan::default());
                    scan.feed(&self.line);
                    scan.feed(piece);
                    self.line = Vec::new();
                }
                None => self.line.extend_from_slice(piece),
            }
            let read = piece.len() + usize::from(end.is_some());
            self.reader.consume(read);
            if is_last {
                return Ok(match long {
                    Some(scan) => Some(Line::TooLong(scan.finish())),
                    None if at_end && self.line.is_empty() => None,
                    None => Some(Line::Whole(&self.line)),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use serde_json::json;

    use super::*;

    #[test]
    fn gives_lines_and_the_last_one_without_an_end() {
        let mut lines = Lines::new(Cursor::new(b"one\n\ntwo".to_vec()));
        let mut found = Vec::new();
        while let Some(Line::Whole(line)) = lines.next().unwrap() {
            found.push(String::from_utf8(line.to_vec()).unwrap());
        }
        assert_eq!(found, ["one", "", "two"]);
    }

    #[test]
    fn one_byte_over_the_limit_is_too_long_and_the_next_line_is_read() {
        let frame = r#"{"a":"","id":4}"#.len();
        for (over, id) in [(0, None), (1, Some(json!(4)))] {
            let text = "x".repeat(REQUEST_BYTES - frame + over);
            let input = format!("{{\"a\":\"{text}\",\"id\":4}}\nnext\n");
            let mut lines = Lines::new(Cursor::new(input.into_bytes()));
            match (lines.next().unwrap(), id) {
                (Some(Line::Whole(line)), None) => assert_eq!(line.len(), REQUEST_BYTES),
                (Some(Line::TooLong(found)), id) => assert_eq!(found, id),
                (other, _) => panic!("{:?}", other.is_some()),
            }
            assert!(matches!(lines.next().unwrap(), Some(Line::Whole(b"next"))));
            assert!(lines.next().unwrap().is_none());
        }
    }
}
