//! What a search found, before it is ranked.

use super::memory::{NodeKey, Source};
use super::scan::Row;

/// Where a query holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In a row of words of the node.
    Row(u32, Source),
    /// In the name of a tag of the node; the tag's key.
    Tag(u32),
    /// In the titles of the documents above.
    Breadcrumb,
    /// Nowhere: there are no words, and the filters admit the node.
    Filters,
}

/// A document, or one of its nodes, that a query found.
#[derive(Debug, Clone, Copy)]
pub struct Candidate {
    /// The document's key.
    pub document: u32,
    /// The node where it holds best; none: the document as a whole.
    pub node: Option<NodeKey>,
    /// Where in the node.
    pub place: Place,
    /// What a match there is worth.
    pub weight: f64,
    /// How many words stand there; 0: that is not known.
    pub words: u16,
    /// How many places of the document hold.
    pub places: u32,
    /// Some others that are worth as much, as far as is known without their texts.
    pub rivals: [Option<(NodeKey, Place)>; RIVALS],
}

/// How many places beside the first are kept.
const RIVALS: usize = 3;

impl Candidate {
    /// A candidate for a row.
    #[must_use]
    pub fn of(row: &Row) -> Self {
        Self {
            document: row.entry.document,
            node: Some(row.node),
            place: Place::Row(row.row, row.source),
            weight: row.weight(),
            words: row.words,
            places: 1,
            rivals: [None; RIVALS],
        }
    }

    /// A candidate for another place than a row.
    #[must_use]
    pub fn at(document: u32, node: Option<NodeKey>, place: Place, weight: f64) -> Self {
        Self { document, node, place, weight, words: 0, places: 1, rivals: [None; RIVALS] }
    }

    /// Counts another place; it takes the first one's stead where it is worth more, or as much and shorter.
    pub fn add(&mut self, other: &Self) {
        let places = self.places + other.places;
        if other.weight > self.weight {
            *self = *other;
        } else if other.weight.total_cmp(&self.weight).is_eq() {
            let mut rival = (other.node, other.place);
            if other.words < self.words && other.words > 0 {
                rival = (self.node, self.place);
                (self.node, self.place, self.words) = (other.node, other.place, other.words);
            }
            if let Some(node) = rival.0
                && let Some(free) = self.rivals.iter_mut().find(|rival| rival.is_none())
            {
                *free = Some((node, rival.1));
            }
        }
        self.places = places;
    }
}

/// Candidates by a small number: a document's or a node's key.
#[derive(Debug, Default)]
pub struct Gathered {
    slots: Vec<u32>,
    list: Vec<Candidate>,
}

impl Gathered {
    /// Adds a candidate to those of its key.
    pub fn add(&mut self, key: u32, candidate: Candidate) {
        let index = key as usize;
        if self.slots.len() <= index {
            self.slots.resize(index + 1, 0);
        }
        let Some(slot) = self.slots.get_mut(index) else { return };
        if let Some(known) = (*slot).checked_sub(1).and_then(|at| self.list.get_mut(at as usize)) {
            known.add(&candidate);
            return;
        }
        self.list.push(candidate);
        *slot = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
    }

    /// Whether there is a candidate of that key.
    #[must_use]
    pub fn has(&self, key: u32) -> bool {
        self.slots.get(key as usize).is_some_and(|slot| *slot > 0)
    }

    /// How many keys have candidates.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether none has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The candidates, one a key, in the order in which they were first met.
    #[must_use]
    pub fn into_list(self) -> Vec<Candidate> {
        self.list
    }
}
