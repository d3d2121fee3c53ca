//! `search`: words and conditions, over all workspaces or some.

mod condition;
mod show;

use clap::{Args, ValueEnum};
use koru_model::ids::{DocumentId, WorkspaceId};
use koru_model::node::Kind;
use koru_model::protocol::home::Home;
use koru_model::protocol::tools::{
    AttributeFilter, Lifecycles, MOST_HITS, PAGE_SIZE, Per, SearchDocuments, Sort,
};
use serde_json::json;

use super::session::Among;
use super::{Done, Failure, Session};
use crate::output;

/// What to search for.
#[derive(Debug, Args)]
#[command(after_help = condition::HELP)]
pub(crate) struct Arguments {
    /// Words that must all hold in one document; "…" is a phrase, the last word may be a beginning.
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// Only this workspace, by its name or ID; may be given more than once. Without it: all.
    #[arg(long = "workspace", value_name = "NAME|ID")]
    workspaces: Vec<String>,
    /// Only nodes of this kind: title, heading, paragraph, quote, listblock, task, code, table, contact
    /// or divider; may be given more than once.
    #[arg(long = "kind", value_name = "KIND", value_parser = kind)]
    kinds: Vec<Kind>,
    /// Only nodes that carry this tag, or one below it; more than one: all of them.
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Only nodes whose attributes meet this (see below); more than one: all of them.
    #[arg(long = "where", value_name = "CONDITION", value_parser = condition)]
    conditions: Vec<AttributeFilter>,
    /// Only tasks that are done.
    #[arg(long, conflicts_with = "open")]
    done: bool,
    /// Only tasks that are not done.
    #[arg(long)]
    open: bool,
    /// Only this document: its ID, a tail of it, or a path of titles (A/B). Each node is a hit.
    #[arg(long, value_name = "DOCUMENT")]
    document: Option<String>,
    /// Each node that holds a word is a hit, not the best place of each document.
    #[arg(long)]
    per_node: bool,
    /// Search the trash.
    #[arg(long, conflicts_with = "all")]
    trash: bool,
    /// Search what is live and what is in the trash.
    #[arg(long)]
    all: bool,
    /// The order of the hits.
    #[arg(long, value_name = "ORDER", default_value = "relevance")]
    sort: Order,
    /// The most hits, 1 to 200.
    #[arg(long, default_value_t = PAGE_SIZE, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_HITS)))]
    limit: u32,
    /// Leave out so many hits at the beginning.
    #[arg(long, default_value_t = 0)]
    offset: u32,
    /// Print what search_documents gives.
    #[arg(long)]
    json: bool,
}

/// The order of hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Order {
    /// The best first.
    Relevance,
    /// What changed last first.
    Modified,
    /// The workspace that was used last first.
    Workspace,
}

pub(crate) async fn run(home: &Home, arguments: Arguments) -> Done {
    let json = arguments.json;
    let query = arguments.query.join(" ");
    if query.trim().is_empty() && !arguments.has_filters() {
        return Err(Failure::Usage(
            "nothing to search for; give words, or a filter (--kind, --tag, --where, --done, --open)".into(),
        ));
    }
    let session = Session::open(home).await?;
    let (workspaces, document) = places(&session, &arguments).await?;
    let params = params(arguments, query, workspaces, document);
    let found = session.read("search_documents", json!(params)).await?;
    if json {
        return Ok(output::json(&found)?);
    }
    let workspaces = session.read("list_workspaces", json!({})).await?;
    Ok(output::line(show::render(&found, &params.query, &workspaces).trim_end())?)
}

/// The workspaces that are named, and the document.
async fn places(
    session: &Session,
    arguments: &Arguments,
) -> Result<(Vec<WorkspaceId>, Option<DocumentId>), Failure> {
    let mut workspaces = Vec::new();
    for wanted in &arguments.workspaces {
        workspaces.push(session.workspace(Some(wanted)).await?.id);
    }
    let Some(wanted) = &arguments.document else { return Ok((workspaces, None)) };
    let workspace = match workspaces.as_slice() {
        [] => session.workspace(None).await?.id,
        [one] => *one,
        _ => {
            return Err(Failure::Usage(
                "--document is one of one workspace; name only that".into(),
            ));
        }
    };
    let document = session.document(workspace, wanted, Among::Live).await?.id;
    Ok((vec![workspace], Some(document)))
}

fn params(
    arguments: Arguments,
    query: String,
    workspaces: Vec<WorkspaceId>,
    document_id: Option<DocumentId>,
) -> SearchDocuments {
    let lifecycle = match (arguments.trash, arguments.all) {
        (true, _) => Some(Lifecycles::Trash),
        (_, true) => Some(Lifecycles::All),
        _ => None,
    };
    let sort = match arguments.sort {
        Order::Relevance => None,
        Order::Modified => Some(Sort::ObservedModified),
        Order::Workspace => Some(Sort::LastUsedWorkspace),
    };
    SearchDocuments {
        query,
        workspace_ids: given(workspaces),
        kinds: given(arguments.kinds),
        lifecycle,
        sort,
        page_size: Some(arguments.limit),
        offset: Some(arguments.offset).filter(|offset| *offset > 0),
        tags: given(arguments.tags),
        attributes: given(arguments.conditions),
        done: (arguments.done || arguments.open).then_some(arguments.done),
        document_id,
        per: arguments.per_node.then_some(Per::Node),
    }
}

fn given<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}

impl Arguments {
    fn has_filters(&self) -> bool {
        !self.kinds.is_empty()
            || !self.tags.is_empty()
            || !self.conditions.is_empty()
            || self.done
            || self.open
    }
}

fn kind(text: &str) -> Result<Kind, String> {
    Kind::from_name(text).ok_or_else(|| format!("one of {}", Kind::ALL.map(Kind::name).join(", ")))
}

fn condition(text: &str) -> Result<AttributeFilter, String> {
    condition::parse(text, jiff::ZonedDateTime::now().date())
}
