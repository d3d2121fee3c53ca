//! One candidate for each document: the documents in which all words hold, whether in one place or spread over
//! title, nodes, tags and breadcrumb.

use super::candidates::{Candidate, Gathered, Place};
use super::filter::bits::Bits;
use super::names::{self, Tagged, Terms};
use super::scan::{ACCEPTED, Scan, Words};
use super::text::Query;
use crate::errors::ServiceError;

/// Where one place holds all words in so many documents, others are looked for only when their page is asked for.
pub const ENOUGH: usize = 200;
/// The most documents below one matching document that are found by its title alone.
const BELOW_ONE: usize = 200;
/// With a rare term in at most so many documents, the others are looked for in these.
const RARE: usize = 64;

const TAG: f64 = 2.5;
const SPREAD_WITH_HEAD: f64 = 0.6;
const SPREAD: f64 = 0.3;
const BREADCRUMB: f64 = 0.25;

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// Documents with one place that holds all words.
    pub close: Vec<Candidate>,
    /// Documents in which the words are spread; they come behind.
    pub spread: Vec<Candidate>,
    /// Whether some in which the words are spread were left out, which a search for all finds.
    pub has_more: bool,
    /// Whether there may be more that no search finds.
    pub is_cut: bool,
}

/// The documents in which all words of a query hold. Those in which they are spread are left out where there are
/// enough others, unless `all` are wanted; those in the trash of the mask are no question here.
///
/// # Errors
/// Those of the storage.
pub fn find(
    scan: &Scan<'_>,
    query: &Query,
    tagged: &[Tagged],
    accepted: usize,
    all: bool,
) -> Result<Found, ServiceError> {
    let wanted = names::all_terms(query);
    let mut close = Gathered::default();
    let mut is_cut = scan.rows(Words::All(query), accepted, |row| {
        close.add(row.entry.document, Candidate::of(&row));
        true
    })?;
    for tagged in tagged.iter().filter(|tagged| tagged.terms == wanted) {
        if scan.mask.admits_document(tagged.document) {
            close.add(tagged.document, of_tag(tagged, TAG));
        }
    }
    if query.terms.len() == 1 && (close.len() < ENOUGH || all) {
        let (spread, was_cut) = below(scan, &titles_above(scan, query)?, &close);
        is_cut |= was_cut;
        return Ok(Found { close: close.into_list(), spread, has_more: false, is_cut });
    }
    if close.len() >= ENOUGH && !all {
        return Ok(Found { close: close.into_list(), has_more: true, is_cut, ..Found::default() });
    }
    let found = spread(scan, query, tagged, &close, all)?;
    Ok(Found { close: close.into_list(), is_cut: is_cut | found.is_cut, ..found })
}

fn of_tag(tagged: &Tagged, weight: f64) -> Candidate {
    Candidate::at(tagged.document, Some(tagged.node), Place::Tag(tagged.tag), weight)
}

fn set(all: &mut [Terms], document: u32, terms: Terms) {
    if let Some(slot) = all.get_mut(document as usize) {
        *slot |= terms;
    }
}

/// The documents below those whose titles hold the word, and whether there are more.
fn below(scan: &Scan<'_>, titles: &[Terms], close: &Gathered) -> (Vec<Candidate>, bool) {
    let inherited = names::inherited(scan.view, titles);
    let mut counts = std::collections::HashMap::new();
    let (mut list, mut is_cut) = (Vec::new(), false);
    for (document, _) in (0_u32..).zip(&inherited).filter(|(_, terms)| **terms != 0) {
        if close.has(document) || !scan.mask.admits_document(document) {
            continue;
        }
        let parent = scan.view.document(document).map_or(0, |entry| entry.parent);
        let count = counts.entry(parent).or_insert(0_usize);
        *count += 1;
        if *count <= BELOW_ONE {
            list.push(of_breadcrumb(document));
        } else {
            is_cut = true;
        }
    }
    (list, is_cut)
}

fn of_breadcrumb(document: u32) -> Candidate {
    Candidate { places: 0, ..Candidate::at(document, None, Place::Breadcrumb, BREADCRUMB) }
}

/// For each term, in which documents it holds, and the best place of each document.
struct Spread {
    terms: Vec<Terms>,
    heads: Vec<bool>,
    /// The rows that count already: one may hold several terms.
    rows: Bits,
    best: Gathered,
}

impl Spread {
    fn scan(
        &mut self,
        scan: &Scan<'_>,
        query: &Query,
        index: usize,
        most: usize,
    ) -> Result<bool, ServiceError> {
        scan.rows(Words::One(query, index), most, |row| {
            let document = row.entry.document;
            set(&mut self.terms, document, 1 << index);
            if row.weight() > 1.0
                && let Some(head) = self.heads.get_mut(document as usize)
            {
                *head = true;
            }
            if self.rows.add(row.row) {
                self.best.add(document, Candidate::of(&row));
            }
            true
        })
    }

    /// How many documents hold all terms, but for those that are close.
    fn count(&self, scan: &Scan<'_>, wanted: Terms, close: &Gathered) -> usize {
        let holding = (0_u32..).zip(&self.terms).filter(|(_, terms)| **terms == wanted);
        holding.filter(|(key, _)| !close.has(*key) && scan.mask.admits_document(*key)).count()
    }

    fn holds(&self, document: u32) -> Terms {
        self.terms.get(document as usize).copied().unwrap_or(0)
    }
}

/// The documents in which the words hold in several places. Of frequent words the newest rows are looked at where these
/// are enough, and `all` are not wanted.
fn spread(
    scan: &Scan<'_>,
    query: &Query,
    tagged: &[Tagged],
    close: &Gathered,
    all: bool,
) -> Result<Found, ServiceError> {
    let count = scan.view.documents().len();
    let wanted = names::all_terms(query);
    let mut spread = Spread {
        terms: vec![0; count],
        heads: vec![false; count],
        rows: Bits::default(),
        best: Gathered::default(),
    };
    let (mut has_more, mut is_cut) = (false, false);
    for tagged in tagged {
        if scan.mask.admits_document(tagged.document) {
            set(&mut spread.terms, tagged.document, tagged.terms);
            spread.best.add(tagged.document, of_tag(tagged, TAG));
        }
    }
    let above = titles_above(scan, query)?;
    let inherited = names::inherited(scan.view, &above);
    for (document, terms) in (0_u32..).zip(&inherited) {
        set(&mut spread.terms, document, *terms);
    }

    let mut frequent = Vec::new();
    for index in 0..query.terms.len().min(32) {
        if spread.scan(scan, query, index, ACCEPTED)? {
            frequent.push(index);
        }
    }
    let rare = wanted & !frequent.iter().fold(0, |terms, index| terms | 1 << index);
    let hopeful: Vec<u32> = (0_u32..)
        .zip(&spread.terms)
        .filter(|(document, terms)| {
            **terms & rare == rare && scan.mask.admits_document(*document) && !close.has(*document)
        })
        .map(|(document, _)| document)
        .take(RARE + 1)
        .collect();
    if !frequent.is_empty() {
        if rare != 0 && hopeful.len() <= RARE {
            for document in hopeful {
                let missing = wanted & !spread.holds(document);
                if missing != 0 {
                    let found = terms_of_document(scan, query, document)?;
                    set(&mut spread.terms, document, found);
                }
            }
        } else {
            has_more = !all && close.len() + spread.count(scan, wanted, close) >= ENOUGH;
            if !has_more {
                for index in &frequent {
                    is_cut |= spread.scan(scan, query, *index, usize::MAX)?;
                }
            }
        }
    }
    let heads = spread.heads;
    let terms = spread.terms;
    let best = spread.best.into_list();
    let mut is_listed = vec![false; count];
    let mut list = Vec::new();
    for mut candidate in best {
        let index = candidate.document as usize;
        if terms.get(index) != Some(&wanted) || close.has(candidate.document) {
            continue;
        }
        if let Some(listed) = is_listed.get_mut(index) {
            *listed = true;
        }
        let with_head = heads.get(index) == Some(&true);
        candidate.weight = if with_head { SPREAD_WITH_HEAD } else { SPREAD };
        list.push(candidate);
    }
    // All words may stand above.
    for (document, found) in (0_u32..).zip(&terms) {
        if *found == wanted
            && is_listed.get(document as usize) == Some(&false)
            && !close.has(document)
            && scan.mask.admits_document(document)
        {
            list.push(of_breadcrumb(document));
        }
    }
    Ok(Found { spread: list, has_more, is_cut, ..Found::default() })
}

/// Which terms hold in the titles of documents that have others below them, whether these may be shown or not.
///
/// # Errors
/// Those of the storage.
pub fn titles_above(scan: &Scan<'_>, query: &Query) -> Result<Vec<Terms>, ServiceError> {
    let mut titles = vec![0; scan.view.documents().len()];
    let is_parent = parents(scan);
    if is_parent.iter().all(|is_parent| !is_parent) {
        return Ok(titles);
    }
    for (index, term) in query.terms.iter().enumerate().take(32) {
        scan.titles(&term.expression(), ACCEPTED, |document| {
            let is_above = is_parent.get(document as usize) == Some(&true);
            if is_above {
                set(&mut titles, document, 1 << index);
            }
            is_above
        })?;
    }
    Ok(titles)
}

/// Which documents have others below them.
fn parents(scan: &Scan<'_>) -> Vec<bool> {
    let documents = scan.view.documents();
    let mut is_parent = vec![false; documents.len()];
    for entry in documents {
        if let Some(slot) = is_parent.get_mut(entry.parent as usize).filter(|_| entry.parent > 0) {
            *slot = true;
        }
    }
    is_parent
}

/// The terms that hold in the nodes of a document, read directly.
fn terms_of_document(scan: &Scan<'_>, query: &Query, document: u32) -> Result<Terms, ServiceError> {
    let mut found = 0;
    super::shown::each_text(scan.connection, scan.view, document, |_, text| {
        found |= names::terms_in(query, text);
        Ok(())
    })?;
    Ok(found)
}
