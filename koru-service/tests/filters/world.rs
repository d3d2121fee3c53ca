//! Documents with random blocks, tags and attributes in two workspaces of a real service, and random changes
//! of them through its calls.

use std::sync::Arc;

use koru_model::ids::DocumentId;
use koru_model::protocol::home::Home;
use koru_model::protocol::wire::Request;
use koru_service::dispatch;
use koru_service::outside::Outside;
use koru_service::service::Service;
use serde_json::{Value, json};
use uuid::Uuid;

/// Numbers as good as random, the same for a seed (splitmix64).
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    pub(crate) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn id(&mut self) -> Uuid {
        uuid::Builder::from_random_bytes(
            ((u128::from(self.next()) << 64) | u128::from(self.next())).to_be_bytes(),
        )
        .into_uuid()
    }
}

const KINDS: &[&str] = &[
    "heading",
    "paragraph",
    "quote",
    "listblock",
    "task",
    "task",
    "task",
    "code",
    "contact",
    "divider",
];
pub(crate) const TAGS: &[&str] = &["a", "A/b", "a/b/c", "a0", "ab", "a b", "Über", "ÜBER/x", "z"];
/// Keys with the kinds that they take.
pub(crate) const KEYS: &[(&str, &[&str])] = &[
    ("koru.due", &["date", "datetime_zoned", "datetime_floating"]),
    ("koru.priority", &["text"]),
    ("num", &["number"]),
    ("word", &["text"]),
    ("flag", &["bool"]),
    ("site", &["url"]),
    ("mixed", &["number", "text", "date", "bool"]),
    ("rare", &["text"]),
];

pub(crate) fn values(kind: &str) -> &'static [&'static str] {
    match kind {
        "date" => {
            &["0001-01-01", "2026-03-28", "2026-03-29", "2026-03-30", "2028-02-29", "9999-12-31"]
        }
        "datetime_zoned" => &[
            "2026-03-28T22:59:59.999999999Z",
            "2026-03-29T00:00:00+01:00[Europe/Berlin]",
            "2026-03-29T01:00:00Z",
            "2026-03-29T02:30:00-11:00",
            "2026-03-30T00:00:00+14:00",
            "2026-10-25T00:30:00Z",
            "2026-10-25T01:30:00Z",
        ],
        "datetime_floating" => &[
            "2026-03-29T00:00:00",
            "2026-03-29T02:30:00",
            "2026-03-29T03:30:00",
            "2026-03-29T23:59:59.999999999",
            "2026-10-25T02:30:00",
        ],
        "number" => &[
            "0",
            "-0",
            "1",
            "1.0",
            "1e-400",
            "0.1",
            "9007199254740992",
            "9007199254740993",
            "9007199254740994",
            "-9007199254740993",
            "123456789012345678901234567890.5",
        ],
        "bool" => &["true", "false"],
        "url" => &["http://x.y/a", "HTTP://X.Y/A", "mailto:a@b.c"],
        _ => &["Äpfel", "a\u{308}PFEL", "Apfel", "1", "true", "2026-03-29", ""],
    }
}

pub(crate) struct World {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) service: Arc<Service>,
    pub(crate) workspaces: Vec<String>,
    pub(crate) chance: Chance,
    /// Accepted and refused changes.
    pub(crate) taken: [usize; 2],
}

/// A document with its nodes, as reads give them.
pub(crate) struct Seen {
    pub(crate) workspace: usize,
    pub(crate) id: DocumentId,
    pub(crate) is_trashed: bool,
    pub(crate) nodes: Vec<Value>,
    pub(crate) revision: Value,
}

pub(crate) fn open(folder: &tempfile::TempDir) -> Arc<Service> {
    let home = Home::under(&folder.path().join("home"), None);
    home.prepare().unwrap();
    Service::open(home, Outside::real()).unwrap()
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let service = open(&folder);
        let mut world =
            Self { folder, service, workspaces: Vec::new(), chance: Chance(seed), taken: [0; 2] };
        let first = world.ok("list_workspaces", &json!({}))["workspaces"][0]["id"].clone();
        let second = world.chance.id().to_string();
        world.ok("workspace.create", &json!({ "workspace_id": second, "name": "Second" }));
        world.workspaces = vec![first.as_str().unwrap().to_owned(), second];
        for (place, workspace) in world.workspaces.clone().iter().enumerate() {
            for (key, kinds) in KEYS.iter().filter(|(key, _)| !key.starts_with("koru.")) {
                if *key != "rare" || place == 0 {
                    let params = json!({ "workspace_id": workspace, "key": key, "label": null, "kinds": kinds, "options": null });
                    world.ok("attribute.define", &params);
                }
            }
        }
        for number in 0..9 {
            world.create(number);
        }
        world
    }

    fn call(&self, call: &str, params: &Value) -> Result<Value, Value> {
        let request = json!({ "id": 1, "call": call, "params": params, "scope": {} }).to_string();
        let request: Request = serde_json::from_str(&request).unwrap();
        let answer = dispatch::answer(&self.service, 1, request);
        match answer.error {
            Some(error) => Err(serde_json::to_value(error).unwrap()),
            None => Ok(serde_json::from_str(answer.ok.unwrap().get()).unwrap()),
        }
    }

    pub(crate) fn ok(&self, call: &str, params: &Value) -> Value {
        self.call(call, params).unwrap_or_else(|error| panic!("{call}: {error}"))
    }

    /// A call that may be refused, as when a document is in the trash.
    fn attempt(&mut self, call: &str, params: &Value) {
        let result = self.call(call, params);
        if let Err(error) = &result {
            assert_ne!(error["code"], "internal", "{call} {params}: {error}");
            assert_ne!(error["code"], "storage_failed", "{call} {params}: {error}");
        }
        self.taken[usize::from(result.is_err())] += 1;
    }

    fn create(&mut self, number: usize) {
        let workspace = self.workspaces[number % 2].clone();
        let root = self.chance.id().to_string();
        let mut parents = vec![root.clone()];
        let mut operations = Vec::new();
        for block in 0..12 + self.chance.below(25) {
            let id = self.chance.id().to_string();
            let kind = *self.chance.pick(KINDS);
            // A heading stands only under a title or a heading.
            let parent =
                if kind == "heading" { root.clone() } else { self.chance.pick(&parents).clone() };
            let text = if kind == "divider" { String::new() } else { format!("block {block}") };
            operations.push(json!({ "op": "insert", "node_id": id, "parent_id": parent, "at_end": true, "kind": kind, "text": text }));
            if kind == "task" && self.chance.one_in(3) {
                operations.push(
                    json!({ "op": "set_done", "node_id": id, "expected": text, "done": true }),
                );
            }
            if matches!(kind, "paragraph" | "task" | "quote") {
                parents.push(id);
            }
        }
        let listed = self.ok("list_documents", &json!({ "workspace_id": workspace }));
        let above = listed["documents"].as_array().unwrap();
        let mut params = json!({ "workspace_id": workspace, "title": format!("Document {number}"), "root_node_id": root, "initial_operations": operations });
        if !above.is_empty() && self.chance.one_in(2) {
            params["parent_document_id"] = self.chance.pick(above)["id"].clone();
        }
        self.ok("create_document", &params);
        for _ in 0..6 {
            let seen = self.seen();
            self.edit(seen.last().unwrap());
        }
    }

    /// All documents as they are.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        let mut seen = Vec::new();
        for (workspace, id) in self.workspaces.iter().enumerate() {
            let listed = self.ok("list_documents", &json!({ "workspace_id": id }));
            for document in listed["documents"].as_array().unwrap() {
                let params = json!({ "workspace_id": id, "document_id": document["id"] });
                let read = self.ok("read_document", &params);
                seen.push(Seen {
                    workspace,
                    id: document["id"].as_str().unwrap().parse().unwrap(),
                    is_trashed: document["trashed_at"].is_string(),
                    nodes: read["nodes"].as_array().unwrap().clone(),
                    revision: read["revision"].clone(),
                });
            }
        }
        seen
    }

    /// Some operations on nodes of a document, in one batch.
    pub(crate) fn edit(&mut self, document: &Seen) {
        let mut operations = Vec::new();
        for _ in 0..1 + self.chance.below(6) {
            let node = if self.chance.one_in(8) {
                &document.nodes[0]
            } else {
                self.chance.pick(&document.nodes)
            };
            let target = |op: &str| json!({ "op": op, "node_id": node["node_id"], "expected": node["text"] });
            let mut operation = match self.chance.below(12) {
                0..=3 => {
                    let (key, kinds) = *self.chance.pick(KEYS);
                    let kind = *self.chance.pick(kinds);
                    let mut operation = target("set_attribute");
                    let texts =
                        if key == "koru.priority" { &["urgent", "low"] } else { values(kind) };
                    operation["key"] = key.into();
                    operation["value"] = json!({ "kind": kind, "value": self.chance.pick(texts) });
                    operation
                }
                4 => {
                    let mut operation = target("clear_attribute");
                    operation["key"] = self.chance.pick(KEYS).0.into();
                    operation
                }
                5..=7 => target("add_tag"),
                8 => target("remove_tag"),
                9 if node["kind"] == "task" => {
                    let mut operation = target("set_done");
                    operation["done"] = self.chance.one_in(2).into();
                    operation
                }
                10 if self.chance.one_in(6) => target("remove"),
                _ => {
                    let mut operation = target("replace_text");
                    operation["text"] = format!("text {}", self.chance.below(1_000)).into();
                    operation
                }
            };
            if operation["op"].as_str().unwrap().ends_with("_tag") {
                operation["tag"] = (*self.chance.pick(TAGS)).into();
            }
            operations.push(operation);
        }
        let workspace = self.workspaces[document.workspace].clone();
        self.attempt(
            "edit_document",
            &json!({ "workspace_id": workspace, "document_id": document.id, "base_revision": document.revision, "operations": operations }),
        );
    }

    /// A document goes into the trash, out of it, elsewhere; blocks go into another one; an older version comes back.
    pub(crate) fn rearrange(&mut self, seen: &[Seen]) {
        let document = self.chance.pick(seen);
        let workspace = self.workspaces[document.workspace].clone();
        let mut params = json!({ "workspace_id": workspace, "document_id": document.id });
        match self.chance.below(6) {
            0 => self.attempt("document.trash", &params),
            1 | 2 => self.attempt("document.untrash", &params),
            3 => {
                let parent = self.chance.pick(seen).id;
                params["parent_document_id"] =
                    if self.chance.one_in(2) { Value::Null } else { json!(parent) };
                self.attempt("document.move", &params);
            }
            4 => {
                let target = self.chance.pick(seen);
                let block = self.chance.pick(&document.nodes);
                let mut params = json!({ "workspace_id": workspace, "source_document_id": document.id,
                    "base_revision": document.revision, "source_node_id": block["node_id"], "expected": block["text"] });
                if self.chance.one_in(4) {
                    params["new_document_title"] = "Extracted".into();
                } else {
                    params["target_document_id"] = json!(target.id);
                }
                self.attempt("extract_to_document", &params);
            }
            _ => {
                let versions = self.ok("list_document_versions", &params);
                params["entry_id"] =
                    self.chance.pick(versions["entries"].as_array().unwrap())["id"].clone();
                params["base_revision"] = document.revision.clone();
                self.attempt("restore_document_version", &params);
            }
        }
    }
}
