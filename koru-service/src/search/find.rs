//! `search_documents`, from the call to a page of hits.

use std::cell::Cell;
use std::sync::Arc;

use jiff::tz::TimeZone;
use koru_model::ids::WorkspaceId;
use koru_model::limits;
use koru_model::protocol::tools::{Lifecycles, MOST_HITS, PAGE_SIZE, Per, SearchDocuments, Sort};
use rusqlite::Connection;
use serde::Serialize;

use super::candidates::{Candidate, Gathered, Place};
use super::filter::{Mask, Scope};
use super::hits::{self, Hit};
use super::lists::List;
use super::memory::View;
use super::names;
use super::rank::{self, Ranked};
use super::scan::{ACCEPTED, SCANNED, Scan, Way, Words};
use super::text::Query;
use super::{by_document, by_node, worker};
use crate::errors::{ServiceError, StorageFault};
use crate::service::Service;
use crate::session::Session;
use crate::store::documents;
use crate::store::workspaces::{self, Known};

/// The most hits of a search without words.
const MOST_FILTERED: usize = 10_000;

/// At most so many documents with so many nodes are read text by text, in some 40 ms.
const FEW_DOCUMENTS: usize = 1_000;
const FEW_NODES: u64 = 10_000;

/// A page of hits.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Results {
    /// The hits, in order.
    pub hits: Vec<Hit>,
    /// Where the next page begins; none: nothing follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u32>,
    /// The workspaces of which some documents are still to be indexed.
    pub updating_workspaces: Vec<WorkspaceId>,
    /// What was searched instead, where the words as given stand nowhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected_query: Option<String>,
    /// Whether a bound was reached, so that weaker hits may be missing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
    /// Whether the query was longer than what is read of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub query_cut: bool,
}

/// Searches documents.
///
/// # Errors
/// When the arguments are refused, or the storage fails. A damaged index is made anew and searched again.
pub fn search(
    service: &Arc<Service>,
    session: &Session,
    params: &SearchDocuments,
) -> Result<Results, ServiceError> {
    let found = Searching::new(service, session, params)?.run();
    match found {
        Err(ServiceError::Storage(StorageFault::Damaged)) => {
            service
                .write(|_, transaction| transaction.state.search.reset(transaction.connection))?;
            Searching::new(service, session, params)?.run()
        }
        found => found,
    }
}

/// How many nodes the admitted documents have, where these are few.
fn few_nodes(inside: &Inside<'_>) -> Result<Option<u64>, ServiceError> {
    if inside.mask.document_count() > FEW_DOCUMENTS {
        return Ok(None);
    }
    let mut nodes = 0;
    for document in inside.mask.documents() {
        nodes += documents::live_nodes(inside.connection, document)?;
        if nodes > FEW_NODES {
            return Ok(None);
        }
    }
    Ok(Some(nodes))
}

struct Searching<'a> {
    service: &'a Arc<Service>,
    session: &'a Session,
    params: &'a SearchDocuments,
    query: Query,
    view: View,
    per: Per,
    sort: Sort,
    offset: usize,
    page_size: usize,
}

/// What one search looks into, once its names are resolved.
struct Inside<'a> {
    connection: &'a Connection,
    known: Vec<Known>,
    mask: Mask,
}

impl<'a> Searching<'a> {
    fn new(
        service: &'a Arc<Service>,
        session: &'a Session,
        params: &'a SearchDocuments,
    ) -> Result<Self, ServiceError> {
        let page_size = params.page_size.unwrap_or(PAGE_SIZE);
        if !(1..=MOST_HITS).contains(&page_size) {
            return Err(ServiceError::invalid("page_size", format!("must be 1 to {MOST_HITS}")));
        }
        let per = match (params.per, params.document_id) {
            (Some(per), _) => per,
            (None, Some(_)) => Per::Node,
            (None, None) => Per::Document,
        };
        Ok(Self {
            service,
            session,
            params,
            query: Query::parse(&params.query),
            view: service.search.memory.view(&service.store)?,
            per,
            sort: params.sort.unwrap_or(Sort::Relevance),
            offset: params.offset.unwrap_or(0) as usize,
            page_size: page_size as usize,
        })
    }

    fn run(mut self) -> Result<Results, ServiceError> {
        self.service.store.read(|connection| {
            // From here on the connection sees one state of the store, which memory is not behind.
            connection.prepare_cached("SELECT 1 FROM workspace LIMIT 1")?.exists(())?;
            self.view = self.service.search.memory.now().unwrap_or(self.view.clone());
            let inside = self.inside(connection)?;
            let list = self.list(&inside)?;
            self.page(&inside, &list)
        })
    }

    /// Finds what the arguments name.
    fn inside<'c>(&self, connection: &'c Connection) -> Result<Inside<'c>, ServiceError> {
        let all = workspaces::known(connection, self.service.store.opened())?;
        let named = self.params.workspace_ids.as_deref().unwrap_or_default();
        let mut known: Vec<Known> = Vec::new();
        for id in named {
            let key = self.session.reach(self.service, connection, *id)?;
            if known.iter().all(|known| known.key != key) {
                known.extend(all.iter().find(|known| known.key == key).copied());
            }
        }
        if named.is_empty() {
            known = all;
            known.retain(|known| !known.is_deleted && self.session.includes(known.id));
        }
        let document = match self.params.document_id {
            None => None,
            Some(id) => {
                let keys = known.iter().map(|known| documents::find(connection, known.key, id));
                Some(keys.flatten().next().ok_or_else(|| ServiceError::no_document(id))?.key)
            }
        };
        let scope = Scope {
            workspaces: known.iter().map(|known| known.key).collect(),
            lifecycle: self.params.lifecycle.unwrap_or(Lifecycles::Live),
            document,
        };
        let zone = TimeZone::system();
        let mask = Mask::of(connection, &self.view, &scope, self.params, &zone)?;
        Ok(Inside { connection, known, mask })
    }

    /// The hits in order: those of the search's earlier page where they are kept, for a later page.
    fn list(&self, inside: &Inside<'_>) -> Result<Arc<List>, ServiceError> {
        let key = self.key(inside)?;
        let (connection, now) = (self.session.connection, self.service.outside.now());
        let lists = &self.service.search.lists;
        let kept = if self.offset > 0 { lists.get(connection, &key, now) } else { None };
        let list = match kept {
            Some(kept) => kept,
            None => {
                let mut list = self.found(inside, &self.query)?;
                if list.hits.is_empty() {
                    for corrected in self.corrected(inside)? {
                        let found = self.found(inside, &Query::parse(&corrected))?;
                        if !found.hits.is_empty() {
                            list = List { corrected: Some(corrected), ..found };
                            break;
                        }
                    }
                }
                let list = Arc::new(list);
                lists.put(connection, key.clone(), now, Arc::clone(&list));
                list
            }
        };
        if !list.has_more || self.offset.saturating_add(self.page_size) < list.hits.len() {
            return Ok(list);
        }
        let list = Arc::new(self.extended(inside, &list)?);
        lists.put(connection, key, now, Arc::clone(&list));
        Ok(list)
    }

    /// Names a search, whatever its page.
    fn key(&self, inside: &Inside<'_>) -> Result<String, ServiceError> {
        let params = SearchDocuments { offset: None, page_size: None, ..self.params.clone() };
        let workspaces: Vec<i64> = inside.known.iter().map(|known| known.key.0).collect();
        Ok(serde_json::to_string(&(params, workspaces))?)
    }

    /// Runs a search by the tables; where these hold too many rows for few documents, by the texts.
    fn with_scan<T>(
        &self,
        inside: &Inside<'_>,
        query: &Query,
        run: impl Fn(&Scan<'_>) -> Result<T, ServiceError>,
    ) -> Result<T, ServiceError> {
        let nodes = few_nodes(inside)?;
        let most = match nodes {
            Some(..=2_000) => SCANNED / 10,
            Some(_) => SCANNED / 2,
            None => SCANNED,
        };
        let was_too_few = Cell::new(false);
        let scan = Scan {
            connection: inside.connection,
            view: &self.view,
            mask: &inside.mask,
            way: Way::Tables { most, was_too_few: &was_too_few, is_first_try: nodes.is_some() },
        };
        let found = run(&scan)?;
        if was_too_few.get() && nodes.is_some() {
            let texts = scan.texts(query)?;
            return run(&Scan { way: Way::Texts(&texts), ..scan });
        }
        Ok(found)
    }

    fn found(&self, inside: &Inside<'_>, query: &Query) -> Result<List, ServiceError> {
        if query.terms.is_empty() {
            return Ok(self.filtered(inside));
        }
        let keys: Vec<_> = inside.known.iter().map(|known| known.key).collect();
        let tagged = names::tagged(inside.connection, &keys, query)?;
        let by_relevance = self.sort == Sort::Relevance;
        let accepted = if by_relevance { ACCEPTED } else { usize::MAX };
        if self.per == Per::Node {
            let (found, is_cut) = self
                .with_scan(inside, query, |scan| by_node::find(scan, query, &tagged, accepted))?;
            let hits = self.ordered(inside, query, found)?;
            return Ok(List { hits, is_cut, ..List::default() });
        }
        let found = self.with_scan(inside, query, |scan| {
            by_document::find(scan, query, &tagged, accepted, !by_relevance)
        })?;
        let mut hits = if by_relevance && found.close.len() >= by_document::ENOUGH {
            let mut hits = self.ordered(inside, query, found.close)?;
            hits.extend(self.behind(inside, query, &hits, found.spread)?);
            hits
        } else {
            let mut all = found.close;
            all.extend(found.spread);
            self.ordered(inside, query, all)?
        };
        hits.shrink_to_fit();
        let documents = self.view.documents().len();
        let by_document::Found { has_more, is_cut, .. } = found;
        Ok(List { hits, has_more, is_cut, documents, corrected: None })
    }

    /// The list with the documents in which the words are spread behind it.
    fn extended(&self, inside: &Inside<'_>, list: &List) -> Result<List, ServiceError> {
        let corrected = list.corrected.as_deref().map(Query::parse);
        let query = corrected.as_ref().unwrap_or(&self.query);
        let keys: Vec<_> = inside.known.iter().map(|known| known.key).collect();
        let tagged = names::tagged(inside.connection, &keys, query)?;
        let found = self.with_scan(inside, query, |scan| {
            by_document::find(scan, query, &tagged, ACCEPTED, true)
        })?;
        let mut hits = list.hits.clone();
        let mut is_listed = vec![false; self.view.documents().len()];
        for hit in &hits {
            if let Some(slot) = is_listed.get_mut(hit.document as usize) {
                *slot = true;
            }
        }
        // What became close since the list was made counts as spread: the list stays as it was.
        let mut more = found.spread;
        more.extend(found.close);
        more.retain(|candidate| {
            let document = candidate.document as usize;
            document < list.documents && is_listed.get(document) == Some(&false)
        });
        hits.extend(self.behind(inside, query, &hits, more)?);
        Ok(List {
            hits,
            has_more: false,
            is_cut: list.is_cut || found.is_cut,
            documents: list.documents,
            corrected: list.corrected.clone(),
        })
    }

    /// Weaker hits, to stand behind others.
    fn behind(
        &self,
        inside: &Inside<'_>,
        query: &Query,
        others: &[Ranked],
        weaker: Vec<Candidate>,
    ) -> Result<Vec<Ranked>, ServiceError> {
        let last = others.last().map_or(u32::MAX, |last| last.score);
        let mut hits = rank::rank(inside.connection, &self.view, query, weaker)?;
        for hit in &mut hits {
            hit.score = hit.score.min(last);
        }
        Ok(hits)
    }

    fn ordered(
        &self,
        inside: &Inside<'_>,
        query: &Query,
        candidates: Vec<Candidate>,
    ) -> Result<Vec<Ranked>, ServiceError> {
        let mut hits = rank::rank(inside.connection, &self.view, query, candidates)?;
        self.sort(inside, &mut hits);
        Ok(hits)
    }

    /// Puts hits that are ordered by relevance into the order that is asked for.
    fn sort(&self, inside: &Inside<'_>, hits: &mut [Ranked]) {
        let entry = |hit: &Ranked| self.view.document(hit.document);
        match self.sort {
            Sort::Relevance => {}
            Sort::ObservedModified => hits.sort_by_key(|hit| {
                std::cmp::Reverse(entry(hit).map_or(0, |entry| entry.modified_at))
            }),
            Sort::LastUsedWorkspace => hits.sort_by_key(|hit| {
                let workspace = entry(hit).map_or(0, |entry| i64::from(entry.workspace));
                let known = inside.known.iter().find(|known| known.key.0 == workspace);
                std::cmp::Reverse(known.and_then(|known| known.last_opened_at))
            }),
        }
    }

    /// What the filters admit where there are no words; nothing where there are no filters either.
    fn filtered(&self, inside: &Inside<'_>) -> List {
        if !inside.mask.has_filters() {
            return List::default();
        }
        let mut gathered = Gathered::default();
        for (node, entry) in self.view.nodes() {
            if !inside.mask.admits_node(node, entry) {
                continue;
            }
            let key = if self.per == Per::Node { node.0 } else { entry.document };
            gathered.add(key, Candidate::at(entry.document, Some(node), Place::Filters, 0.0));
        }
        let mut hits: Vec<Ranked> =
            gathered.into_list().iter().map(|candidate| rank::of(candidate, 0.0)).collect();
        hits.sort_by_key(|hit| {
            let modified = self.view.document(hit.document).map_or(0, |entry| entry.modified_at);
            (std::cmp::Reverse((modified, hit.document)), hit.node)
        });
        self.sort(inside, &mut hits);
        let is_cut = hits.len() > MOST_FILTERED;
        hits.truncate(MOST_FILTERED);
        List { hits, is_cut, ..List::default() }
    }

    /// The query with words that stand in none of the documents replaced by near ones, the likeliest first.
    fn corrected(&self, inside: &Inside<'_>) -> Result<Vec<String>, ServiceError> {
        let mut replaced: Vec<(usize, Vec<String>)> = Vec::new();
        for (index, term) in self.query.terms.iter().enumerate() {
            let Some(word) = term.word().filter(|_| term.correctable) else { continue };
            let is_there = self.with_scan(inside, &self.query, |scan| {
                let is_there = Cell::new(false);
                scan.rows(Words::One(&self.query, index), 1, |_| {
                    is_there.set(true);
                    true
                })?;
                Ok(is_there.get())
            })?;
            if is_there {
                continue;
            }
            self.service.search.words.refresh(inside.connection)?;
            let meant = self.service.search.words.nearest(word);
            if !meant.is_empty() {
                replaced.push((index, meant));
            }
        }
        let most = replaced.iter().map(|(_, meant)| meant.len()).max().unwrap_or(0);
        let queries = (0..most).map(|choice| {
            let words: Vec<(usize, &str)> = replaced
                .iter()
                .filter_map(|(index, meant)| {
                    let word = meant.get(choice).or(meant.first())?;
                    Some((*index, word.as_str()))
                })
                .collect();
            self.query.with_words(&words)
        });
        Ok(queries.collect())
    }

    fn page(&self, inside: &Inside<'_>, list: &List) -> Result<Results, ServiceError> {
        let corrected = list.corrected.as_deref().map(Query::parse);
        let query = corrected.as_ref().unwrap_or(&self.query);
        let mut shown = Vec::new();
        let (mut bytes, mut passed) = (0, 0);
        for ranked in list.hits.iter().skip(self.offset).take(self.page_size) {
            // It may have left the documents that are searched since the list was made.
            if inside.mask.admits_document(ranked.document)
                && let Some(hit) = hits::show(inside.connection, &self.view, query, ranked)?
            {
                bytes += serde_json::to_vec(&hit)?.len() + 1;
                if !shown.is_empty() && bytes > limits::PAGE_BYTES {
                    break;
                }
                shown.push(hit);
            }
            passed += 1;
        }
        let next = self.offset.saturating_add(passed);
        let behind = worker::behind(inside.connection)?;
        Ok(Results {
            hits: shown,
            next_offset: (next < list.hits.len()).then(|| u32::try_from(next).ok()).flatten(),
            updating_workspaces: behind
                .into_iter()
                .filter(|(key, _)| inside.known.iter().any(|known| known.key == *key))
                .map(|(_, id)| id)
                .collect(),
            corrected_query: list.corrected.clone(),
            incomplete: list.is_cut,
            query_cut: self.query.cut,
        })
    }
}
