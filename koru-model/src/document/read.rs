//! Reading: a page of a document's tree as JSON.
//!
//! The bytes are written once and go to the client as they are.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::document::state::{Node, Shown, State};
use crate::ids::{DocumentId, FileId, NodeId, TAIL_DIGITS, TagId};
use crate::inline::{Inline, Lifecycle};
use crate::limits;
use crate::node::Kind;
use crate::table;
use crate::value::Value;

/// Where a link leads, as it is found at reading time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkTarget {
    /// The target document's title, where it exists.
    pub title: Option<String>,
    /// Whether it is there.
    pub lifecycle: Lifecycle,
    /// Where the node went, if it left the document that the link names.
    pub resolved: Option<(DocumentId, NodeId)>,
}

/// What a text names that is kept elsewhere, looked up at reading time.
pub trait Names {
    /// The tag that an ID means, which is another one where tags were merged, and its whole name;
    /// none where the tag was removed.
    fn tag(&mut self, tag: TagId) -> Option<(TagId, String)>;
    /// Where a link leads.
    fn link(&mut self, document: DocumentId, node: Option<NodeId>) -> LinkTarget;
    /// The name of a file, and whether it is there.
    fn file(&mut self, file: FileId) -> (Option<String>, Lifecycle);
}

/// What to read of a document.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    /// The node to begin with.
    pub from: NodeId,
    /// How many levels below it; none: all.
    pub max_depth: Option<usize>,
    /// Continue behind this node.
    pub after: Option<NodeId>,
    /// The most nodes; the page then also ends at [`limits::PAGE_BYTES`].
    pub page_size: Option<usize>,
    /// Whether to write the short form.
    pub compact: bool,
}

/// A page of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The nodes, a JSON list.
    pub nodes: Vec<u8>,
    /// The last node, where more follow.
    pub next_after: Option<NodeId>,
    /// In the short form of a later page: the tails of the first node's ancestors, the title first.
    pub ancestors: Option<Vec<String>>,
}

/// Why a page cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReadFault {
    /// The node to continue behind is not part of what is read.
    #[error("the node to continue behind is not part of what is read")]
    NotWithin,
    /// The result would be larger than [`limits::RESULT_BYTES`].
    #[error("the result would be larger than {} bytes", limits::RESULT_BYTES)]
    TooLarge,
}

/// Room that a page leaves for what stands around its nodes, in bytes.
const AROUND: usize = 600;

#[derive(Serialize)]
struct FullNode<'a> {
    node_id: NodeId,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_id: Option<NodeId>,
    kind: Kind,
    text: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    done: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<Vec<Vec<String>>>,
    inlines: Vec<InlineView>,
    attributes: Vec<AttributeView<'a>>,
    tags: Vec<TagView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    children_omitted: Option<usize>,
}

#[derive(Serialize)]
struct CompactNode<'a> {
    id: String,
    #[serde(skip_serializing_if = "is_one")]
    depth: usize,
    kind: Kind,
    text: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    done: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inlines: Vec<InlineView>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attributes: Vec<AttributeView<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    children_omitted: Option<usize>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(depth: &usize) -> bool {
    *depth == 1
}

#[derive(Serialize)]
struct AttributeView<'a> {
    key: &'a str,
    value: &'a Value,
}

#[derive(Serialize)]
struct TagView {
    tag_id: TagId,
    name: String,
}

#[derive(Serialize)]
struct ResolvedView {
    document_id: DocumentId,
    node_id: NodeId,
}

#[derive(Serialize)]
struct InlineView {
    at_utf8: usize,
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    document_id: Option<DocumentId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node_id: Option<NodeId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_id: Option<FileId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lifecycle: Option<Lifecycle>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved: Option<ResolvedView>,
}

fn inlines(node: &Node, names: &mut dyn Names, compact: bool) -> Vec<InlineView> {
    let view = |at_utf8, kind, label: &Option<String>| InlineView {
        at_utf8,
        kind,
        document_id: None,
        node_id: None,
        file_id: None,
        label: label.clone(),
        title: None,
        name: None,
        lifecycle: None,
        resolved: None,
    };
    // The short form leaves out what the token beside it says, and what is as usual.
    let shown = |lifecycle| (!compact || lifecycle != Lifecycle::Live).then_some(lifecycle);
    node.inlines
        .iter()
        .map(|placed| match &placed.inline {
            Inline::Document { document, node, label } => {
                let target = names.link(*document, *node);
                InlineView {
                    document_id: (!compact).then_some(*document),
                    node_id: node.filter(|_| !compact),
                    title: target.title,
                    lifecycle: shown(target.lifecycle),
                    resolved: target
                        .resolved
                        .map(|(document_id, node_id)| ResolvedView { document_id, node_id }),
                    ..view(placed.at_utf8, "document", label)
                }
            }
            Inline::Attachment { file, label } => {
                let (name, lifecycle) = names.file(*file);
                InlineView {
                    file_id: (!compact).then_some(*file),
                    name,
                    lifecycle: shown(lifecycle),
                    ..view(placed.at_utf8, "attachment", label)
                }
            }
        })
        .collect()
}

/// The tags that a node shows, each once, with their names.
pub(crate) fn tags(node: &Node, names: &mut dyn Names) -> BTreeMap<TagId, String> {
    node.tags.iter().filter_map(|tag| names.tag(*tag)).collect()
}

/// Writes one node as JSON.
fn write_node(
    out: &mut Vec<u8>,
    state: &State,
    node: &Node,
    depth: usize,
    omits_children: bool,
    compact: bool,
    names: &mut dyn Names,
) {
    let children_omitted =
        omits_children.then(|| state.child_count(node.id)).filter(|count| *count > 0);
    let done = (node.kind == Kind::Task).then_some(node.done);
    let attributes =
        node.attributes.iter().map(|(key, value)| AttributeView { key, value }).collect();
    let inlines = inlines(node, names, compact);
    let mut tags: Vec<TagView> =
        tags(node, names).into_iter().map(|(tag_id, name)| TagView { tag_id, name }).collect();
    tags.sort_by(|l, r| l.name.cmp(&r.name));
    let text = node.text();
    let language = node.language.as_deref();
    let written = if compact {
        serde_json::to_writer(
            &mut *out,
            &CompactNode {
                id: state.tail(node.id, TAIL_DIGITS),
                depth,
                kind: node.kind,
                text,
                done,
                language,
                inlines,
                attributes,
                tags: tags.into_iter().map(|tag| tag.name).collect(),
                children_omitted,
            },
        )
    } else {
        let rows = (node.kind == Kind::Table).then(|| table::rows(&text));
        serde_json::to_writer(
            &mut *out,
            &FullNode {
                node_id: node.id,
                parent_id: node.shown_parent(),
                kind: node.kind,
                text,
                done,
                language,
                rows,
                inlines,
                attributes,
                tags,
                children_omitted,
            },
        )
    };
    debug_assert!(written.is_ok(), "writing JSON into memory fails for no node");
}

/// One node as a full read gives it.
#[must_use]
pub fn full_node(state: &State, node: &Node, names: &mut dyn Names) -> Vec<u8> {
    let mut out = Vec::new();
    write_node(&mut out, state, node, 0, false, false, names);
    out
}

/// The inlines of a node as a full read gives them: a JSON list.
#[must_use]
pub fn inlines_json(node: &Node, names: &mut dyn Names) -> Vec<u8> {
    serde_json::to_vec(&inlines(node, names, false)).unwrap_or_else(|_| b"[]".to_vec())
}

/// The nodes still to read, the next one last, each with its depth below the title.
fn stack(state: &State, reading: &Reading) -> Result<Vec<(NodeId, usize)>, ReadFault> {
    let base = state.depth(reading.from);
    let deepest = reading.max_depth.map_or(usize::MAX, |levels| base + levels);
    let Some(after) = reading.after else { return Ok(vec![(reading.from, base)]) };
    if state.live(after).is_none() || !state.is_within(after, reading.from) {
        return Err(ReadFault::NotWithin);
    }
    let mut path = vec![after];
    while let Some(last) = path.last().copied()
        && last != reading.from
    {
        path.extend(state.node(last).and_then(|node| node.shown_parent()));
    }
    path.reverse();
    let mut stack = Vec::new();
    for (level, pair) in path.windows(2).enumerate() {
        let [parent, child] = pair else { continue };
        let depth = base + level + 1;
        if let Some(Shown::Under(_, key)) = state.node(*child).map(|node| &node.shown)
            && depth <= deepest
        {
            let behind: Vec<_> =
                state.children_behind(*parent, Some(key)).map(|(_, id)| (id, depth)).collect();
            stack.extend(behind.into_iter().rev());
        }
    }
    let depth = base + path.len();
    if depth <= deepest {
        stack.extend(state.children(after).rev().map(|id| (id, depth)));
    }
    Ok(stack)
}

/// Reads a page.
///
/// # Errors
/// When the node to continue behind is not part of what is read, or the result would be too large.
pub fn read(state: &State, reading: &Reading, names: &mut dyn Names) -> Result<Page, ReadFault> {
    let base = state.depth(reading.from);
    let deepest = reading.max_depth.map_or(usize::MAX, |levels| base + levels);
    let mut stack = stack(state, reading)?;
    let ancestors =
        stack.last().filter(|_| reading.compact && reading.after.is_some()).map(|(id, _)| {
            let mut ancestors = Vec::new();
            let mut at = *id;
            while let Some(parent) = state.node(at).and_then(|node| node.shown_parent()) {
                ancestors.push(state.tail(parent, TAIL_DIGITS));
                at = parent;
            }
            ancestors.reverse();
            ancestors
        });
    let mut nodes = vec![b'['];
    let mut last = None;
    let mut count = 0;
    let mut next_after = None;
    while let Some((id, depth)) = stack.pop() {
        let Some(node) = state.node(id) else { continue };
        if reading.page_size.is_some_and(|size| count >= size) {
            next_after = last;
            break;
        }
        let before = nodes.len();
        if count > 0 {
            nodes.push(b',');
        }
        write_node(&mut nodes, state, node, depth, depth >= deepest, reading.compact, names);
        let is_full = reading.page_size.is_some() && nodes.len() > limits::PAGE_BYTES - AROUND;
        if count > 0 && is_full {
            nodes.truncate(before);
            next_after = last;
            break;
        }
        if nodes.len() > limits::RESULT_BYTES - AROUND {
            return Err(ReadFault::TooLarge);
        }
        count += 1;
        last = Some(id);
        if depth < deepest {
            stack.extend(state.children(id).rev().map(|child| (child, depth + 1)));
        }
    }
    nodes.push(b']');
    Ok(Page { nodes, next_after, ancestors })
}
