//! The filters of a search against a plain scan of what `read_document` shows: random documents, random
//! edits, each filter alone and in pairs. `KORU_CASES` and `KORU_SEED` widen and repeat it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod random;
mod scan;
mod world;

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::{TimeZone, TimeZoneDatabase, offset};
use koru_model::ids::{NodeId, WorkspaceId};
use koru_model::protocol::home::Home;
use koru_model::protocol::tools::{Lifecycles, SearchDocuments};
use koru_service::errors::ServiceError;
use koru_service::search::filter::{Mask, Scope};
use koru_service::search::memory::NodeKey;
use koru_service::search::{index, worker};
use koru_service::store::{placing, workspaces};
use serde_json::{Value, json};

use crate::random::OPS;
use crate::scan::passes;
use crate::world::{Seen, World, open};

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[derive(Debug)]
struct Chosen {
    workspaces: Vec<usize>,
    lifecycle: Lifecycles,
    document: Option<usize>,
}

impl Chosen {
    fn holds(&self, place: usize, document: &Seen) -> bool {
        let is_in_lifecycle = match self.lifecycle {
            Lifecycles::Live => !document.is_trashed,
            Lifecycles::Trash => document.is_trashed,
            Lifecycles::All => true,
        };
        is_in_lifecycle
            && self.workspaces.contains(&document.workspace)
            && self.document.is_none_or(|only| only == place)
    }
}

impl World {
    /// Compares the mask with a plain scan; whether something but not all of it passed.
    fn compare(&self, seen: &[Seen], params: &Value, scope: &Chosen, zone: &TimeZone) -> bool {
        let view = self.service.search.memory.view(&self.service.store).unwrap();
        let parsed: SearchDocuments = serde_json::from_str(&params.to_string()).unwrap();
        let expected: Vec<(bool, Vec<bool>)> = seen
            .iter()
            .enumerate()
            .map(|(place, document)| {
                let is_in = scope.holds(place, document);
                (
                    is_in,
                    document
                        .nodes
                        .iter()
                        .map(|node| is_in && passes(node, document, params, zone))
                        .collect(),
                )
            })
            .collect();
        self.service
            .store
            .read(|connection| {
                let key_of = |place: usize| -> Result<_, ServiceError> {
                    let id: WorkspaceId = self.workspaces[place].parse().unwrap();
                    Ok(workspaces::find(connection, id)?.unwrap().0)
                };
                let workspaces = scope
                    .workspaces
                    .iter()
                    .map(|place| key_of(*place))
                    .collect::<Result<Vec<_>, _>>()?;
                let keys = seen
                    .iter()
                    .map(|document| {
                        placing::find(connection, key_of(document.workspace)?, document.id)
                    })
                    .collect::<Result<Vec<_>, _>>()?;
                let document = scope.document.map(|place| keys[place]);
                let asked = Scope { workspaces, lifecycle: scope.lifecycle, document };
                let mask = Mask::of(connection, &view, &asked, &parsed, zone)
                    .unwrap_or_else(|error| panic!("{params} {zone:?}: {error:?}"));
                let has_filters = ["kinds", "tags", "attributes", "done"]
                    .iter()
                    .any(|name| params.get(name).is_some());
                assert_eq!(mask.has_filters(), has_filters, "{params}");
                let admitted = mask.admitted_nodes(&view);
                let mut shown = BTreeSet::new();
                let mut count = 0;
                for ((document, key), (is_in, nodes)) in seen.iter().zip(&keys).zip(&expected) {
                    let number = u32::try_from(key.0).unwrap();
                    let is_shown = if has_filters { nodes.contains(&true) } else { *is_in };
                    assert_eq!(
                        mask.admits_document(number),
                        is_shown,
                        "document {} {params} {scope:?}",
                        document.id
                    );
                    if is_shown {
                        shown.insert(number);
                    }
                    let mut passing = BTreeSet::new();
                    for (node, passes) in document.nodes.iter().zip(nodes) {
                        let id: NodeId = node["node_id"].as_str().unwrap().parse().unwrap();
                        let node_key = index::key_at(connection, *key, id)?.unwrap();
                        let entry = view.node(node_key).unwrap();
                        assert_eq!(entry.document, number);
                        assert_eq!(
                            mask.admits_node(node_key, entry),
                            *passes,
                            "{node} {params} {scope:?} {zone:?}"
                        );
                        if *passes {
                            passing.insert(node_key);
                        }
                    }
                    let found: Vec<NodeKey> = admitted.of(number).to_vec();
                    assert_eq!(found, passing.iter().copied().collect::<Vec<_>>(), "{params}");
                    count += found.len();
                }
                assert_eq!(mask.documents().collect::<BTreeSet<_>>(), shown, "{params}");
                assert_eq!(mask.document_count(), shown.len());
                assert_eq!(admitted.nodes().len(), count);
                Ok(())
            })
            .unwrap();
        let mut all = expected.iter().filter(|(is_in, _)| *is_in).flat_map(|(_, nodes)| nodes);
        let first = all.next();
        first.is_some_and(|first| all.any(|passes| passes != first))
    }

    /// Random filters, alone and in pairs, on what there is; which of them told nodes apart.
    fn check(&mut self, rounds: usize, zones: &[TimeZone], telling: &mut BTreeMap<usize, usize>) {
        let seen = self.seen();
        for _ in 0..rounds {
            let mut params = json!({ "query": "" });
            let count = 3 + OPS.len();
            let filters: Vec<usize> =
                (0..self.chance.below(4)).map(|_| self.chance.below(count)).collect();
            for which in &filters {
                self.a_filter(*which, &mut params);
            }
            let lifecycles = [Lifecycles::Live, Lifecycles::Trash, Lifecycles::All];
            let scope = Chosen {
                workspaces: self.chance.pick(&[vec![0, 1], vec![0], vec![1, 0]]).clone(),
                lifecycle: *self.chance.pick(&lifecycles),
                document: self.chance.one_in(6).then(|| self.chance.below(seen.len())),
            };
            let zone = self.chance.pick(zones).clone();
            let tells = self.compare(&seen, &params, &scope, &zone);
            if let ([which], true) = (filters.as_slice(), tells) {
                *telling.entry(*which).or_default() += 1;
            }
        }
    }
}

fn zones() -> Vec<TimeZone> {
    let named = |name: &str| TimeZoneDatabase::bundled().get(name).unwrap();
    vec![
        TimeZone::UTC,
        TimeZone::fixed(offset(14)),
        TimeZone::fixed(offset(-12)),
        named("Europe/Berlin"),
        named("America/New_York"),
        named("Asia/Kolkata"),
    ]
}

#[test]
fn filters_admit_what_a_plain_scan_finds() {
    let (seed, cases) = (setting("KORU_SEED", 1), setting("KORU_CASES", 40));
    let zones = zones();
    let mut world = World::new(seed);
    let mut telling = BTreeMap::new();
    for _ in 0..cases {
        let seen = world.seen();
        for _ in 0..2 {
            let document = &seen[world.chance.below(seen.len())];
            world.edit(document);
        }
        world.rearrange(&seen);
        world.check(12, &zones, &mut telling);
    }
    let [taken, refused] = world.taken;
    assert!(taken > refused, "{taken} changes were made, {refused} refused");
    let all: Vec<usize> = (0..3 + OPS.len()).collect();
    assert_eq!(
        telling.keys().copied().collect::<Vec<_>>(),
        all,
        "each filter told nodes apart: {telling:?}"
    );

    // The next start reads it all from the store.
    world.service.search.wake.end();
    world.service.store.close();
    world.service = open(&world.folder);
    world.check(60, &zones, &mut telling);

    // A store of an earlier release has no comparable values and no index; they are made again.
    world.service.search.wake.end();
    world.service.store.close();
    let path = Home::under(&world.folder.path().join("home"), None).database();
    let database = rusqlite::Connection::open(path).unwrap();
    database
        .execute_batch(
            "UPDATE attribute_use SET n = 0, kind = NULL, value = NULL, exact = NULL;
             UPDATE tag_use SET n = 0; DELETE FROM search_node; DELETE FROM search_more;
             UPDATE document SET unindexed = 1;",
        )
        .unwrap();
    database.close().unwrap();
    world.service = open(&world.folder);
    while worker::catch_up(&world.service).unwrap() {}
    world.check(60, &zones, &mut telling);
}

#[test]
fn what_no_workspace_knows_is_told_apart_from_what_is_wrong() {
    let world = World::new(7);
    let view = world.service.search.memory.view(&world.service.store).unwrap();
    let ask = |params: &str| {
        let params: SearchDocuments = serde_json::from_str(params).unwrap();
        world.service.store.read(|connection| {
            let id: WorkspaceId = world.workspaces[1].parse().unwrap();
            let workspaces = vec![workspaces::find(connection, id)?.unwrap().0];
            let scope = Scope { workspaces, lifecycle: Lifecycles::All, document: None };
            let mask = Mask::of(connection, &view, &scope, &params, &TimeZone::UTC)?;
            Ok(mask.document_count())
        })
    };
    let code = |params: &str| {
        let error = koru_model::protocol::error::ToolError::from(ask(params).unwrap_err());
        (error.code.name(), error.details.unwrap())
    };
    let all = ask(r#"{"query":""}"#).unwrap();
    assert!(all > 0);
    assert_eq!(ask(r#"{"query":"","tags":[],"attributes":[],"kinds":[]}"#).unwrap(), all);
    assert_eq!(ask(r#"{"query":"","tags":["no such tag"]}"#).unwrap(), 0);
    assert_eq!(
        ask(r#"{"query":"","attributes":[{"key":"koru.list","op":"missing"}]}"#).unwrap(),
        all
    );
    // Another workspace defines it, but it is not searched.
    let (name, details) = code(r#"{"query":"","attributes":[{"key":"rare","op":"exists"}]}"#);
    assert_eq!(name, "unknown_attribute");
    assert!(details["known"].as_array().unwrap().contains(&json!("num")), "{details}");
    let (name, details) = code(
        r##"{"query":"","tags":["a","#","a//b"],"attributes":[{"key":"num","op":"is","values":["x"]},{"key":"nun","op":"exists"}]}"##,
    );
    assert_eq!(name, "invalid_request");
    let paths: Vec<&str> = details["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| problem["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["tags[1]", "tags[2]", "attributes[0].values[0]", "attributes[1].key"]);
}
