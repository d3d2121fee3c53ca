//! `add_tag`: a tag on a node.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::state::Node;
use crate::edit::draft::{Draft, Looks};
use crate::edit::fault::{Fault, Target};
use crate::ids::{NodeRef, TagId};
use crate::tag;

/// Tags a node; creates the tag and its parents where they do not exist.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddTag {
    /// The node: its ID, or a tail of it of at least 8 hex digits.
    pub node_id: NodeRef,
    /// The node's exact text.
    pub expected: String,
    /// The tag's name; / separates levels (family/calls). At most 200 characters. Either this or tag_id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// The ID of a tag that exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag_id: Option<TagId>,
}

/// The tag that an operation names by ID; the ID of a merged tag means the one that it went into.
///
/// # Errors
/// When the workspace has no such tag.
pub(super) fn existing_tag(draft: &mut Draft<'_>, tag: TagId) -> Result<TagId, Fault> {
    draft.facts.resolve_tag(tag)?.ok_or_else(|| Fault::NotFound {
        target: Target::Tag,
        field: "tag_id",
        id: tag.to_string(),
    })
}

/// The IDs on a node that mean a tag: its own, and those of tags that were merged into it.
///
/// # Errors
/// When it cannot be found out.
pub(super) fn carried(draft: &mut Draft<'_>, node: &Node, tag: TagId) -> Result<Vec<TagId>, Fault> {
    let mut found = Vec::new();
    for id in &node.tags {
        if *id == tag || draft.facts.resolve_tag(*id)? == Some(tag) {
            found.push(*id);
        }
    }
    Ok(found)
}

/// What a `tag` field must be.
pub(super) fn accepted_name(name: &str) -> Result<String, Fault> {
    tag::accept(name).map_err(|fault| Fault::invalid("tag", fault.to_string()))
}

/// Neither or both of `tag` and `tag_id` are given.
pub(super) fn not_exactly_one() -> Fault {
    Fault::invalid("tag", "give exactly one of tag and tag_id")
}

impl AddTag {
    /// Applies the operation to a draft. A tag that is there already is fine.
    ///
    /// # Errors
    /// When the node is gone or carries another text, the name is no tag name or the ID unknown.
    pub fn apply(&self, draft: &mut Draft<'_>) -> Result<(), Fault> {
        let node = draft.expect(&self.node_id, &self.expected, Looks::Past)?;
        let tag = match (&self.tag, self.tag_id) {
            (Some(name), None) => {
                let name = accepted_name(name)?;
                draft.facts.make_tag(&name)?
            }
            (None, Some(id)) => existing_tag(draft, id)?,
            _ => return Err(not_exactly_one()),
        };
        if carried(draft, &node, tag)?.is_empty() {
            draft.change(node.id, |node| {
                node.tags.insert(tag);
            });
        }
        Ok(())
    }
}
