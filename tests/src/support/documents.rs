//! What tests say about documents: pages, operations, conflicts.

use serde_json::{Value, json};
use uuid::Uuid;

use super::bridge::Bridge;

/// A new ID.
#[must_use]
pub fn id() -> String {
    Uuid::new_v4().to_string()
}

/// The workspace that a fresh home has.
///
/// # Panics
/// When it has another number of workspaces than one.
#[must_use]
pub fn personal(bridge: &Bridge) -> String {
    let listed = bridge.ok("list_workspaces", json!({}));
    let workspaces = listed["workspaces"].as_array().expect("a list of workspaces");
    assert_eq!(workspaces.len(), 1, "{listed}");
    text(&workspaces[0]["id"])
}

/// The text of a JSON string.
///
/// # Panics
/// When it is none.
#[must_use]
pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

/// A page that a test made.
#[derive(Debug, Clone)]
pub struct Page {
    /// Its workspace.
    pub workspace: String,
    /// Its ID.
    pub document: String,
    /// Its title node.
    pub root: String,
    /// The revision in which it was made.
    pub revision: String,
    /// The nodes under the title, in the order in which they were given.
    pub nodes: Vec<String>,
}

impl Page {
    /// Makes a page whose nodes, of these kinds and texts, all stand under the title.
    ///
    /// # Panics
    /// When it cannot be made.
    #[must_use]
    pub fn new(bridge: &Bridge, title: &str, nodes: &[(&str, &str)]) -> Self {
        Self::new_in(bridge, &personal(bridge), title, nodes)
    }

    /// The same in a workspace of choice.
    ///
    /// # Panics
    /// When it cannot be made.
    #[must_use]
    pub fn new_in(bridge: &Bridge, workspace: &str, title: &str, nodes: &[(&str, &str)]) -> Self {
        let root = id();
        let made: Vec<String> = nodes.iter().map(|_| id()).collect();
        let operations: Vec<Value> = made
            .iter()
            .zip(nodes)
            .map(|(node, (kind, text))| insert(node, &root, kind, text))
            .collect();
        let result = bridge.ok(
            "create_document",
            json!({ "workspace_id": workspace, "title": title, "root_node_id": root, "initial_operations": operations }),
        );
        Self {
            workspace: workspace.to_owned(),
            document: text(&result["document_id"]),
            root,
            revision: text(&result["revision"]),
            nodes: made,
        }
    }

    /// A page of so many paragraphs, `line 0` and on.
    #[must_use]
    pub fn of_lines(bridge: &Bridge, title: &str, count: usize) -> Self {
        let texts: Vec<String> = (0..count).map(|number| format!("line {number}")).collect();
        let nodes: Vec<(&str, &str)> = texts.iter().map(|t| ("paragraph", t.as_str())).collect();
        Self::new(bridge, title, &nodes)
    }

    /// The arguments of an edit.
    #[must_use]
    pub fn edit(&self, base: &str, operations: &[Value]) -> Value {
        json!({ "workspace_id": self.workspace, "document_id": self.document, "base_revision": base, "operations": operations })
    }

    /// The arguments of a tool that takes this document and nothing else.
    #[must_use]
    pub fn this(&self) -> Value {
        json!({ "workspace_id": self.workspace, "document_id": self.document })
    }

    /// The arguments of a read.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "arguments are written in place with json!")]
    pub fn reading(&self, more: Value) -> Value {
        let mut arguments = self.this();
        for (name, value) in more.as_object().into_iter().flatten() {
            arguments[name] = value.clone();
        }
        arguments
    }

    /// The document as it is.
    ///
    /// # Panics
    /// When it cannot be read.
    #[must_use]
    pub fn read(&self, bridge: &Bridge) -> Value {
        bridge.ok("read_document", self.this())
    }

    /// The revision as it is.
    ///
    /// # Panics
    /// When it cannot be read.
    #[must_use]
    pub fn now(&self, bridge: &Bridge) -> String {
        text(&bridge.ok("read_document", self.reading(json!({ "max_depth": 0 })))["revision"])
    }

    /// The texts under the title in document order.
    ///
    /// # Panics
    /// When it cannot be read.
    #[must_use]
    pub fn texts(&self, bridge: &Bridge) -> Vec<String> {
        let read = self.read(bridge);
        nodes(&read).iter().skip(1).map(|node| text(&node["text"])).collect()
    }

    /// One node as it is.
    ///
    /// # Panics
    /// When it cannot be read.
    #[must_use]
    pub fn node(&self, bridge: &Bridge, node: &str) -> Value {
        let read = bridge.ok("read_document", self.reading(json!({ "node_id": node })));
        nodes(&read)[0].clone()
    }

    /// Edits at the present revision; the new one.
    ///
    /// # Panics
    /// When it is refused.
    pub fn change(&self, bridge: &Bridge, operations: &[Value]) -> String {
        text(&bridge.ok("edit_document", self.edit(&self.now(bridge), operations))["revision"])
    }

    /// Edits at the page's first revision; the new one.
    ///
    /// # Panics
    /// When it is refused.
    pub fn change_blindly(&self, bridge: &Bridge, operations: &[Value]) -> String {
        text(&bridge.ok("edit_document", self.edit(&self.revision, operations))["revision"])
    }

    /// Edits at the present revision, which must be refused and change nothing; what it says.
    ///
    /// # Panics
    /// When it is taken, or changes something.
    pub fn refused(&self, bridge: &Bridge, operations: &[Value]) -> Value {
        let before = self.read(bridge);
        let said = bridge.err("edit_document", self.edit(&text(&before["revision"]), operations));
        assert_eq!(self.read(bridge), before, "a refused batch changes nothing");
        said
    }
}

/// The nodes of a read.
///
/// # Panics
/// When it has none.
#[must_use]
pub fn nodes(read: &Value) -> &[Value] {
    read["nodes"].as_array().unwrap_or_else(|| panic!("no nodes: {read}"))
}

/// Inserts a node last under its parent.
#[must_use]
pub fn insert(node: &str, parent: &str, kind: &str, text: &str) -> Value {
    let mut operation = json!({ "op": "insert", "node_id": node, "parent_id": parent, "at_end": true, "kind": kind });
    if !text.is_empty() {
        operation["text"] = json!(text);
    }
    operation
}

/// Replaces a text.
#[must_use]
pub fn replace(node: &str, expected: &str, text: &str) -> Value {
    json!({ "op": "replace_text", "node_id": node, "expected": expected, "text": text })
}

/// Moves a node last under a parent.
#[must_use]
pub fn move_last(node: &str, expected: &str, parent: &str) -> Value {
    json!({ "op": "move", "node_id": node, "expected": expected, "parent_id": parent, "at_end": true })
}

/// Removes a node.
#[must_use]
pub fn remove(node: &str, expected: &str) -> Value {
    json!({ "op": "remove", "node_id": node, "expected": expected })
}

/// An operation on a node with fields of its own.
#[must_use]
#[expect(clippy::needless_pass_by_value, reason = "fields are written in place with json!")]
pub fn operation(op: &str, node: &str, expected: &str, fields: Value) -> Value {
    let mut operation = json!({ "op": op, "node_id": node, "expected": expected });
    for (name, value) in fields.as_object().into_iter().flatten() {
        operation[name] = value.clone();
    }
    operation
}

/// The paths of the faults that an error lists.
#[must_use]
pub fn paths(error: &Value) -> Vec<String> {
    let problems = error["details"]["problems"].as_array().cloned().unwrap_or_default();
    problems.iter().map(|problem| text(&problem["path"])).collect()
}

/// The conflicts that an error lists.
#[must_use]
pub fn conflicts(error: &Value) -> Vec<Value> {
    error["details"]["conflicts"].as_array().cloned().unwrap_or_default()
}
