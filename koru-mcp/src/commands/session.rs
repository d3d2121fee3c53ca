//! A person's connection to the service, and how names on the command line are understood.

use koru_model::ids::{DocumentId, WorkspaceId};
use koru_model::protocol::admin::Admin;
use koru_model::protocol::error::{Code, ToolError};
use koru_model::protocol::home::Home;
use koru_model::protocol::wire::Scope;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Failure;
use crate::output::clean;
use crate::serve::catalogue;
use crate::service::{Client, Kind, Start, admin_request};

/// The fewest hex digits that name a document by the tail of its ID.
const TAIL_DIGITS: usize = 8;

/// A connection for the length of one command.
#[derive(Debug)]
pub(crate) struct Session {
    client: Client,
}

/// A workspace, as far as commands look at it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Workspace {
    pub(crate) id: WorkspaceId,
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) archived: bool,
    #[serde(default)]
    pub(crate) deleted_at: Option<String>,
    #[serde(default)]
    pub(crate) last_opened_at: Option<String>,
}

/// A document, as far as commands look at it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Document {
    pub(crate) id: DocumentId,
    #[serde(default)]
    pub(crate) parent: Option<DocumentId>,
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) trashed_at: Option<String>,
    #[serde(default)]
    pub(crate) modified_at: Option<String>,
    #[serde(default)]
    pub(crate) nodes: Option<u64>,
}

/// Which documents a name may mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Among {
    /// Those outside the trash, and only where none fits those in it.
    Live,
    /// Those in the trash.
    Trash,
}

impl Session {
    /// Connects, and starts the service where none runs.
    ///
    /// # Errors
    /// When the service cannot be reached.
    pub(crate) async fn open(home: &Home) -> Result<Self, Failure> {
        Ok(Self { client: Client::connect(home.clone(), Start::IfNeeded).await? })
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// What the tool answers.
    pub(crate) async fn tool(
        &self,
        name: &str,
        arguments: Value,
    ) -> Result<Box<RawValue>, ToolError> {
        let Value::Object(arguments) = arguments else {
            return Err(ToolError::new(
                Code::InvalidRequest,
                "The arguments must be a JSON object.",
            ));
        };
        let tools = catalogue::all();
        let Some(tool) = tools.iter().find(|tool| tool.name == name) else {
            let known: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
            return Err(ToolError::new(
                Code::InvalidRequest,
                format!("There is no tool {name}. The tools are: {}.", known.join(", ")),
            ));
        };
        let params = catalogue::check(name, arguments)?;
        let kind = if tool.read_only { Kind::Read } else { Kind::Write };
        self.client.call(name, &params, kind, &Scope::default()).await
    }

    /// Calls a reading tool for its value.
    ///
    /// # Errors
    /// What the tool answers.
    pub(crate) async fn read(&self, name: &str, arguments: Value) -> Result<Value, Failure> {
        let raw = self.tool(name, arguments).await?;
        Ok(serde_json::from_str(raw.get()).map_err(|_| unreadable())?)
    }

    /// Does what no tool may do.
    ///
    /// # Errors
    /// What the service answers.
    pub(crate) async fn admin(&self, admin: &Admin) -> Result<Value, Failure> {
        let request = admin_request(admin).ok_or_else(unreadable)?;
        let reads = matches!(admin, Admin::ServiceStatus {} | Admin::FileVerify { .. });
        let kind = if reads { Kind::Read } else { Kind::Write };
        let raw = self.client.call(&request.call, &request.params, kind, &Scope::default()).await?;
        Ok(serde_json::from_str(raw.get()).map_err(|_| unreadable())?)
    }

    /// The workspace of that name or ID; without one, the only live workspace.
    ///
    /// # Errors
    /// When none fits, or more than one does.
    pub(crate) async fn workspace(&self, wanted: Option<&str>) -> Result<Workspace, Failure> {
        let listed = self.read("list_workspaces", json!({})).await?;
        let mut all: Vec<Workspace> =
            serde_json::from_value(listed["workspaces"].clone()).map_err(|_| unreadable())?;
        match wanted {
            Some(wanted) => all.retain(|workspace| {
                workspace.name == wanted || workspace.id.to_string() == wanted.to_lowercase()
            }),
            None => all.retain(|workspace| workspace.deleted_at.is_none()),
        }
        let what = wanted.map_or("live workspace".into(), |wanted| format!("workspace {wanted}"));
        let shown = |workspace: &Workspace| format!("{}  {}", workspace.id, clean(&workspace.name));
        one(all, &what, "name one by its ID", shown)
    }

    /// All documents of a workspace, in tree order.
    ///
    /// # Errors
    /// What the service answers.
    pub(crate) async fn documents(&self, workspace: WorkspaceId) -> Result<Vec<Document>, Failure> {
        let listed = self.read("list_documents", json!({ "workspace_id": workspace })).await?;
        Ok(serde_json::from_value(listed["documents"].clone()).map_err(|_| unreadable())?)
    }

    /// The document that is meant by an ID, a tail of one, or a path of titles.
    ///
    /// # Errors
    /// When none fits, or more than one does.
    pub(crate) async fn document(
        &self,
        workspace: WorkspaceId,
        wanted: &str,
        among: Among,
    ) -> Result<Document, Failure> {
        let all = self.documents(workspace).await?;
        let found = matching(&all, wanted, among);
        let shown =
            |document: &Document| format!("{}  {}", document.id, clean(&path(&all, document)));
        if found.is_empty()
            && among == Among::Trash
            && !matching(&all, wanted, Among::Live).is_empty()
        {
            return Err(Failure::Said(format!("document {wanted} is not in the trash")));
        }
        one(found, &format!("document {wanted}"), "name it by its ID", shown)
    }
}

fn matching(all: &[Document], wanted: &str, among: Among) -> Vec<Document> {
    // A tail and a whole path count alike: where both fit, it is for the person to say which.
    let exact = |document: &Document| {
        is_tail_of(&document.id.to_string(), wanted) || path(all, document) == wanted
    };
    // A path may begin at any document above, but never inside a title.
    let ending = |document: &Document| {
        let titles = titles(all, document);
        (1..titles.len()).any(|from| titles.get(from..).is_some_and(|end| end.join("/") == wanted))
    };
    let ways: [&dyn Fn(&Document) -> bool; 2] = [&exact, &ending];
    let pools: &[bool] = if among == Among::Live { &[false, true] } else { &[true] };
    for &in_trash in pools {
        for fits in ways {
            let found: Vec<Document> = all
                .iter()
                .filter(|document| document.trashed_at.is_some() == in_trash && fits(document))
                .cloned()
                .collect();
            if !found.is_empty() {
                return found;
            }
        }
    }
    Vec::new()
}

/// The titles from the root to the document, as a path.
pub(crate) fn path(all: &[Document], document: &Document) -> String {
    titles(all, document).join("/")
}

/// The titles from the root to the document.
fn titles<'a>(all: &'a [Document], document: &'a Document) -> Vec<&'a str> {
    let mut titles = vec![document.title.as_str()];
    let mut parent = document.parent;
    while let Some(above) = parent.and_then(|id| all.iter().find(|other| other.id == id)) {
        titles.push(&above.title);
        parent = above.parent;
        if titles.len() > all.len() {
            break;
        }
    }
    titles.reverse();
    titles
}

/// Whether a text names an ID: the whole of it, or a tail of at least eight hex digits.
pub(super) fn is_tail_of(id: &str, wanted: &str) -> bool {
    let digits: String = wanted.to_lowercase().replace('-', "");
    let is_tail =
        digits.len() >= TAIL_DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_tail && id.replace('-', "").ends_with(&digits)
}

/// The only one that fits.
///
/// # Errors
/// When none fits, or more than one does.
pub(super) fn one<T>(
    mut found: Vec<T>,
    what: &str,
    remedy: &str,
    shown: impl Fn(&T) -> String,
) -> Result<T, Failure> {
    if found.len() > 1 {
        let candidates: Vec<String> =
            found.iter().map(|item| format!("  {}", shown(item))).collect();
        return Err(Failure::Said(format!(
            "more than one {what} ({remedy}):\n{}",
            candidates.join("\n")
        )));
    }
    found.pop().ok_or_else(|| Failure::Said(format!("there is no {what}")))
}

fn unreadable() -> ToolError {
    ToolError::new(Code::Internal, "The service gave an answer that this koru-mcp cannot read.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(number: u8, parent: Option<u8>, title: &str, trashed: bool) -> Document {
        let id = |number: u8| DocumentId::from_bytes([number; 16]);
        Document {
            id: id(number),
            parent: parent.map(id),
            title: title.into(),
            trashed_at: trashed.then(|| "2026-01-01T00:00:00.000Z".into()),
            modified_at: None,
            nodes: None,
        }
    }

    #[test]
    fn a_document_is_named_by_tail_path_or_end_of_a_path() {
        let all = vec![
            document(1, None, "Trips", false),
            document(2, Some(1), "Rome", false),
            document(3, None, "Rome", false),
            document(4, Some(2), "Food/Wine", false),
            document(5, None, "Old", true),
        ];
        let found = |wanted: &str, among: Among| -> Vec<u8> {
            matching(&all, wanted, among).iter().map(|document| document.id.as_bytes()[0]).collect()
        };
        assert_eq!(found("Trips", Among::Live), [1]);
        assert_eq!(found("Trips/Rome", Among::Live), [2]);
        assert_eq!(found("Rome", Among::Live), [3]);
        assert_eq!(found("Food/Wine", Among::Live), [4]);
        assert_eq!(found("Rome/Food/Wine", Among::Live), [4]);
        assert_eq!(found("02020202", Among::Live), [2]);
        assert!(found("Wine", Among::Live).is_empty(), "a title is no path");
        assert_eq!(found("Old", Among::Live), [5]);
        assert_eq!(found("Old", Among::Trash), [5]);
        assert!(found("Rome", Among::Trash).is_empty());
        assert!(found("nothing", Among::Live).is_empty());
    }
}
