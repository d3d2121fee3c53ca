//! What a node is: its kind, and what each kind may hold.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits;
use crate::table;
use crate::text::{self, TextFault};

/// What a node is. It never changes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "a doc on a variant makes its schema a union of constants")]
pub enum Kind {
    Title,
    Heading,
    Paragraph,
    Quote,
    Listblock,
    Task,
    Code,
    Table,
    Contact,
    Divider,
}

/// Why a text does not fit a kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KindFault {
    /// The text is refused for any kind.
    #[error(transparent)]
    Text(#[from] TextFault),
    /// A divider has no text.
    #[error("must be empty: a divider holds no text")]
    DividerText,
    /// The text is no table.
    #[error(transparent)]
    Table(#[from] table::TableFault),
}

impl Kind {
    /// All kinds, in the order of the documentation.
    pub const ALL: [Self; 10] = [
        Self::Title,
        Self::Heading,
        Self::Paragraph,
        Self::Quote,
        Self::Listblock,
        Self::Task,
        Self::Code,
        Self::Table,
        Self::Contact,
        Self::Divider,
    ];

    /// The kind's name, as it is written in JSON and in the CRDT.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Heading => "heading",
            Self::Paragraph => "paragraph",
            Self::Quote => "quote",
            Self::Listblock => "listblock",
            Self::Task => "task",
            Self::Code => "code",
            Self::Table => "table",
            Self::Contact => "contact",
            Self::Divider => "divider",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether nodes may stand under it.
    #[must_use]
    pub fn has_children(self) -> bool {
        match self {
            Self::Title
            | Self::Heading
            | Self::Paragraph
            | Self::Quote
            | Self::Listblock
            | Self::Task => true,
            Self::Code | Self::Table | Self::Contact | Self::Divider => false,
        }
    }

    /// Whether a node of this kind may stand under one of kind `parent`.
    #[must_use]
    pub fn may_stand_under(self, parent: Self) -> bool {
        match self {
            Self::Title => false,
            Self::Heading => matches!(parent, Self::Title | Self::Heading),
            _ => parent.has_children(),
        }
    }

    /// Whether a token in its text is an inline; elsewhere it is plain text.
    #[must_use]
    pub fn has_inlines(self) -> bool {
        match self {
            Self::Heading
            | Self::Paragraph
            | Self::Quote
            | Self::Listblock
            | Self::Task
            | Self::Contact => true,
            Self::Title | Self::Code | Self::Table | Self::Divider => false,
        }
    }

    /// The text as a node of this kind stores it: line ends made LF.
    ///
    /// # Errors
    /// When the text does not fit the kind.
    pub fn accept_text(self, text: &str) -> Result<Cow<'_, str>, KindFault> {
        match self {
            Self::Title => Ok(text::accept_line(text, limits::TITLE_CHARS)?),
            Self::Heading => Ok(text::accept_line(text, limits::TEXT_BYTES)?),
            Self::Paragraph
            | Self::Quote
            | Self::Listblock
            | Self::Task
            | Self::Code
            | Self::Contact => Ok(text::accept(text)?),
            Self::Table => {
                let text = text::accept(text)?;
                table::check(&text)?;
                Ok(text)
            }
            Self::Divider if text.is_empty() => Ok(Cow::Borrowed("")),
            Self::Divider => Err(KindFault::DividerText),
        }
    }
}
