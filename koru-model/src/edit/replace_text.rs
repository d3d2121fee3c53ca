//! `replace_text`: one node's whole text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::edit::draft::{Draft, Looks};
use crate::edit::fault::Fault;
use crate::ids::NodeRef;
use crate::inline::RichText;
use crate::node::Kind;

/// Replaces a node's text by the smallest change that leads from one to the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplaceText {
    /// The node: its ID, or a tail of it of at least 8 hex digits.
    pub node_id: NodeRef,
    /// The node's exact text as the operation finds it: what was read, or what an earlier operation of this batch left.
    pub expected: String,
    /// The new text, at most 1 MiB, literal (no Markdown). Keep the tokens [[...]] of inlines that shall stay.
    pub text: String,
}

impl ReplaceText {
    /// Applies the operation to a draft.
    ///
    /// # Errors
    /// When the node is gone, is a divider, carries another text, or does not take the new one.
    pub fn apply(&self, draft: &mut Draft<'_>) -> Result<(), Fault> {
        let node = draft.expect(&self.node_id, &self.expected, Looks::IntoText)?;
        if node.kind == Kind::Divider {
            return Err(Fault::invalid("node_id", "names a divider, which holds no text"));
        }
        let text = node
            .kind
            .accept_text(&self.text)
            .map_err(|fault| Fault::invalid("text", fault.to_string()))?;
        let rich = if node.kind.has_inlines() {
            let mut rich = RichText::with_tokens(&text);
            rich.take_labels_from(&node.inlines);
            rich
        } else {
            RichText::plain(text)
        };
        if rich.text != *node.stored {
            draft.change(node.id, |node| node.set_rich(rich));
        }
        Ok(())
    }
}
