//! `tag`: the tags of a workspace, renamed, merged and removed on every node at once.

use clap::Subcommand;
use koru_model::ids::{TagId, WorkspaceId};
use koru_model::protocol::admin::Admin;
use koru_model::protocol::home::Home;
use koru_model::tag;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Done, Failure, Session};
use crate::output::{self, clean};

/// Which workspace a command is about.
#[derive(Debug, clap::Args)]
pub(crate) struct In {
    /// The workspace's name or ID; may be left out where there is one.
    #[arg(long, value_name = "NAME|ID")]
    workspace: Option<String>,
}

/// What to do. A TAG is its whole name (family/calls), in any case, or its ID.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// List the tags with the number of nodes that carry each.
    List {
        #[command(flatten)]
        place: In,
        /// Print what list_tags gives.
        #[arg(long)]
        json: bool,
    },
    /// Give a tag another name; every use stays, and the tags below it follow.
    Rename {
        /// The tag.
        tag: String,
        /// The new name: the whole path.
        name: String,
        #[command(flatten)]
        place: In,
    },
    /// Make every use of a tag a use of another one; the tags below it go under the other.
    Merge {
        /// The tag that goes.
        source: String,
        /// The tag that stays.
        target: String,
        #[command(flatten)]
        place: In,
    },
    /// Remove a tag; refused while nodes carry it or tags lie below it.
    Remove {
        /// The tag.
        tag: String,
        /// Take it off all nodes for good, and remove the tags below it too.
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        place: In,
    },
}

/// A tag, as far as commands look at it.
#[derive(Debug, Deserialize)]
struct Listed {
    tag_id: TagId,
    name: String,
    uses: u64,
}

pub(crate) async fn run(home: &Home, action: Action) -> Done {
    let session = Session::open(home).await?;
    let (Action::List { place, .. }
    | Action::Rename { place, .. }
    | Action::Merge { place, .. }
    | Action::Remove { place, .. }) = &action;
    let workspace_id = session.workspace(place.workspace.as_deref()).await?.id;
    let listed = session.read("list_tags", json!({ "workspace_id": workspace_id })).await?;
    let admin = match action {
        Action::List { json: true, .. } => return Ok(output::json(&listed)?),
        Action::List { .. } => {
            let rows = all(&listed)
                .into_iter()
                .map(|tag| vec![clean(&tag.name), tag.uses.to_string(), tag.tag_id.to_string()]);
            return Ok(output::rows(&["TAG", "USES", "ID"], rows.collect())?);
        }
        Action::Rename { tag, name, .. } => {
            Admin::TagRename { workspace_id, tag_id: named(&listed, &tag)?, name }
        }
        Action::Merge { source, target, .. } => {
            let [source, target] = [named(&listed, &source)?, named(&listed, &target)?];
            return merge(&session, workspace_id, source, target).await;
        }
        Action::Remove { tag, force, .. } => {
            Admin::TagRemove { workspace_id, tag_id: named(&listed, &tag)?, force }
        }
    };
    session.admin(&admin).await?;
    Ok(())
}

async fn merge(session: &Session, workspace_id: WorkspaceId, source: TagId, target: TagId) -> Done {
    let merged = session.admin(&Admin::TagMerge { workspace_id, source, target }).await?;
    let tag = &merged["tag"];
    let name = clean(tag["name"].as_str().unwrap_or_default());
    Ok(output::line(&format!("merged; {name} is on {} nodes now", tag["uses"]))?)
}

fn all(listed: &Value) -> Vec<Listed> {
    serde_json::from_value(listed["tags"].clone()).unwrap_or_default()
}

/// The tag of that ID or name.
fn named(listed: &Value, wanted: &str) -> Result<TagId, Failure> {
    let all = all(listed);
    let id = wanted.trim().to_lowercase();
    let name = tag::accept(wanted).ok().map(|name| tag::folded(&name));
    all.iter()
        .find(|tag| tag.tag_id.to_string() == id)
        .or_else(|| all.iter().find(|tag| name.as_deref() == Some(&tag::folded(&tag.name))))
        .map(|tag| tag.tag_id)
        .ok_or_else(|| {
            Failure::Said(format!("there is no tag {}; koru-mcp tag list shows all", clean(wanted)))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_named_by_its_id_or_its_whole_name_in_any_case() {
        let id = |number: u128| TagId(uuid::Uuid::from_u128(number));
        let listed = json!({ "tags": [
            { "tag_id": id(1), "name": "Family", "uses": 0 },
            { "tag_id": id(2), "name": "Family/calls", "uses": 3 },
            { "tag_id": id(3), "name": "Übung", "uses": 1 },
            { "tag_id": id(4), "name": id(3).to_string(), "uses": 1 },
        ] });
        for (wanted, found) in [
            ("family", Some(1)),
            ("#FAMILY / Calls", Some(2)),
            ("u\u{308}bung", Some(3)),
            ("00000000-0000-0000-0000-000000000002", Some(2)),
            ("00000000-0000-0000-0000-000000000003", Some(3)),
            ("calls", None),
            ("family/", None),
            ("", None),
        ] {
            assert_eq!(named(&listed, wanted).ok(), found.map(id), "{wanted:?}");
        }
    }
}
