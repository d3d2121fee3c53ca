//! One candidate for each node that holds a word, where its title and breadcrumb supply the rest.

use rusqlite::Connection;

use super::by_document::titles_above;
use super::candidates::{Candidate, Gathered, Place};
use super::memory::{NodeKey, Source, View};
use super::names::{self, Tagged, Terms};
use super::scan::{Row, Scan, Words};
use super::text::Query;
use crate::errors::ServiceError;
use koru_model::node::Kind;

/// How far up headings are looked for: as deep as a tree can be.
const LEVELS: usize = koru_model::limits::DEPTH;

/// What is known of the terms in nodes and above them.
#[derive(Default)]
struct Holding {
    nodes: Vec<Terms>,
    /// Of each document: what its title holds.
    titles: Vec<Terms>,
    /// Of each heading: what its text holds.
    headings: Vec<Terms>,
    /// Of each document: what the texts of all its headings hold.
    in_headings: Vec<Terms>,
}

fn set(all: &mut Vec<Terms>, index: u32, terms: Terms) {
    let index = index as usize;
    if all.len() <= index {
        all.resize(index + 1, 0);
    }
    if let Some(slot) = all.get_mut(index) {
        *slot |= terms;
    }
}

fn of(all: &[Terms], index: u32) -> Terms {
    all.get(index as usize).copied().unwrap_or(0)
}

/// The nodes that a query finds, and whether there may be more.
///
/// # Errors
/// Those of the storage.
pub fn find(
    scan: &Scan<'_>,
    query: &Query,
    tagged: &[Tagged],
    accepted: usize,
) -> Result<(Vec<Candidate>, bool), ServiceError> {
    let wanted = names::all_terms(query);
    let mut holding = Holding::default();
    let mut gathered = Gathered::default();
    let mut is_cut = false;
    if wanted.count_ones() > 1 {
        // A frequent word is looked for in its newest rows alone; where it stands beside a rare one all are found.
        let words = Words::All(query);
        is_cut |= gather(scan, words, wanted, accepted, &mut holding, &mut gathered)?;
    }
    for index in 0..query.terms.len().min(32) {
        let words = Words::One(query, index);
        is_cut |= gather(scan, words, 1 << index, accepted, &mut holding, &mut gathered)?;
    }
    for tagged in tagged {
        let Some(entry) = scan.view.node(tagged.node) else { continue };
        if !scan.mask.admits_node(tagged.node, entry) {
            continue;
        }
        set(&mut holding.nodes, tagged.node.0, tagged.terms);
        let place = Place::Tag(tagged.tag);
        let candidate = Candidate::at(tagged.document, Some(tagged.node), place, 1.0);
        gathered.add(tagged.node.0, candidate);
    }
    let inherited = match wanted.count_ones() {
        1 => Vec::new(),
        _ => names::inherited(scan.view, &titles_above(scan, query)?),
    };
    let mut found = Vec::new();
    for mut candidate in gathered.into_list() {
        let Some(node) = candidate.node else { continue };
        let own = of(&holding.nodes, node.0);
        let document = candidate.document;
        let around = own | of(&holding.titles, document) | of(&inherited, document);
        let holds = around == wanted
            || (around | of(&holding.in_headings, document) == wanted
                && around | above(scan.connection, scan.view, &holding, node)? == wanted);
        if holds {
            // A node with more of the words of its own comes first.
            candidate.weight *= f64::from(own.count_ones()) / f64::from(wanted.count_ones());
            // Of a document the other places are counted, and not of a node.
            candidate.places = 1;
            found.push(candidate);
        }
    }
    Ok((found, is_cut))
}

/// Notes the rows in which words hold, which are `terms`; whether there may be more.
fn gather(
    scan: &Scan<'_>,
    words: Words<'_>,
    terms: Terms,
    accepted: usize,
    holding: &mut Holding,
    gathered: &mut Gathered,
) -> Result<bool, ServiceError> {
    scan.rows(words, accepted, |row| {
        note(holding, &row, terms);
        let is_admitted = scan.mask.admits_node(row.node, row.entry);
        if is_admitted {
            gathered.add(row.node.0, Candidate::of(&row));
        }
        is_admitted
    })
}

fn note(holding: &mut Holding, row: &Row, bit: Terms) {
    set(&mut holding.nodes, row.node.0, bit);
    match (row.source, row.entry.kind.kind()) {
        (Source::Text, Kind::Title) => set(&mut holding.titles, row.entry.document, bit),
        (Source::Text, Kind::Heading) => {
            set(&mut holding.headings, row.node.0, bit);
            set(&mut holding.in_headings, row.entry.document, bit);
        }
        _ => {}
    }
}

/// What the headings above a node hold.
fn above(
    connection: &Connection,
    view: &View,
    holding: &Holding,
    node: NodeKey,
) -> Result<Terms, ServiceError> {
    let mut terms = 0;
    let mut at = node;
    for _ in 0..LEVELS {
        let Some(parent) = parent(connection, at)? else { break };
        if view.node(parent).is_some_and(|entry| entry.kind.kind() == Kind::Heading) {
            terms |= of(&holding.headings, parent.0);
        }
        at = parent;
    }
    Ok(terms)
}

/// The node that a node stands under.
///
/// # Errors
/// Those of the storage.
pub fn parent(connection: &Connection, node: NodeKey) -> Result<Option<NodeKey>, ServiceError> {
    use rusqlite::OptionalExtension as _;
    Ok(connection
        .prepare_cached("SELECT parent FROM search_node WHERE k = ?1")?
        .query_row([node.0], |row| row.get::<_, Option<u32>>(0))
        .optional()?
        .flatten()
        .map(NodeKey))
}
