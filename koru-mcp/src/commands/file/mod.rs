//! `file`: adding, listing, fetching, annotating, removing and checking files.

mod add;
mod get;
mod source;
mod verify;

use std::path::PathBuf;

use clap::Subcommand;
use koru_model::content::ContentHash;
use koru_model::ids::{DocumentId, FileId, WorkspaceId};
use koru_model::protocol::admin::Admin;
use koru_model::protocol::error::{Code, ToolError};
use koru_model::protocol::home::Home;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Done, Failure, Session};
use crate::output::{self, one_line};

/// How many files are asked for at a time.
const PAGE: u32 = 1_000;

/// What to do. A FILE is a file's ID, a tail of it, or its name.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Add files, and those in folders.
    ///
    /// A file keeps its name; the folders that it stood in are not kept. Symbolic links, pipes and
    /// devices are not added.
    Add {
        /// Files and folders.
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
        /// Another name for the file; only with one PATH.
        #[arg(long)]
        name: Option<String>,
        /// The workspace's name or ID; may be left out where there is one.
        #[arg(long, value_name = "NAME|ID")]
        workspace: Option<String>,
        /// Print the added files as list_files gives them.
        #[arg(long)]
        json: bool,
    },
    /// List the files.
    List {
        /// The workspace's name or ID.
        #[arg(long, value_name = "NAME|ID")]
        workspace: Option<String>,
        /// Print what list_files gives.
        #[arg(long)]
        json: bool,
    },
    /// Write a file's content to the current folder, or elsewhere.
    Get {
        /// Its ID, a tail of it, or its name.
        file: String,
        /// Where to: a path, a folder, or - for stdout. Without it, the current folder, under a name
        /// that every system takes.
        #[arg(long, value_name = "PATH|-")]
        output: Option<PathBuf>,
        /// Overwrite what is there.
        #[arg(long)]
        force: bool,
        /// The workspace's name or ID.
        #[arg(long, value_name = "NAME|ID")]
        workspace: Option<String>,
    },
    /// Print the ID of a file's note, a document; make it where there is none.
    Note {
        /// Its ID, a tail of it, or its name.
        file: String,
        /// The workspace's name or ID.
        #[arg(long, value_name = "NAME|ID")]
        workspace: Option<String>,
        /// Print what ensure_file_note gives.
        #[arg(long)]
        json: bool,
    },
    /// Remove a file; refused while it is attached to documents. Its note stays, as a page.
    Remove {
        /// Its ID, a tail of it, or its name.
        file: String,
        /// Remove it all the same; its attachments are missing then.
        #[arg(long)]
        force: bool,
        /// The workspace's name or ID.
        #[arg(long, value_name = "NAME|ID")]
        workspace: Option<String>,
    },
    /// Check the contents of all files in all workspaces against their hashes; exit 1 where one is damaged.
    Verify {
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
}

/// A file, as far as commands look at it.
#[derive(Debug, Clone, Deserialize)]
struct Listed {
    file_id: FileId,
    name: String,
    mime: String,
    size: u64,
    hash: ContentHash,
    #[serde(default)]
    note_id: Option<DocumentId>,
}

pub(crate) async fn run(home: &Home, action: Action) -> Done {
    let session = Session::open(home).await?;
    match action {
        Action::Add { paths, name, workspace, json } => {
            let workspace = session.workspace(workspace.as_deref()).await?.id;
            add::run(home, &session, workspace, paths, name, json).await
        }
        Action::List { workspace, json } => {
            let workspace = session.workspace(workspace.as_deref()).await?.id;
            list(&session, workspace, json).await
        }
        Action::Get { file, output, force, workspace } => {
            let workspace = session.workspace(workspace.as_deref()).await?.id;
            let file = find(&session, workspace, &file).await?;
            get::run(&session, workspace, &file, output.as_deref(), force).await
        }
        Action::Note { file, workspace, json } => {
            let workspace = session.workspace(workspace.as_deref()).await?.id;
            let file = find(&session, workspace, &file).await?;
            let arguments = json!({ "workspace_id": workspace, "file_id": file.file_id });
            let note = session.read("ensure_file_note", arguments).await?;
            if json {
                return Ok(output::json(&note)?);
            }
            let trash = if note["lifecycle"] == "trash" { "  (in the trash)" } else { "" };
            Ok(output::line(&format!("{}{trash}", note["note_id"].as_str().unwrap_or_default()))?)
        }
        Action::Remove { file, force, workspace } => {
            let workspace = session.workspace(workspace.as_deref()).await?.id;
            let file = find(&session, workspace, &file).await?;
            remove(&session, workspace, file.file_id, force).await
        }
        Action::Verify { json } => verify::run(&session, json).await,
    }
}

/// All files of a workspace, as `list_files` gives them.
async fn all(session: &Session, workspace: WorkspaceId) -> Result<Vec<Value>, Failure> {
    let mut files = Vec::new();
    let mut after = Value::Null;
    loop {
        let arguments =
            json!({ "workspace_id": workspace, "page_size": PAGE, "after_file_id": after });
        let mut page = session.read("list_files", arguments).await?;
        if let Some(Value::Array(more)) = page.get_mut("files").map(Value::take) {
            files.extend(more);
        }
        after = page["next_after_file_id"].take();
        if after.is_null() {
            return Ok(files);
        }
    }
}

async fn list(session: &Session, workspace: WorkspaceId, json: bool) -> Done {
    let files = all(session, workspace).await?;
    if json {
        return Ok(output::json(&json!({ "files": files }))?);
    }
    let rows = files.into_iter().filter_map(|file| serde_json::from_value(file).ok()).map(row);
    Ok(output::rows(&["NAME", "ID", "BYTES", "TYPE", "NOTE"], rows.collect())?)
}

fn row(file: Listed) -> Vec<String> {
    vec![
        one_line(&file.name),
        file.file_id.to_string(),
        file.size.to_string(),
        file.mime,
        file.note_id.map_or_else(String::new, |note| note.to_string()),
    ]
}

/// The file that is meant by an ID, a tail of one, or a name.
async fn find(session: &Session, workspace: WorkspaceId, wanted: &str) -> Result<Listed, Failure> {
    let files = all(session, workspace).await?;
    let files = files.into_iter().filter_map(|file| serde_json::from_value::<Listed>(file).ok());
    let found: Vec<Listed> = files
        .filter(|file| {
            file.name == wanted || super::session::is_tail_of(&file.file_id.to_string(), wanted)
        })
        .collect();
    let shown = |file: &Listed| format!("{}  {}", file.file_id, one_line(&file.name));
    super::session::one(found, &format!("file {}", one_line(wanted)), "name it by its ID", shown)
}

async fn remove(session: &Session, workspace: WorkspaceId, file: FileId, force: bool) -> Done {
    let ask = Admin::FileRemove { workspace_id: workspace, file_id: file, force };
    match session.admin(&ask).await {
        Ok(_) => Ok(()),
        Err(Failure::Tool(error)) if error.code == Code::PreconditionFailed => {
            Err(used(session, workspace, &error).await)
        }
        Err(error) => Err(error),
    }
}

/// Says which documents the file is attached to.
async fn used(session: &Session, workspace: WorkspaceId, error: &ToolError) -> Failure {
    let documents = match session.documents(workspace).await {
        Ok(documents) => documents,
        Err(failure) => return failure,
    };
    let attached = error.details.as_ref().and_then(|details| details["attached"].as_array());
    let mut lines: Vec<String> = attached
        .into_iter()
        .flatten()
        .filter_map(|node| node["document_id"].as_str())
        .map(|id| {
            let found = documents.iter().find(|document| document.id.to_string() == id);
            let title = found.map_or("", |document| document.title.as_str());
            format!("  {id}  {}", one_line(title))
        })
        .collect();
    lines.dedup();
    Failure::Said(format!(
        "the file is attached to documents, and stays (take it out there, or use --force):\n{}",
        lines.join("\n")
    ))
}
