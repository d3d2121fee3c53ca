//! Revisions: opaque names of a document's states, chained so that none can be mistaken.
//!
//! A bare number is fooled by a restored backup that then takes other edits; a link of the hash
//! chain over the update log is not (design, model and store, section 3).

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::ids::DocumentId;

/// One link of the hash chain over a document's update log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Chain(pub [u8; 16]);

/// The digest of an input, to tell a repeated call by.
#[must_use]
pub fn digest(input: &[u8]) -> [u8; 16] {
    first_half(blake3::hash(input)).0
}

fn first_half(hash: blake3::Hash) -> Chain {
    let mut half = [0; 16];
    half.copy_from_slice(hash.as_bytes().split_at(16).0);
    Chain(half)
}

impl Chain {
    /// The link before the first change. `nonce` is drawn once a document, so that no other document
    /// of the same ID has the same chain.
    #[must_use]
    pub fn start(document: DocumentId, nonce: &[u8; 16]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"koru1").update(document.as_bytes()).update(nonce);
        first_half(hasher.finalize())
    }

    /// The link of change number `seq`, whose update is `body`.
    #[must_use]
    pub fn next(self, seq: u64, body: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.0).update(&seq.to_le_bytes());
        hasher.update(&(body.len() as u64).to_le_bytes()).update(body);
        first_half(hasher.finalize())
    }
}

/// A state of a document: the number of its newest change and the chain there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Revision {
    /// The number of the newest change; the first is 1.
    pub seq: u64,
    /// The first 15 bytes of the chain's link.
    link: [u8; 15],
}

/// The text is no revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a revision")]
pub struct NotARevision;

const VERSION: u8 = 1;

impl Revision {
    /// Names the state after change number `seq`.
    #[must_use]
    pub fn new(seq: u64, chain: Chain) -> Self {
        let mut link = [0; 15];
        link.copy_from_slice(chain.0.split_at(15).0);
        Self { seq, link }
    }

    /// Whether it names the state after change `seq` of the history whose link there is `chain`.
    #[must_use]
    pub fn is_of(self, chain: Chain) -> bool {
        self == Self::new(self.seq, chain)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = Vec::with_capacity(24);
        bytes.push(VERSION);
        bytes.extend_from_slice(&self.seq.to_be_bytes());
        bytes.extend_from_slice(&self.link);
        f.write_str(&URL_SAFE_NO_PAD.encode(bytes))
    }
}

impl FromStr for Revision {
    type Err = NotARevision;

    fn from_str(text: &str) -> Result<Self, NotARevision> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| NotARevision)?;
        let Some(([VERSION], rest)) = bytes.split_first_chunk::<1>() else {
            return Err(NotARevision);
        };
        let (seq, link) = rest.split_first_chunk::<8>().ok_or(NotARevision)?;
        let link = link.try_into().map_err(|_| NotARevision)?;
        Ok(Self { seq: u64::from_be_bytes(*seq), link })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_names_one_state_of_one_history() {
        let id = DocumentId::from_bytes([7; 16]);
        let start = Chain::start(id, &[1; 16]);
        let first = start.next(1, b"update");
        let revision = Revision::new(1, first);
        assert_eq!(revision.to_string().parse(), Ok(revision));
        assert_eq!(revision.to_string().len(), 32);
        assert!(revision.is_of(first));
        assert!(!revision.is_of(start.next(1, b"another")));
        assert!(!revision.is_of(Chain::start(id, &[2; 16]).next(1, b"update")));
        for wrong in ["", "12", "x", "AAAA", &revision.to_string().replacen('A', "B", 1)] {
            assert_eq!(wrong.parse::<Revision>(), Err(NotARevision), "{wrong}");
        }
    }
}
