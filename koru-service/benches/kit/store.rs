//! A store of the service, in process, that holds pages.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use koru_model::edit::{AddTag, Insert, Operation, SetAttribute, SetDone};
use koru_model::ids::{DocumentId, NodeId, NodeRef, TagId, WorkspaceId};
use koru_model::protocol::home::Home;
use koru_model::protocol::tools::{CreateDocument, SearchDocuments};
use koru_model::protocol::wire::Scope;
use koru_model::value::{Value, ValueKind};
use koru_service::documents::create;
use koru_service::outside::Outside;
use koru_service::search::{find, worker};
use koru_service::service::Service;
use koru_service::session::Session;
use koru_service::store::{tags, workspaces};

use super::corpus::{Page, WORKSPACES};
use super::random::Ids;
use super::{Outcome, text};

/// The tag that one document in a hundred has.
pub(crate) const TAG: &str = "topics/rare";
/// When the first page is made: 2026-01-01, in milliseconds since 1970 (UTC).
const FIRST: i64 = 1_767_225_600_000;
/// How much later the next one is made.
const STEP: i64 = 10 * 60 * 1000;

/// A store with pages.
pub(crate) struct Store {
    pub(crate) service: Arc<Service>,
    pub(crate) session: Session,
    pub(crate) workspaces: Vec<WorkspaceId>,
    /// The documents by the number of their page.
    pub(crate) documents: Vec<DocumentId>,
    home: Home,
    tags: Vec<TagId>,
    outside: Fixed,
}

/// A clock that stands until it is moved on, and IDs from a seed.
#[derive(Clone)]
struct Fixed {
    clock: Arc<AtomicI64>,
    ids: Arc<Ids>,
}

impl Fixed {
    fn new(seed: u64) -> Self {
        Self { clock: Arc::new(AtomicI64::new(FIRST)), ids: Arc::new(Ids::new(seed)) }
    }

    fn now(&self) -> i64 {
        self.clock.load(Ordering::Relaxed)
    }

    fn node(&self) -> NodeId {
        NodeId(self.ids.next(self.now()))
    }

    fn outside(&self) -> Outside {
        let (clock, ids) = (self.clone(), self.clone());
        Outside::of(Box::new(move || clock.now()), Box::new(move || ids.ids.next(ids.now())))
    }
}

impl Store {
    /// An empty store below a folder.
    pub(crate) fn new(folder: &Path, seed: u64) -> Outcome<Self> {
        let home = Home::under(folder, None);
        home.prepare().map_err(text)?;
        let outside = Fixed::new(seed);
        let service = Service::open(home.clone(), outside.outside()).map_err(text)?;
        let session = Session::new(Some("bench"), Scope::default(), None);
        let (workspaces, tags) = service
            .write(|service, transaction| {
                let connection = transaction.connection;
                let new = || service.outside.new_id();
                let listed = workspaces::list(connection, service.store.opened())?;
                let mut found: Vec<WorkspaceId> =
                    listed.into_iter().map(|workspace| workspace.id).collect();
                let mut tags = Vec::new();
                for number in found.len()..WORKSPACES.len() {
                    let id = WorkspaceId(new());
                    let name = format!("Workspace {number}");
                    workspaces::create(connection, id, &name, service.outside.now())?;
                    found.push(id);
                }
                for workspace in &found {
                    let id = TagId(new());
                    if let Some((key, _)) = workspaces::find(connection, *workspace)? {
                        tags::create(connection, key, TAG, id, new)?;
                    }
                    tags.push(id);
                }
                Ok((found, tags))
            })
            .map_err(text)?;
        Ok(Self { service, session, workspaces, documents: Vec::new(), home, tags, outside })
    }

    /// Closes the store and opens it again, as after a start of the service.
    pub(crate) fn reopen(self) -> Outcome<Self> {
        let Self { service, session, workspaces, documents, home, tags, outside } = self;
        service.store.close();
        drop(service);
        let service = Service::open(home.clone(), outside.outside()).map_err(text)?;
        Ok(Self { service, session, workspaces, documents, home, tags, outside })
    }

    /// Adds pages in one transaction.
    pub(crate) fn add(&mut self, pages: &[Page]) -> Outcome<()> {
        self.outside.clock.fetch_add(STEP, Ordering::Relaxed);
        let all = pages.iter().map(|page| self.creation(page)).collect::<Outcome<Vec<_>>>()?;
        let made = create::create_many(&self.service, &self.session, all).map_err(text)?;
        self.documents.extend(made);
        Ok(())
    }

    fn creation(&self, page: &Page) -> Outcome<CreateDocument> {
        let workspace = page.workspace;
        let root = self.outside.node();
        let nodes: Vec<NodeId> = page.blocks.iter().map(|_| self.outside.node()).collect();
        let mut operations = Vec::with_capacity(nodes.len() + 2);
        if page.is_tagged {
            operations.push(Operation::AddTag(AddTag {
                node_id: NodeRef::Whole(root),
                expected: page.title.clone(),
                tag: None,
                tag_id: self.tags.get(workspace).copied(),
            }));
        }
        for (block, id) in page.blocks.iter().zip(&nodes) {
            let parent = block.under.and_then(|place| nodes.get(place)).unwrap_or(&root);
            let node_id = NodeRef::Whole(*id);
            let expected = || block.text.clone();
            operations.push(Operation::Insert(Insert {
                node_id: *id,
                parent_id: NodeRef::Whole(*parent),
                after_node_id: None,
                at_end: Some(true),
                kind: block.kind,
                text: Some(block.text.clone()),
            }));
            if block.done {
                let done = SetDone { node_id: node_id.clone(), expected: expected(), done: true };
                operations.push(Operation::SetDone(done));
            }
            if let Some(day) = &block.due {
                operations.push(Operation::SetAttribute(SetAttribute {
                    node_id,
                    expected: expected(),
                    key: "koru.due".into(),
                    value: Value { kind: ValueKind::Date, value: day.clone() },
                }));
            }
        }
        let parent = match page.parent {
            Some(page) => Some(*self.documents.get(page).ok_or("a parent that is not there yet")?),
            None => None,
        };
        Ok(CreateDocument {
            workspace_id: *self.workspaces.get(workspace).ok_or("no such workspace")?,
            title: page.title.clone(),
            kind: None,
            parent_document_id: parent,
            idempotency_key: None,
            root_node_id: Some(root),
            initial_operations: Some(operations),
        })
    }

    /// One search.
    pub(crate) fn search(&self, params: &SearchDocuments) -> Outcome<find::Results> {
        find::search(&self.service, &self.session, params).map_err(text)
    }

    /// The page cache of the connections that search, as SQLite's `cache_size` says it.
    pub(crate) fn cache(&self) -> Outcome<i64> {
        let ask = |connection: &rusqlite::Connection| {
            Ok(connection.pragma_query_value(None, "cache_size", |row| row.get(0))?)
        };
        self.service.store.read(ask).map_err(text)
    }

    /// Lets the upkeep of the index come to its end.
    pub(crate) fn settle(&self) -> Outcome<()> {
        while worker::catch_up(&self.service).map_err(text)? {}
        while worker::merge(&self.service).map_err(text)? {}
        Ok(())
    }

    /// The folders of the store.
    pub(crate) fn home(&self) -> &Home {
        &self.home
    }
}

/// A search for words, nothing else said.
pub(crate) fn words(query: &str) -> SearchDocuments {
    SearchDocuments {
        query: query.to_owned(),
        workspace_ids: None,
        kinds: None,
        lifecycle: None,
        sort: None,
        page_size: None,
        offset: None,
        tags: None,
        attributes: None,
        done: None,
        document_id: None,
        per: None,
    }
}
