//! Operations and the batches that they come in.

mod add_tag;
mod clear_attribute;
mod flat_schema;
mod insert;
mod insert_inline;
mod move_node;
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
