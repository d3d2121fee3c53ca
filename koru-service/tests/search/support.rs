//! A service in this process, with a fixed clock and counted IDs.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use koru_model::protocol::home::Home;
use koru_model::protocol::wire::Scope;
use koru_service::errors::ServiceError;
use koru_service::handlers::{self, Call};
use koru_service::outside::Outside;
use koru_service::service::Service;
use koru_service::session::Session;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use uuid::Uuid;

pub(crate) const DEADLINE: Duration = Duration::from_secs(20);
/// 2026-12-01T00:00:00Z.
pub(crate) const START: i64 = 1_796_083_200_000;

pub(crate) struct Fixture {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) service: Arc<Service>,
    pub(crate) clock: Arc<AtomicI64>,
    ids: Arc<AtomicU64>,
    pub(crate) workspace: String,
}

/// A document as its tests name it.
#[derive(Clone)]
pub(crate) struct Doc {
    pub(crate) id: String,
    pub(crate) root: String,
}

fn open(folder: &tempfile::TempDir, clock: &Arc<AtomicI64>, ids: &Arc<AtomicU64>) -> Arc<Service> {
    let (clock, ids) = (Arc::clone(clock), Arc::clone(ids));
    let outside = Outside::of(
        Box::new(move || clock.fetch_add(1, Ordering::Relaxed)),
        Box::new(move || {
            // Far apart, as real ones are.
            let number = ids.fetch_add(1, Ordering::Relaxed);
            let spread = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            Uuid::from_u64_pair(number, spread)
        }),
    );
    let home = Home::under(&folder.path().join("home"), None);
    home.prepare().unwrap();
    Service::open(home, outside).unwrap()
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(AtomicI64::new(START));
        let ids = Arc::new(AtomicU64::new(1));
        let service = open(&folder, &clock, &ids);
        let mut fixture = Self { folder, service, clock, ids, workspace: String::new() };
        let listed = fixture.ok("list_workspaces", &json!({}));
        fixture.workspace = listed["workspaces"][0]["id"].as_str().unwrap().to_owned();
        fixture
    }

    /// With thirty pages of forty paragraphs, which all hold `common`.
    pub(crate) fn filled() -> Self {
        let koru = Self::new();
        for number in 0..30 {
            let texts: Vec<String> = (0..40)
                .map(|node| format!("paragraph word{} common text {number}", node * 31 % 17))
                .collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            koru.page(&format!("Page {number}"), &texts);
        }
        koru
    }

    /// Closes the store, runs `change` on its database, and opens it again.
    pub(crate) fn again(&mut self, change: impl FnOnce(&rusqlite::Connection)) {
        self.closed(change);
        self.open_again();
    }

    /// Closes the store, if it is open, and runs `change` on its database.
    pub(crate) fn closed(&self, change: impl FnOnce(&rusqlite::Connection)) {
        self.service.store.close();
        self.service.search.wake.end();
        change(&rusqlite::Connection::open(self.service.home.database()).unwrap());
    }

    /// Opens the store that was closed.
    pub(crate) fn open_again(&mut self) {
        self.service = open(&self.folder, &self.clock, &self.ids);
    }

    pub(crate) fn call(&self, name: &str, params: &Value) -> Result<Value, ServiceError> {
        let session = Session::new(Some("test"), Scope::default(), None);
        let params = to_raw_value(params).unwrap();
        let ready = handlers::run(&self.service, &session, Call::parse(name, &params)?)?;
        Ok(serde_json::from_str(ready.get()).unwrap())
    }

    pub(crate) fn ok(&self, name: &str, params: &Value) -> Value {
        self.call(name, params).unwrap_or_else(|error| panic!("{name} {params}: {error:?}"))
    }

    pub(crate) fn new_id(&self) -> String {
        self.service.outside.new_id().to_string()
    }

    /// A page of nodes, each `kind text`; one that begins with `>` stands under the node before it that does not.
    pub(crate) fn page(&self, title: &str, nodes: &[&str]) -> Doc {
        self.page_under(None, title, nodes)
    }

    pub(crate) fn page_under(&self, parent: Option<&Doc>, title: &str, nodes: &[&str]) -> Doc {
        let root = self.new_id();
        let mut top = root.clone();
        let operations: Vec<Value> = nodes
            .iter()
            .map(|node| {
                let (node, parent) = match node.strip_prefix('>') {
                    Some(below) => (below, top.clone()),
                    None => (*node, root.clone()),
                };
                let (kind, text) = node.split_once(' ').unwrap_or((node, ""));
                let id = self.new_id();
                if parent == root {
                    top.clone_from(&id);
                }
                json!({ "op": "insert", "node_id": id, "kind": kind, "text": text,
                        "parent_id": parent, "at_end": true })
            })
            .collect();
        let mut params = json!({
            "workspace_id": self.workspace,
            "title": title,
            "root_node_id": root,
            "initial_operations": operations,
        });
        if let Some(parent) = parent {
            params["parent_document_id"] = parent.id.clone().into();
        }
        let made = self.ok("create_document", &params);
        Doc { id: made["document_id"].as_str().unwrap().to_owned(), root }
    }

    pub(crate) fn read(&self, doc: &Doc) -> Value {
        let params = json!({ "workspace_id": self.workspace, "document_id": doc.id });
        self.ok("read_document", &params)
    }

    /// The node of a document that begins with a text: its ID and whole text.
    pub(crate) fn node(&self, doc: &Doc, start: &str) -> (String, String) {
        let read = self.read(doc);
        let nodes = read["nodes"].as_array().unwrap();
        let found = nodes
            .iter()
            .find(|node| node["text"].as_str().unwrap().starts_with(start))
            .unwrap_or_else(|| panic!("no node {start} in {read}"));
        (found["node_id"].as_str().unwrap().into(), found["text"].as_str().unwrap().into())
    }

    pub(crate) fn edit(&self, doc: &Doc, operations: &Value) -> Value {
        let revision = self.read(doc)["revision"].clone();
        self.ok(
            "edit_document",
            &json!({ "workspace_id": self.workspace, "document_id": doc.id,
                     "base_revision": revision, "operations": operations }),
        )
    }

    /// One operation on the node that begins with a text.
    pub(crate) fn change(&self, doc: &Doc, start: &str, op: &str, fields: &Value) {
        let (node, text) = self.node(doc, start);
        let mut operation = json!({ "op": op, "node_id": node, "expected": text });
        operation.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        self.edit(doc, &json!([operation]));
    }

    pub(crate) fn admin(&self, call: &str, doc: &Doc, fields: &Value) {
        let mut params = json!({ "workspace_id": self.workspace, "document_id": doc.id });
        params.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        self.ok(call, &params);
    }

    pub(crate) fn search_with(&self, params: &Value) -> Value {
        self.ok("search_documents", params)
    }

    pub(crate) fn search(&self, query: &str) -> Value {
        self.search_with(&json!({ "query": query }))
    }

    /// The titles of the hits, in order.
    pub(crate) fn titles(&self, query: &str) -> Vec<String> {
        titles(&self.search(query))
    }

    pub(crate) fn database(&self) -> rusqlite::Connection {
        let connection = rusqlite::Connection::open(self.service.home.database()).unwrap();
        connection.busy_timeout(DEADLINE).unwrap();
        connection
    }

    /// Waits until no workspace is behind.
    pub(crate) fn until_indexed(&self) {
        let deadline = Instant::now() + DEADLINE;
        while self.search("x")["updating_workspaces"] != json!([]) {
            assert!(Instant::now() < deadline, "the index was not made");
            std::thread::yield_now();
        }
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.service.search.wake.end();
    }
}

pub(crate) fn titles(found: &Value) -> Vec<String> {
    let hits = found["hits"].as_array().unwrap();
    hits.iter().map(|hit| hit["title"].as_str().unwrap().to_owned()).collect()
}

/// What the spans of a hit cover.
pub(crate) fn marked(hit: &Value) -> Vec<&str> {
    let snippet = hit["snippet"].as_str().unwrap();
    let spans = hit["spans"].as_array().unwrap();
    spans
        .iter()
        .map(|span| {
            let at = |name: &str| usize::try_from(span[name].as_u64().unwrap()).unwrap();
            snippet.get(at("start_utf8")..at("end_utf8")).unwrap()
        })
        .collect()
}
