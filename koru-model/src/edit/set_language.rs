//! `set_language`: a code block's language.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::edit::draft::{Draft, Looks};
use crate::edit::facts::Property;
use crate::edit::fault::Fault;
use crate::ids::NodeRef;
use crate::limits;
use crate::node::Kind;
use crate::text;

/// Sets a code block's language.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetLanguage {
    /// The node: its ID, or a tail of it of at least 8 hex digits.
    pub node_id: NodeRef,
    /// The node's exact text.
    pub expected: String,
    /// The language, for example rust. Absent: found automatically.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

impl SetLanguage {
    /// Applies the operation to a draft.
    ///
    /// # Errors
    /// When the node is no code, gone, carries another text, or its language was set after the base
    /// revision, or when the language is no name.
    pub fn apply(&self, draft: &mut Draft<'_>) -> Result<(), Fault> {
        let node = draft.expect(&self.node_id, &self.expected, Looks::Past)?;
        if node.kind != Kind::Code {
            let kind = node.kind.name();
            return Err(Fault::invalid(
                "node_id",
                format!("names a {kind}; only code has a language"),
            ));
        }
        let language = match self.language.as_deref() {
            None => None,
            Some("") => {
                return Err(Fault::invalid("language", "is empty; leave it out for automatic"));
            }
            Some(language) => {
                let language = text::accept_line(language, limits::LANGUAGE_CHARS)
                    .map_err(|fault| Fault::invalid("language", fault.to_string()))?;
                Some(std::sync::Arc::<str>::from(language))
            }
        };
        draft.guard(&node, Property::Language, || node.language.as_deref().into())?;
        if node.language != language {
            draft.change(node.id, |node| node.language = language);
        }
        Ok(())
    }
}
