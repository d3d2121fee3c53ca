//! The fewest nodes whose moving explains another order among siblings.

use std::collections::{BTreeMap, BTreeSet};

use super::common;
use crate::document::State;
use crate::ids::NodeId;

/// The nodes that stand under the same parent on both sides, but elsewhere among the siblings that
/// do: those outside a longest run that kept its order.
pub(super) fn reordered(left: &State, right: &State) -> BTreeSet<NodeId> {
    let mut found = BTreeSet::new();
    for parent in right.subtree(right.root()) {
        if right.child_count(parent) < 2 || left.child_count(parent) < 2 {
            continue;
        }
        let order = common(left, right, parent);
        let places: BTreeMap<NodeId, usize> =
            left.children(parent).enumerate().map(|(place, id)| (id, place)).collect();
        let sequence: Vec<usize> = order.iter().filter_map(|id| places.get(id).copied()).collect();
        let kept = longest_increasing(&sequence);
        found.extend(
            order.iter().enumerate().filter(|(at, _)| !kept.contains(at)).map(|(_, id)| *id),
        );
    }
    found
}

/// The indices of a longest increasing subsequence of distinct numbers (patience sorting).
fn longest_increasing(sequence: &[usize]) -> BTreeSet<usize> {
    let mut tops: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(sequence.len());
    let value = |index: &usize| sequence.get(*index).copied().unwrap_or(0);
    for (index, number) in sequence.iter().enumerate() {
        let pile = tops.partition_point(|top| value(top) < *number);
        before.push(pile.checked_sub(1).and_then(|below| tops.get(below).copied()));
        match tops.get_mut(pile) {
            Some(top) => *top = index,
            None => tops.push(index),
        }
    }
    let mut kept = BTreeSet::new();
    let mut at = tops.last().copied();
    while let Some(index) = at {
        kept.insert(index);
        at = before.get(index).copied().flatten();
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_run_is_kept() {
        for (sequence, kept) in
            [(&[0, 1, 2][..], 3), (&[2, 0, 1], 2), (&[2, 1, 0], 1), (&[1, 2, 3, 0, 4], 4), (&[], 0)]
        {
            assert_eq!(longest_increasing(sequence).len(), kept, "{sequence:?}");
        }
    }
}
