//! When to try again, and how long to wait before.

use std::time::{Duration, Instant};

use koru_model::protocol::error::{Code, ToolError};
use serde_json::json;

use super::client::Kind;

const FIRST_WAIT: Duration = Duration::from_millis(20);
const LONGEST_WAIT: Duration = Duration::from_secs(1);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The waits between the attempts of one call.
#[derive(Debug)]
pub(super) struct Waits {
    next: Duration,
}

impl Waits {
    pub(super) fn new() -> Self {
        Self { next: FIRST_WAIT }
    }

    /// The service said hello: what breaks from now on is another trouble than before.
    pub(super) fn answered(&mut self) {
        self.next = FIRST_WAIT;
    }

    /// Waits, but not past the deadline; false where the deadline is reached.
    pub(super) async fn wait(&mut self, deadline: Instant) -> bool {
        let until = (Instant::now() + self.next).min(deadline);
        self.next = (self.next * 2).min(LONGEST_WAIT);
        tokio::time::sleep_until(until.into()).await;
        Instant::now() < deadline
    }
}

/// The pause after starts of the service that never answered; until it is over, every call gets the last failure.
#[derive(Debug, Default)]
pub(super) struct Pause {
    failures: u32,
    until: Option<(Instant, ToolError)>,
}

impl Pause {
    /// The failure to give at once, while the pause lasts.
    pub(super) fn current(&self) -> Option<ToolError> {
        self.until
            .as_ref()
            .filter(|(until, _)| Instant::now() < *until)
            .map(|(_, error)| error.clone())
    }

    pub(super) fn failed(&mut self, error: &ToolError) {
        let pause = FIRST_PAUSE.saturating_mul(1 << self.failures.min(8)).min(LONGEST_PAUSE);
        self.failures += 1;
        self.until = Some((Instant::now() + pause, error.clone()));
    }

    pub(super) fn answered(&mut self) {
        *self = Self::default();
    }
}

/// What to say where the deadline passed after the call had been sent at least once.
pub(super) fn lost(kind: Kind, name: &str, key: uuid::Uuid) -> ToolError {
    match kind {
        Kind::Read => ToolError::new(
            Code::ServiceUnavailable,
            "Koru's service did not answer in time. Nothing was changed; try again.",
        )
        .with(json!({ "cause": "service_not_answering", "call": name })),
        Kind::Write => ToolError::new(
            Code::OutcomeUnknown,
            "The change may or may not be saved. Read the document before trying again.",
        )
        .with(json!({ "call": name, "key": key })),
    }
}
