//! Tests of operations as data: a tree before, operations, a tree after or what is refused.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::document::crdt::Replica;
use crate::document::state::{Node, Shown, SortKey, State};
use crate::document::{Document, view};
use crate::edit::Operation;
use crate::edit::batch::{self, BatchError};
use crate::edit::facts::{Facts, FactsError, Property, Touch};
use crate::ids::{DocumentId, FileId, NodeId, TagId};
use crate::inline::RichText;
use crate::node::Kind;
use crate::value::{self, Definition, ValueKind};

/// A world that is a few maps.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) touched: BTreeMap<(NodeId, Property), Touch>,
    pub(crate) tags: BTreeMap<String, TagId>,
    /// From the tags that were merged to those that they went into.
    pub(crate) merged: BTreeMap<TagId, TagId>,
}

pub(crate) const THERE: &str = "0198c2f0-0000-7000-8000-0000000000d0";

impl Facts for World {
    fn last_change(
        &mut self,
        node: NodeId,
        property: &Property,
    ) -> Result<Option<Touch>, FactsError> {
        Ok(self.touched.get(&(node, property.clone())).cloned())
    }
    fn changed_after(&mut self, seq: u64) -> Result<BTreeMap<NodeId, Touch>, FactsError> {
        let mut changed: BTreeMap<NodeId, Touch> = BTreeMap::new();
        for ((id, _), touch) in self.touched.iter().filter(|(_, touch)| touch.seq > seq) {
            changed.insert(*id, touch.clone());
        }
        Ok(changed)
    }
    fn attributes(&mut self) -> Result<Vec<Definition>, FactsError> {
        let mut all = value::built_in();
        all.push(Definition {
            key: "count".into(),
            label: "Count".into(),
            kinds: vec![ValueKind::Number],
            options: None,
            takes_rgb: false,
        });
        Ok(all)
    }
    fn find_tag(&mut self, name: &str) -> Result<Option<TagId>, FactsError> {
        Ok(self.tags.get(&crate::tag::folded(name)).copied())
    }
    fn make_tag(&mut self, name: &str) -> Result<TagId, FactsError> {
        let next = u8::try_from(self.tags.len())?;
        let tag =
            self.tags.entry(crate::tag::folded(name)).or_insert(TagId::from_bytes([next; 16]));
        Ok(*tag)
    }
    fn resolve_tag(&mut self, tag: TagId) -> Result<Option<TagId>, FactsError> {
        let tag = self.merged.get(&tag).copied().unwrap_or(tag);
        Ok(self.tags.values().any(|known| *known == tag).then_some(tag))
    }
    fn has_document(&mut self, document: DocumentId) -> Result<bool, FactsError> {
        Ok(document.to_string() == THERE)
    }
    fn has_file(&mut self, file: FileId) -> Result<bool, FactsError> {
        Ok(file.to_string() == THERE)
    }
}

/// The node ID of a short name: its bytes are the last ones of the ID.
pub(crate) fn id(name: &str) -> NodeId {
    let mut bytes = *b"\x01\x98\xc2\xf0\0\0\x70\0\x80\0\0\0\0\0\0\0";
    for (slot, byte) in bytes.iter_mut().rev().zip(name.bytes().rev()) {
        *slot = byte;
    }
    NodeId::from_bytes(bytes)
}

/// Reads a tree: a line a node, `name kind text`, indented by two spaces a level.
pub(crate) fn tree(text: &str) -> State {
    let mut nodes = Vec::new();
    let mut path: Vec<NodeId> = Vec::new();
    for (index, line) in text.lines().filter(|line| !line.trim().is_empty()).enumerate() {
        let level = (line.len() - line.trim_start().len()) / 2;
        let mut parts = line.trim_start().splitn(3, ' ');
        let (name, kind) = (parts.next().unwrap(), parts.next().unwrap());
        let text = parts.next().unwrap_or_default().replace('⏎', "\n").replace('→', "\t");
        let mut node = Node::new(id(name), Kind::from_name(kind).unwrap());
        path.truncate(level);
        node.parent = path.last().copied();
        path.push(node.id);
        if node.parent.is_some() {
            node.order = crate::order::spread(None, None, 64)[index].as_str().into();
        }
        if let Some(text) = text.strip_prefix("[x] ") {
            node.done = true;
            node.set_rich(RichText::with_tokens(text));
        } else {
            node.set_rich(if node.kind.has_inlines() {
                RichText::with_tokens(&text)
            } else {
                RichText::plain(text)
            });
        }
        nodes.push(node);
    }
    view::build(nodes[0].id, nodes)
}

/// Writes a tree as [`tree`] reads it.
pub(crate) fn show(state: &State) -> String {
    let mut out = String::new();
    for at in state.subtree(state.root()) {
        let node = state.node(at).unwrap();
        let name: String = at.as_bytes()[10..]
            .iter()
            .filter(|byte| **byte != 0)
            .map(|byte| char::from(*byte))
            .collect();
        let done = if node.done { "[x] " } else { "" };
        let text = node.text().replace('\n', "⏎").replace('\t', "→");
        let line = format!("{name} {} {done}{text}", node.kind.name());
        out.push_str(&format!("{}{}\n", "  ".repeat(state.depth(at)), line.trim_end()));
    }
    out
}

/// Replaces short names of nodes in operations by IDs.
pub(crate) fn operations(json: &Value) -> Vec<Operation> {
    let mut json = json.clone();
    for operation in json.as_array_mut().unwrap() {
        for field in ["node_id", "parent_id", "after_node_id"] {
            if let Some(name) =
                operation.get(field).and_then(Value::as_str).filter(|name| name.len() < 8)
            {
                operation[field] = id(name).to_string().into();
            }
        }
    }
    serde_json::from_value(json).unwrap()
}

/// Applies operations for a client that has read change `base_seq` of `head_seq`, and returns the
/// tree, or `index Fault` for every failure.
pub(crate) fn outcome(
    before: &State,
    world: &mut World,
    (base_seq, head_seq): (u64, u64),
    json: &Value,
) -> Result<State, Vec<String>> {
    match batch::apply(before, base_seq, head_seq, &operations(json), world) {
        Ok(None) => Ok(before.clone()),
        Ok(Some(plan)) => Ok(plan.state),
        Err(BatchError::Refused(failures)) => Err(failures
            .iter()
            .map(|failure| {
                let fault = format!("{:?}", failure.fault);
                let name = fault.split([' ', '(']).next().unwrap();
                let detail = match &failure.fault {
                    crate::edit::fault::Fault::Invalid { field, .. } => format!(" {field}"),
                    crate::edit::fault::Fault::Gone { role, node, .. } => {
                        format!(" {role:?} known={}", node.is_some())
                    }
                    _ => String::new(),
                };
                format!("{} {name}{detail}", failure.operation_index)
            })
            .collect()),
        Err(BatchError::Facts(error)) => panic!("{error}"),
    }
}

/// Checks what operations make of a tree, and that the CRDT arrives at the same.
#[track_caller]
pub(crate) fn check(before: &str, json: &Value, after: Result<&str, &[&str]>) {
    let before = tree(before);
    let found = outcome(&before, &mut World::default(), (1, 1), json);
    match (&found, after) {
        (Ok(state), Ok(after)) => {
            assert_eq!(show(state), show(&tree(after)));
            assert_eq!(
                *state,
                view::build(state.root(), state.nodes().map(|n| Node::clone(n)).collect())
            );
            through_the_crdt(&before, json, state);
        }
        (Err(failures), Err(wanted)) => assert_eq!(failures, wanted),
        (found, wanted) => panic!("found {found:?}, wanted {wanted:?}"),
    }
}

/// Carries the same batch out on a document, and reads it back from its update log.
fn through_the_crdt(before: &State, json: &Value, after: &State) {
    use crate::document::crdt::Write;
    let mut replica = Replica::new(1);
    replica.begin(before.root()).unwrap();
    let creates: Vec<Write> = before.nodes().cloned().map(Write::Create).collect();
    let first = replica.write(&creates, true).unwrap();
    let mut document = Document::of(replica).unwrap();
    let plan = batch::apply(document.state(), 1, 1, &operations(json), &mut World::default());
    let Ok(Some(plan)) = plan else { return };
    let update = document.carry_out(plan).unwrap();
    let reread = Document::load(2, None, [first, update]).unwrap();
    assert_eq!(reread.state(), document.state());
    assert_eq!(show(reread.state()), show(after));
}

#[test]
fn a_tree_is_read_as_it_is_written() {
    let text = "t title T\n  a heading A\n    b paragraph B⏎b\n  c task [x] C\n";
    assert_eq!(show(&tree(text)), text);
    assert!(
        matches!(tree(text).node(id("b")).unwrap().shown, Shown::Under(_, ref key) if *key != SortKey::of("", id("b")))
    );
}
