//! Calls to the service, whatever becomes of the process that answers them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use koru_model::protocol::error::ToolError;
use koru_model::protocol::home::Home;
use koru_model::protocol::wire::{Request, Scope};
use serde_json::value::RawValue;
use tokio::sync::Mutex;
use uuid::Uuid;

use super::connection::{Broken, Connection};
use super::launch;
use super::retry::{self, Pause, Waits};
use super::socket::not_answering;

const READ: Duration = Duration::from_secs(10);
const WRITE: Duration = Duration::from_secs(30);
/// The name that changes made from the command line are recorded under.
const OWN_NAME: &str = "koru-mcp";

/// Whether a service may be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// Where none runs, one is started.
    IfNeeded,
    /// Only one that runs already is used.
    Never,
}

/// What a lost answer leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing.
    Read,
    /// Whether the change was made.
    Write,
}

impl Kind {
    fn time(self) -> Duration {
        match self {
            Self::Read => READ,
            Self::Write => WRITE,
        }
    }
}

/// A call as the service shall see it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    /// The tool, or the person's request.
    pub(crate) name: &'a str,
    /// The arguments, checked.
    pub(crate) params: &'a RawValue,
    /// What the connection may reach.
    pub(crate) scope: &'a Scope,
    /// Who calls.
    pub(crate) client: &'a str,
    /// What a lost answer leaves open.
    pub(crate) kind: Kind,
}

/// The service, as one process of ours uses it.
#[derive(Debug)]
pub(crate) struct Client {
    home: Home,
    start: Start,
    state: Mutex<State>,
    times: fn(Kind) -> Duration,
}

#[derive(Debug, Default)]
struct State {
    connection: Option<Arc<Connection>>,
    pause: Pause,
}

impl Client {
    /// A client that connects with its first call.
    pub(crate) fn new(home: Home, start: Start) -> Self {
        Self { home, start, state: Mutex::default(), times: Kind::time }
    }

    /// A client that is connected.
    ///
    /// # Errors
    /// When the service cannot be reached or started.
    pub(crate) async fn connect(home: Home, start: Start) -> Result<Self, ToolError> {
        let client = Self::new(home, start);
        client.connection(Instant::now() + READ).await?;
        Ok(client)
    }

    /// One call of a person.
    ///
    /// # Errors
    /// What the service answers, or that it could not be reached.
    pub(crate) async fn call(
        &self,
        name: &str,
        params: &RawValue,
        kind: Kind,
        scope: &Scope,
    ) -> Result<Box<RawValue>, ToolError> {
        self.send(Call { name, params, scope, client: OWN_NAME, kind }).await
    }

    /// One call, sent again under the same key where its connection breaks, until its deadline.
    ///
    /// # Errors
    /// What the service answers, or that it could not be reached.
    pub(crate) async fn send(&self, call: Call<'_>) -> Result<Box<RawValue>, ToolError> {
        let deadline = Instant::now() + (self.times)(call.kind);
        let key = Uuid::now_v7();
        let mut waits = Waits::new();
        let mut sent = false;
        loop {
            match self.connection(deadline).await {
                Ok(connection) => {
                    waits.answered();
                    sent = true;
                    let attempt = connection.call(request(call, key));
                    match tokio::time::timeout_at(deadline.into(), attempt).await {
                        Ok(Ok(Err(error))) if makes_room(&error) => self.forget(&connection).await,
                        Ok(Ok(outcome)) => return outcome,
                        Ok(Err(Broken)) => self.forget(&connection).await,
                        Err(_) => return Err(retry::lost(call.kind, call.name, key)),
                    }
                }
                Err(error) if !sent && !launch::is_passing(&error) => return Err(error),
                Err(error) if Instant::now() >= deadline && !sent => return Err(error),
                Err(_) => {}
            }
            if !waits.wait(deadline).await {
                return Err(retry::lost(call.kind, call.name, key));
            }
        }
    }

    /// The connection that is open, or a new one.
    ///
    /// # Errors
    /// When the service cannot be reached or started.
    pub(crate) async fn connection(&self, deadline: Instant) -> Result<Arc<Connection>, ToolError> {
        let Ok(mut state) = tokio::time::timeout_at(deadline.into(), self.state.lock()).await
        else {
            return Err(not_answering());
        };
        if let Some(connection) = state.connection.as_ref().filter(|open| !open.is_closed()) {
            return Ok(Arc::clone(connection));
        }
        state.connection = None;
        if let Some(error) = state.pause.current() {
            return Err(error);
        }
        match launch::reach(&self.home, self.start, deadline).await {
            Ok(connection) => {
                state.pause.answered();
                let connection = Arc::new(connection);
                state.connection = Some(Arc::clone(&connection));
                Ok(connection)
            }
            Err(error) => {
                if launch::is_failed_start(&error) {
                    state.pause.failed(&error);
                }
                Err(error)
            }
        }
    }

    async fn forget(&self, broken: &Arc<Connection>) {
        let mut state = self.state.lock().await;
        if state.connection.as_ref().is_some_and(|current| Arc::ptr_eq(current, broken)) {
            state.connection = None;
        }
    }

    /// A client with other deadlines.
    #[cfg(test)]
    pub(super) fn with_times(mut self, times: fn(Kind) -> Duration) -> Self {
        self.times = times;
        self
    }
}

fn request(call: Call<'_>, key: Uuid) -> Request {
    Request {
        id: 0,
        call: call.name.to_owned(),
        params: call.params.to_owned(),
        key: Some(key),
        client: Some(call.client.to_owned()),
        scope: call.scope.clone(),
    }
}

/// Whether the service refused the call only because it is about to end.
fn makes_room(error: &ToolError) -> bool {
    error.details.as_ref().is_some_and(|details| details["retry"] == true)
}
