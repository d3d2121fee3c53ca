//! The CRDT of a document in yrs; the only file that names it.
//!
//! One root map `n` holds a map for each node under its compact ID: `k` kind, `p` placement
//! (`parent:order:lamport` in one register, so that two moves never mix), `x` the removal that took
//! it away (empty: live again), `t` text with inlines as embeds, `d` done, `l` language, `a:KEY`
//! attributes, `g:TAG` tags. The root map `m` holds the schema version `v` and the title node `r`.
//!
//! Invariant: nothing that can fail runs inside a transaction, which cannot be rolled back; a panic
//! of yrs is caught and makes the replica unusable, so that its owner drops it.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use yrs::types::Delta;
use yrs::types::text::YChange;
use yrs::updates::decoder::Decode as _;
use yrs::{
    Any, ClientID, Doc, Map as _, MapPrelim, MapRef, OffsetKind, Options, Out, ReadTxn as _,
    StateVector, Text as _, TextPrelim, TextRef, Transact as _, TransactionMut, Update,
};

use crate::diff::Splice;
use crate::document::state::Node;
use crate::ids::{DocumentId, FileId, NodeId, TagId};
use crate::inline::{Inline, Piece, RichText};
use crate::node::Kind;
use crate::value::{Value, ValueKind};

/// The version of the layout that this file writes.
pub const SCHEMA_VERSION: u32 = 1;

/// So many new nodes are written under one client ID. yrs keeps the blocks of a client in one
/// vector and an edit in its middle shifts the rest: at 50,000 nodes a one-word edit took 230 µs
/// under one ID and 14 µs under one for each 2,000 (design, model and store, section 2).
const NODES_PER_CLIENT: usize = 2_000;

/// The kept bytes are no document, or yrs failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CrdtError {
    /// The bytes are no update.
    #[error("the bytes are no update of a document: {0}")]
    NotAnUpdate(String),
    /// An update that came before is missing.
    #[error("an update is missing")]
    Incomplete,
    /// The content is not laid out as this file writes it.
    #[error("the document's content is damaged: {0}")]
    Damaged(&'static str),
    /// yrs panicked.
    #[error("the document engine failed")]
    Panicked,
}

/// One register to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// A new node, with everything.
    Create(Arc<Node>),
    /// Another place.
    Place(NodeId, Option<NodeId>, Arc<str>, u64),
    /// The removal that took it away; none: live again.
    Removed(NodeId, Option<NodeId>),
    /// A change of its text.
    Text(NodeId, Vec<Splice>),
    /// Whether it is done.
    Done(NodeId, bool),
    /// Its language.
    Language(NodeId, Option<Arc<str>>),
    /// An attribute; none: cleared.
    Attribute(NodeId, String, Option<Value>),
    /// A tag, there or not.
    Tag(NodeId, TagId, bool),
}

/// One replica of a document.
#[derive(Debug)]
pub struct Replica {
    doc: Doc,
    nodes: MapRef,
    meta: MapRef,
    client: u64,
    shards: u64,
}

/// yrs takes client IDs of 53 bits.
const CLIENT_MASK: u64 = (1 << 53) - 1;

fn new_doc(client: u64) -> Doc {
    let mut options =
        Options::with_guid_and_client_id("koru".into(), ClientID::new(client & CLIENT_MASK));
    options.offset_kind = OffsetKind::Bytes;
    options.skip_gc = false;
    options.cleanup_formatting = false;
    Doc::with_options(options)
}

fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, CrdtError> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| CrdtError::Panicked)
}

impl Replica {
    /// An empty replica. `client` must never have been used for this document before: two replicas
    /// with one client ID corrupt each other.
    #[must_use]
    pub fn new(client: u64) -> Self {
        let doc = new_doc(client);
        let nodes = doc.get_or_insert_map("n");
        let meta = doc.get_or_insert_map("m");
        Self { doc, nodes, meta, client, shards: 0 }
    }

    /// Takes in a whole state as [`Replica::encode`] wrote it.
    ///
    /// # Errors
    /// When the bytes are no such state.
    pub fn apply_state(&mut self, state: &[u8]) -> Result<(), CrdtError> {
        let update = guarded(|| Update::decode_v2(state))?
            .map_err(|error| CrdtError::NotAnUpdate(error.to_string()))?;
        self.apply(update)
    }

    /// Takes in an update as [`Replica::write`] returned it.
    ///
    /// # Errors
    /// When the bytes are no update.
    pub fn apply_update(&mut self, update: &[u8]) -> Result<(), CrdtError> {
        let update = guarded(|| Update::decode_v1(update))?
            .map_err(|error| CrdtError::NotAnUpdate(error.to_string()))?;
        self.apply(update)
    }

    fn apply(&mut self, update: Update) -> Result<(), CrdtError> {
        guarded(|| self.doc.transact_mut().apply_update(update))?
            .map_err(|error| CrdtError::NotAnUpdate(error.to_string()))
    }

    /// Whether an update is waiting for one that came before it.
    #[must_use]
    pub fn has_missing_updates(&self) -> bool {
        self.doc.transact().has_missing_updates()
    }

    /// The whole state, as bytes.
    ///
    /// # Errors
    /// When yrs fails.
    pub fn encode(&self) -> Result<Vec<u8>, CrdtError> {
        guarded(|| self.doc.transact().encode_state_as_update_v2(&StateVector::default()))
    }

    /// Names the title node of a new document; written with the first update.
    ///
    /// # Errors
    /// When yrs fails.
    pub fn begin(&mut self, root: NodeId) -> Result<(), CrdtError> {
        guarded(|| {
            let mut txn = self.doc.transact_mut();
            self.meta.insert(&mut txn, "v", f64::from(SCHEMA_VERSION));
            self.meta.insert(&mut txn, "r", root.to_compact());
        })
    }

    /// Makes the changes and returns them as one update. For a new document `all` gives the whole
    /// state, with what [`Replica::begin`] wrote.
    ///
    /// # Errors
    /// When yrs fails; the replica must then be dropped.
    pub fn write(&mut self, writes: &[Write], all: bool) -> Result<Vec<u8>, CrdtError> {
        let creates = writes.iter().filter(|write| matches!(write, Write::Create(_))).count();
        guarded(|| {
            if creates <= NODES_PER_CLIENT && !all {
                let mut txn = self.doc.transact_mut();
                for write in writes {
                    perform(&self.nodes, &mut txn, write);
                }
                return Ok(txn.encode_update_v1());
            }
            let before =
                if all { StateVector::default() } else { self.doc.transact().state_vector() };
            self.write_in_shards(writes)?;
            let mut txn = self.doc.transact_mut();
            for write in writes.iter().filter(|write| !matches!(write, Write::Create(_))) {
                perform(&self.nodes, &mut txn, write);
            }
            drop(txn);
            Ok(self.doc.transact().encode_diff_v1(&before))
        })?
    }

    /// Creates nodes, [`NODES_PER_CLIENT`] under each client ID.
    fn write_in_shards(&mut self, writes: &[Write]) -> Result<(), CrdtError> {
        let creates: Vec<&Write> =
            writes.iter().filter(|write| matches!(write, Write::Create(_))).collect();
        for chunk in creates.chunks(NODES_PER_CLIENT) {
            self.shards += 1;
            let seed =
                blake3::hash(&[self.client.to_le_bytes(), self.shards.to_le_bytes()].concat());
            let client =
                seed.as_bytes().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
            let shard = new_doc(client);
            let nodes = shard.get_or_insert_map("n");
            let mut txn = shard.transact_mut();
            for write in chunk {
                perform(&nodes, &mut txn, write);
            }
            let update = Update::decode_v1(&txn.encode_update_v1())
                .map_err(|error| CrdtError::NotAnUpdate(error.to_string()))?;
            drop(txn);
            self.apply(update)?;
        }
        Ok(())
    }

    /// The title node's ID.
    ///
    /// # Errors
    /// When there is none.
    pub fn root(&self) -> Result<NodeId, CrdtError> {
        let txn = self.doc.transact();
        match self.meta.get(&txn, "r") {
            Some(Out::Any(Any::String(root))) => {
                NodeId::from_compact(&root).ok_or(CrdtError::Damaged("the title node's ID"))
            }
            _ => Err(CrdtError::Damaged("no title node")),
        }
    }

    /// All nodes, without where they are shown.
    ///
    /// # Errors
    /// When a node is not laid out as this file writes it.
    pub fn nodes(&self) -> Result<Vec<Node>, CrdtError> {
        guarded(|| {
            let txn = self.doc.transact();
            self.nodes
                .iter(&txn)
                .map(|(id, value)| {
                    let id = NodeId::from_compact(id).ok_or(CrdtError::Damaged("a node's ID"))?;
                    match value {
                        Out::YMap(map) => read_node(id, &map, &txn),
                        _ => Err(CrdtError::Damaged("a node is no map")),
                    }
                })
                .collect()
        })?
    }
}

fn placement(parent: Option<NodeId>, order: &str, lamport: u64) -> String {
    let parent = parent.map_or_else(|| "root".to_owned(), NodeId::to_compact);
    format!("{parent}:{order}:{lamport}")
}

/// An inline as an embed: a map of one entry, which no chunk of text can be taken for (yrs keeps
/// embeds as JSON, so that bytes would come back as a list).
fn embed(inline: &Inline) -> Any {
    let (mut text, label) = match inline {
        Inline::Document { document, node, label } => {
            let node = node.map_or_else(String::new, |node| format!("#{}", node.to_compact()));
            (format!("d:{}{node}", document.to_compact()), label)
        }
        Inline::Attachment { file, label } => (format!("f:{}", file.to_compact()), label),
    };
    if let Some(label) = label {
        text.push('|');
        text.push_str(label);
    }
    Any::Map(Arc::new([("i".to_owned(), Any::String(text.into()))].into()))
}

fn read_embed(text: &str) -> Option<Inline> {
    let (target, label) = match text.split_once('|') {
        Some((target, label)) => (target, Some(label.to_owned())),
        None => (text, None),
    };
    if let Some(file) = target.strip_prefix("f:") {
        return Some(Inline::Attachment { file: FileId::from_compact(file)?, label });
    }
    let target = target.strip_prefix("d:")?;
    let (document, node) = match target.split_once('#') {
        Some((document, node)) => (document, Some(NodeId::from_compact(node)?)),
        None => (target, None),
    };
    Some(Inline::Document { document: DocumentId::from_compact(document)?, node, label })
}

fn node_map(nodes: &MapRef, txn: &TransactionMut<'_>, id: NodeId) -> Option<MapRef> {
    match nodes.get(txn, &id.to_compact()) {
        Some(Out::YMap(map)) => Some(map),
        _ => None,
    }
}

/// Writes a text that is empty yet. One walk: an insertion by its place looks for it from the start.
fn write_text(text: &TextRef, txn: &mut TransactionMut<'_>, pieces: &[Piece<'_>]) {
    let delta = pieces.iter().map(|piece| match piece {
        Piece::Text(chunk) => Delta::insert(*chunk),
        Piece::Inline(inline) => Delta::insert(embed(inline)),
    });
    text.apply_delta(txn, delta);
}

fn attribute_text(value: &Value) -> String {
    format!("{}:{}", value.kind.name(), value.value)
}

fn perform(nodes: &MapRef, txn: &mut TransactionMut<'_>, write: &Write) {
    if let Write::Create(node) = write {
        let map = nodes.insert(txn, node.id.to_compact(), MapPrelim::default());
        map.insert(txn, "k", node.kind.name());
        map.insert(txn, "p", placement(node.parent, &node.order, node.lamport));
        if let Some(by) = node.removed {
            map.insert(txn, "x", by.to_compact());
        }
        if node.kind != Kind::Divider {
            if node.inlines.is_empty() {
                map.insert(txn, "t", TextPrelim::new(node.stored.as_ref()));
            } else {
                let text = map.insert(txn, "t", TextPrelim::new(""));
                write_text(&text, txn, &crate::inline::pieces(&node.stored, &node.inlines));
            }
        }
        if node.done {
            map.insert(txn, "d", true);
        }
        if let Some(language) = &node.language {
            map.insert(txn, "l", language.as_ref());
        }
        for (key, value) in &node.attributes {
            map.insert(txn, format!("a:{key}"), attribute_text(value));
        }
        for tag in &node.tags {
            map.insert(txn, format!("g:{}", tag.to_compact()), true);
        }
        return;
    }
    let id = match write {
        Write::Create(node) => node.id,
        Write::Place(id, ..)
        | Write::Removed(id, _)
        | Write::Text(id, _)
        | Write::Done(id, _)
        | Write::Language(id, _)
        | Write::Attribute(id, ..)
        | Write::Tag(id, ..) => *id,
    };
    let Some(map) = node_map(nodes, txn, id) else { return };
    match write {
        Write::Create(_) => {}
        Write::Place(_, parent, order, lamport) => {
            map.insert(txn, "p", placement(*parent, order, *lamport));
        }
        Write::Removed(_, by) => {
            map.insert(txn, "x", by.map_or_else(String::new, NodeId::to_compact));
        }
        Write::Text(_, splices) => {
            let Some(Out::YText(text)) = map.get(txn, "t") else { return };
            for splice in splices {
                match splice {
                    Splice::Delete { at, len } => text.remove_range(txn, *at, *len),
                    Splice::Text { at, text: chunk } => text.insert(txn, *at, chunk),
                    Splice::Inline { at, inline } => {
                        text.insert_embed(txn, *at, embed(inline));
                    }
                }
            }
        }
        Write::Done(_, done) => {
            map.insert(txn, "d", *done);
        }
        Write::Language(_, Some(language)) => {
            map.insert(txn, "l", language.as_ref());
        }
        Write::Language(_, None) => {
            map.remove(txn, "l");
        }
        Write::Attribute(_, key, Some(value)) => {
            map.insert(txn, format!("a:{key}"), attribute_text(value));
        }
        Write::Attribute(_, key, None) => {
            map.remove(txn, &format!("a:{key}"));
        }
        Write::Tag(_, tag, true) => {
            map.insert(txn, format!("g:{}", tag.to_compact()), true);
        }
        Write::Tag(_, tag, false) => {
            map.remove(txn, &format!("g:{}", tag.to_compact()));
        }
    }
}

fn read_text<T: yrs::ReadTxn>(text: &TextRef, txn: &T) -> Result<RichText, CrdtError> {
    let mut rich = RichText::default();
    let diffs = text.diff(txn, YChange::identity);
    for diff in diffs {
        match diff.insert {
            Out::Any(Any::String(chunk)) => rich.push_text(&chunk),
            Out::Any(Any::Map(embed)) => {
                let inline = match embed.get("i") {
                    Some(Any::String(text)) => read_embed(text),
                    _ => None,
                };
                rich.push_inline(inline.ok_or(CrdtError::Damaged("an inline"))?);
            }
            _ => return Err(CrdtError::Damaged("a text")),
        }
    }
    Ok(rich)
}

fn read_node<T: yrs::ReadTxn>(id: NodeId, map: &MapRef, txn: &T) -> Result<Node, CrdtError> {
    let values: BTreeMap<&str, Out> = map.iter(txn).collect();
    let kind = match values.get("k") {
        Some(Out::Any(Any::String(kind))) => Kind::from_name(kind),
        _ => None,
    };
    let mut node = Node::new(id, kind.ok_or(CrdtError::Damaged("a node's kind"))?);
    for (key, value) in values {
        match (key, value) {
            ("p", Out::Any(Any::String(place))) => {
                let mut parts = place.split(':');
                let damaged = || CrdtError::Damaged("a node's place");
                let parent = parts.next().ok_or_else(damaged)?;
                if parent != "root" {
                    node.parent = Some(NodeId::from_compact(parent).ok_or_else(damaged)?);
                }
                node.order = parts.next().ok_or_else(damaged)?.into();
                node.lamport =
                    parts.next().and_then(|text| text.parse().ok()).ok_or_else(damaged)?;
            }
            ("x", Out::Any(Any::String(by))) => node.removed = NodeId::from_compact(&by),
            ("t", Out::YText(text)) => node.set_rich(read_text(&text, txn)?),
            ("d", Out::Any(Any::Bool(done))) => node.done = done,
            ("l", Out::Any(Any::String(language))) => node.language = Some(language),
            (key, Out::Any(Any::String(text))) if key.starts_with("a:") => {
                let (kind, value) =
                    text.split_once(':').ok_or(CrdtError::Damaged("an attribute"))?;
                let kind = ValueKind::from_name(kind).ok_or(CrdtError::Damaged("an attribute"))?;
                let key = key.strip_prefix("a:").unwrap_or(key).to_owned();
                node.attributes.insert(key, Value { kind, value: value.to_owned() });
            }
            (key, Out::Any(Any::Bool(true))) if key.starts_with("g:") => {
                let tag = key.strip_prefix("g:").and_then(TagId::from_compact);
                node.tags.insert(tag.ok_or(CrdtError::Damaged("a tag"))?);
            }
            _ => {}
        }
    }
    Ok(node)
}
