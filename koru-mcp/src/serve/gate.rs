//! How many calls one client may have in work, and how many may wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use koru_model::protocol::error::{Code, ToolError};
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

const AT_ONCE: usize = 32;
const WAITING: usize = 1_000;

/// The door to the service.
#[derive(Debug)]
pub(super) struct Gate {
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
}

impl Gate {
    pub(super) fn new() -> Self {
        Self { places: Arc::new(Semaphore::new(AT_ONCE)), waiting: AtomicUsize::new(0) }
    }

    /// Waits for a place; it is free again when the permit is dropped.
    ///
    /// # Errors
    /// `busy`, where too many wait already.
    pub(super) async fn enter(&self) -> Result<OwnedSemaphorePermit, ToolError> {
        if let Ok(permit) = Arc::clone(&self.places).try_acquire_owned() {
            return Ok(permit);
        }
        let _waiting = Waiting::join(&self.waiting).ok_or_else(busy)?;
        Arc::clone(&self.places).acquire_owned().await.map_err(|_| busy())
    }
}

struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn join(count: &'a AtomicUsize) -> Option<Self> {
        let joined = Self(count);
        (count.fetch_add(1, Ordering::Relaxed) < WAITING).then_some(joined)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn busy() -> ToolError {
    ToolError::new(
        Code::Busy,
        "Too many calls of this client wait already. Wait for answers, then send this call again.",
    )
    .with(json!({ "in_work": AT_ONCE, "waiting": WAITING }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn more_than_may_wait_are_refused_and_places_are_given_back() {
        let gate = Arc::new(Gate::new());
        let mut inside = Vec::new();
        for _ in 0..AT_ONCE {
            inside.push(gate.enter().await.unwrap());
        }
        let waiting: Vec<_> = (0..WAITING)
            .map(|_| {
                let gate = Arc::clone(&gate);
                tokio::spawn(async move { gate.enter().await.is_ok() })
            })
            .collect();
        while gate.waiting.load(Ordering::Relaxed) < WAITING {
            tokio::task::yield_now().await;
        }
        assert_eq!(gate.enter().await.unwrap_err().code, Code::Busy);
        drop(inside);
        for waiting in waiting {
            assert!(waiting.await.unwrap());
        }
        assert_eq!(gate.waiting.load(Ordering::Relaxed), 0);
    }
}
