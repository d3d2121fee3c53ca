//! Searches against a plain scan of all documents, while everything about them changes.

mod ask;
mod chance;
mod check;
mod expect;
mod make;
mod values;
mod world;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;

use koru_model::protocol::tools::{Per, SearchDocuments, Sort};
use koru_service::search::text::Query;
use serde_json::{Value, json};

use self::chance::{Chance, setting};
use self::expect::Plain;
use self::make::Maker;
use self::world::World;
use crate::support::Fixture;

const ROUNDS: usize = 5;
const SEARCHES: usize = 160;

/// How often things were seen, so that the test cannot pass by finding nothing.
#[derive(Default)]
struct Seen(BTreeMap<String, usize>);

impl Seen {
    fn note(&mut self, what: impl Into<String>) {
        *self.0.entry(what.into()).or_default() += 1;
    }
}

#[test]
fn every_search_finds_what_a_scan_of_all_documents_finds() {
    let seed = setting("KORU_SEED", 1);
    let mut seen = Seen::default();
    let cases = setting("KORU_CASES", 3);
    for case in 0..cases {
        let mut chance = Chance(seed.wrapping_add(case).wrapping_mul(104_729));
        let koru = Fixture::new();
        let mut maker = Maker::new(&koru, &mut chance);
        for _ in 0..14 {
            maker.create();
        }
        for round in 0..ROUNDS {
            for _ in 0..12 {
                maker.step();
                let wait = [0, 1_000, 3_600_000, 86_400_000 * 3][maker.chance.below(4)];
                maker.koru.clock.fetch_add(wait, Ordering::Relaxed);
            }
            let mut world = World::read(&koru);
            for number in 0..SEARCHES {
                let params = ask::params(maker.chance, &world);
                let size = 1 + maker.chance.below(5);
                // A search that names workspaces uses them.
                world.note_use(&koru);
                let tested = catch_unwind(AssertUnwindSafe(|| {
                    test(&koru, &world, &params, size, &mut seen);
                }));
                if let Err(panic) = tested {
                    eprintln!(
                        "KORU_SEED={seed} case {case} round {round} search {number}: {params}"
                    );
                    resume_unwind(panic);
                }
            }
        }
        assert!(maker.done > 60, "{}", maker.done);
        crate::equality::check(&koru);
    }
    if cases >= 3 {
        for what in [
            "title",
            "text",
            "attribute",
            "tag",
            "breadcrumb",
            "filtered",
            "corrected",
            "trash",
            "several pages",
            "document, words, filters",
            "node, words, filters",
            "others",
        ] {
            let times = seen.0.get(what).copied().unwrap_or(0);
            assert!(times >= 5, "{what} was seen {times} times: {:?}", seen.0);
        }
    }
}

/// Words that stand in thousands of nodes are looked for differently where others are rare.
#[test]
fn frequent_words_are_found_beside_rare_ones() {
    let koru = Fixture::new();
    let lines: Vec<String> =
        (0..5_200).map(|line| format!("paragraph common usual {line}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    koru.page("Lines", &lines);
    for number in 0..90 {
        let rare = format!("task rare{} and r{number}", number / 30);
        let nodes: &[&str] = match number % 4 {
            0 => &["quote common", &rare],
            1 => &["quote common", "quote usual", &rare],
            2 => &[&rare],
            _ => &["heading Common", &rare, "quote usual"],
        };
        koru.page(if number % 10 == 0 { "A common title" } else { "Usual" }, nodes);
    }
    let world = World::read(&koru);
    let mut seen = Seen::default();
    for query in [
        "common ",
        "common usual ",
        "common r7 ",
        "common usual rare1 ",
        "rare0 common",
        "rare2 usual common ",
        "\"common usual\" lines",
        "nowhere common ",
        "rare common usual",
    ] {
        for sort in ["relevance", "observed_modified"] {
            for per in ["document", "node"] {
                if per == "node" && !query.contains('r') {
                    continue;
                }
                let params = json!({ "query": query, "per": per, "sort": sort });
                test(&koru, &world, &params, 77, &mut seen);
            }
        }
    }
}

fn pages(koru: &Fixture, params: &Value, size: usize) -> (Vec<Value>, Value) {
    let mut hits = Vec::new();
    let mut first = Value::Null;
    let mut offset = Some(0);
    while let Some(at) = offset {
        let mut params = params.clone();
        params["page_size"] = size.into();
        params["offset"] = at.into();
        let mut page = koru.search_with(&params);
        let found = page["hits"].as_array().unwrap().len() as u64;
        offset = page["next_offset"].as_u64();
        assert!(offset.is_none_or(|offset| offset == at + found), "{page}");
        assert!(found <= size as u64);
        hits.append(page["hits"].as_array_mut().unwrap());
        assert!(page["incomplete"].is_null(), "{page}");
        let is_cut = Query::parse(params["query"].as_str().unwrap()).cut;
        assert_eq!(page["query_cut"].as_bool().unwrap_or(false), is_cut, "{page}");
        assert_eq!(page["updating_workspaces"], json!([]));
        if first.is_null() {
            first = page;
        } else {
            assert_eq!(page["corrected_query"], first["corrected_query"]);
        }
    }
    (hits, first["corrected_query"].clone())
}

fn test(koru: &Fixture, world: &World, params: &Value, size: usize, seen: &mut Seen) {
    let (hits, corrected) = pages(koru, params, size);
    let asked: SearchDocuments = serde_json::from_value(params.clone()).unwrap();
    let (all, _) = pages(koru, params, 200);
    if asked.sort != Some(Sort::LastUsedWorkspace) || asked.workspace_ids.is_none() {
        assert_eq!(hits, all, "pages and one big page");
    }
    let typed = Query::parse(&asked.query);
    let plain = Plain {
        world,
        params: &asked,
        query: &typed,
        is_bounded: world.documents.iter().any(|document| document.nodes.len() > 3_000),
    };
    let expected = plain.found();
    let near = corrected.as_str().map(Query::parse);
    let plain = match &near {
        Some(near) => {
            assert!(expected.is_empty(), "corrected, though there are hits: {corrected}");
            seen.note("corrected");
            Plain { query: near, ..plain }
        }
        None => plain,
    };
    let expected = if near.is_some() { plain.found() } else { expected };
    assert!(near.is_none() || !expected.is_empty(), "corrected to nothing: {corrected}");
    let found = check::keys(&plain, &hits);
    let missing: Vec<_> = expected.difference(&found).collect();
    let wrong: Vec<_> = found.difference(&expected).collect();
    assert!(
        missing.is_empty() && wrong.is_empty(),
        "missing {missing:?}, wrong {wrong:?}, hits {hits:#?}"
    );
    for hit in &hits {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check::check(&plain, hit))) {
            panic!("{:?}: {hit:#}", panic.downcast_ref::<String>());
        }
    }
    check::check_order(&plain, &hits);
    note(seen, &plain, &hits, size);
}

fn note(seen: &mut Seen, plain: &Plain<'_>, hits: &[Value], size: usize) {
    if hits.is_empty() {
        return;
    }
    if hits.len() > size {
        seen.note("several pages");
    }
    if plain.query.terms.is_empty() {
        seen.note("filtered");
    } else {
        let filters = if plain.has_filters() { "filters" } else { "no filters" };
        let per = if plain.per() == Per::Node { "node" } else { "document" };
        seen.note(format!("{per}, words, {filters}"));
        for hit in hits {
            seen.note(hit["field"].as_str().unwrap());
        }
    }
    for hit in hits {
        seen.note(hit["lifecycle"].as_str().unwrap());
        if hit["other_matches"].is_u64() {
            seen.note("others");
        }
    }
}
