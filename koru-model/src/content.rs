//! The hash of a file's content (BLAKE3), and what each piece of it must hash to.
//!
//! BLAKE3 is a tree: the values of its pieces of [`PIECE_BYTES`] lead to the hash of the whole, so a
//! piece is checked without reading the others, and nothing is hashed twice.

use std::fmt;
use std::str::FromStr;

use blake3::Hasher;
use blake3::hazmat::{HasherExt as _, Mode, merge_subtrees_non_root, merge_subtrees_root};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The length of a piece, in bytes; the last one may be shorter. A power of two, as the tree wants it.
pub const PIECE_BYTES: u64 = 1024 * 1024;
/// The length of a hash and of a piece's value, in bytes.
pub const HASH_BYTES: usize = 32;

const PREFIX: &str = "blake3:";

/// What a piece of a content must hash to.
pub type PieceValue = [u8; HASH_BYTES];

/// The hash of a whole content: BLAKE3, written `blake3:` and 64 hex digits in lower case.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash(pub [u8; HASH_BYTES]);

impl ContentHash {
    /// Its 64 hex digits, in lower case.
    #[must_use]
    pub fn hex(&self) -> String {
        blake3::Hash::from_bytes(self.0).to_hex().to_string()
    }

    /// Reads what [`Self::hex`] wrote.
    #[must_use]
    pub fn from_hex(digits: &str) -> Option<Self> {
        let is_lower = digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
        let hash = blake3::Hash::from_hex(digits).ok()?;
        is_lower.then_some(Self(*hash.as_bytes()))
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.hex())
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text is no hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not blake3: with 64 hex digits in lower case")]
pub struct NotAHash;

impl FromStr for ContentHash {
    type Err = NotAHash;
    fn from_str(text: &str) -> Result<Self, NotAHash> {
        text.strip_prefix(PREFIX).and_then(Self::from_hex).ok_or(NotAHash)
    }
}

impl Serialize for ContentHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// The value of a piece that holds these bytes, which are not empty.
///
/// `number` counts the pieces from 0. The only piece of a content is its own root, so it has another
/// value than the same bytes would have in front of more.
#[must_use]
pub fn piece_value(bytes: &[u8], number: u64, is_only: bool) -> PieceValue {
    let mut hasher = begin_piece(number);
    hasher.update(bytes);
    end_piece(&hasher, is_only)
}

/// The hash that pieces of these values make; of nothing where there are none.
#[must_use]
pub fn root(pieces: &[PieceValue]) -> ContentHash {
    match pieces {
        [] => ContentHash(*blake3::hash(b"").as_bytes()),
        [only] => ContentHash(*only),
        _ => {
            let (left, right) = halves(pieces);
            let root = merge_subtrees_root(&joined(left), &joined(right), Mode::Hash);
            ContentHash(*root.as_bytes())
        }
    }
}

fn joined(pieces: &[PieceValue]) -> PieceValue {
    match pieces {
        [only] => *only,
        _ => {
            let (left, right) = halves(pieces);
            merge_subtrees_non_root(&joined(left), &joined(right), Mode::Hash)
        }
    }
}

/// The left part is the longest that is a power of two and leaves something to the right.
fn halves(pieces: &[PieceValue]) -> (&[PieceValue], &[PieceValue]) {
    pieces.split_at(pieces.len().div_ceil(2).next_power_of_two())
}

fn begin_piece(number: u64) -> Hasher {
    let mut hasher = Hasher::new();
    hasher.set_input_offset(number * PIECE_BYTES);
    hasher
}

fn end_piece(hasher: &Hasher, is_only: bool) -> PieceValue {
    if is_only { *hasher.finalize().as_bytes() } else { hasher.finalize_non_root() }
}

/// How many pieces a content of so many bytes has.
#[must_use]
pub fn pieces_of(bytes: u64) -> u64 {
    bytes.div_ceil(PIECE_BYTES)
}

/// Hashes a content that comes bit by bit; keeps 32 bytes for each piece of it.
#[derive(Debug, Default)]
pub struct ContentHasher {
    pieces: Vec<PieceValue>,
    /// The piece that is not full yet, and how many bytes of it there are.
    open: Option<(Hasher, u64)>,
    bytes: u64,
}

impl ContentHasher {
    /// Takes the next bytes.
    pub fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            // A full piece is ended by the first byte behind it: only then it is known not to be the only one.
            if let Some((full, _)) = self.open.take_if(|(_, held)| *held == PIECE_BYTES) {
                self.pieces.push(end_piece(&full, false));
            }
            let number = self.pieces.len() as u64;
            let (hasher, held) = self.open.get_or_insert_with(|| (begin_piece(number), 0));
            let room = usize::try_from(PIECE_BYTES - *held).unwrap_or(usize::MAX);
            let (now, later) = bytes.split_at(bytes.len().min(room));
            hasher.update(now);
            *held += now.len() as u64;
            self.bytes += now.len() as u64;
            bytes = later;
        }
    }

    /// How many bytes came.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The hash of what came, and the value of each piece of it.
    #[must_use]
    pub fn finish(mut self) -> (ContentHash, Vec<PieceValue>) {
        if let Some((last, _)) = self.open.take() {
            let is_only = self.pieces.is_empty();
            self.pieces.push(end_piece(&last, is_only));
        }
        (root(&self.pieces), self.pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIECE: usize = PIECE_BYTES as usize;

    fn noise(length: usize) -> Vec<u8> {
        let mut state = 1_u64;
        std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .take(length)
        .collect()
    }

    #[test]
    fn the_hash_is_that_of_blake3_whatever_the_length_and_the_steps() {
        let all = noise(9 * PIECE + 17);
        let lengths = [0, 1, 1023, 1024, 1025, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE];
        let longer =
            [2 * PIECE + 1, 3 * PIECE, 4 * PIECE + 5, 5 * PIECE, 7 * PIECE, 9 * PIECE + 17];
        for length in lengths.into_iter().chain(longer) {
            let bytes = &all[..length];
            for step in [977, 65_536, PIECE, 3 * PIECE + 1] {
                let mut hasher = ContentHasher::default();
                bytes.chunks(step).for_each(|chunk| hasher.update(chunk));
                assert_eq!(hasher.bytes(), length as u64);
                let (hash, pieces) = hasher.finish();
                assert_eq!(hash.0, *blake3::hash(bytes).as_bytes(), "{length} by {step}");
                assert_eq!(pieces.len() as u64, pieces_of(length as u64));
                for (number, piece) in bytes.chunks(PIECE).enumerate() {
                    let value = piece_value(piece, number as u64, pieces.len() == 1);
                    assert_eq!(value, pieces[number], "{length}, piece {number}");
                }
            }
        }
    }

    #[test]
    fn a_changed_byte_changes_the_value_of_its_piece() {
        let mut bytes = noise(PIECE);
        let before = piece_value(&bytes, 3, false);
        bytes[PIECE / 2] ^= 1;
        assert_ne!(piece_value(&bytes, 3, false), before);
        bytes[PIECE / 2] ^= 1;
        assert_ne!(piece_value(&bytes, 4, false), before, "its place counts");
    }

    #[test]
    fn a_hash_is_written_with_its_algorithm_and_read_strictly() {
        let hash = root(&[]);
        let text = hash.to_string();
        assert_eq!(text.parse(), Ok(hash));
        assert!(text.starts_with("blake3:af1349b9"), "{text}");
        for wrong in ["", "blake3:", &text.to_uppercase(), &hash.hex(), text.trim_end_matches('2')]
        {
            assert_eq!(wrong.parse::<ContentHash>(), Err(NotAHash), "{wrong}");
        }
    }
}
