//! `attribute`: which attributes the nodes of a workspace may carry.

use clap::Subcommand;
use koru_model::protocol::admin::Admin;
use koru_model::protocol::home::Home;
use koru_model::value::ValueKind;
use serde_json::{Value, json};

use super::{Done, Session};
use crate::output;

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// List the attributes.
    List {
        /// The workspace's name or ID.
        #[arg(long, value_name = "NAME|ID")]
        workspace: Option<String>,
        /// Print what list_attributes gives.
        #[arg(long)]
        json: bool,
    },
    /// Define an attribute, or change its definition.
    Define {
        /// Its key.
        key: String,
        /// A kind of value that it takes: date, datetime_zoned, datetime_floating, text, number, bool or url.
        #[arg(long = "kind", value_name = "KIND", required = true, value_parser = kind)]
        kinds: Vec<ValueKind>,
        /// A text that it takes, where it takes no others; may be given more than once.
        #[arg(long = "option", value_name = "TEXT")]
        options: Vec<String>,
        /// What people see instead of the key.
        #[arg(long)]
        label: Option<String>,
        /// The workspace's name or ID.
        #[arg(long, value_name = "NAME|ID")]
        workspace: Option<String>,
    },
    /// Remove an attribute's definition; refused while it is used.
    Remove {
        /// Its key.
        key: String,
        /// The workspace's name or ID.
        #[arg(long, value_name = "NAME|ID")]
        workspace: Option<String>,
    },
}

pub(crate) async fn run(home: &Home, action: Action) -> Done {
    let session = Session::open(home).await?;
    match action {
        Action::List { workspace, json } => {
            let workspace = session.workspace(workspace.as_deref()).await?;
            let listed =
                session.read("list_attributes", json!({ "workspace_id": workspace.id })).await?;
            if json {
                return Ok(output::json(&listed)?);
            }
            let rows = listed["attributes"].as_array().into_iter().flatten().map(row).collect();
            output::rows(&["KEY", "LABEL", "KINDS", "OPTIONS", "USES"], rows)?;
        }
        Action::Define { key, kinds, options, label, workspace } => {
            let workspace_id = session.workspace(workspace.as_deref()).await?.id;
            let options = (!options.is_empty()).then_some(options);
            session
                .admin(&Admin::AttributeDefine { workspace_id, key, label, kinds, options })
                .await?;
        }
        Action::Remove { key, workspace } => {
            let workspace_id = session.workspace(workspace.as_deref()).await?.id;
            session.admin(&Admin::AttributeRemove { workspace_id, key }).await?;
        }
    }
    Ok(())
}

fn row(attribute: &Value) -> Vec<String> {
    let text = |name: &str| output::clean(attribute[name].as_str().unwrap_or_default());
    let list = |name: &str| {
        let items = attribute[name].as_array().into_iter().flatten().filter_map(Value::as_str);
        output::clean(&items.collect::<Vec<_>>().join(", "))
    };
    vec![text("key"), text("label"), list("kinds"), list("options"), attribute["uses"].to_string()]
}

fn kind(text: &str) -> Result<ValueKind, String> {
    serde_json::from_value(json!(text)).map_err(|_| {
        "one of date, datetime_zoned, datetime_floating, text, number, bool, url".into()
    })
}
