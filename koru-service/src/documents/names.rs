//! The names of what texts point at, looked up while a document is read.

use std::collections::HashMap;

use koru_model::document::read::{LinkTarget, Names};
use koru_model::ids::{DocumentId, FileId, NodeId, TagId};
use koru_model::inline::Lifecycle;
use rusqlite::Connection;

use super::following;
use crate::errors::ServiceError;
use crate::service::Service;
use crate::store::workspaces::WorkspaceKey;
use crate::store::{documents, files, tags};

/// The names in a workspace. A failure of the storage is kept until [`StoreNames::finish`].
pub(super) struct StoreNames<'a> {
    service: &'a Service,
    connection: &'a Connection,
    workspace: WorkspaceKey,
    tags: HashMap<TagId, Option<(TagId, String)>>,
    titles: HashMap<DocumentId, Option<(String, bool)>>,
    failure: Option<ServiceError>,
}

impl<'a> StoreNames<'a> {
    pub(super) fn new(
        service: &'a Service,
        connection: &'a Connection,
        workspace: WorkspaceKey,
    ) -> Self {
        Self {
            service,
            connection,
            workspace,
            tags: HashMap::new(),
            titles: HashMap::new(),
            failure: None,
        }
    }

    fn title(&mut self, document: DocumentId) -> Option<(String, bool)> {
        if let Some(known) = self.titles.get(&document) {
            return known.clone();
        }
        let found = documents::title(self.connection, self.workspace, document);
        let title = self.keep(found);
        self.titles.insert(document, title.clone());
        title
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
    fn tag(&mut self, tag: TagId) -> Option<(TagId, String)> {
        if let Some(known) = self.tags.get(&tag) {
            return known.clone();
        }
        let found = tags::resolve(self.connection, self.workspace, tag);
        let meant = self.keep(found).map(|meant| (meant.id, meant.name));
        self.tags.insert(tag, meant.clone());
        meant
    }

    fn link(&mut self, document: DocumentId, node: Option<NodeId>) -> LinkTarget {
        let followed = node.map(|node| {
            following::follow(self.service, self.connection, self.workspace, document, node)
                .map(|found| found.map(|went_to| (went_to, node)))
        });
        let resolved = match followed {
            Some(found) => self.keep(found),
            None => None,
        };
        let known = self.title(resolved.map_or(document, |(went_to, _)| went_to));
        let lifecycle = match &known {
            Some((_, false)) => Lifecycle::Live,
            Some((_, true)) => Lifecycle::Trash,
            None => Lifecycle::Missing,
        };
        LinkTarget { title: known.map(|(title, _)| title), lifecycle, resolved }
    }

    fn file(&mut self, file: FileId) -> (Option<String>, Lifecycle) {
        let found = files::name(self.connection, self.workspace, file);
        match self.keep(found) {
            Some(name) => (Some(name), Lifecycle::Live),
            None => (None, Lifecycle::Missing),
        }
    }
}
