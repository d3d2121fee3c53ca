//! What a batch must know of its workspace, asked in the transaction that the batch is part of.

use std::collections::{BTreeMap, HashMap, HashSet};

use koru_model::document::crdt::Write;
use koru_model::edit::facts::{Facts, FactsError, Property, Touch};
use koru_model::edit::plan::Plan;
use koru_model::ids::{DocumentId, FileId, NodeId, TagId};
use koru_model::tag;
use koru_model::value::Definition;
use rusqlite::Connection;

use crate::errors::ServiceError;
use crate::outside::Outside;
use crate::store::placing::DocumentKey;
use crate::store::workspaces::WorkspaceKey;
use crate::store::{attributes, documents, files, tags};

/// The facts of a workspace, and of one document in it where it exists already.
pub(super) struct StoreFacts<'a> {
    pub(super) connection: &'a Connection,
    pub(super) workspace: WorkspaceKey,
    pub(super) document: Option<DocumentKey>,
    pub(super) outside: &'a Outside,
    attributes: Option<Vec<Definition>>,
    /// The tags that the batch names and that do not exist yet, by folded name.
    planned: BTreeMap<String, (String, TagId)>,
    /// What IDs of tags mean, as far as it was asked: a batch may ask for each tag of a node again and again.
    meant: HashMap<TagId, Option<TagId>>,
}

impl<'a> StoreFacts<'a> {
    pub(super) fn new(
        connection: &'a Connection,
        workspace: WorkspaceKey,
        document: Option<DocumentKey>,
        outside: &'a Outside,
    ) -> Self {
        Self {
            connection,
            workspace,
            document,
            outside,
            attributes: None,
            planned: BTreeMap::new(),
            meant: HashMap::new(),
        }
    }

    /// Makes the tags that a plan puts on nodes. A name sorts before those below it.
    pub(super) fn make_tags(self, plan: &Plan) -> Result<(), ServiceError> {
        let mut used: HashSet<TagId> = HashSet::new();
        for write in &plan.writes {
            match write {
                Write::Tag(_, tag, true) => used.extend([*tag]),
                Write::Create(node) => used.extend(&node.tags),
                _ => {}
            }
        }
        for (name, id) in self.planned.into_values() {
            if used.contains(&id) {
                let outside = self.outside;
                tags::create(self.connection, self.workspace, &name, id, || outside.new_id())?;
            }
        }
        Ok(())
    }

    fn last_touch(
        &self,
        node: NodeId,
        property: Option<&str>,
    ) -> Result<Option<Touch>, FactsError> {
        let Some(document) = self.document else { return Ok(None) };
        let found = documents::last_touch(self.connection, document, node, property)?;
        Ok(found.map(|(seq, by, at_ms)| Touch { seq, by, at_ms }))
    }
}

impl Facts for StoreFacts<'_> {
    fn last_change(
        &mut self,
        node: NodeId,
        property: &Property,
    ) -> Result<Option<Touch>, FactsError> {
        self.last_touch(node, Some(&property.name()))
    }

    fn changed_after(&mut self, seq: u64) -> Result<BTreeMap<NodeId, Touch>, FactsError> {
        let Some(document) = self.document else { return Ok(BTreeMap::new()) };
        let touches = documents::touched_since(self.connection, document, seq, usize::MAX)?;
        // The newest come first: taken from the end, the newest of each node is kept.
        let oldest_first = touches.listed.into_iter().rev();
        Ok(oldest_first
            .map(|touch| (touch.node, Touch { seq: touch.seq, by: touch.by, at_ms: touch.at }))
            .collect())
    }

    fn attributes(&mut self) -> Result<Vec<Definition>, FactsError> {
        if self.attributes.is_none() {
            let found = attributes::definitions(self.connection, self.workspace)?;
            self.attributes =
                Some(found.into_values().map(attributes::Definition::into_model).collect());
        }
        Ok(self.attributes.clone().unwrap_or_default())
    }

    fn find_tag(&mut self, name: &str) -> Result<Option<TagId>, FactsError> {
        let planned = self.planned.get(&tag::folded(name)).map(|(_, id)| *id);
        Ok(tags::find(self.connection, self.workspace, name)?.or(planned))
    }

    fn make_tag(&mut self, name: &str) -> Result<TagId, FactsError> {
        if let Some(found) = self.find_tag(name)? {
            return Ok(found);
        }
        let id = TagId(self.outside.new_id());
        self.planned.insert(tag::folded(name), (name.to_owned(), id));
        self.meant.insert(id, Some(id));
        Ok(id)
    }

    fn resolve_tag(&mut self, tag: TagId) -> Result<Option<TagId>, FactsError> {
        if let Some(known) = self.meant.get(&tag) {
            return Ok(*known);
        }
        let meant = tags::resolve(self.connection, self.workspace, tag)?.map(|found| found.id);
        self.meant.insert(tag, meant);
        Ok(meant)
    }

    fn has_document(&mut self, document: DocumentId) -> Result<bool, FactsError> {
        Ok(documents::title(self.connection, self.workspace, document)?.is_some())
    }

    fn has_file(&mut self, file: FileId) -> Result<bool, FactsError> {
        Ok(files::name(self.connection, self.workspace, file)?.is_some())
    }
}
