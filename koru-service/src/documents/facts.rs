//! What a batch must know of its workspace, asked in the transaction that the batch is part of.

use koru_model::edit::facts::{Facts, FactsError, Property, Touch};
use koru_model::ids::{DocumentId, FileId, NodeId, TagId};
use koru_model::value::Definition;
use rusqlite::Connection;

use crate::outside::Outside;
use crate::store::placing::DocumentKey;
use crate::store::workspaces::WorkspaceKey;
use crate::store::{attributes, documents, tags};

/// The facts of a workspace, and of one document in it where it exists already.
pub(super) struct StoreFacts<'a> {
    pub(super) connection: &'a Connection,
    pub(super) workspace: WorkspaceKey,
    pub(super) document: Option<DocumentKey>,
    pub(super) outside: &'a Outside,
    attributes: Option<Vec<Definition>>,
}

impl<'a> StoreFacts<'a> {
    pub(super) fn new(
        connection: &'a Connection,
        workspace: WorkspaceKey,
        document: Option<DocumentKey>,
        outside: &'a Outside,
    ) -> Self {
        Self { connection, workspace, document, outside, attributes: None }
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

    fn last_change_of_any(&mut self, node: NodeId) -> Result<Option<Touch>, FactsError> {
        self.last_touch(node, None)
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
        Ok(tags::find(self.connection, self.workspace, name)?)
    }

    fn make_tag(&mut self, name: &str) -> Result<TagId, FactsError> {
        let outside = self.outside;
        Ok(tags::find_or_create(self.connection, self.workspace, name, || outside.new_id())?)
    }

    fn has_tag(&mut self, tag: TagId) -> Result<bool, FactsError> {
        Ok(tags::name(self.connection, self.workspace, tag)?.is_some())
    }

    fn has_document(&mut self, document: DocumentId) -> Result<bool, FactsError> {
        Ok(documents::title(self.connection, self.workspace, document)?.is_some())
    }

    fn has_file(&mut self, _: FileId) -> Result<bool, FactsError> {
        // A workspace holds no files in this release.
        Ok(false)
    }
}
