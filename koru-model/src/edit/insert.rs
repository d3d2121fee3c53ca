//! `insert`: a new node.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::state::Node;
use crate::edit::draft::{Draft, PlaceNames};
use crate::edit::fault::Fault;
use crate::ids::{NodeId, NodeRef};
use crate::inline::RichText;
use crate::limits;
use crate::node::Kind;

/// Inserts a new node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Insert {
    /// The new node's ID: a whole UUID that you choose, never used in this document.
    pub node_id: NodeId,
    /// The parent: the title node, or any node that may have children.
    pub parent_id: NodeRef,
    /// The sibling to stand behind. Absent: first under the parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_node_id: Option<NodeRef>,
    /// true: last under the parent (in place of after_node_id).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_end: Option<bool>,
    /// The node's kind; it never changes. A heading stands only under the title or a heading.
    pub kind: Kind,
    /// The text, at most 1 MiB, literal (no Markdown). Absent: empty. A table has rows by line feed and cells by tab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl Insert {
    /// Applies the operation to a draft.
    ///
    /// # Errors
    /// When the ID was used before, the place is gone or does not take the kind, or the text does not
    /// fit the kind.
    pub fn apply(&self, draft: &mut Draft<'_>) -> Result<(), Fault> {
        if self.kind == Kind::Title {
            return Err(Fault::invalid("kind", "is title; a document has one title, its root"));
        }
        if draft.state().node(self.node_id).is_some() {
            return Err(Fault::invalid(
                "node_id",
                "was used in this document before; choose a new UUID for a new node",
            ));
        }
        let text = self
            .kind
            .accept_text(self.text.as_deref().unwrap_or_default())
            .map_err(|fault| Fault::invalid("text", fault.to_string()))?;
        let place = draft.place(PlaceNames {
            parent: &self.parent_id,
            after: self.after_node_id.as_ref(),
            at_end: self.at_end,
        })?;
        draft.check_fits(self.kind, 0, place.parent)?;
        if draft.state().live_nodes() >= limits::DOCUMENT_NODES {
            let limit = limits::DOCUMENT_NODES;
            return Err(Fault::invalid(
                "node_id",
                format!("would be one node too many; the limit is {limit} nodes a document"),
            ));
        }
        let mut node = Node::new(self.node_id, self.kind);
        node.set_rich(if self.kind.has_inlines() {
            RichText::with_tokens(&text)
        } else {
            RichText::plain(text)
        });
        draft.add(node, &place);
        Ok(())
    }
}
