//! `workspace`: what only a person may do with workspaces.

use clap::Subcommand;
use koru_model::ids::WorkspaceId;
use koru_model::protocol::admin::Admin;
use koru_model::protocol::home::Home;
use serde_json::json;
use uuid::Uuid;

use super::session::Workspace;
use super::{Done, Failure, Session};
use crate::output;

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// List the workspaces.
    List {
        /// Print what list_workspaces gives.
        #[arg(long)]
        json: bool,
    },
    /// Make a workspace, and print its ID.
    Create {
        /// Its name.
        name: String,
    },
    /// Give a workspace another name.
    Rename {
        /// Its name or ID.
        workspace: String,
        /// The new name.
        name: String,
    },
    /// Put a workspace aside; it works as before.
    Archive {
        /// Its name or ID.
        workspace: String,
        /// Take it back.
        #[arg(long)]
        undo: bool,
    },
    /// Mark a workspace as deleted; it can only be read then.
    Delete {
        /// Its name or ID.
        workspace: String,
        /// Take it back.
        #[arg(long)]
        undo: bool,
    },
}

pub(crate) async fn run(home: &Home, action: Action) -> Done {
    let session = Session::open(home).await?;
    let of = async |wanted: &str| -> Result<WorkspaceId, Failure> {
        Ok(session.workspace(Some(wanted)).await?.id)
    };
    let admin = match action {
        Action::List { json } => return list(&session, json).await,
        Action::Create { name } => {
            let workspace_id = WorkspaceId(Uuid::now_v7());
            session.admin(&Admin::WorkspaceCreate { workspace_id, name }).await?;
            return Ok(output::line(&workspace_id.to_string())?);
        }
        Action::Rename { workspace, name } => {
            Admin::WorkspaceRename { workspace_id: of(&workspace).await?, name }
        }
        Action::Archive { workspace, undo } => {
            Admin::WorkspaceArchive { workspace_id: of(&workspace).await?, archived: !undo }
        }
        Action::Delete { workspace, undo } => {
            Admin::WorkspaceDelete { workspace_id: of(&workspace).await?, deleted: !undo }
        }
    };
    session.admin(&admin).await?;
    Ok(())
}

async fn list(session: &Session, json: bool) -> Done {
    let listed = session.read("list_workspaces", json!({})).await?;
    if json {
        return Ok(output::json(&listed)?);
    }
    let workspaces: Vec<Workspace> =
        serde_json::from_value(listed["workspaces"].clone()).unwrap_or_default();
    let rows = workspaces.into_iter().map(|workspace| {
        let state = match (&workspace.deleted_at, workspace.archived) {
            (Some(_), _) => "deleted",
            (None, true) => "archived",
            (None, false) => "",
        };
        vec![
            output::clean(&workspace.name),
            workspace.id.to_string(),
            state.into(),
            workspace.last_opened_at.unwrap_or_default(),
        ]
    });
    Ok(output::rows(&["NAME", "ID", "STATE", "LAST OPENED"], rows.collect())?)
}
