//! Whether hits say what the documents say.

use std::collections::BTreeSet;

use jiff::Timestamp;
use koru_model::node::Kind;
use koru_model::protocol::tools::{Per, Sort};
use koru_service::search::text::{Query, tokenize};
use serde_json::{Value, json};

use super::expect::{Key, Plain};
use super::world::Document;

pub(super) fn key(hit: &Value) -> Key {
    (hit["document"].as_str().unwrap().to_owned(), hit["node"].as_str().map(str::to_owned))
}

/// The documents, or nodes, of hits; each only once.
pub(super) fn keys(plain: &Plain<'_>, hits: &[Value]) -> BTreeSet<Key> {
    let mut keys = BTreeSet::new();
    for hit in hits {
        let (document, node) = key(hit);
        let node = if plain.per() == Per::Node { node } else { None };
        assert!(keys.insert((document, node)), "twice: {hit}");
    }
    keys
}

pub(super) fn check(plain: &Plain<'_>, hit: &Value) {
    let document = plain.world.find(hit["document"].as_str().unwrap());
    let workspace = &plain.world.workspaces[document.workspace];
    let node = hit["node"].as_str().map(|id| {
        document.nodes.iter().find(|node| node.id.to_string() == id).expect("a live node")
    });
    assert_eq!(hit["workspace"], workspace.id.to_string());
    assert_eq!(hit["workspace_name"], workspace.name);
    assert_eq!(hit["document_kind"], document.kind);
    assert_eq!(hit["title"], document.title());
    assert_eq!(hit["lifecycle"], if document.is_trashed { "trash" } else { "live" });
    let modified_at: Timestamp = hit["modified_at"].as_str().unwrap().parse().unwrap();
    assert_eq!(modified_at.as_millisecond(), document.modified_at);
    assert_eq!(hit["kind"], node.map_or(Kind::Title, |node| node.kind).name());
    assert!(node.is_none_or(|node| node.kind != Kind::Title), "a title has no node");
    let mut breadcrumb = plain.world.titles_above(document);
    if let Some(node) = node {
        breadcrumb.extend(document.headings_above(node));
    }
    assert_eq!(hit["breadcrumb"], json!(breadcrumb));
    if plain.query.terms.is_empty() {
        assert!(hit["spans"] == json!([]), "no words, no spans");
    } else {
        check_place(plain, hit, document);
        check_snippet(plain.query, hit);
    }
}

/// The place of a hit holds words, and no better one is there.
fn check_place(plain: &Plain<'_>, hit: &Value, document: &Document) {
    let field = hit["field"].as_str().unwrap();
    let node = hit["node"].as_str();
    let by_node = plain.per() == Per::Node;
    let is_here = |id: String, is_title: bool| match node {
        Some(node) => id == node,
        None => is_title,
    };
    let places = if by_node {
        let here = document
            .nodes
            .iter()
            .find(|node| is_here(node.id.to_string(), node.kind == Kind::Title));
        plain.places(here.unwrap())
    } else {
        plain.best_places(document)
    };
    if places.is_empty() {
        assert!(field == "breadcrumb" && node.is_none() && hit["other_matches"].is_null());
        assert_eq!(
            blank_less(&hit["snippet"]),
            blank_less(&json!(
                hit["breadcrumb"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|title| title.as_str().unwrap())
                    .collect::<Vec<_>>()
                    .join(" / ")
            ))
        );
        return;
    }
    let shown = places.iter().find(|place| {
        place.field == field
            && is_here(place.node.id.to_string(), place.node.kind == Kind::Title)
            && blank_less(&json!(place.text)) == blank_less(&hit["snippet"])
    });
    let shown = shown.expect("the place of a hit holds words, all of them where one place does");
    if by_node {
        assert!(hit["other_matches"].is_null());
    } else {
        let others = hit["other_matches"].as_u64().unwrap_or(0);
        let count = places.len() as u64 - 1;
        if plain.is_bounded {
            // Not all places were looked at.
            assert!(others <= count);
            return;
        }
        let best = places.iter().map(|place| place.weight).max().unwrap();
        assert_eq!(shown.weight, best, "there is a better place");
        assert_eq!(others, count);
    }
}

/// A text as a short snippet shows it; long ones are not compared.
fn blank_less(text: &Value) -> String {
    text.as_str().unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The spans cover exactly what a scan of the snippet finds.
fn check_snippet(query: &Query, hit: &Value) {
    let snippet = hit["snippet"].as_str().unwrap();
    assert!(snippet.chars().count() <= 240);
    let tokens = tokenize(snippet);
    let mut matches: Vec<(usize, usize)> = query
        .terms
        .iter()
        .flat_map(|term| term.find(&tokens))
        .map(|found| (found.start as usize, found.end as usize))
        .collect();
    matches.sort_unstable();
    let mut covered: Vec<(usize, usize)> = Vec::new();
    for (start, end) in matches {
        match covered.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => covered.push((start, end)),
        }
    }
    let spans: Vec<(usize, usize)> = hit["spans"]
        .as_array()
        .unwrap()
        .iter()
        .map(|span| {
            let at = |name: &str| usize::try_from(span[name].as_u64().unwrap()).unwrap();
            (at("start_utf8"), at("end_utf8"))
        })
        .collect();
    for (start, end) in &spans {
        assert!(snippet.get(*start..*end).is_some_and(|part| !part.is_empty()), "{start} {end}");
    }
    assert_eq!(spans, covered);
    assert!(!spans.is_empty());
}

/// The order that was asked for, then by score.
pub(super) fn check_order(plain: &Plain<'_>, hits: &[Value]) {
    let score = |hit: &Value| hit["score"].as_f64().unwrap();
    let rank = |hit: &Value| match plain.params.sort.unwrap_or(Sort::Relevance) {
        Sort::Relevance => String::new(),
        Sort::ObservedModified => hit["modified_at"].as_str().unwrap().to_owned(),
        Sort::LastUsedWorkspace => {
            let id = hit["workspace"].as_str().unwrap();
            let mut workspaces = plain.world.workspaces.iter();
            let workspace = workspaces.find(|workspace| workspace.id.to_string() == id).unwrap();
            workspace.last_opened.clone().unwrap_or_default()
        }
    };
    for pair in hits.windows(2) {
        let (left, right) = (&pair[0], &pair[1]);
        let by_sort = rank(left).cmp(&rank(right));
        assert!(by_sort.is_ge(), "the order: {left} {right}");
        assert!(by_sort.is_gt() || score(left) >= score(right), "the scores: {left} {right}");
        if plain.query.terms.is_empty() && by_sort.is_eq() {
            assert!(left["modified_at"].as_str() >= right["modified_at"].as_str());
        }
    }
}
