//! Random documents, and random changes of them through the service's calls.

use koru_model::value::ValueKind;
use koru_service::errors::ServiceError;
use serde_json::{Value, json};

use super::chance::Chance;
use super::values::pool;
use crate::support::Fixture;

/// Few words, so that texts share them.
pub(super) const WORDS: &[&str] = &[
    "alpha",
    "alphabet",
    "beta",
    "天気",
    "getUserName",
    "café",
    "東京都の天気",
    "go",
    "betamax",
    "gamma",
    "delta",
    "red",
    "dark",
    "東京",
    "C",
    "v2",
    "1",
    "2026",
    "get_user_name",
    "username",
    "src/main.rs",
    "CLAUDE.md",
    "a.b@c.org",
    "phase-2",
    "Phase",
    "don't",
    "dont",
    "straße",
    "strasse",
    "cafe",
    "đường",
    "κόσμος",
    "ёлка",
    "Ünal",
    "引用",
    "悬空引用清零",
    "雨",
    "조선시대",
    "시대",
    "ภาษาไทย",
    "ไทย",
    "🙂",
    "ﬁne",
    "Ｗｉｄｅ",
    "AND",
    "NOT",
    "title:alpha",
    "🇩🇪",
    "e\u{301}a",
];
pub(super) const TAGS: &[&str] =
    &["red", "red/dark", "Blue", "blue/alpha/light", "東京", "redder", "beta"];
pub(super) const KINDS: &[&str] = &[
    "heading",
    "paragraph",
    "paragraph",
    "task",
    "task",
    "quote",
    "listblock",
    "code",
    "table",
    "contact",
    "divider",
];
/// Attributes of every workspace, with the kinds of their values.
pub(super) const KEYS: &[(&str, &[ValueKind])] = &[
    ("koru.due", &[ValueKind::Date, ValueKind::DatetimeZoned, ValueKind::DatetimeFloating]),
    ("when", &[ValueKind::Date, ValueKind::DatetimeZoned, ValueKind::DatetimeFloating]),
    ("size", &[ValueKind::Number]),
    ("note", &[ValueKind::Text]),
    ("flag", &[ValueKind::Bool]),
    ("site", &[ValueKind::Url]),
    ("mixed", &[ValueKind::Text, ValueKind::Number, ValueKind::Date]),
];

/// A document that was made.
#[derive(Clone)]
pub(super) struct Made {
    pub(super) workspace: String,
    pub(super) id: String,
}

pub(super) struct Maker<'a> {
    pub(super) koru: &'a Fixture,
    pub(super) chance: &'a mut Chance,
    pub(super) workspaces: Vec<String>,
    pub(super) documents: Vec<Made>,
    /// How many calls were carried out.
    pub(super) done: usize,
}

fn at(document: &Made) -> Value {
    json!({ "workspace_id": document.workspace, "document_id": document.id })
}

fn with(mut params: Value, fields: &Value) -> Value {
    params.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    params
}

/// A word; some are more frequent than others.
pub(super) fn common(chance: &mut Chance) -> &'static str {
    let most = if chance.one_in(2) { 8 } else { WORDS.len() };
    chance.word(&WORDS[..most])
}

impl<'a> Maker<'a> {
    pub(super) fn new(koru: &'a Fixture, chance: &'a mut Chance) -> Self {
        let mut workspaces = vec![koru.workspace.clone()];
        for name in ["Second", "Third"] {
            let id = koru.new_id();
            koru.ok("workspace.create", &json!({ "workspace_id": id, "name": name }));
            workspaces.push(id);
        }
        for workspace in &workspaces {
            for (key, kinds) in KEYS.iter().filter(|(key, _)| !key.starts_with("koru.")) {
                koru.ok(
                    "attribute.define",
                    &json!({ "workspace_id": workspace, "key": key, "kinds": kinds }),
                );
            }
        }
        Self { koru, chance, workspaces, documents: Vec::new(), done: 0 }
    }

    /// A call that may be refused, but never fails.
    fn call(&mut self, name: &str, params: &Value) -> Option<Value> {
        match self.koru.call(name, params) {
            Ok(answer) => {
                self.done += 1;
                Some(answer)
            }
            Err(error @ (ServiceError::Internal(_) | ServiceError::Storage(_))) => {
                panic!("{name} {params}: {error:?}")
            }
            Err(_) => None,
        }
    }

    fn text(&mut self, most: usize) -> String {
        let mut text = String::new();
        for index in 0..=self.chance.below(most) {
            if index > 0 {
                text.push_str(self.chance.word(&[" ", " ", " ", "", "  ", ", "]));
            }
            let word = common(self.chance);
            if self.chance.one_in(5) {
                text.push_str(&word.to_uppercase());
            } else {
                text.push_str(word);
            }
        }
        text
    }

    fn node_text(&mut self, kind: &str) -> String {
        match kind {
            "divider" => String::new(),
            "table" => {
                let cells: Vec<String> =
                    (0..4).map(|_| self.text(2).replace(['\t', '\n', '\\'], " ")).collect();
                format!("{}\t{}\n{}\t{}", cells[0], cells[1], cells[2], cells[3])
            }
            "contact" => format!("{}\nphone: {}", self.text(2), self.text(1)),
            "paragraph" if self.chance.one_in(4) && !self.documents.is_empty() => {
                let target = self.chance.pick(&self.documents).id.clone();
                format!("{} [[document:{target}]] {}", self.text(2), self.text(2))
            }
            "paragraph" if self.chance.one_in(6) => format!("{}\n{}", self.text(3), self.text(3)),
            _ => self.text(6),
        }
    }

    fn insert(&mut self, parents: &[String]) -> (String, String, Value) {
        let kind = self.chance.word(KINDS);
        let id = self.koru.new_id();
        let operation = json!({ "op": "insert", "node_id": id, "kind": kind, "text": self.node_text(kind),
            "parent_id": self.chance.pick(parents), "at_end": self.chance.one_in(2) });
        (id, kind.to_owned(), operation)
    }

    /// A new document of a few nodes.
    pub(super) fn create(&mut self) {
        let workspace = self.chance.pick(&self.workspaces).clone();
        let root = self.koru.new_id();
        let mut parents = vec![root.clone()];
        let mut operations = Vec::new();
        for _ in 0..self.chance.below(7) {
            // Headings stand only under the title and headings; other kinds under those are all right.
            let (id, kind, operation) = self.insert(&parents);
            operations.push(operation);
            if kind == "heading" {
                parents.push(id);
            }
        }
        let mut params = json!({ "workspace_id": workspace, "title": self.text(3),
            "root_node_id": root, "initial_operations": operations });
        let parent = self.any().filter(|parent| parent.workspace == workspace);
        if let Some(parent) = parent.filter(|_| self.chance.one_in(2)) {
            params["parent_document_id"] = parent.id.into();
        }
        if let Some(made) = self.call("create_document", &params) {
            let id = made["document_id"].as_str().unwrap().to_owned();
            let made = Made { workspace, id };
            self.documents.push(made.clone());
            self.edit(&made);
        }
    }

    fn any(&mut self) -> Option<Made> {
        let index = self.chance.below(self.documents.len());
        self.documents.get(index).cloned()
    }

    /// Any change.
    pub(super) fn step(&mut self) {
        let Some(document) = self.any() else { return };
        match self.chance.below(20) {
            0 => self.create(),
            1 => self.rename(&document),
            2 => drop(self.call("document.trash", &at(&document))),
            3 | 4 => drop(self.call("document.untrash", &at(&document))),
            5 => self.move_document(&document),
            6 => self.restore(&document),
            7 => self.extract(&document),
            8 if self.chance.one_in(2) => {
                // Where all are deleted, no attribute is known.
                let workspace = self.chance.pick(&self.workspaces[1..]).clone();
                let deleted = self.chance.one_in(3);
                self.call(
                    "workspace.delete",
                    &json!({ "workspace_id": workspace, "deleted": deleted }),
                );
            }
            _ => self.edit(&document),
        }
    }

    fn read(&mut self, document: &Made) -> Value {
        self.koru.ok("read_document", &at(document))
    }

    fn rename(&mut self, document: &Made) {
        let read = self.read(document);
        let title = self.text(3);
        let root = &read["nodes"][0];
        let operations = json!([{ "op": "replace_text", "node_id": root["node_id"],
            "expected": root["text"], "text": title }]);
        let fields = json!({ "base_revision": read["revision"], "operations": operations });
        self.call("edit_document", &with(at(document), &fields));
    }

    fn move_document(&mut self, document: &Made) {
        let parent = self.any().filter(|_| !self.chance.one_in(3));
        let parent = parent.map_or(Value::Null, |parent| parent.id.into());
        self.call("document.move", &with(at(document), &json!({ "parent_document_id": parent })));
    }

    fn restore(&mut self, document: &Made) {
        let versions = self.koru.ok("list_document_versions", &at(document));
        let entries = versions["entries"].as_array().unwrap().clone();
        let entry = self.chance.pick(&entries)["id"].clone();
        let revision = self.read(document)["revision"].clone();
        let fields = json!({ "entry_id": entry, "base_revision": revision });
        self.call("restore_document_version", &with(at(document), &fields));
    }

    fn extract(&mut self, document: &Made) {
        let read = self.read(document);
        let node = self.chance.pick(read["nodes"].as_array().unwrap()).clone();
        let mut params = json!({ "workspace_id": document.workspace, "source_document_id": document.id,
            "base_revision": read["revision"], "source_node_id": node["node_id"], "expected": node["text"] });
        let target = self.any().filter(|target| target.workspace == document.workspace);
        match target.filter(|_| self.chance.one_in(2)) {
            Some(target) => params["target_document_id"] = target.id.into(),
            None => params["new_document_title"] = self.text(2).into(),
        }
        if let Some(answer) = self.call("extract_to_document", &params)
            && let Some(id) = answer["target_document_id"].as_str()
            && self.documents.iter().all(|known| known.id != id)
        {
            self.documents.push(Made { workspace: document.workspace.clone(), id: id.to_owned() });
        }
    }

    fn edit(&mut self, document: &Made) {
        let read = self.read(document);
        let nodes = read["nodes"].as_array().unwrap().clone();
        let operations: Vec<Value> = (0..4).map(|_| self.operation(&nodes)).collect();
        let params = |operations: &[Value]| {
            let fields = json!({ "base_revision": read["revision"], "operations": operations });
            with(at(document), &fields)
        };
        if self.call("edit_document", &params(&operations)).is_none() {
            // Each on its own: one that is refused takes no other with it.
            for operation in operations {
                self.call("edit_document", &params(&[operation]));
            }
        }
    }

    fn operation(&mut self, nodes: &[Value]) -> Value {
        let node = self.chance.pick(nodes).clone();
        let parents: Vec<String> =
            nodes.iter().map(|node| node["node_id"].as_str().unwrap().to_owned()).collect();
        let kind = node["kind"].as_str().unwrap().to_owned();
        let on = json!({ "node_id": node["node_id"], "expected": node["text"] });
        match self.chance.below(15) {
            0 | 1 => self.insert(&parents).2,
            2 | 3 => {
                let text = if kind == "title" { self.text(3) } else { self.node_text(&kind) };
                with(json!({ "op": "replace_text", "text": text }), &on)
            }
            4 if self.chance.one_in(2) => with(json!({ "op": "remove" }), &on),
            4 | 5 => with(
                json!({ "op": "move", "parent_id": self.chance.pick(&parents), "at_end": true }),
                &on,
            ),
            6 => with(json!({ "op": "set_done", "done": self.chance.one_in(2) }), &on),
            7..=9 => {
                let op = if self.chance.one_in(4) { "remove_tag" } else { "add_tag" };
                with(json!({ "op": op, "tag": self.chance.word(TAGS) }), &on)
            }
            10 if self.chance.one_in(3) => {
                let (key, _) = self.chance.pick(KEYS);
                with(json!({ "op": "clear_attribute", "key": key }), &on)
            }
            10..=13 => {
                let (key, kinds) = *self.chance.pick(KEYS);
                let kind = *self.chance.pick(kinds);
                let value = self.chance.word(&pool(kind));
                with(
                    json!({ "op": "set_attribute", "key": key,
                            "value": { "kind": kind, "value": value } }),
                    &on,
                )
            }
            _ => {
                let target = self.chance.pick(&self.documents).id.clone();
                let mut inline = json!({ "type": "document", "document_id": target });
                if self.chance.one_in(2) {
                    inline["label"] = self.text(2).into();
                }
                with(json!({ "op": "insert_inline", "at_utf8": 0, "inline": inline }), &on)
            }
        }
    }
}
