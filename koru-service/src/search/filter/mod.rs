//! What a search may show.

use koru_model::protocol::tools::{Lifecycles, SearchDocuments};
use rusqlite::Connection;

use super::memory::{NodeEntry, NodeKey, View};
use crate::errors::ServiceError;
use crate::store::placing::DocumentKey;
use crate::store::workspaces::WorkspaceKey;

/// Where a search looks.
#[derive(Debug, Clone)]
pub struct Scope {
    /// The workspaces.
    pub workspaces: Vec<WorkspaceKey>,
    /// Live documents, those in the trash, or both.
    pub lifecycle: Lifecycles,
    /// Only this document.
    pub document: Option<DocumentKey>,
}

/// Which documents and nodes a search may show.
#[derive(Debug)]
pub struct Mask {
    bits: Vec<bool>,
}

impl Mask {
    /// The mask.
    ///
    /// # Errors
    /// None.
    pub fn of(
        _: &Connection,
        view: &View,
        scope: &Scope,
        _: &SearchDocuments,
        _: &jiff::tz::TimeZone,
    ) -> Result<Self, ServiceError> {
        let bits = (0_i64..)
            .zip(view.documents())
            .map(|(k, entry)| {
                scope.workspaces.iter().any(|w| w.0 == i64::from(entry.workspace))
                    && scope.document.is_none_or(|d| d.0 == k)
                    && match scope.lifecycle {
                        Lifecycles::Live => !entry.trashed,
                        Lifecycles::Trash => entry.trashed,
                        Lifecycles::All => true,
                    }
            })
            .collect();
        Ok(Self { bits })
    }
    /// Whether.
    pub fn admits_document(&self, document: u32) -> bool {
        self.bits.get(document as usize) == Some(&true)
    }
    /// Whether.
    pub fn admits_node(&self, _: NodeKey, entry: NodeEntry) -> bool {
        self.admits_document(entry.document)
    }
    /// Whether.
    pub fn has_filters(&self) -> bool {
        false
    }
}
