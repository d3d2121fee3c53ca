//! The requests that wait for their answer, so that no two of them share an id.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;

/// How many requests may wait; with more the input is not read on, which slows a client that reads no answers.
const MOST: usize = 2_048;

/// How far a request has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// A tool runs; it can be cancelled.
    Running,
    /// The client cancelled it; it gets no answer.
    Cancelled,
    /// The answer is on its way, and nothing can be cancelled any more.
    Answered,
}

/// The requests in flight.
#[derive(Debug, Default)]
pub(super) struct Live {
    stages: Mutex<HashMap<RequestId, Stage>>,
    fewer: Condvar,
}

impl Live {
    /// Takes a request in; false where its id is in use. Waits while too many requests are in flight.
    pub(super) fn begin(&self, id: RequestId, is_call: bool) -> bool {
        let mut stages = self.lock();
        while stages.len() >= MOST {
            stages = self.fewer.wait(stages).unwrap_or_else(PoisonError::into_inner);
        }
        if stages.contains_key(&id) {
            return false;
        }
        stages.insert(id, if is_call { Stage::Running } else { Stage::Answered });
        true
    }

    /// Notes that the client cancels; false where there is nothing left to cancel.
    pub(super) fn cancel(&self, id: &RequestId) -> bool {
        match self.lock().get_mut(id) {
            Some(stage @ Stage::Running) => {
                *stage = Stage::Cancelled;
                true
            }
            _ => false,
        }
    }

    /// The tool has ended; an answer follows unless the request was cancelled.
    pub(super) fn ran(&self, id: &RequestId) {
        let mut stages = self.lock();
        match stages.get_mut(id) {
            Some(stage @ Stage::Running) => *stage = Stage::Answered,
            Some(Stage::Cancelled) => {
                stages.remove(id);
                self.fewer.notify_all();
            }
            _ => {}
        }
    }

    /// The answer was handed over for writing.
    pub(super) fn answered(&self, id: &RequestId) {
        self.lock().remove(id);
        self.fewer.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, Stage>> {
        self.stages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_free_again_after_its_answer_or_its_cancellation() {
        let live = Live::default();
        let id = RequestId::Number(1);
        assert!(live.begin(id.clone(), true));
        assert!(!live.begin(id.clone(), true));
        assert!(live.begin(RequestId::String("1".into()), true));
        live.ran(&id);
        assert!(!live.cancel(&id), "too late");
        live.answered(&id);
        assert!(live.begin(id.clone(), true));
        assert!(live.cancel(&id));
        assert!(!live.begin(id.clone(), true), "still running");
        live.ran(&id);
        assert!(live.begin(id, false));
    }
}
