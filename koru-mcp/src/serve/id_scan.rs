//! Reads a request's id from a line that is no JSON, or that is too long to keep.

use serde_json::Value;

/// The longest id that is read, in bytes.
const ID_BYTES: usize = 1024;

/// A scanner that is fed a line in pieces and remembers its top-level `id`.
#[derive(Debug, Default)]
pub(super) struct IdScan {
    depth: usize,
    in_string: bool,
    escaped: bool,
    in_value: bool,
    is_id: bool,
    token: Vec<u8>,
    found: Option<Value>,
}

impl IdScan {
    /// The id of a whole line.
    pub(super) fn of(line: &[u8]) -> Option<Value> {
        let mut scan = Self::default();
        scan.feed(line);
        scan.finish()
    }

    /// Reads on.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        if self.found.is_some() {
            return;
        }
        for &byte in bytes {
            if self.in_string {
                self.inside_string(byte);
            } else {
                self.outside_string(byte);
            }
        }
    }

    /// The id, where the line had one.
    pub(super) fn finish(mut self) -> Option<Value> {
        self.end_of_value();
        self.found
    }

    fn inside_string(&mut self, byte: u8) {
        self.keep(byte);
        if self.escaped {
            self.escaped = false;
        } else if byte == b'\\' {
            self.escaped = true;
        } else if byte == b'"' {
            self.in_string = false;
        }
    }

    fn outside_string(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.in_string = true;
                if self.depth == 1 && !self.in_value {
                    self.token.clear();
                }
                self.keep(byte);
            }
            b'{' | b'[' => {
                self.keep(byte);
                self.depth += 1;
            }
            b'}' | b']' => {
                if self.depth == 1 {
                    self.end_of_value();
                }
                self.depth = self.depth.saturating_sub(1);
                self.keep(byte);
            }
            b':' if self.depth == 1 && !self.in_value => {
                self.is_id = self.token == b"\"id\"";
                self.in_value = true;
                self.token.clear();
            }
            b',' if self.depth == 1 => {
                self.end_of_value();
                self.token.clear();
            }
            byte if byte.is_ascii_whitespace() => {}
            byte => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        let wanted = self.depth == 1 && (!self.in_value || self.is_id);
        if wanted && self.token.len() <= ID_BYTES {
            self.token.push(byte);
        }
    }

    fn end_of_value(&mut self) {
        if self.in_value && self.is_id && self.found.is_none() {
            self.found = serde_json::from_slice(&self.token)
                .ok()
                .filter(|id: &Value| id.is_string() || id.is_number());
        }
        self.in_value = false;
        self.is_id = false;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn finds_the_id_of_broken_lines() {
        let cases = [
            (r#"{"jsonrpc":"2.0","id":7,"method":"x","params":{"id":9}}"#, Some(json!(7))),
            (r#"{"params":{"id":9,"a":["id",1]},"id":"a\"b"}"#, Some(json!("a\"b"))),
            (r#"{"params":{"id":9}"#, None),
            (r#"{"id":5"#, Some(json!(5))),
            (r#"{"id": 5 , "method": oops}"#, Some(json!(5))),
            (r#"{"id":null,"method":"x"}"#, None),
            (r#"{"id":{"id":3}}"#, None),
            (r#"{"text":"\ud800","id":3}"#, Some(json!(3))),
            (r#"{"a":"\"id\":4","id":3}"#, Some(json!(3))),
            (r#"[{"id":3}]"#, None),
            ("garbage", None),
        ];
        for (line, id) in cases {
            assert_eq!(IdScan::of(line.as_bytes()), id, "{line}");
            let mut scan = IdScan::default();
            line.as_bytes().chunks(1).for_each(|piece| scan.feed(piece));
            assert_eq!(scan.finish(), id, "{line}, byte by byte");
        }
    }
}
