//! What a batch must know of the world around its document.

use std::collections::BTreeMap;

use crate::ids::{DocumentId, FileId, NodeId, TagId};
use crate::value::Definition;

/// A property of a node that changes are guarded by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Property {
    /// That it was made.
    Created,
    /// That it was removed, or came back.
    Removed,
    /// Its parent and its place among the siblings.
    Place,
    /// Its text.
    Text,
    /// Whether it is done.
    Done,
    /// Its language.
    Language,
    /// The value under a key.
    Attribute(String),
    /// A tag, there or not.
    Tag(TagId),
}

impl Property {
    /// The property's name, as the store keeps it.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Created => "created".into(),
            Self::Removed => "removed".into(),
            Self::Place => "place".into(),
            Self::Text => "text".into(),
            Self::Done => "done".into(),
            Self::Language => "language".into(),
            Self::Attribute(key) => format!("attribute:{key}"),
            Self::Tag(tag) => format!("tag:{tag}"),
        }
    }
}

/// When a property was changed last, and by whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touch {
    /// The number of the change.
    pub seq: u64,
    /// The client that made it.
    pub by: String,
    /// When, in milliseconds since 1970 (UTC).
    pub at_ms: i64,
}

/// The caller could not find something out.
pub type FactsError = Box<dyn std::error::Error + Send + Sync>;

/// The world around a document. The caller answers from the same transaction that the batch will be
/// part of.
pub trait Facts {
    /// The last change of a property that the store knows.
    ///
    /// # Errors
    /// When it cannot be found out.
    fn last_change(
        &mut self,
        node: NodeId,
        property: &Property,
    ) -> Result<Option<Touch>, FactsError>;

    /// The nodes that were added or changed after a change of the document, each with its last change.
    ///
    /// # Errors
    /// When it cannot be found out.
    fn changed_after(&mut self, seq: u64) -> Result<BTreeMap<NodeId, Touch>, FactsError>;

    /// The attributes of the workspace, the built-in ones included.
    ///
    /// # Errors
    /// When it cannot be found out.
    fn attributes(&mut self) -> Result<Vec<Definition>, FactsError>;

    /// The tag of that name (as [`crate::tag::accept`] gives it).
    ///
    /// # Errors
    /// When it cannot be found out.
    fn find_tag(&mut self, name: &str) -> Result<Option<TagId>, FactsError>;

    /// The tag of that name; where it does not exist, the ID that it will have. It is made only where a
    /// node carries it in the end.
    ///
    /// # Errors
    /// When it cannot be found out.
    fn make_tag(&mut self, name: &str) -> Result<TagId, FactsError>;

    /// The tag that an ID means: itself, or the one that it was merged into; none where the workspace
    /// has neither.
    ///
    /// # Errors
    /// When it cannot be found out.
    fn resolve_tag(&mut self, tag: TagId) -> Result<Option<TagId>, FactsError>;

    /// Whether the workspace has the document, in the trash or not.
    ///
    /// # Errors
    /// When it cannot be found out.
    fn has_document(&mut self, document: DocumentId) -> Result<bool, FactsError>;

    /// Whether the workspace has the file.
    ///
    /// # Errors
    /// When it cannot be found out.
    fn has_file(&mut self, file: FileId) -> Result<bool, FactsError>;
}
