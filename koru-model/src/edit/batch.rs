//! A batch: operations in order, all or none.

use std::collections::BTreeSet;

use crate::document::state::{Resolved, State};
use crate::edit::Operation;
use crate::edit::draft::Draft;
use crate::edit::facts::{Facts, FactsError};
use crate::edit::fault::Fault;
use crate::edit::plan::Plan;
use crate::ids::{NodeId, NodeRef};

/// An operation that was refused.
#[derive(Debug)]
pub struct Failure {
    /// Its place in the batch, from 0.
    pub operation_index: usize,
    /// Why.
    pub fault: Fault,
}

/// Why a batch is not applied.
#[derive(Debug)]
pub enum BatchError {
    /// Operations were refused, the first one first. Those that failed only because an earlier one
    /// did are left out.
    Refused(Vec<Failure>),
    /// The world could not be asked.
    Facts(FactsError),
}

/// Tries a batch on a copy of the document. None: it changes nothing.
///
/// After a failure the rest goes on against the draft, so that a client learns of every conflict at
/// once.
///
/// # Errors
/// When any operation is refused; nothing is changed then.
pub fn apply(
    base: &State,
    base_seq: u64,
    head_seq: u64,
    operations: &[Operation],
    facts: &mut dyn Facts,
) -> Result<Option<Plan>, BatchError> {
    let mut draft = Draft::new(base, base_seq, head_seq, facts);
    let mut failures = Vec::new();
    let mut tainted: BTreeSet<NodeId> = BTreeSet::new();
    for (operation_index, operation) in operations.iter().enumerate() {
        let Err(fault) = operation.apply(&mut draft) else { continue };
        if let Fault::Facts(error) = fault {
            return Err(BatchError::Facts(error));
        }
        let named = |name: &NodeRef| match draft.state().resolve(name) {
            Resolved::One(id) => Some(id),
            _ => match name {
                NodeRef::Whole(id) => Some(*id),
                // A node that an earlier operation was to make is known by its ID alone.
                NodeRef::Tail(digits) => {
                    tainted.iter().find(|id| id.hex().ends_with(digits)).copied()
                }
            },
        };
        let own = named(&operation.node());
        let follows = own
            .into_iter()
            .chain(operation.place().into_iter().flatten().filter_map(named))
            .any(|id| tainted.contains(&id));
        tainted.extend(own);
        if !follows {
            failures.push(Failure { operation_index, fault });
        }
    }
    if failures.is_empty() { Ok(Plan::of(draft)) } else { Err(BatchError::Refused(failures)) }
}
