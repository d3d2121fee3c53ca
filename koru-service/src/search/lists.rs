//! Lists of hits of the last searches, so that the pages of one search fit together while documents change.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::rank::Ranked;

/// The most lists.
const LISTS: usize = 256;
/// The most bytes of all lists.
const BYTES: usize = 8 * 1024 * 1024;
/// For how long a list is kept, in milliseconds.
const AGE: i64 = 2 * 60 * 1_000;

/// What one search found, in order.
#[derive(Debug, Clone, Default)]
pub struct List {
    /// The hits, the best first.
    pub hits: Vec<Ranked>,
    /// Whether weaker hits were not looked for yet.
    pub has_more: bool,
    /// Whether a bound was reached.
    pub is_cut: bool,
    /// How many keys of documents there were when it was made; later documents are not for it.
    pub documents: usize,
    /// What was searched instead of what was asked.
    pub corrected: Option<String>,
}

impl List {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.hits.len() * size_of::<Ranked>()
    }
}

#[derive(Debug)]
struct Kept {
    connection: u64,
    key: String,
    at: i64,
    list: Arc<List>,
}

/// The lists that are kept, the newest last.
#[derive(Debug, Default)]
pub struct Lists(Mutex<VecDeque<Kept>>);

impl Lists {
    /// The list of the search that `key` names, where it is kept: the connection's own, else the newest, since a shell asks
    /// for each page on another connection. `now` in milliseconds since 1970 (UTC).
    #[must_use]
    pub fn get(&self, connection: u64, key: &str, now: i64) -> Option<Arc<List>> {
        let lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = || lists.iter().rev().filter(|kept| kept.key == key && now - kept.at <= AGE);
        let own = same().find(|kept| kept.connection == connection);
        own.or_else(|| same().next()).map(|found| Arc::clone(&found.list))
    }

    /// Keeps a list in place of an older one of the same search and connection.
    pub fn put(&self, connection: u64, key: String, now: i64, list: Arc<List>) {
        let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lists.retain(|kept| {
            (kept.connection != connection || kept.key != key) && now - kept.at <= AGE
        });
        if list.bytes() > BYTES {
            return;
        }
        lists.push_back(Kept { connection, key, at: now, list });
        let mut bytes: usize = lists.iter().map(|kept| kept.list.bytes()).sum();
        while lists.len() > LISTS || bytes > BYTES {
            bytes -= lists.pop_front().map_or(0, |gone| gone.list.bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_kept_for_a_while_and_replaced_by_its_own_kind() {
        let lists = Lists::default();
        let list = |is_cut| Arc::new(List { is_cut, ..List::default() });
        lists.put(1, "a".into(), 0, list(false));
        lists.put(1, "a".into(), 5, list(true));
        assert!(lists.get(1, "a", AGE).is_some_and(|list| list.is_cut));
        assert!(lists.get(1, "b", AGE).is_none());
        assert!(lists.get(1, "a", AGE + 6).is_none());
        for number in 0..LISTS {
            lists.put(1, number.to_string(), 6, list(false));
        }
        assert!(lists.get(1, "a", 6).is_none() && lists.get(1, "0", 6).is_some());
    }

    #[test]
    fn who_has_no_list_of_his_own_takes_the_newest() {
        let lists = Lists::default();
        let list = |documents| Arc::new(List { documents, ..List::default() });
        lists.put(1, "a".into(), 0, list(1));
        lists.put(2, "a".into(), 1, list(2));
        let got = |connection| lists.get(connection, "a", 2).map(|list| list.documents);
        assert_eq!([got(1), got(2), got(3)], [Some(1), Some(2), Some(2)]);
    }

    #[test]
    fn lists_take_a_bounded_room() {
        let lists = Lists::default();
        let hit = Ranked {
            document: 1,
            node: None,
            place: crate::search::candidates::Place::Breadcrumb,
            others: 0,
            score: 0,
        };
        let half = BYTES / 2 / size_of::<Ranked>();
        for key in ["a", "b", "c"] {
            let hits = vec![hit; half - 10];
            lists.put(1, key.into(), 0, Arc::new(List { hits, ..List::default() }));
        }
        assert!(lists.get(1, "a", 0).is_none() && lists.get(1, "c", 0).is_some());
    }
}
