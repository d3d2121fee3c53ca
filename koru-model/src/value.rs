//! Attribute values, and the rules of tag names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of an attribute value.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ValueKind {
    Date,
    DatetimeZoned,
    DatetimeFloating,
    Text,
    Number,
    Bool,
    Url,
}

/// A typed value: its kind and its exact text.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Value {
    /// date (2026-12-24), datetime_zoned (2026-12-24T18:00:00+01:00[Europe/Berlin]), datetime_floating (2026-12-24T18:00:00), text, number, bool, url.
    pub kind: ValueKind,
    /// The value as text.
    pub value: String,
}
