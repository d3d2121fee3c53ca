//! Who asks: the client, its scope, and the workspaces that it reaches.

use koru_model::ids::WorkspaceId;
use koru_model::protocol::wire::Scope;
use rusqlite::Connection;
use uuid::Uuid;

use crate::errors::ServiceError;
use crate::service::Service;
use crate::store::workspaces::{self, WorkspaceKey};

/// The name of the client where it gives none: the command line.
const NAMELESS: &str = "koru-mcp";
/// The longest name of a client that is kept, in characters.
const NAME_CHARS: usize = 120;

/// One call's caller.
#[derive(Debug, Clone)]
pub struct Session {
    /// The MCP client's name and version, or `koru-mcp`: the author of what the call changes.
    pub client: String,
    /// What the connection may reach.
    pub scope: Scope,
    /// Names the call for ever.
    pub key: Option<Uuid>,
    /// The number of the connection, while the service runs; 0: none.
    pub connection: u64,
}

impl Session {
    /// The caller, as a request tells it.
    #[must_use]
    pub fn new(client: Option<&str>, scope: Scope, key: Option<Uuid>) -> Self {
        let name: String = client
            .unwrap_or_default()
            .chars()
            .filter(|c| !c.is_control())
            .take(NAME_CHARS)
            .collect();
        let name = name.trim();
        let client = if name.is_empty() { NAMELESS } else { name };
        Self { client: client.into(), scope, key, connection: 0 }
    }

    /// Whether the connection may see the workspace, if there is one.
    #[must_use]
    pub fn includes(&self, workspace: WorkspaceId) -> bool {
        self.scope.workspaces.is_empty() || self.scope.workspaces.contains(&workspace)
    }

    /// The workspace's row, for reading; notes that it was opened.
    ///
    /// # Errors
    /// When there is none, or it is outside the connection.
    pub fn reach(
        &self,
        service: &Service,
        connection: &Connection,
        workspace: WorkspaceId,
    ) -> Result<WorkspaceKey, ServiceError> {
        let (key, _) = self.look_up(connection, workspace)?;
        service.store.note_opened(key, service.outside.now());
        Ok(key)
    }

    /// The workspace's row, for writing; notes that it was opened.
    ///
    /// # Errors
    /// When there is none, it is outside the connection, or deleted; or the connection only reads.
    pub fn reach_to_write(
        &self,
        service: &Service,
        connection: &Connection,
        workspace: WorkspaceId,
    ) -> Result<WorkspaceKey, ServiceError> {
        let key = self.reach_to_mark(connection, workspace)?;
        if self.look_up(connection, workspace)?.1 {
            return Err(ServiceError::WorkspaceDeleted(workspace));
        }
        service.store.note_opened(key, service.outside.now());
        Ok(key)
    }

    /// The workspace's row, for marking it as deleted or not.
    ///
    /// # Errors
    /// When there is none, or it is outside the connection; or the connection only reads.
    pub fn reach_to_mark(
        &self,
        connection: &Connection,
        workspace: WorkspaceId,
    ) -> Result<WorkspaceKey, ServiceError> {
        if self.scope.read_only {
            return Err(ServiceError::ReadOnlyConnection);
        }
        Ok(self.look_up(connection, workspace)?.0)
    }

    fn look_up(
        &self,
        connection: &Connection,
        workspace: WorkspaceId,
    ) -> Result<(WorkspaceKey, bool), ServiceError> {
        if !self.includes(workspace) {
            return Err(ServiceError::WorkspaceOutOfReach(workspace));
        }
        workspaces::find(connection, workspace)?.ok_or(ServiceError::WorkspaceOutOfReach(workspace))
    }
}
