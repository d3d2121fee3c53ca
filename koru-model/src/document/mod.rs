//! A document: the CRDT that is kept, and the state that is read and edited.
//!
//! Invariant: [`State`] is a pure function of the CRDT ([`view`]); a local change keeps it step by
//! step and must arrive at the same state.

pub mod crdt;
pub mod read;
pub mod state;
pub mod view;

#[cfg(test)]
pub(crate) mod properties;

pub use crdt::{CrdtError, Replica};
pub use state::{Node, Resolved, Shown, State};

use std::sync::Arc;

use crate::document::crdt::Write;
use crate::edit::Operation;
use crate::edit::batch::{self, BatchError};
use crate::edit::facts::Facts;
use crate::edit::plan::Plan;
use crate::ids::NodeId;
use crate::node::Kind;

/// A document that is open: its replica and its state.
#[derive(Debug)]
pub struct Document {
    replica: Replica,
    state: State,
}

/// Why a document cannot be created.
#[derive(Debug)]
pub enum CreateError {
    /// The operations are refused.
    Batch(BatchError),
    /// The CRDT failed.
    Crdt(CrdtError),
}

impl Document {
    /// Makes a document and returns it with its first update. The title must be accepted already.
    ///
    /// # Errors
    /// When an operation is refused or the CRDT fails.
    pub fn create(
        client: u64,
        root: NodeId,
        title: &str,
        operations: &[Operation],
        facts: &mut dyn Facts,
    ) -> Result<(Self, Vec<u8>), CreateError> {
        let mut title_node = Node::new(root, Kind::Title);
        title_node.stored = title.into();
        title_node.shown = Shown::Root;
        let mut state = State::empty(root);
        state.put(title_node.clone());
        let mut writes = vec![Write::Create(Arc::new(title_node))];
        if let Some(plan) =
            batch::apply(&state, 0, 0, operations, facts).map_err(CreateError::Batch)?
        {
            writes.extend(plan.writes);
            state = plan.state;
        }
        let mut replica = Replica::new(client);
        let update = replica
            .begin(root)
            .and_then(|()| replica.write(&writes, true))
            .map_err(CreateError::Crdt)?;
        Ok((Self { replica, state }, update))
    }

    /// Opens a document from a whole state and the updates that came after it.
    ///
    /// # Errors
    /// When the bytes are no document.
    pub fn load(
        client: u64,
        keyframe: Option<&[u8]>,
        updates: impl IntoIterator<Item = impl AsRef<[u8]>>,
    ) -> Result<Self, CrdtError> {
        let mut replica = Replica::new(client);
        if let Some(keyframe) = keyframe {
            replica.apply_state(keyframe)?;
        }
        for update in updates {
            replica.apply_update(update.as_ref())?;
        }
        Self::of(replica)
    }

    /// Opens a document whose replica holds everything.
    ///
    /// # Errors
    /// When the replica holds no document.
    pub fn of(replica: Replica) -> Result<Self, CrdtError> {
        if replica.has_missing_updates() {
            return Err(CrdtError::Incomplete);
        }
        let state = view::build(replica.root()?, replica.nodes()?);
        Ok(Self { replica, state })
    }

    /// The state.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The replica.
    #[must_use]
    pub fn replica(&self) -> &Replica {
        &self.replica
    }

    /// Takes in an update of another replica.
    ///
    /// # Errors
    /// When it is none; the document must then be dropped.
    pub fn merge(&mut self, update: &[u8]) -> Result<(), CrdtError> {
        self.replica.apply_update(update)?;
        if !self.replica.has_missing_updates() {
            self.state = view::build(self.replica.root()?, self.replica.nodes()?);
        }
        Ok(())
    }

    /// Carries out a plan that was made for the present state and returns the update to keep.
    ///
    /// # Errors
    /// When the CRDT fails; the document must then be dropped.
    pub fn carry_out(&mut self, plan: Plan) -> Result<Vec<u8>, CrdtError> {
        let update = self.replica.write(&plan.writes, false)?;
        self.state = plan.state;
        Ok(update)
    }
}
