//! Blocks that leave one document for another, with their IDs.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::document::{Node, Shown, State};
use crate::edit::draft::{Draft, Looks, Place};
use crate::edit::facts::Facts;
use crate::edit::fault::{Fault, Role};
use crate::edit::plan::Plan;
use crate::ids::{NodeId, NodeRef};
use crate::inline::{Inline, RichText};
use crate::limits;
use crate::node::Kind;

/// Which blocks leave, as a call names them.
#[derive(Debug, Clone, Copy)]
pub struct Selection<'a> {
    /// The first block that is named.
    pub source: &'a NodeRef,
    /// The siblings that go with it.
    pub extras: &'a [NodeRef],
    /// The exact text of the first named block.
    pub expected: &'a str,
}

/// Blocks that can leave.
#[derive(Debug, Clone)]
pub struct Blocks {
    /// The blocks in document order, each with all below it, parents first.
    pub trees: Vec<Vec<Arc<Node>>>,
}

impl Blocks {
    /// The first block.
    #[must_use]
    pub fn first(&self) -> Option<&Arc<Node>> {
        self.trees.first().and_then(|tree| tree.first())
    }

    /// All nodes that leave.
    pub fn nodes(&self) -> impl Iterator<Item = &Arc<Node>> {
        self.trees.iter().flatten()
    }
}

/// Finds the blocks, for a client that has read the document as it was after change `base_seq`.
///
/// # Errors
/// When a block is gone, the title, no sibling of the others or named twice; when its text is another
/// or anything in it was added or changed after the base revision.
pub fn select(draft: &mut Draft<'_>, selection: Selection<'_>) -> Result<Blocks, Fault> {
    let first = draft.expect(selection.source, selection.expected, Looks::Past).map_err(rename)?;
    if first.kind == Kind::Title {
        return Err(Fault::invalid("source_node_id", "names the title, which cannot leave"));
    }
    let parent = first.shown_parent();
    let mut chosen = BTreeSet::from([first.id]);
    for extra in selection.extras {
        let node = draft.find("extra_source_node_ids", extra, Role::Node)?;
        if node.shown_parent() != parent || node.kind == Kind::Title {
            return Err(Fault::invalid(
                "extra_source_node_ids",
                format!(
                    "{} is no sibling of source_node_id; only siblings leave together",
                    node.id
                ),
            ));
        }
        if !chosen.insert(node.id) {
            return Err(Fault::invalid(
                "extra_source_node_ids",
                format!("{} is named twice", node.id),
            ));
        }
    }
    let mut trees = Vec::new();
    for block in parent.into_iter().flat_map(|parent| draft.state().children(parent)) {
        if chosen.contains(&block) {
            let tree = draft.state().subtree(block);
            trees.push(tree.into_iter().filter_map(|id| draft.state().node(id).cloned()).collect());
        }
    }
    let blocks = Blocks { trees };
    let ids: Vec<NodeId> = blocks.nodes().map(|node| node.id).collect();
    let unread = draft.unread_among(&ids)?;
    if unread.is_empty() {
        Ok(blocks)
    } else {
        Err(Fault::Unread { node: first.id, nodes: unread })
    }
}

/// The fault of a node, with the field that an extraction names it by.
fn rename(fault: Fault) -> Fault {
    match fault {
        Fault::Ambiguous { candidates, .. } => {
            Fault::Ambiguous { field: "source_node_id", candidates }
        }
        other => other,
    }
}

/// Takes the blocks out and puts a paragraph with a link where the first one stood.
#[must_use]
pub fn leave(mut draft: Draft<'_>, blocks: &Blocks, link_id: NodeId, link: Inline) -> Option<Plan> {
    let first = blocks.first()?;
    let Shown::Under(parent, key) = &first.shown else { return None };
    let after = draft.state().child_before(*parent, Some(key));
    let mut text = RichText::default();
    text.push_inline(link);
    let mut paragraph = Node::new(link_id, Kind::Paragraph);
    paragraph.set_rich(text);
    draft.add(paragraph, &Place { parent: *parent, after });
    for tree in &blocks.trees {
        let Some(top) = tree.first() else { continue };
        for node in tree {
            draft.hide(node.id, top.id);
        }
    }
    Plan::of(draft)
}

/// Puts the blocks last under a node of another document.
///
/// # Errors
/// When the place is gone or does not take them, an ID is live there, or the document gets too large.
pub fn enter(
    target: &State,
    under: Option<&NodeRef>,
    blocks: &Blocks,
    facts: &mut dyn Facts,
) -> Result<Option<Plan>, Fault> {
    let mut draft = Draft::new(target, 0, 0, facts);
    let under = match under {
        Some(name) => draft.find("under_node_id", name, Role::Parent)?.id,
        None => draft.state().root(),
    };
    let count = blocks.nodes().count();
    if draft.state().live_nodes() + count > limits::DOCUMENT_NODES {
        let limit = limits::DOCUMENT_NODES;
        return Err(Fault::invalid(
            "source_node_id",
            format!("would make the target larger than the limit of {limit} nodes a document"),
        ));
    }
    for node in blocks.nodes() {
        if let Some(there) = draft.state().node(node.id)
            && (there.is_live() || there.kind != node.kind)
        {
            return Err(Fault::invalid(
                "source_node_id",
                format!("node {} is in the target already", node.id),
            ));
        }
    }
    for tree in &blocks.trees {
        let Some(top) = tree.first() else { continue };
        let height = height(tree);
        draft.check_fits(top.kind, height, under).map_err(|fault| match fault {
            Fault::Invalid { reason, .. } => Fault::Invalid { field: "under_node_id", reason },
            other => other,
        })?;
        for node in tree {
            let parent =
                if node.id == top.id { under } else { node.shown_parent().unwrap_or(under) };
            let after = draft.state().child_before(parent, None);
            draft.bring(node, &Place { parent, after });
        }
    }
    draft.bind_loose();
    Ok(Plan::of(draft))
}

/// How many levels stand below the first node of a tree.
fn height(tree: &[Arc<Node>]) -> usize {
    let mut depths: std::collections::BTreeMap<NodeId, usize> = std::collections::BTreeMap::new();
    for node in tree {
        let depth =
            node.shown_parent().and_then(|parent| depths.get(&parent)).map_or(0, |depth| depth + 1);
        depths.insert(node.id, depth);
    }
    depths.into_values().max().unwrap_or(0)
}
