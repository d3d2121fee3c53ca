//! What a node is: its kind, its text, its inlines, its own fields.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a node is. It never changes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
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
