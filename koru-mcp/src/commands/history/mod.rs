//! `history`: the versions of a document, listed, shown, compared, restored, saved.

mod diff;

use clap::Subcommand;
use koru_model::ids::WorkspaceId;
use koru_model::protocol::home::Home;
use serde_json::{Value, json};

use super::document::show;
use super::session::Among;
use super::{Done, Failure, Session};
use crate::output::{self, clean};

/// How many entries are asked for at a time.
const PAGE: u64 = 200;

/// Which document a command is about.
#[derive(Debug, clap::Args)]
pub(crate) struct Of {
    /// The document: its ID, a tail of it, or a path of titles (A/B).
    document: String,
    /// The workspace's name or ID; may be left out where there is one.
    #[arg(long, value_name = "NAME|ID")]
    workspace: Option<String>,
}

/// What to do. A VERSION is a version's number, or an entry's ID.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// List the versions, newest first; a change and its two markers are one line.
    List {
        #[command(flatten)]
        of: Of,
        /// The most lines.
        #[arg(long, default_value_t = 50)]
        limit: usize,
        /// Print what list_document_versions gives.
        #[arg(long)]
        json: bool,
    },
    /// Print the document as it was at a version.
    Show {
        #[command(flatten)]
        of: Of,
        /// The version's number, or the entry's ID.
        version: String,
        /// Print what read_document_version gives.
        #[arg(long)]
        json: bool,
    },
    /// Show what leads from one version to another, or to the document as it is now.
    Diff {
        #[command(flatten)]
        of: Of,
        /// The earlier version.
        left: String,
        /// The later version; without it the document as it is now.
        right: Option<String>,
        /// Print what compare_document_versions gives.
        #[arg(long)]
        json: bool,
    },
    /// Make the document show again what it showed at a version. Nothing of the history is lost.
    Restore {
        #[command(flatten)]
        of: Of,
        /// The version's number, or the entry's ID.
        version: String,
    },
    /// Keep the document as it is now as a version with a name.
    Save {
        #[command(flatten)]
        of: Of,
        /// A short name.
        #[arg(long)]
        label: Option<String>,
        /// A longer note.
        #[arg(long)]
        message: Option<String>,
    },
}

/// The document that a command is about, once it is found.
struct Found {
    workspace: WorkspaceId,
    document: Value,
}

pub(crate) async fn run(home: &Home, action: Action) -> Done {
    let session = Session::open(home).await?;
    let (Action::List { of, .. }
    | Action::Show { of, .. }
    | Action::Diff { of, .. }
    | Action::Restore { of, .. }
    | Action::Save { of, .. }) = &action;
    let workspace = session.workspace(of.workspace.as_deref()).await?.id;
    let document = json!(session.document(workspace, &of.document, Among::Live).await?.id);
    let found = Found { workspace, document };
    match action {
        Action::List { limit, json: true, .. } => {
            let mut arguments = found.arguments();
            arguments["limit"] = json!(limit.clamp(1, 200));
            output::json(&session.read("list_document_versions", arguments).await?)?;
        }
        Action::List { limit, .. } => {
            let entries = found.entries(&session, limit.saturating_mul(2)).await?;
            let rows: Vec<_> = entries.iter().filter(|entry| !is_before(entry)).map(row).collect();
            let headings = ["VERSION", "WHEN", "WHAT", "BY", "NOTE"];
            output::rows(&headings, rows.into_iter().take(limit).collect())?;
        }
        Action::Show { version, json, .. } => {
            let arguments = json!({
                "workspace_id": found.workspace,
                "entry_id": found.entry(&session, &version).await?,
            });
            let read = session.read("read_document_version", arguments).await?;
            if json { output::json(&read)? } else { show::print(&read)? }
        }
        Action::Diff { left, right, json, .. } => {
            let mut arguments = json!({
                "workspace_id": found.workspace,
                "left_entry_id": found.entry(&session, &left).await?,
            });
            if let Some(right) = right {
                arguments["right_entry_id"] = found.entry(&session, &right).await?;
            }
            let compared = session.read("compare_document_versions", arguments).await?;
            if json { output::json(&compared)? } else { diff::print(&compared)? }
        }
        Action::Restore { version, .. } => {
            let entry = found.entry(&session, &version).await?;
            let mut outline = found.arguments();
            outline["max_depth"] = json!(0);
            let read = session.read("read_document", outline).await?;
            let mut arguments = found.arguments();
            arguments["entry_id"] = entry;
            arguments["base_revision"] = read["revision"].clone();
            let restored = session.read("restore_document_version", arguments).await?;
            let version = &restored["history"]["version"];
            output::line(&format!("restored; the document is now version {version}"))?;
        }
        Action::Save { label, message, .. } => {
            let mut arguments = found.arguments();
            arguments["label"] = json!(label);
            arguments["message"] = json!(message);
            let entry = session.read("save_document_version", arguments).await?;
            output::line(&format!("saved as version {}", entry["version"]))?;
        }
    }
    Ok(())
}

impl Found {
    fn arguments(&self) -> Value {
        json!({ "workspace_id": self.workspace, "document_id": self.document })
    }

    /// The newest entries.
    async fn entries(&self, session: &Session, most: usize) -> Result<Vec<Value>, Failure> {
        let mut entries = Vec::new();
        let mut arguments = self.arguments();
        arguments["limit"] = json!(PAGE);
        while entries.len() < most {
            let page = session.read("list_document_versions", arguments.clone()).await?;
            entries.extend(page["entries"].as_array().into_iter().flatten().cloned());
            if page["next_before_id"].is_null() {
                break;
            }
            arguments["before_at"] = page["next_before_at"].clone();
            arguments["before_id"] = page["next_before_id"].clone();
        }
        Ok(entries)
    }

    /// The ID of the entry that is meant by a version's number or by its ID.
    async fn entry(&self, session: &Session, wanted: &str) -> Result<Value, Failure> {
        let Ok(number) = wanted.parse::<u64>() else {
            return self.own_entry(session, wanted).await;
        };
        let entries = self.entries(session, usize::MAX).await?;
        entries
            .iter()
            .find(|entry| entry["version"] == number)
            .map(|entry| entry["id"].clone())
            .ok_or_else(|| Failure::Said(format!("the document has no version {number}")))
    }

    /// An entry that is named by its ID, once it is known to be one of the document.
    async fn own_entry(&self, session: &Session, id: &str) -> Result<Value, Failure> {
        let title = json!({ "workspace_id": self.workspace, "entry_id": id, "max_depth": 0 });
        let read = session.read("read_document_version", title).await?;
        if read["document_id"] == self.document {
            Ok(json!(id))
        } else {
            Err(Failure::Said(format!("{id} is a version of another document")))
        }
    }
}

fn is_before(entry: &Value) -> bool {
    entry["boundary"] == "before"
}

fn row(entry: &Value) -> Vec<String> {
    let text = |name: &str| clean(entry[name].as_str().unwrap_or_default());
    let version = entry["version"].as_u64().unwrap_or(0);
    let versions = if entry["boundary"] == "after" {
        format!("{} > {version}", version.saturating_sub(1))
    } else {
        version.to_string()
    };
    let note = [text("label"), text("message")].join(" ").replace('\n', " ");
    vec![versions, text("recorded_at"), text("reason"), text("author"), note.trim().to_owned()]
}
