//! Operations and the batches that they come in.
//!
//! An operation is one file: its fields (which are its schema), its rules, its tests. None knows its
//! place in the batch.

mod add_tag;
pub mod batch;
mod clear_attribute;
pub mod draft;
pub mod facts;
pub mod fault;
mod flat_schema;
mod insert;
mod insert_inline;
mod move_node;
pub mod plan;
mod remove;
mod remove_tag;
mod replace_text;
mod set_attribute;
mod set_done;
mod set_language;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

pub use add_tag::AddTag;
pub use clear_attribute::ClearAttribute;
pub use insert::Insert;
pub use insert_inline::{InlineKind, InsertInline, NewInline};
pub use move_node::MoveNode;
pub use remove::Remove;
pub use remove_tag::RemoveTag;
pub use replace_text::ReplaceText;
pub use set_attribute::SetAttribute;
pub use set_done::SetDone;
pub use set_language::SetLanguage;

use crate::ids::NodeRef;

/// Declares the operations: the enum, its reading, and the list of names and schemas.
macro_rules! operations {
    ($($name:literal => $variant:ident,)*) => {
        /// One operation of a batch.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(tag = "op")]
        pub enum Operation {
            $(#[doc = concat!("`", $name, "`")] #[serde(rename = $name)] $variant($variant),)*
        }

        impl Operation {
            /// The names of all operations, in the order of the documentation.
            pub const NAMES: &'static [&'static str] = &[$($name),*];

            /// Applies the operation to a draft.
            ///
            /// # Errors
            /// Why it is refused; the draft may then be dropped or gone on with.
            pub fn apply(&self, draft: &mut draft::Draft<'_>) -> Result<(), fault::Fault> {
                match self {
                    $(Self::$variant(operation) => operation.apply(draft),)*
                }
            }

            /// The schema of each operation's fields, `op` left out.
            #[must_use]
            pub fn schemas(generator: &mut schemars::SchemaGenerator) -> Vec<(&'static str, schemars::Schema)> {
                vec![$(($name, generator.root_schema_for::<$variant>()),)*]
            }
        }

        impl<'de> Deserialize<'de> for Operation {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let mut fields = Map::deserialize(deserializer)?;
                let op = fields.remove("op");
                match op.as_ref().and_then(Value::as_str) {
                    $(Some($name) => serde_json::from_value(Value::Object(fields))
                        .map(Self::$variant)
                        .map_err(D::Error::custom),)*
                    _ => Err(D::Error::custom("no such operation")),
                }
            }
        }
    };
}

operations! {
    "replace_text" => ReplaceText,
    "insert" => Insert,
    "insert_inline" => InsertInline,
    "move" => MoveNode,
    "remove" => Remove,
    "set_done" => SetDone,
    "set_language" => SetLanguage,
    "set_attribute" => SetAttribute,
    "clear_attribute" => ClearAttribute,
    "add_tag" => AddTag,
    "remove_tag" => RemoveTag,
}

impl Operation {
    /// The node that the operation makes or changes.
    #[must_use]
    pub fn node(&self) -> NodeRef {
        match self {
            Self::Insert(insert) => NodeRef::Whole(insert.node_id),
            Self::ReplaceText(ReplaceText { node_id, .. })
            | Self::InsertInline(InsertInline { node_id, .. })
            | Self::MoveNode(MoveNode { node_id, .. })
            | Self::Remove(Remove { node_id, .. })
            | Self::SetDone(SetDone { node_id, .. })
            | Self::SetLanguage(SetLanguage { node_id, .. })
            | Self::SetAttribute(SetAttribute { node_id, .. })
            | Self::ClearAttribute(ClearAttribute { node_id, .. })
            | Self::AddTag(AddTag { node_id, .. })
            | Self::RemoveTag(RemoveTag { node_id, .. }) => node_id.clone(),
        }
    }

    /// The parent and the neighbour that the operation names.
    #[must_use]
    pub fn place(&self) -> [Option<&NodeRef>; 2] {
        match self {
            Self::Insert(insert) => [Some(&insert.parent_id), insert.after_node_id.as_ref()],
            Self::MoveNode(moved) => [Some(&moved.parent_id), moved.after_node_id.as_ref()],
            _ => [None, None],
        }
    }
}

#[cfg(test)]
pub(crate) mod check;
#[cfg(test)]
mod tests;
