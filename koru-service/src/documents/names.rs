//! The names of what texts point at, looked up while a document is read.

use std::collections::HashMap;

use koru_model::document::read::{LinkTarget, Names};
use koru_model::ids::{DocumentId, FileId, NodeId, TagId};
use koru_model::inline::Lifecycle;
use rusqlite::Connection;

use crate::errors::ServiceError;
use crate::store::workspaces::WorkspaceKey;
use crate::store::{documents, tags};

/// The names in a workspace. A failure of the storage is kept until [`StoreNames::finish`].
pub(super) struct StoreNames<'a> {
    connection: &'a Connection,
    workspace: WorkspaceKey,
    tags: HashMap<TagId, Option<String>>,
    titles: HashMap<DocumentId, Option<(String, bool)>>,
    failure: Option<ServiceError>,
}

impl<'a> StoreNames<'a> {
    pub(super) fn new(connection: &'a Connection, workspace: WorkspaceKey) -> Self {
        Self { connection, workspace, tags: HashMap::new(), titles: HashMap::new(), failure: None }
    }

    /// Whether all names could be looked up.
    pub(super) fn finish(self) -> Result<(), ServiceError> {
        self.failure.map_or(Ok(()), Err)
    }

    fn keep<T>(&mut self, found: Result<Option<T>, ServiceError>) -> Option<T> {
        found.unwrap_or_else(|error| {
            self.failure.get_or_insert(error);
            None
        })
    }
}

impl Names for StoreNames<'_> {
    fn tag(&mut self, tag: TagId) -> Option<String> {
        if let Some(known) = self.tags.get(&tag) {
            return known.clone();
        }
        let found = tags::name(self.connection, self.workspace, tag);
        let name = self.keep(found);
        self.tags.insert(tag, name.clone());
        name
    }

    fn link(&mut self, document: DocumentId, _: Option<NodeId>) -> LinkTarget {
        let known = if let Some(known) = self.titles.get(&document) {
            known.clone()
        } else {
            let found = documents::title(self.connection, self.workspace, document);
            let title = self.keep(found);
            self.titles.insert(document, title.clone());
            title
        };
        let lifecycle = match &known {
            Some((_, false)) => Lifecycle::Live,
            Some((_, true)) => Lifecycle::Trash,
            None => Lifecycle::Missing,
        };
        LinkTarget { title: known.map(|(title, _)| title), lifecycle, resolved: None }
    }

    fn file(&mut self, _: FileId) -> (Option<String>, Lifecycle) {
        // A workspace holds no files in this release.
        (None, Lifecycle::Missing)
    }
}
