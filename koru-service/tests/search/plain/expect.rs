//! What the contract says that a search finds, by looking at every document.

use std::collections::BTreeSet;

use koru_model::ids::WorkspaceId;
use koru_model::node::Kind;
use koru_model::protocol::tools::{Lifecycles, Per, SearchDocuments};
use koru_service::search::text::{Query, tokenize};

use super::values::passes;
use super::world::{Document, Node, World};

/// Terms of the query, by number.
pub(super) type Terms = BTreeSet<usize>;

/// A place where words may stand.
pub(super) struct Place<'a> {
    pub(super) field: &'static str,
    pub(super) node: &'a Node,
    /// As a hit shows it.
    pub(super) text: String,
    pub(super) terms: Terms,
    /// In tenths.
    pub(super) weight: u32,
}

pub(super) struct Plain<'a> {
    pub(super) world: &'a World,
    pub(super) params: &'a SearchDocuments,
    pub(super) query: &'a Query,
    /// Whether words are so frequent that not all of their places are looked at.
    pub(super) is_bounded: bool,
}

/// What stands for one hit: a document, and per node also the node; none: the title.
pub(super) type Key = (String, Option<String>);

impl<'a> Plain<'a> {
    pub(super) fn per(&self) -> Per {
        let per = if self.params.document_id.is_some() { Per::Node } else { Per::Document };
        self.params.per.unwrap_or(per)
    }

    fn wanted(&self) -> Terms {
        (0..self.query.terms.len()).collect()
    }

    fn terms(&self, text: &str) -> Terms {
        let tokens = tokenize(text);
        let found = self.query.terms.iter().enumerate();
        found.filter(|(_, term)| term.matches(&tokens)).map(|(index, _)| index).collect()
    }

    fn is_in_scope(&self, document: &Document) -> bool {
        let workspace = &self.world.workspaces[document.workspace];
        let named: &[WorkspaceId] = self.params.workspace_ids.as_deref().unwrap_or_default();
        let is_searched =
            if named.is_empty() { !workspace.is_deleted } else { named.contains(&workspace.id) };
        let is_in_lifecycle = match self.params.lifecycle.unwrap_or(Lifecycles::Live) {
            Lifecycles::Live => !document.is_trashed,
            Lifecycles::Trash => document.is_trashed,
            Lifecycles::All => true,
        };
        is_searched
            && is_in_lifecycle
            && self.params.document_id.is_none_or(|only| only == document.id)
    }

    pub(super) fn has_filters(&self) -> bool {
        let params = self.params;
        params.done.is_some()
            || params.kinds.as_ref().is_some_and(|kinds| !kinds.is_empty())
            || params.tags.as_ref().is_some_and(|tags| !tags.is_empty())
            || params.attributes.as_ref().is_some_and(|filters| !filters.is_empty())
    }

    fn passes(&self, document: &Document, node: &Node) -> bool {
        let params = self.params;
        let title = document.root();
        let has_kind = params
            .kinds
            .as_ref()
            .is_none_or(|kinds| kinds.is_empty() || kinds.contains(&node.kind));
        let is_done = params.done.is_none_or(|done| node.kind == Kind::Task && node.done == done);
        let carries = |wanted: &String, node: &Node| {
            let wanted = wanted.trim().trim_start_matches('#').to_lowercase();
            node.tags.iter().map(|tag| tag.to_lowercase()).any(|tag| {
                tag == wanted || tag.strip_prefix(&wanted).is_some_and(|rest| rest.starts_with('/'))
            })
        };
        let mut tags = params.tags.iter().flatten();
        let mut filters = params.attributes.iter().flatten();
        has_kind
            && is_done
            && tags.all(|tag| carries(tag, node) || carries(tag, title))
            && filters.all(|filter| passes(filter, node, title))
    }

    /// All places of a node that hold words.
    pub(super) fn places(&self, node: &'a Node) -> Vec<Place<'a>> {
        let weight = match node.kind {
            Kind::Title => 60,
            Kind::Heading => 30,
            Kind::Code => 9,
            _ => 10,
        };
        let field = if node.kind == Kind::Title { "title" } else { "text" };
        let text = node.text.clone();
        let mut places = vec![Place { field, node, terms: self.terms(&text), text, weight }];
        let values: Vec<&str> = node.values.iter().map(|(_, value)| value.value.as_str()).collect();
        // The values of a node are lines of one text.
        let text = values.join("\n");
        places.push(Place { field: "attribute", node, terms: self.terms(&text), text, weight: 15 });
        for tag in &node.tags {
            let terms = self.terms(tag);
            places.push(Place { field: "tag", node, terms, text: tag.clone(), weight: 25 });
        }
        places.retain(|place| !place.terms.is_empty());
        places
    }

    pub(super) fn places_of(&self, document: &'a Document) -> Vec<Place<'a>> {
        document.nodes.iter().flat_map(|node| self.places(node)).collect()
    }

    fn titles_above(&self, document: &Document) -> Terms {
        self.world.above(document).iter().flat_map(|above| self.terms(above.title())).collect()
    }

    /// The places of a document in which one would look for the words: those that hold all of them, else all.
    pub(super) fn best_places(&self, document: &'a Document) -> Vec<Place<'a>> {
        let mut places = self.places_of(document);
        let wanted = self.wanted();
        if places.iter().any(|place| place.terms == wanted) {
            places.retain(|place| place.terms == wanted);
        }
        places
    }

    pub(super) fn key(document: &Document, node: Option<&Node>) -> Key {
        let node = node.filter(|node| node.kind != Kind::Title).map(|node| node.id.to_string());
        (document.id.to_string(), node)
    }

    /// All that is found.
    pub(super) fn found(&self) -> BTreeSet<Key> {
        let mut found = BTreeSet::new();
        if self.query.terms.is_empty() && !self.has_filters() {
            return found;
        }
        let wanted = self.wanted();
        for document in self.world.documents.iter().filter(|document| self.is_in_scope(document)) {
            let above = self.titles_above(document);
            let passing = document.nodes.iter().filter(|node| self.passes(document, node));
            if self.per() == Per::Document {
                let mut all: Terms =
                    self.places_of(document).into_iter().flat_map(|place| place.terms).collect();
                all.extend(above);
                if all == wanted && passing.count() > 0 {
                    found.insert(Self::key(document, None));
                }
                continue;
            }
            for node in passing {
                let mut terms: Terms =
                    self.places(node).into_iter().flat_map(|place| place.terms).collect();
                if terms.is_empty() && !wanted.is_empty() {
                    continue;
                }
                terms.extend(&above);
                terms.extend(self.terms(document.title()));
                for heading in document.headings_above(node) {
                    terms.extend(self.terms(&heading));
                }
                if terms == wanted {
                    found.insert(Self::key(document, Some(node)));
                }
            }
        }
        found
    }
}
