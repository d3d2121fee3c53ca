//! The running service: the store, and what its parts share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use koru_model::protocol::home::Home;
use koru_model::protocol::wire::Hello;
use tokio::sync::watch;

use crate::documents::{Packing, Residents, States};
use crate::errors::{ServiceError, StoreError};
use crate::files::{Contents, Uploads};
use crate::outside::Outside;
use crate::search::{Search, worker};
use crate::store::migrations::SCHEMA;
use crate::store::{Store, Transaction, workspaces};

/// What lives on the writing thread.
pub type State = Residents;

/// The running service.
pub struct Service {
    /// The store.
    pub store: Store<State>,
    /// States that were read or written lately.
    pub states: Arc<States>,
    /// What searches share.
    pub search: Search,
    /// The one who packs the logs of documents.
    pub packing: Packing,
    /// The bytes of files.
    pub contents: Arc<Contents>,
    /// Files that come in.
    pub uploads: Uploads,
    /// Time, new IDs, and the disk under the files.
    pub outside: Outside,
    /// Where everything is.
    pub home: Home,
    start_id: String,
    started: Instant,
    connections: AtomicUsize,
    stop: watch::Sender<bool>,
}

/// Why the service could not open its store.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The first workspace could not be written.
    #[error("the store could not be written: {0}")]
    FirstStart(#[from] ServiceError),
}

impl Service {
    /// Opens the store of `home`, whose folders must exist.
    ///
    /// # Errors
    /// When the store cannot be opened or not be written.
    pub fn open(home: Home, outside: Outside) -> Result<Arc<Self>, OpenError> {
        let states = Arc::new(States::default());
        let search = Search::default();
        let residents = Residents::new(Arc::clone(&states), search.writing());
        let store = Store::open(&home.database(), residents)?;
        let service = Arc::new(Self {
            store,
            states,
            search,
            packing: Packing::default(),
            contents: Arc::new(Contents::new(&home.store, outside.disk())),
            uploads: Uploads::default(),
            start_id: outside.new_id().to_string(),
            outside,
            home,
            started: Instant::now(),
            connections: AtomicUsize::new(0),
            stop: watch::Sender::new(false),
        });
        service.contents.sweep_incoming();
        service.write(|service, tx| {
            worker::check_version(tx.connection)?;
            workspaces::first_start(tx.connection, &service.outside)
        })?;
        worker::start(&service);
        Ok(service)
    }

    /// [`Store::write`], with the service at hand.
    ///
    /// # Errors
    /// Those of [`Store::write`].
    pub fn write<T: Send + 'static>(
        self: &Arc<Self>,
        mut job: impl FnMut(&Self, &mut Transaction<'_, State>) -> Result<T, ServiceError>
        + Send
        + 'static,
    ) -> Result<T, ServiceError> {
        let service = Arc::clone(self);
        self.store.write(move |transaction| job(&service, transaction))
    }

    /// What the service says first on a connection.
    #[must_use]
    pub fn hello(&self) -> Hello {
        Hello { schema: SCHEMA, start_id: self.start_id.clone(), ..Hello::of_this_build() }
    }

    /// For how many seconds the service has run.
    #[must_use]
    pub fn uptime(&self) -> u64 {
        self.started.elapsed().as_secs()
    }

    /// How many connections there are.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// Counts a connection until the result is dropped.
    #[must_use]
    pub fn connected(self: &Arc<Self>) -> Connected {
        self.connections.fetch_add(1, Ordering::Relaxed);
        Connected(Arc::clone(self))
    }

    /// Asks for the orderly end of the service.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Tells when the end was asked for.
    #[must_use]
    pub fn stopping(&self) -> watch::Receiver<bool> {
        self.stop.subscribe()
    }
}

/// A connection that counts.
pub struct Connected(Arc<Service>);

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
