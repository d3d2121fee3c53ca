//! `remove_tag`: a node without a tag.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::edit::add_tag::{accepted_name, carried, existing_tag, not_exactly_one};
use crate::edit::draft::{Draft, Looks};
use crate::edit::fault::Fault;
use crate::ids::{NodeRef, TagId};

/// Takes a tag off a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveTag {
    /// The node: its ID, or a tail of it of at least 8 hex digits.
    pub node_id: NodeRef,
    /// The node's exact text.
    pub expected: String,
    /// The tag's name; a name that matches nothing changes nothing. Either this or tag_id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// The ID of the tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag_id: Option<TagId>,
}

impl RemoveTag {
    /// Applies the operation to a draft. A tag that is not there is fine.
    ///
    /// # Errors
    /// When the node is gone or carries another text, the name is no tag name or the ID unknown.
    pub fn apply(&self, draft: &mut Draft<'_>) -> Result<(), Fault> {
        let node = draft.expect(&self.node_id, &self.expected, Looks::Past)?;
        let tag = match (&self.tag, self.tag_id) {
            (Some(name), None) => {
                let name = accepted_name(name)?;
                draft.facts.find_tag(&name)?
            }
            (None, Some(id)) => Some(existing_tag(draft, id)?),
            _ => return Err(not_exactly_one()),
        };
        let gone = tag.map_or(Ok(Vec::new()), |tag| carried(draft, &node, tag))?;
        if !gone.is_empty() {
            draft.change(node.id, |node| node.tags.retain(|tag| !gone.contains(tag)));
        }
        Ok(())
    }
}
