//! Renaming, merging and removing tags in the store.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};

use koru_model::ids::{TagId, WorkspaceId};
use koru_model::protocol::error::{Code, ToolError};
use koru_service::errors::ServiceError;
use koru_service::store::tags::Listed;
use koru_service::store::workspaces::{self, WorkspaceKey};
use koru_service::store::{Stateless, Store, tag_changes, tags};
use rusqlite::Connection;
use uuid::Uuid;

/// The ID of no tag.
const NONE: TagId = TagId(Uuid::nil());

struct Fixture {
    _folder: tempfile::TempDir,
    store: Store<Stateless>,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("koru.sqlite"), Stateless).unwrap();
        Self { _folder: folder, store }
    }

    /// Runs a test in a workspace of its own, in one transaction that is kept.
    fn within<T: Send + 'static>(
        &self,
        number: u128,
        mut test: impl FnMut(&Tags<'_>) -> T + Send + 'static,
    ) -> T {
        self.store
            .write(move |tx| {
                let connection = tx.connection;
                let id = WorkspaceId(Uuid::from_u128(number));
                let workspace = workspaces::create(connection, id, "Test", 0)?;
                Ok(test(&Tags { connection, workspace }))
            })
            .unwrap()
    }
}

/// The tags of a workspace, named as a person names them.
struct Tags<'a> {
    connection: &'a Connection,
    workspace: WorkspaceKey,
}

impl Tags<'_> {
    fn make(&self, name: &str) -> TagId {
        tags::find_or_create(self.connection, self.workspace, name, Uuid::now_v7).unwrap().id
    }

    fn id(&self, name: &str) -> TagId {
        tags::find(self.connection, self.workspace, name).unwrap().unwrap_or(NONE)
    }

    /// A node that carries the tag under its present ID.
    fn put(&self, node: u8, name: &str) {
        let tag = self.make(name);
        let sql = "INSERT OR IGNORE INTO tag_use (tag, document, node) VALUES (?1, ?2, ?3)";
        self.connection.execute(sql, (tag.as_bytes(), self.workspace.0, [node])).unwrap();
    }

    /// Undoes what a refused change began, as the writing thread does.
    fn attempt<T>(&self, change: impl FnOnce() -> Result<T, ServiceError>) -> Result<T, ToolError> {
        self.connection.execute_batch("SAVEPOINT attempt").unwrap();
        let outcome = change();
        let end = if outcome.is_ok() {
            "RELEASE attempt"
        } else {
            "ROLLBACK TO attempt; RELEASE attempt"
        };
        self.connection.execute_batch(end).unwrap();
        outcome.map_err(ToolError::from)
    }

    fn rename(&self, from: &str, to: &str) -> Result<TagId, ToolError> {
        let id = self.id(from);
        self.attempt(|| tag_changes::rename(self.connection, self.workspace, id, to, Uuid::now_v7))
    }

    fn merge(&self, source: &str, target: &str) -> Result<TagId, ToolError> {
        let (source, target) = (self.id(source), self.id(target));
        self.attempt(|| tag_changes::merge(self.connection, self.workspace, source, target))
    }

    fn remove(&self, name: &str, force: bool) -> Result<u32, ToolError> {
        let id = self.id(name);
        self.attempt(|| tag_changes::remove(self.connection, self.workspace, id, force))
    }

    fn list(&self) -> Vec<Listed> {
        tags::list(self.connection, self.workspace).unwrap()
    }

    /// `name uses`, once it is known that every parent is the tag one level up.
    fn shown(&self) -> Vec<String> {
        let all = self.list();
        for tag in &all {
            let parent = all.iter().find(|other| Some(other.tag_id) == tag.parent);
            let above = koru_model::tag::parent(&tag.name);
            assert_eq!(parent.map(|parent| parent.name.as_str()), above, "{all:?}");
        }
        all.into_iter().map(|tag| format!("{} {}", tag.name, tag.uses)).collect()
    }
}

#[test]
fn a_rename_takes_along_what_is_below_and_keeps_every_use() {
    Fixture::new().within(1, |tags| {
        tags.put(1, "family/calls");
        tags.put(2, "family");
        tags.put(3, "Work");
        let calls = tags.id("family/calls");
        tags.rename("family", " #kin ").unwrap();
        assert_eq!(tags.shown(), ["kin 1", "kin/calls 1", "Work 1"]);
        assert_eq!(tags.id("KIN/CALLS"), calls);
        // The spelling of what is there counts; what is missing is made.
        tags.rename("kin/calls", "work/phone/calls").unwrap();
        assert_eq!(tags.shown(), ["kin 1", "Work 1", "Work/phone 0", "Work/phone/calls 1"]);
        tags.rename("work", "WORK").unwrap();
        assert_eq!(tags.shown(), ["kin 1", "WORK 1", "WORK/phone 0", "WORK/phone/calls 1"]);
        tags.rename("work/phone", "phone").unwrap();
        assert_eq!(tags.shown(), ["kin 1", "phone 0", "phone/calls 1", "WORK 1"]);
        assert_eq!(tags.id("phone/calls"), calls);
    });
}

#[test]
fn names_that_are_none_or_taken_are_refused_and_change_nothing() {
    Fixture::new().within(1, |tags| {
        tags.put(1, "a/b");
        tags.make("c");
        let before = tags.list();
        let long = "x".repeat(199);
        for (from, to, code) in [
            ("a", "C", Code::PreconditionFailed),
            ("a/b", "a", Code::PreconditionFailed),
            ("a", "a/x", Code::InvalidRequest),
            ("a", "A/B/x", Code::InvalidRequest),
            ("a", "new//x", Code::InvalidRequest),
            ("a", "", Code::InvalidRequest),
            ("a", long.as_str(), Code::InvalidRequest),
            ("none", "x", Code::NotFound),
        ] {
            let refused = tags.rename(from, to).unwrap_err();
            assert_eq!(refused.code, code, "{from} > {to}: {refused:?}");
        }
        let refused = tags.rename("a", "c").unwrap_err();
        assert!(refused.message.contains("Merge"), "{refused:?}");
        for (source, target, code) in [
            ("a", "a", Code::InvalidRequest),
            ("a", "a/b", Code::InvalidRequest),
            ("a", "none", Code::NotFound),
            ("none", "a", Code::NotFound),
        ] {
            assert_eq!(tags.merge(source, target).unwrap_err().code, code, "{source} > {target}");
        }
        assert_eq!(tags.list(), before);
    });
}

#[test]
fn merged_tags_count_a_node_once_and_their_ids_go_on_meaning_something() {
    Fixture::new().within(1, |tags| {
        tags.put(1, "phone");
        tags.put(1, "calls");
        tags.put(2, "phone");
        tags.put(3, "phone/old/x");
        tags.put(4, "calls/old");
        tags.put(5, "calls/old/x");
        let old: Vec<TagId> =
            ["phone", "phone/old", "phone/old/x"].into_iter().map(|name| tags.id(name)).collect();
        tags.merge("phone", "calls").unwrap();
        assert_eq!(tags.shown(), ["calls 2", "calls/old 1", "calls/old/x 2"]);
        let means = |id: TagId| tags::resolve(tags.connection, tags.workspace, id).unwrap();
        let names = |ids: &[TagId]| -> Vec<Option<String>> {
            ids.iter().map(|id| means(*id).map(|tag| tag.name)).collect()
        };
        let some = |names: [&str; 3]| names.map(|name| Some(name.to_owned())).to_vec();
        assert_eq!(names(&old), some(["calls", "calls/old", "calls/old/x"]));
        // A merge that is repeated, because its answer was lost, changes nothing.
        let again = tag_changes::merge(tags.connection, tags.workspace, old[0], tags.id("calls"));
        assert_eq!(again.unwrap(), tags.id("calls"));
        // What was merged follows further merges and renames.
        tags.put(6, "talk");
        tags.merge("calls", "talk").unwrap();
        tags.rename("talk", "Speech").unwrap();
        assert_eq!(tags.shown(), ["Speech 3", "Speech/old 1", "Speech/old/x 2"]);
        assert_eq!(names(&old), some(["Speech", "Speech/old", "Speech/old/x"]));
        // The name is free; a new tag of that name is another one.
        assert_eq!(tags.id("phone"), NONE);
        tags.make("phone");
        assert_eq!(tags.shown(), ["phone 0", "Speech 3", "Speech/old 1", "Speech/old/x 2"]);
        // A merge with the tag above, whose name one from below takes over.
        tags.put(7, "a/b/b");
        tags.merge("a/b", "a").unwrap();
        assert_eq!(tags.shown().get(..2).unwrap(), ["a 0", "a/b 1"]);
        // One from below takes over the path of another that moves later.
        tags.put(7, "n/n/n/c");
        tags.put(8, "n/n/c");
        tags.merge("n/n", "n").unwrap();
        assert_eq!(tags.shown().get(2..6).unwrap(), ["n 0", "n/c 1", "n/n 0", "n/n/c 1"]);
    });
}

#[test]
fn a_tag_in_use_is_removed_by_force_alone_and_for_good() {
    Fixture::new().within(1, |tags| {
        tags.put(1, "a");
        tags.put(1, "a/b");
        tags.put(2, "old");
        tags.merge("old", "a/b").unwrap();
        tags.make("free");
        let gone = tags.id("a/b");
        for name in ["a", "a/b"] {
            let refused = tags.remove(name, false).unwrap_err();
            assert_eq!(refused.code, Code::PreconditionFailed, "{refused:?}");
            assert_eq!(refused.details.unwrap()["uses"], 2, "{name}");
        }
        assert_eq!(tags.remove("free", false), Ok(0));
        assert_eq!(tags.shown(), ["a 1", "a/b 2"]);
        assert_eq!(tags.remove("a", true), Ok(2));
        assert!(tags.shown().is_empty());
        assert_eq!(tags::resolve(tags.connection, tags.workspace, gone).unwrap(), None);
        let again = tag_changes::remove(tags.connection, tags.workspace, gone, false);
        assert_eq!(again.unwrap(), 0, "a repeat changes nothing");
        tags.make("a/b");
        assert_eq!(tags.shown(), ["a 0", "a/b 0"], "a new tag of that name is another one");
        assert_eq!(tags.remove("none", true).unwrap_err().code, Code::NotFound);
    });
}

#[test]
fn no_workspace_reaches_the_tags_of_another() {
    let fixture = Fixture::new();
    let there = fixture.within(1, |tags| {
        tags.put(1, "a");
        tags.put(1, "b");
        let merged = tags.id("b");
        tags.merge("b", "a").unwrap();
        [tags.id("a"), merged]
    });
    fixture.within(2, move |tags| {
        let own = tags.make("own");
        let (connection, workspace) = (tags.connection, tags.workspace);
        for id in there {
            assert_eq!(tags::resolve(connection, workspace, id).unwrap(), None);
            let renamed = tag_changes::rename(connection, workspace, id, "x", Uuid::now_v7);
            assert!(matches!(renamed, Err(ServiceError::NotFound { .. })));
            for (source, target) in [(id, own), (own, id)] {
                let merged = tag_changes::merge(connection, workspace, source, target);
                assert!(matches!(merged, Err(ServiceError::NotFound { .. })));
            }
            let removed = tag_changes::remove(connection, workspace, id, true);
            assert!(matches!(removed, Err(ServiceError::NotFound { .. })));
        }
        assert_eq!(tags.shown(), ["own 0"]);
    });
}

/// A merge writes rows for tags, never for the nodes that carry them.
#[test]
fn a_merge_costs_the_same_however_many_nodes_carry_the_tag() {
    let changed = |uses: u32| {
        Fixture::new().within(1, move |tags| {
            let source = tags.make("a");
            tags.make("b");
            for node in 0..uses {
                let sql = "INSERT INTO tag_use (tag, document, node) VALUES (?1, 1, ?2)";
                tags.connection.execute(sql, (source.as_bytes(), node.to_be_bytes())).unwrap();
            }
            let before = tags.connection.total_changes();
            tags.merge("a", "b").unwrap();
            assert_eq!(tags.shown(), [format!("b {uses}")]);
            tags.connection.total_changes() - before
        })
    };
    assert_eq!(changed(1), changed(10_000));
}

/// A small generator of chance with a seed that failures print (splitmix64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % limit as u64).unwrap()
    }

    fn path(&mut self) -> String {
        let levels: Vec<&str> =
            (0..=self.below(3)).map(|_| ["a", "b", "c"][self.below(3)]).collect();
        levels.join("/")
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The same rules over plain paths: which nodes carry each.
#[derive(Debug, Clone, Default)]
struct Plain(BTreeMap<String, BTreeSet<u8>>);

impl Plain {
    fn make(&mut self, path: &str) {
        for (at, _) in path.match_indices('/') {
            self.0.entry(path.get(..at).unwrap().into()).or_default();
        }
        self.0.entry(path.into()).or_default();
    }

    fn is_within(path: &str, above: &str) -> bool {
        path == above || path.starts_with(&format!("{above}/"))
    }

    fn take(&mut self, path: &str) -> Vec<(String, BTreeSet<u8>)> {
        let taken = self.0.extract_if(.., |at, _| Self::is_within(at, path));
        taken.map(|(at, nodes)| (at.strip_prefix(path).unwrap().into(), nodes)).collect()
    }

    fn put_back(&mut self, part: Vec<(String, BTreeSet<u8>)>, path: &str) {
        for (rest, nodes) in part {
            self.0.entry(format!("{path}{rest}")).or_default().extend(nodes);
        }
    }

    fn rename(&mut self, from: &str, to: &str) -> bool {
        let is_under = to != from && Self::is_within(to, from);
        if !self.0.contains_key(from) || is_under || (to != from && self.0.contains_key(to)) {
            return false;
        }
        let part = self.take(from);
        self.make(to);
        self.put_back(part, to);
        true
    }

    fn merge(&mut self, source: &str, target: &str) -> bool {
        let are_there = self.0.contains_key(source) && self.0.contains_key(target);
        if !are_there || Self::is_within(target, source) {
            return false;
        }
        let part = self.take(source);
        self.put_back(part, target);
        true
    }

    fn remove(&mut self, path: &str, force: bool) -> Option<usize> {
        let before = self.clone();
        let part = self.take(path);
        let uses: BTreeSet<u8> = part.iter().flat_map(|(_, nodes)| nodes).copied().collect();
        if part.is_empty() || !force && (part.len() > 1 || !uses.is_empty()) {
            *self = before;
            return None;
        }
        Some(uses.len())
    }

    fn shown(&self) -> Vec<String> {
        self.0.iter().map(|(path, nodes)| format!("{path} {}", nodes.len())).collect()
    }
}

#[test]
fn random_changes_are_those_of_plain_paths() {
    let fixture = Fixture::new();
    let seed = setting("KORU_SEED", 1);
    for case in 0..setting("KORU_CASES", 64) {
        fixture.within(u128::from(case), move |tags| {
            let mut chance = Chance(seed.wrapping_add(case.wrapping_mul(7_919)));
            let mut plain = Plain::default();
            let mut told = Vec::new();
            for _ in 0..60 {
                let (one, other) = (chance.path(), chance.path());
                let node = u8::try_from(chance.below(6)).unwrap();
                let force = chance.below(2) == 0;
                let agree = match chance.below(8) {
                    0..=2 => {
                        told.push(format!("put {node} {one}"));
                        tags.put(node, &one);
                        plain.make(&one);
                        plain.0.get_mut(&one).unwrap().insert(node);
                        true
                    }
                    3 | 4 => {
                        told.push(format!("rename {one} {other}"));
                        tags.rename(&one, &other).is_ok() == plain.rename(&one, &other)
                    }
                    5 | 6 => {
                        told.push(format!("merge {one} {other}"));
                        tags.merge(&one, &other).is_ok() == plain.merge(&one, &other)
                    }
                    _ => {
                        told.push(format!("remove {one} {force}"));
                        let uses = tags.remove(&one, force).ok().map(|uses| uses as usize);
                        uses == plain.remove(&one, force)
                    }
                };
                let found = tags.shown();
                let wanted = plain.shown();
                assert!(
                    agree && found == wanted,
                    "seed {seed}, case {case}: {told:#?}\n{found:?}\n{wanted:?}"
                );
            }
        });
    }
}
