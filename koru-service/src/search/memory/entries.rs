//! What memory knows of rows, nodes and documents, packed into numbers.

use koru_model::node::Kind;

use crate::store::placing::DocumentKey;
use crate::store::workspaces::WorkspaceKey;

/// The key of a live node in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeKey(pub u32);

/// What a node is, with whether a task is done, in one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KindCode(pub u8);

impl KindCode {
    /// The code of a title.
    pub const TITLE: Self = Self(0);
    const DONE: u8 = 64;

    /// The code of a kind.
    #[must_use]
    pub fn of(kind: Kind, done: bool) -> Self {
        let place = Kind::ALL.iter().position(|known| *known == kind).unwrap_or_default();
        let code = u8::try_from(place).unwrap_or_default();
        Self(if done { code | Self::DONE } else { code })
    }

    /// The kind.
    #[must_use]
    pub fn kind(self) -> Kind {
        let place = usize::from(self.0 & !Self::DONE);
        Kind::ALL.get(place).copied().unwrap_or(Kind::Paragraph)
    }

    /// Whether it is a task that is done.
    #[must_use]
    pub fn is_done(self) -> bool {
        self.0 & Self::DONE != 0
    }

    /// Whether its text is in `search_head`.
    #[must_use]
    pub fn is_head(self) -> bool {
        matches!(self.kind(), Kind::Title | Kind::Heading)
    }
}

/// What is known of a live node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeEntry {
    /// The key of its document.
    pub document: u32,
    /// What it is.
    pub kind: KindCode,
}

impl NodeEntry {
    pub(super) fn packed(self) -> u64 {
        (u64::from(self.document) << 8) | u64::from(self.kind.0)
    }

    pub(super) fn unpacked(packed: u64) -> Option<Self> {
        let document = u32::try_from(packed >> 8).ok().filter(|document| *document > 0)?;
        Some(Self { document, kind: KindCode(packed.to_le_bytes()[0]) })
    }
}

/// What is known of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DocumentEntry {
    /// The key of its workspace; 0: there is no such document.
    pub workspace: u32,
    /// The key of the document that it stands under; 0: none.
    pub parent: u32,
    /// Whether it, or one above it, is in the trash.
    pub trashed: bool,
    /// When it was changed last, in milliseconds since 1970 (UTC).
    pub modified_at: i64,
}

impl DocumentEntry {
    /// A document that is not in the trash.
    #[must_use]
    pub fn live(workspace: WorkspaceKey, parent: Option<DocumentKey>, modified_at: i64) -> Self {
        let key = |key: i64| u32::try_from(key).unwrap_or_default();
        Self {
            workspace: key(workspace.0),
            parent: parent.map_or(0, |parent| key(parent.0)),
            trashed: false,
            modified_at,
        }
    }
}

/// Which words of a node a row holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Of its text.
    Text,
    /// Of its attributes' values.
    Values,
}

/// What is known of a row of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowEntry {
    /// The node.
    pub node: NodeKey,
    /// Which of its words the row holds.
    pub source: Source,
    /// How many words it holds; the most that is told apart where it is more.
    pub words: u16,
}

impl RowEntry {
    const VALUES: u64 = 1 << 32;
    const WORDS: u32 = 48;

    pub(super) fn packed(self) -> u64 {
        let mark = if self.source == Source::Values { Self::VALUES } else { 0 };
        u64::from(self.node.0) | mark | (u64::from(self.words) << Self::WORDS)
    }

    pub(super) fn unpacked(packed: u64) -> Option<Self> {
        let node = u32::try_from(packed & u64::from(u32::MAX)).ok().filter(|node| *node > 0)?;
        let source = if packed & Self::VALUES == 0 { Source::Text } else { Source::Values };
        let words = u16::try_from(packed >> Self::WORDS).unwrap_or(u16::MAX);
        Some(Self { node: NodeKey(node), source, words })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_tells_kind_and_state() {
        for kind in Kind::ALL {
            assert_eq!(KindCode::of(kind, false).kind(), kind);
        }
        let done = KindCode::of(Kind::Task, true);
        assert_eq!((done.kind(), done.is_done()), (Kind::Task, true));
        assert!(!KindCode::of(Kind::Task, false).is_done());
    }

    #[test]
    fn what_is_packed_comes_out_again() {
        for entry in [
            RowEntry { node: NodeKey(1), source: Source::Text, words: 0 },
            RowEntry { node: NodeKey(u32::MAX), source: Source::Values, words: u16::MAX },
        ] {
            assert_eq!(RowEntry::unpacked(entry.packed()), Some(entry));
        }
        assert_eq!(RowEntry::unpacked(0), None);
        let entry = NodeEntry { document: u32::MAX, kind: KindCode::of(Kind::Task, true) };
        assert_eq!(NodeEntry::unpacked(entry.packed()), Some(entry));
        assert_eq!(NodeEntry::unpacked(0), None);
    }
}
