//! Filters of a search: which documents and nodes it may show.
//!
//! The filters must all hold of one node; a tag or an attribute of the title counts for all nodes of its document, and an
//! attribute is missing where neither the node nor its title has it. Kind and state of a node are tested in memory, tags
//! and attributes are looked up once a search and kept as bits.

mod bits;
mod condition;
mod range;
mod rows;
#[cfg(test)]
mod tests;

use jiff::tz::TimeZone;
use koru_model::node::Kind;
use koru_model::protocol::arguments::nearest;
use koru_model::protocol::error::{Code, Problem, ToolError};
use koru_model::protocol::tools::{Lifecycles, SearchDocuments};
use koru_model::{tag, text};
use rusqlite::Connection;
use serde_json::json;

use self::bits::Bits;
use self::condition::{Condition, Faults, Known, Test, condition};
use self::rows::{Carriers, Rows};
use super::memory::{KindCode, NodeEntry, NodeKey, View};
use crate::errors::ServiceError;
use crate::store::attributes;
use crate::store::placing::DocumentKey;
use crate::store::workspaces::WorkspaceKey;

/// The most tags, and the most attribute filters, of one search.
const FILTERS: usize = 100;
/// The most known keys that an error lists, and their bytes.
const KNOWN: usize = 50;
const KNOWN_BYTES: usize = 2_000;

/// What a search may show.
#[derive(Debug, Clone)]
pub struct Scope {
    /// The workspaces that are searched.
    pub workspaces: Vec<WorkspaceKey>,
    /// Whether documents in the trash are searched.
    pub lifecycle: Lifecycles,
    /// The only document that is searched.
    pub document: Option<DocumentKey>,
}

/// Tags or attributes that must be there, or must not.
#[derive(Debug)]
struct Carried {
    carriers: Carriers,
    is_missing: bool,
}

/// Which documents and nodes a search may show.
#[derive(Debug)]
pub struct Mask {
    scope: Bits,
    admitted: Option<Bits>,
    /// One bit a [`KindCode`].
    kinds: u128,
    carried: Vec<Carried>,
}

/// The nodes that pass all filters, by document.
#[derive(Debug, Default)]
pub struct Admitted {
    /// Where the nodes of a document begin; those of the next one begin where they end.
    starts: Vec<u32>,
    nodes: Vec<NodeKey>,
}

impl Admitted {
    /// The nodes of a document, by key.
    #[must_use]
    pub fn of(&self, document: u32) -> &[NodeKey] {
        let start = |document: usize| self.starts.get(document).map(|start| *start as usize);
        let document = document as usize;
        let range = start(document).zip(start(document + 1));
        range.and_then(|(from, until)| self.nodes.get(from..until)).unwrap_or_default()
    }

    /// All nodes, grouped by document.
    #[must_use]
    pub fn nodes(&self) -> &[NodeKey] {
        &self.nodes
    }
}

fn bit(code: KindCode) -> u128 {
    1_u128.checked_shl(code.0.into()).unwrap_or(0)
}

impl Mask {
    /// The mask of a search. Of `params` the filters count; what `scope` says is taken from there. `zone` is the
    /// one in which times without zone are read.
    ///
    /// # Errors
    /// `invalid_request` with all faults of tags and attributes; `unknown_attribute` where that is the only
    /// fault; those of the storage.
    pub fn of(
        connection: &Connection,
        view: &View,
        scope: &Scope,
        params: &SearchDocuments,
        zone: &TimeZone,
    ) -> Result<Self, ServiceError> {
        let tags = params.tags.as_deref().unwrap_or_default();
        let (tags, conditions) = checked(connection, scope, params, tags, zone)?;
        let documents = documents(view, scope);
        let rows = Rows { connection, view, scope: &documents };
        let mut carried = Vec::with_capacity(tags.len() + conditions.len());
        for name in &tags {
            let carriers = rows.tagged(&scope.workspaces, name)?;
            carried.push(Carried { carriers, is_missing: false });
        }
        for condition in &conditions {
            let is_missing = matches!(condition.test, Test::Missing(_));
            carried.push(Carried { carriers: rows.attributed(condition)?, is_missing });
        }
        let kinds = allowed(params);
        let mut mask = Self { scope: documents, admitted: None, kinds, carried };
        if mask.kinds != u128::MAX || !mask.carried.is_empty() {
            mask.admitted = Some(mask.admitted_documents(view));
        }
        Ok(mask)
    }

    /// Whether the search has filters.
    #[must_use]
    pub fn has_filters(&self) -> bool {
        self.admitted.is_some()
    }

    fn shown(&self) -> &Bits {
        self.admitted.as_ref().unwrap_or(&self.scope)
    }

    /// Whether a document is in scope and, with filters, has a node that passes them all.
    #[must_use]
    pub fn admits_document(&self, document: u32) -> bool {
        self.shown().has(document)
    }

    /// Whether a node's document is in scope and, with filters, this very node passes them all.
    #[must_use]
    pub fn admits_node(&self, key: NodeKey, entry: NodeEntry) -> bool {
        self.kinds & bit(entry.kind) != 0
            && self.shown().has(entry.document)
            && self.is_carried(key, entry)
    }

    fn is_carried(&self, key: NodeKey, entry: NodeEntry) -> bool {
        self.carried
            .iter()
            .all(|carried| carried.carriers.has(key, entry.document) != carried.is_missing)
    }

    fn passes(&self, key: NodeKey, entry: NodeEntry) -> bool {
        self.kinds & bit(entry.kind) != 0
            && self.scope.has(entry.document)
            && self.is_carried(key, entry)
    }

    /// The documents that are admitted, by key.
    pub fn documents(&self) -> impl Iterator<Item = u32> + '_ {
        self.shown().iter()
    }

    /// How many documents are admitted.
    #[must_use]
    pub fn document_count(&self) -> usize {
        self.shown().count()
    }

    /// The nodes that pass all filters; without filters all nodes in scope.
    #[must_use]
    pub fn admitted_nodes(&self, view: &View) -> Admitted {
        let mut found = Vec::new();
        if let Some(narrow) = self.narrowest() {
            Self::look_at(view, &narrow.nodes, |key, entry| {
                if self.passes(key, entry) {
                    found.push((entry.document, key));
                }
            });
        } else {
            let shown = self.shown();
            view.nodes().for_each(|(key, entry)| {
                if self.kinds & bit(entry.kind) != 0
                    && shown.has(entry.document)
                    && self.is_carried(key, entry)
                {
                    found.push((entry.document, key));
                }
            });
        }
        grouped(&found)
    }

    /// What must be carried by the node itself, since no title in scope carries it.
    fn narrowest(&self) -> Option<&Carriers> {
        let needed = self.carried.iter().filter(|carried| !carried.is_missing);
        needed
            .map(|carried| &carried.carriers)
            .filter(|carriers| carriers.documents.count() == 0)
            .min_by_key(|carriers| carriers.nodes.count())
    }

    fn look_at(view: &View, nodes: &Bits, mut look: impl FnMut(NodeKey, NodeEntry)) {
        for key in nodes.iter().map(NodeKey) {
            if let Some(entry) = view.node(key) {
                look(key, entry);
            }
        }
    }

    fn admitted_documents(&self, view: &View) -> Bits {
        let mut admitted = Bits::default();
        let mut look = |key, entry: NodeEntry| {
            if self.kinds & bit(entry.kind) != 0
                && !admitted.has(entry.document)
                && self.passes(key, entry)
            {
                admitted.add(entry.document);
            }
        };
        let mut needed = self.carried.iter().filter(|carried| !carried.is_missing).peekable();
        if let Some(narrow) = self.narrowest() {
            Self::look_at(view, &narrow.nodes, look);
        } else if needed.peek().is_some() && self.kinds & bit(KindCode::TITLE) != 0 {
            // A node that passes carries something itself, or its title carries all and passes, too.
            for carried in needed {
                Self::look_at(view, &carried.carriers.nodes, &mut look);
            }
        } else {
            view.nodes().for_each(|(key, entry)| look(key, entry));
        }
        admitted
    }
}

/// Groups nodes by document; within each they keep their order.
fn grouped(found: &[(u32, NodeKey)]) -> Admitted {
    let most = found.iter().map(|(document, _)| *document as usize).max();
    let mut starts = vec![0_u32; most.map_or(0, |most| most + 2)];
    for (document, _) in found {
        if let Some(count) = starts.get_mut(*document as usize + 1) {
            *count += 1;
        }
    }
    let mut sum = 0;
    for start in &mut starts {
        sum += *start;
        *start = sum;
    }
    let mut next = starts.clone();
    let mut nodes = vec![NodeKey(0); found.len()];
    for (document, key) in found {
        if let Some(next) = next.get_mut(*document as usize)
            && let Some(place) = nodes.get_mut(*next as usize)
        {
            *place = *key;
            *next += 1;
        }
    }
    Admitted { starts, nodes }
}

/// The documents in scope.
fn documents(view: &View, scope: &Scope) -> Bits {
    let mut workspaces = Bits::default();
    for workspace in scope.workspaces.iter().filter_map(|key| u32::try_from(key.0).ok()) {
        workspaces.add(workspace);
    }
    let only = scope.document.map(|document| u32::try_from(document.0).unwrap_or(0));
    let mut documents = Bits::default();
    for (key, entry) in (0_u32..).zip(view.documents()) {
        let is_in_lifecycle = match scope.lifecycle {
            Lifecycles::Live => !entry.trashed,
            Lifecycles::Trash => entry.trashed,
            Lifecycles::All => true,
        };
        if entry.workspace > 0
            && is_in_lifecycle
            && workspaces.has(entry.workspace)
            && only.is_none_or(|only| only == key)
        {
            documents.add(key);
        }
    }
    documents
}

/// The codes of the nodes that `kinds` and `done` let through.
fn allowed(params: &SearchDocuments) -> u128 {
    let kinds = params.kinds.as_deref().unwrap_or_default();
    if kinds.is_empty() && params.done.is_none() {
        return u128::MAX;
    }
    let is_allowed = |kind: Kind, is_done: bool| {
        (kinds.is_empty() || kinds.contains(&kind))
            && params.done.is_none_or(|done| kind == Kind::Task && done == is_done)
    };
    let both = |kind: Kind| [(kind, false), (kind, true)];
    let codes =
        Kind::ALL.into_iter().flat_map(both).filter(|(kind, done)| is_allowed(*kind, *done));
    codes.fold(0, |codes, (kind, is_done)| codes | bit(KindCode::of(kind, is_done)))
}

/// Names of tags and conditions as they are used, or all faults of them.
fn checked(
    connection: &Connection,
    scope: &Scope,
    params: &SearchDocuments,
    tags: &[String],
    zone: &TimeZone,
) -> Result<(Vec<String>, Vec<Condition>), ServiceError> {
    let filters = params.attributes.as_deref().unwrap_or_default();
    let mut faults = Faults::default();
    for (field, count) in [("tags", tags.len()), ("attributes", filters.len())] {
        if count > FILTERS {
            faults.add(field, format!("has {count} entries; the limit is {FILTERS}"));
        }
    }
    let mut names = Vec::new();
    for (index, name) in tags.iter().take(FILTERS).enumerate() {
        match tag::accept(name) {
            Ok(name) => names.push(name),
            Err(fault) => faults.add(format!("tags[{index}]"), format!("the name {fault}")),
        }
    }
    let known = if filters.is_empty() { Known::new() } else { known(connection, scope)? };
    let conditions: Vec<_> = filters
        .iter()
        .take(FILTERS)
        .enumerate()
        .filter_map(|(index, filter)| condition(index, filter, &known, zone, &mut faults))
        .collect();
    match refusal(faults, &known) {
        Some(refusal) => Err(refusal),
        None => Ok((names, conditions)),
    }
}

/// The keys of the searched workspaces, the built-in ones always among them.
fn known(connection: &Connection, scope: &Scope) -> Result<Known, ServiceError> {
    let mut known = Known::new();
    let mut add = |definition: attributes::Definition| {
        let kinds = known.entry(definition.key).or_default();
        for kind in definition.kinds {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
    };
    attributes::built_in().into_iter().for_each(&mut add);
    for workspace in &scope.workspaces {
        attributes::definitions(connection, *workspace)?.into_values().for_each(&mut add);
    }
    Ok(known)
}

fn refusal(faults: Faults, known: &Known) -> Option<ServiceError> {
    let names: Vec<&str> = known.keys().map(String::as_str).collect();
    let problem = |(path, key): &(String, String)| {
        let near = nearest(key, &names).map(|near| format!("; did you mean {near}?"));
        let reason = "no searched workspace defines this key";
        Problem::new(path.clone(), format!("{reason}{}", near.unwrap_or_default()))
    };
    let unknown: Vec<Problem> = faults.unknown.iter().map(problem).collect();
    let mut problems = faults.problems;
    if !problems.is_empty() {
        problems.extend(unknown);
        return Some(ServiceError::Invalid(problems));
    }
    let (_, key) = faults.unknown.first()?;
    let mut room = KNOWN_BYTES;
    let listed: Vec<&&str> = names
        .iter()
        .take(KNOWN)
        .take_while(|name| room.checked_sub(name.len() + 3).map(|left| room = left).is_some())
        .collect();
    let mut details = json!({ "known": listed });
    if let Some(nearest) = nearest(key, &names) {
        details["nearest"] = nearest.into();
    }
    if unknown.len() > 1 {
        details["problems"] = json!(unknown.iter().take(10).collect::<Vec<_>>());
    }
    let key = text::window(key, 0);
    let message = format!(
        "No searched workspace defines an attribute {key}. Use a key of list_attributes, and search again."
    );
    Some(ToolError::new(Code::UnknownAttribute, message).with(details).into())
}
