//! Pages fit together, whatever happens between them.

use serde_json::{Value, json};

use super::support::Fixture;

fn ids(found: &Value) -> Vec<String> {
    let hits = found["hits"].as_array().unwrap();
    hits.iter().map(|hit| format!("{} {}", hit["document"], hit["node"])).collect()
}

/// Reads all pages, and runs `between` before each but the first.
fn paged(koru: &Fixture, params: &Value, size: u32, mut between: impl FnMut(usize)) -> Vec<String> {
    let mut all = Vec::new();
    let mut offset = json!(0);
    for page in 0.. {
        if page > 0 {
            between(page);
        }
        let mut params = params.clone();
        params["page_size"] = size.into();
        params["offset"] = offset;
        let found = koru.search_with(&params);
        all.extend(ids(&found));
        offset = found["next_offset"].clone();
        if offset.is_null() {
            break;
        }
    }
    all
}

fn filled(documents: usize) -> Fixture {
    let koru = Fixture::new();
    for number in 0..documents {
        // Words together, and words spread over two nodes.
        let nodes = if number % 3 == 0 {
            vec![format!("paragraph apple {number}"), "paragraph banana".to_owned()]
        } else {
            vec![format!("paragraph apple banana {number}"), format!("task done {number}")]
        };
        let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
        koru.page(&format!("Page {number}"), &nodes);
    }
    koru
}

#[test]
fn pages_equal_one_big_page() {
    let koru = filled(60);
    for params in [
        json!({ "query": "apple banana" }),
        json!({ "query": "ap" }),
        json!({ "query": "apple", "per": "node" }),
        json!({ "query": "apple", "sort": "observed_modified" }),
        json!({ "query": "banana", "sort": "last_used_workspace" }),
        json!({ "query": "", "kinds": ["task"] }),
    ] {
        let whole = paged(&koru, &params, 200, |_| {});
        assert!(whole.len() >= 40, "{params}: {}", whole.len());
        for size in [1, 7, 20] {
            assert_eq!(paged(&koru, &params, size, |_| {}), whole, "{params}, pages of {size}");
        }
    }
}

/// Enough documents with all words together, so that those with spread words are looked for later.
#[test]
fn documents_in_which_the_words_are_spread_follow_all_others() {
    let koru = filled(330);
    let params = json!({ "query": "apple banana" });
    let whole = paged(&koru, &params, 200, |_| {});
    assert_eq!(whole.len(), 330);
    assert_eq!(paged(&koru, &params, 50, |_| {}), whole);
    let unique: std::collections::BTreeSet<&String> = whole.iter().collect();
    assert_eq!(unique.len(), 330);
}

/// Case C57: pages while another client edits.
#[test]
fn c57_pages_do_not_repeat_or_skip_while_documents_change() {
    let koru = filled(250);
    for query in ["apple banana", "apple"] {
        let params = json!({ "query": query });
        let before = paged(&koru, &params, 20, |_| {});
        let docs = koru.ok("list_documents", &json!({ "workspace_id": koru.workspace }));
        let docs = docs["documents"].as_array().unwrap().clone();
        let during = paged(&koru, &params, 20, |page| {
            // One document becomes new and best, another one comes.
            let id = docs[page * 7 % docs.len()]["id"].as_str().unwrap().to_owned();
            let doc = super::support::Doc { id, root: String::new() };
            let read = koru.read(&doc);
            let node = &read["nodes"][1];
            koru.edit(
                &doc,
                &json!([{ "op": "replace_text", "node_id": node["node_id"], "expected": node["text"],
                          "text": format!("apple banana apple banana {page}") }]),
            );
            koru.page(&format!("apple banana {page}"), &[]);
        });
        // A document that gained the words together keeps its place; nodes shown for it may differ.
        let documents = |all: &[String]| -> Vec<String> {
            all.iter().map(|id| id.split(' ').next().unwrap().to_owned()).collect()
        };
        assert_eq!(documents(&during), documents(&before), "{query}");
    }
}

#[test]
fn a_document_that_left_since_is_no_hit_of_a_later_page() {
    let koru = filled(50);
    let first = koru.search_with(&json!({ "query": "apple", "page_size": 20 }));
    let all = paged(&koru, &json!({ "query": "apple" }), 20, |_| {});
    let id = all[30].split(' ').next().unwrap().trim_matches('"').to_owned();
    let _ = koru.search_with(&json!({ "query": "apple", "page_size": 20 }));
    koru.admin(
        "document.trash",
        &super::support::Doc { id: id.clone(), root: String::new() },
        &json!({}),
    );
    let params = json!({ "query": "apple", "page_size": 20, "offset": first["next_offset"] });
    let second = koru.search_with(&params);
    assert!(ids(&second).iter().all(|hit| !hit.contains(&id)), "{second}");
}

/// Case C57: a page is bounded, and shows the place of the hit.
#[test]
fn c57_large_texts_are_shown_around_the_hit_in_a_bounded_page() {
    let koru = Fixture::new();
    let filler = "lorem ipsum dolor ".repeat(16_000);
    for number in 0..6 {
        koru.page(
            &format!("Large {number}"),
            &[&format!("paragraph {filler} needle{number} needle at the end")],
        );
    }
    let found = koru.search_with(&json!({ "query": "needle at", "page_size": 200 }));
    let hits = found["hits"].as_array().unwrap();
    assert_eq!(hits.len(), 6);
    assert!(found.to_string().len() < 24 * 1024);
    for hit in hits {
        let snippet = hit["snippet"].as_str().unwrap();
        assert!(
            snippet.ends_with("needle at the end") && snippet.chars().count() <= 240,
            "{snippet}"
        );
        assert!(hit["node"].is_string());
    }
}
