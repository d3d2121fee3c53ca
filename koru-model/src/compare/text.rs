//! The way from one text to another, along words.

use serde::Serialize;

use crate::diff::{Budget, Step, diff};
use crate::inline::{Piece, Placed};

/// A piece of the way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Segment {
    /// It is in both texts.
    Equal {
        /// The piece.
        text: String,
    },
    /// It is in the right text alone.
    Insert {
        /// The piece.
        text: String,
    },
    /// It is in the left text alone.
    Delete {
        /// The piece.
        text: String,
    },
}

/// The pieces of the way; neighbours of one sort are one piece.
pub(super) fn segments(
    left: (&str, &[Placed]),
    right: (&str, &[Placed]),
    budget: &mut Budget,
) -> Vec<Segment> {
    let mut found: Vec<Segment> = Vec::new();
    for step in diff(left, right, budget) {
        let (piece, make): (_, fn(String) -> Segment) = match step {
            Step::Keep(piece) => (piece, |text| Segment::Equal { text }),
            Step::Insert(piece) => (piece, |text| Segment::Insert { text }),
            Step::Delete(piece) => (piece, |text| Segment::Delete { text }),
        };
        let shown = match piece {
            Piece::Text(text) => text.to_owned(),
            Piece::Inline(inline) => inline.token(),
        };
        let segment = make(shown);
        match (found.last_mut(), &segment) {
            (Some(Segment::Equal { text }), Segment::Equal { text: more })
            | (Some(Segment::Insert { text }), Segment::Insert { text: more })
            | (Some(Segment::Delete { text }), Segment::Delete { text: more }) => {
                text.push_str(more);
            }
            _ => found.push(segment),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_texts_can_be_read_off_the_segments() {
        for (left, right) in [
            ("one two three", "one 2 three"),
            ("", "x"),
            ("x", ""),
            ("a b c", "c b a"),
            ("same", "same"),
        ] {
            let found = segments((left, &[]), (right, &[]), &mut Budget::default());
            let side = |wanted: fn(&Segment) -> Option<&str>| {
                found.iter().filter_map(wanted).collect::<String>()
            };
            assert_eq!(
                side(|segment| match segment {
                    Segment::Equal { text } | Segment::Delete { text } => Some(text),
                    Segment::Insert { .. } => None,
                }),
                left
            );
            assert_eq!(
                side(|segment| match segment {
                    Segment::Equal { text } | Segment::Insert { text } => Some(text),
                    Segment::Delete { .. } => None,
                }),
                right
            );
        }
    }
}
