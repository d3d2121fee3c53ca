//! All documents as their updates tell them, read past the index.

use std::collections::HashMap;

use koru_model::ids::{DocumentId, NodeId, TagId, WorkspaceId};
use koru_model::inline::{Inline, Piece};
use koru_model::node::Kind;
use koru_model::table;
use koru_model::value::Value;
use rusqlite::Connection;
use serde_json::json;

use crate::equality::states;
use crate::support::Fixture;

pub(super) struct World {
    pub(super) workspaces: Vec<Workspace>,
    pub(super) documents: Vec<Document>,
}

pub(super) struct Workspace {
    pub(super) id: WorkspaceId,
    pub(super) name: String,
    pub(super) is_deleted: bool,
    pub(super) last_opened: Option<String>,
}

pub(super) struct Document {
    pub(super) id: DocumentId,
    pub(super) workspace: usize,
    pub(super) parent: Option<usize>,
    /// Itself or one above it.
    pub(super) is_trashed: bool,
    pub(super) kind: String,
    pub(super) modified_at: i64,
    pub(super) nodes: Vec<Node>,
}

pub(super) struct Node {
    pub(super) id: NodeId,
    pub(super) kind: Kind,
    pub(super) done: bool,
    /// As it is shown.
    pub(super) text: String,
    pub(super) values: Vec<(String, Value)>,
    pub(super) tags: Vec<String>,
    pub(super) parent: Option<usize>,
}

struct Row {
    key: i64,
    parent: Option<i64>,
    is_trashed: bool,
    kind: String,
    modified_at: i64,
}

impl World {
    pub(super) fn read(koru: &Fixture) -> Self {
        let connection = koru.database();
        let listed = koru.ok("list_workspaces", &json!({}));
        let workspaces: Vec<Workspace> = listed["workspaces"]
            .as_array()
            .unwrap()
            .iter()
            .map(|listed| Workspace {
                id: listed["id"].as_str().unwrap().parse().unwrap(),
                name: listed["name"].as_str().unwrap().to_owned(),
                is_deleted: listed["deleted_at"].is_string(),
                last_opened: None,
            })
            .collect();
        let tags = tags(&connection);
        let states = states(&connection);
        let rows: Vec<Row> = rows(&connection);
        let place: HashMap<i64, usize> =
            rows.iter().enumerate().map(|(index, row)| (row.key, index)).collect();
        let titles: HashMap<(DocumentId, i64), String> = states
            .iter()
            .map(|(_, id, workspace, state)| ((*id, workspace.0), state.title().to_owned()))
            .collect();
        let documents = rows
            .iter()
            .map(|row| {
                let (_, id, workspace, state) =
                    states.iter().find(|(key, ..)| key.0 == row.key).unwrap();
                let live: Vec<_> = state.nodes().filter(|node| node.is_live()).collect();
                let at = |id: NodeId| live.iter().position(|node| node.id == id);
                let nodes = live
                    .iter()
                    .map(|node| Node {
                        id: node.id,
                        kind: node.kind,
                        done: node.done,
                        text: shown(node, workspace.0, &titles),
                        values: node.attributes.clone().into_iter().collect(),
                        tags: node.tags.iter().map(|tag| tags[tag].clone()).collect(),
                        parent: node.shown_parent().and_then(at),
                    })
                    .collect();
                let mut above = Some(row.key);
                let mut is_trashed = false;
                while let Some(key) = above {
                    let row = &rows[place[&key]];
                    is_trashed |= row.is_trashed;
                    above = row.parent;
                }
                let workspace_id: [u8; 16] = connection
                    .query_row("SELECT id FROM workspace WHERE k = ?1", [workspace.0], |row| {
                        row.get(0)
                    })
                    .unwrap();
                Document {
                    id: *id,
                    workspace: workspaces
                        .iter()
                        .position(|known| known.id == WorkspaceId::from_bytes(workspace_id))
                        .unwrap(),
                    parent: row.parent.map(|parent| place[&parent]),
                    is_trashed,
                    kind: row.kind.clone(),
                    modified_at: row.modified_at,
                    nodes,
                }
            })
            .collect();
        Self { workspaces, documents }
    }

    /// When workspaces were used.
    pub(super) fn note_use(&mut self, koru: &Fixture) {
        let listed = koru.ok("list_workspaces", &json!({}));
        for (workspace, listed) in
            self.workspaces.iter_mut().zip(listed["workspaces"].as_array().unwrap())
        {
            assert_eq!(listed["id"], workspace.id.to_string());
            workspace.last_opened = listed["last_opened_at"].as_str().map(str::to_owned);
        }
    }

    /// The documents above one, from the top.
    pub(super) fn above(&self, document: &Document) -> Vec<&Document> {
        let mut above = Vec::new();
        let mut parent = document.parent;
        while let Some(index) = parent {
            above.push(&self.documents[index]);
            parent = self.documents[index].parent;
        }
        above.reverse();
        above
    }

    pub(super) fn titles_above(&self, document: &Document) -> Vec<String> {
        self.above(document).iter().map(|above| above.title().to_owned()).collect()
    }

    pub(super) fn find(&self, id: &str) -> &Document {
        self.documents.iter().find(|document| document.id.to_string() == id).unwrap()
    }
}

impl Document {
    pub(super) fn root(&self) -> &Node {
        self.nodes.iter().find(|node| node.kind == Kind::Title).unwrap()
    }

    pub(super) fn title(&self) -> &str {
        &self.root().text
    }

    /// The headings above a node, from the top.
    pub(super) fn headings_above(&self, node: &Node) -> Vec<String> {
        let mut headings = Vec::new();
        let mut parent = node.parent;
        while let Some(index) = parent {
            let above = &self.nodes[index];
            if above.kind == Kind::Heading {
                headings.push(above.text.clone());
            }
            parent = above.parent;
        }
        headings.reverse();
        headings
    }
}

fn rows(connection: &Connection) -> Vec<Row> {
    connection
        .prepare("SELECT k, parent, trashed_at IS NOT NULL, kind, modified_at FROM document")
        .unwrap()
        .query_map((), |row| {
            Ok(Row {
                key: row.get(0)?,
                parent: row.get(1)?,
                is_trashed: row.get(2)?,
                kind: row.get(3)?,
                modified_at: row.get(4)?,
            })
        })
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

fn tags(connection: &Connection) -> HashMap<TagId, String> {
    connection
        .prepare("SELECT id, name FROM tag")
        .unwrap()
        .query_map((), |row| Ok((TagId::from_bytes(row.get(0)?), row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

fn shown(
    node: &koru_model::document::Node,
    workspace: i64,
    titles: &HashMap<(DocumentId, i64), String>,
) -> String {
    if node.kind == Kind::Table {
        let rows = table::rows(&node.text());
        return rows.iter().map(|row| row.join("\t")).collect::<Vec<_>>().join("\n");
    }
    let show = |piece: &Piece<'_>| match piece {
        Piece::Text(text) => (*text).to_owned(),
        Piece::Inline(inline) => match (inline.label(), inline) {
            (Some(label), _) => label.to_owned(),
            (None, Inline::Document { document, .. }) => {
                titles.get(&(*document, workspace)).cloned().unwrap_or_default()
            }
            (None, Inline::Attachment { .. }) => String::new(),
        },
    };
    // A name is a word of its own, whatever adjoins it.
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let mut whole = String::new();
    let mut is_name_before = false;
    for piece in &node.rich().pieces() {
        let part = show(piece);
        let is_name = matches!(piece, Piece::Inline(_));
        let adjoins = is_word(whole.chars().next_back()) && is_word(part.chars().next());
        if adjoins && (is_name || is_name_before) {
            whole.push(' ');
        }
        whole.push_str(&part);
        is_name_before = is_name;
    }
    whole
}
