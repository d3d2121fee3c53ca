//! `document`: listing, showing and placing documents.

pub(super) mod show;

use std::collections::HashMap;

use clap::Subcommand;
use koru_model::ids::DocumentId;
use koru_model::protocol::admin::Admin;
use koru_model::protocol::home::Home;
use serde_json::json;

use super::session::{Among, Document};
use super::{Done, Session};
use crate::output;

/// Which workspace a command is about.
#[derive(Debug, clap::Args)]
pub(crate) struct In {
    /// The workspace's name or ID; may be left out where there is one.
    #[arg(long, value_name = "NAME|ID")]
    workspace: Option<String>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// List the documents as a tree.
    List {
        #[command(flatten)]
        place: In,
        /// Those in the trash too.
        #[arg(long)]
        trash: bool,
        /// Print what list_documents gives.
        #[arg(long)]
        json: bool,
    },
    /// Print a document.
    Show {
        /// Its ID, a tail of it, or a path of titles (A/B).
        document: String,
        #[command(flatten)]
        place: In,
        /// Print what read_document gives.
        #[arg(long)]
        json: bool,
    },
    /// Move a document among the others.
    Move {
        /// Its ID, a tail of it, or a path of titles (A/B).
        document: String,
        /// The document to stand under; without it the root of the workspace.
        #[arg(long, value_name = "DOCUMENT")]
        under: Option<String>,
        /// The sibling to stand behind; without it last.
        #[arg(long, value_name = "DOCUMENT", conflicts_with = "first")]
        after: Option<String>,
        /// Stand before all siblings.
        #[arg(long)]
        first: bool,
        #[command(flatten)]
        place: In,
    },
    /// Move blocks of a document to a new or another one; a link stays where they stood.
    Extract {
        /// The document: its ID, a tail of it, or a path of titles (A/B).
        document: String,
        /// The block: its ID, or a tail of it. More than one: siblings.
        #[arg(required = true)]
        nodes: Vec<String>,
        /// The title of a new document for them.
        #[arg(
            long,
            value_name = "TITLE",
            conflicts_with = "into",
            required_unless_present = "into"
        )]
        new: Option<String>,
        /// The document that they go to.
        #[arg(long, value_name = "DOCUMENT")]
        into: Option<String>,
        /// The node of that document that they come under.
        #[arg(long, value_name = "NODE", requires = "into", conflicts_with = "new")]
        under: Option<String>,
        #[command(flatten)]
        place: In,
    },
    /// Put a document, and all under it, into the trash.
    Trash {
        /// Its ID, a tail of it, or a path of titles (A/B).
        document: String,
        #[command(flatten)]
        place: In,
    },
    /// Take a document out of the trash.
    Untrash {
        /// Its ID, a tail of it, or a path of titles (A/B).
        document: String,
        #[command(flatten)]
        place: In,
    },
}

pub(crate) async fn run(home: &Home, action: Action) -> Done {
    let session = Session::open(home).await?;
    let place = match &action {
        Action::List { place, .. }
        | Action::Show { place, .. }
        | Action::Move { place, .. }
        | Action::Extract { place, .. }
        | Action::Trash { place, .. }
        | Action::Untrash { place, .. } => place.workspace.as_deref(),
    };
    let workspace_id = session.workspace(place).await?.id;
    let named = async |wanted: &str, among| session.document(workspace_id, wanted, among).await;
    match action {
        Action::List { json: true, .. } => {
            let listed =
                session.read("list_documents", json!({ "workspace_id": workspace_id })).await?;
            output::json(&listed)?;
        }
        Action::List { trash, .. } => {
            let documents = session.documents(workspace_id).await?;
            output::rows(&["TITLE", "ID", "NODES", "MODIFIED"], rows(&documents, trash))?;
        }
        Action::Show { document, json, .. } => {
            let found = named(&document, Among::Live).await?;
            let arguments = json!({ "workspace_id": workspace_id, "document_id": found.id });
            let read = session.read("read_document", arguments).await?;
            if json {
                output::json(&read)?;
            } else {
                if found.trashed_at.is_some() {
                    output::line(&output::styled(output::DIM, "(in the trash)"))?;
                }
                show::print(&read)?;
            }
        }
        Action::Move { document, under, after, first, .. } => {
            let document_id = named(&document, Among::Live).await?.id;
            let parent_document_id = match under {
                Some(under) => Some(named(&under, Among::Live).await?.id),
                None => None,
            };
            let after_document_id = match after {
                Some(after) => Some(named(&after, Among::Live).await?.id),
                None => None,
            };
            let at_end = !first && after_document_id.is_none();
            session
                .admin(&Admin::DocumentMove {
                    workspace_id,
                    document_id,
                    parent_document_id,
                    after_document_id,
                    at_end,
                })
                .await?;
        }
        Action::Extract { document, nodes, new, into, under, .. } => {
            let source = named(&document, Among::Live).await?.id;
            let into = match into {
                Some(into) => Some(named(&into, Among::Live).await?.id),
                None => None,
            };
            let Some((first, extras)) = nodes.split_first() else { return Ok(()) };
            let read = session
                .read(
                    "read_document",
                    json!({ "workspace_id": workspace_id, "document_id": source, "node_id": first, "max_depth": 0 }),
                )
                .await?;
            let extracted = session
                .read(
                    "extract_to_document",
                    json!({
                        "workspace_id": workspace_id,
                        "source_document_id": source,
                        "base_revision": read["revision"],
                        "source_node_id": first,
                        "extra_source_node_ids": extras,
                        "expected": read["nodes"][0]["text"],
                        "new_document_title": new,
                        "target_document_id": into,
                        "under_node_id": under,
                    }),
                )
                .await?;
            let target = extracted["document_id"].as_str().unwrap_or_default();
            output::line(&format!("the blocks are in document {target}"))?;
        }
        Action::Trash { document, .. } => {
            let document_id = named(&document, Among::Live).await?.id;
            session.admin(&Admin::DocumentTrash { workspace_id, document_id }).await?;
        }
        Action::Untrash { document, .. } => {
            let document_id = named(&document, Among::Trash).await?.id;
            session.admin(&Admin::DocumentUntrash { workspace_id, document_id }).await?;
        }
    }
    Ok(())
}

fn rows(documents: &[Document], with_trash: bool) -> Vec<Vec<String>> {
    let mut depths: HashMap<DocumentId, usize> = HashMap::new();
    let mut rows = Vec::new();
    for document in documents {
        let depth =
            document.parent.and_then(|parent| depths.get(&parent)).map_or(0, |depth| depth + 1);
        depths.insert(document.id, depth);
        if document.trashed_at.is_some() && !with_trash {
            continue;
        }
        let mark = if document.trashed_at.is_some() { " (trash)" } else { "" };
        rows.push(vec![
            format!("{}{}{mark}", "  ".repeat(depth), output::clean(&document.title)),
            document.id.to_string(),
            document.nodes.map_or_else(String::new, |nodes| nodes.to_string()),
            document.modified_at.clone().unwrap_or_default(),
        ]);
    }
    rows
}
