//! What is found, and where.

use serde_json::json;

use super::support::{Fixture, marked, titles};

#[test]
fn words_are_found_in_every_place_and_the_best_place_is_shown() {
    let koru = Fixture::new();
    let garden = koru.page(
        "Garden plan",
        &[
            "heading Roses",
            ">paragraph Cut the climbing roses in March",
            "task Buy compost",
            "code rosegrow --all",
        ],
    );
    let (task, _) = koru.node(&garden, "Buy");
    koru.change(
        &garden,
        "Buy",
        "set_attribute",
        &json!({ "key": "koru.priority", "value": { "kind": "text", "value": "urgent" } }),
    );
    koru.change(&garden, "Buy", "add_tag", &json!({ "tag": "Allotment/Soil" }));
    let below = koru.page_under(Some(&garden), "Beds", &["paragraph Three by four metres"]);

    for (query, field, kind, node_is_some, snippet, marks) in [
        ("garden", "title", "title", false, "Garden plan", vec!["Garden"]),
        (
            "climbing ros",
            "text",
            "paragraph",
            true,
            "Cut the climbing roses in March",
            vec!["climbing", "roses"],
        ),
        (
            "\"cut the\"",
            "text",
            "paragraph",
            true,
            "Cut the climbing roses in March",
            vec!["Cut the"],
        ),
        ("urgent ", "attribute", "task", true, "urgent", vec!["urgent"]),
        ("soil", "tag", "task", true, "Allotment/Soil", vec!["Soil"]),
        ("rosegrow", "text", "code", true, "rosegrow --all", vec!["rosegrow"]),
    ] {
        let found = koru.search(query);
        let hit = &found["hits"][0];
        assert_eq!(hit["title"], "Garden plan", "{query}: {found}");
        assert_eq!(hit["field"], field, "{query}: {hit}");
        assert_eq!(hit["kind"], kind, "{query}: {hit}");
        assert_eq!(hit["node"].is_string(), node_is_some, "{query}: {hit}");
        assert_eq!(hit["snippet"], snippet, "{query}");
        let mut seen = marked(hit);
        let mut wanted = marks.clone();
        if query.starts_with('"') {
            seen = vec![];
            wanted = vec![];
        }
        assert_eq!(seen, wanted, "{query}: {hit}");
    }
    let found = koru.search("urgent ");
    assert_eq!(found["hits"][0]["node"], task.as_str());
    // "roses": the heading is best, the paragraph and no other place hold as well.
    let found = koru.search("roses");
    assert_eq!(found["hits"][0]["kind"], "heading");
    assert_eq!(found["hits"][0]["other_matches"], 1);
    // A document below is found by the title above it, last.
    let found = koru.search("garden");
    assert_eq!(titles(&found), ["Garden plan", "Beds"]);
    assert_eq!(found["hits"][1]["field"], "breadcrumb");
    assert_eq!(found["hits"][1]["breadcrumb"], json!(["Garden plan"]));
    assert_eq!(found["hits"][1]["document"], below.id.as_str());
    // Headings above a node stand in its breadcrumb.
    let found = koru.search("march");
    assert_eq!(found["hits"][0]["breadcrumb"], json!(["Roses"]));
}

#[test]
fn all_words_must_hold_in_one_document_in_whatever_places() {
    let koru = Fixture::new();
    let parent = koru.page("Migration", &["paragraph nothing here"]);
    koru.page_under(
        Some(&parent),
        "Steps",
        &["paragraph The database comes first", "paragraph Then a backup"],
    );
    koru.page("Alone", &["paragraph The database alone"]);
    koru.page("Near", &["paragraph a database backup is near"]);
    koru.page("Far", &["paragraph a database that has been described by many words and a backup"]);
    assert_eq!(koru.titles("database backup"), ["Near", "Far", "Steps"]);
    assert_eq!(koru.titles("database migration"), ["Steps"]);
    assert_eq!(koru.titles("database nonexistentword"), Vec::<String>::new());
    assert_eq!(koru.titles("\"database backup\""), ["Near"]);
    assert_eq!(koru.titles("\"backup database\""), Vec::<String>::new());
}

/// Case C56: the index equals the store at every answer.
#[test]
fn c56_an_edit_is_found_by_the_search_that_follows_it() {
    let koru = Fixture::new();
    let doc = koru.page("Diary", &["paragraph quixotic"]);
    assert_eq!(koru.titles("quixotic"), ["Diary"]);
    koru.change(&doc, "quixotic", "replace_text", &json!({ "text": "sensible" }));
    assert_eq!(koru.titles("quixotic"), Vec::<String>::new());
    assert_eq!(koru.titles("sensible"), ["Diary"]);
    koru.change(&doc, "Diary", "replace_text", &json!({ "text": "Journal" }));
    assert_eq!(koru.titles("journal"), ["Journal"]);
    assert_eq!(koru.titles("diary"), Vec::<String>::new());
    koru.admin("document.trash", &doc, &json!({}));
    assert_eq!(koru.titles("sensible"), Vec::<String>::new());
    let trashed = json!({ "query": "sensible", "lifecycle": "trash" });
    let found = koru.search_with(&trashed);
    assert_eq!(
        (titles(&found), &found["hits"][0]["lifecycle"]),
        (vec!["Journal".to_owned()], &json!("trash"))
    );
    koru.admin("document.untrash", &doc, &json!({}));
    assert_eq!(koru.titles("sensible"), ["Journal"]);
    koru.change(&doc, "sensible", "remove", &json!({}));
    assert_eq!(koru.titles("sensible"), Vec::<String>::new());
}

#[test]
fn a_link_is_found_by_what_it_shows_and_a_rename_reaches_it() {
    let koru = Fixture::new();
    let ada = koru.page("Ada Lovelace", &[]);
    let text = format!("paragraph Call [[document:{}]] back", ada.id);
    koru.page("Calls", &[&text]);
    assert_eq!(koru.titles("\"call ada lovelace back\""), ["Calls"]);
    let found = koru.search("call lovelace");
    assert_eq!(found["hits"][0]["snippet"], "Call Ada Lovelace back");
    let digits = ada.id.split('-').next().unwrap();
    assert_eq!(koru.titles(&format!("{digits} ")), Vec::<String>::new(), "an ID is no text");
    koru.change(&ada, "Ada", "replace_text", &json!({ "text": "Ada King" }));
    assert_eq!(koru.titles("\"call ada king back\""), ["Calls"]);
    assert_eq!(koru.titles("lovelace"), Vec::<String>::new());
}

#[test]
fn a_link_that_comes_to_point_elsewhere_is_found_by_its_new_target() {
    let koru = Fixture::new();
    let (ada, bob) = (koru.page("Ada", &[]), koru.page("Bob", &[]));
    let doc = koru.page("Calls", &[&format!("paragraph see [[document:{}]] now", ada.id)]);
    assert_eq!(koru.titles("\"see ada now\""), ["Calls"]);
    let text = format!("see [[document:{}]] now", bob.id);
    koru.change(&doc, "see", "replace_text", &json!({ "text": text }));
    assert_eq!(koru.titles("\"see bob now\""), ["Calls"]);
    assert_eq!(koru.titles("\"see ada now\""), Vec::<String>::new());
}

/// A search sees the store and the memory at one moment each; what holds before and after is found at both.
#[test]
fn what_is_there_before_and_after_an_edit_is_found_during_it() {
    let koru = Fixture::new();
    let doc = koru.page("Busy", &["paragraph zebra 0"]);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for number in 1..200 {
                koru.change(
                    &doc,
                    "zebra",
                    "replace_text",
                    &json!({ "text": format!("zebra {number}") }),
                );
            }
        });
        let mut searches = 0;
        while !writer.is_finished() || searches == 0 {
            assert_eq!(koru.titles("zebra"), ["Busy"], "after {searches} searches");
            searches += 1;
        }
        writer.join().unwrap();
    });
}

#[test]
fn a_rename_above_shows_in_the_next_breadcrumb() {
    let koru = Fixture::new();
    let top = koru.page("Old name", &[]);
    let middle = koru.page_under(Some(&top), "Middle", &[]);
    koru.page_under(Some(&middle), "Bottom", &["heading Part", ">paragraph pineapple"]);
    assert_eq!(
        koru.search("pineapple")["hits"][0]["breadcrumb"],
        json!(["Old name", "Middle", "Part"])
    );
    let rows = |koru: &Fixture| -> i64 {
        koru.database().query_row("SELECT max(row) FROM search_node", (), |row| row.get(0)).unwrap()
    };
    let before = rows(&koru);
    koru.change(&top, "Old", "replace_text", &json!({ "text": "New name" }));
    assert_eq!(rows(&koru), before + 1, "a rename costs one row");
    assert_eq!(
        koru.search("pineapple")["hits"][0]["breadcrumb"],
        json!(["New name", "Middle", "Part"])
    );
    assert_eq!(koru.titles("new pineapple"), ["Bottom"]);
    assert_eq!(koru.titles("old pineapple"), Vec::<String>::new());
    koru.admin("document.move", &middle, &json!({ "parent_document_id": null }));
    assert_eq!(koru.search("pineapple")["hits"][0]["breadcrumb"], json!(["Middle", "Part"]));
    assert_eq!(koru.titles("new pineapple"), Vec::<String>::new());
}

#[test]
fn per_node_each_node_with_a_word_is_a_hit() {
    let koru = Fixture::new();
    let doc = koru.page(
        "Holiday",
        &[
            "heading Packing",
            ">task warm socks",
            ">task passport",
            "paragraph socks for the journey",
        ],
    );
    let found = koru.search_with(&json!({ "query": "socks", "document_id": doc.id }));
    let mut snippets: Vec<&str> = found["hits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| hit["snippet"].as_str().unwrap())
        .collect();
    snippets.sort_unstable();
    assert_eq!(snippets, ["socks for the journey", "warm socks"]);
    // Title and heading supply the rest; the heading and the title hold a word, too.
    let found = koru.search_with(&json!({ "query": "packing socks", "per": "node" }));
    assert_eq!(found["hits"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["hits"][0]["snippet"], "warm socks");
    let found = koru.search_with(&json!({ "query": "holiday passport", "per": "node" }));
    assert_eq!(found["hits"].as_array().unwrap().len(), 1, "{found}");
}

#[test]
fn other_places_are_counted_once_however_many_words_they_hold() {
    let koru = Fixture::new();
    koru.page("Spread", &["paragraph red green", "paragraph blue red", "paragraph green"]);
    let found = koru.search("red green blue");
    assert_eq!(found["hits"][0]["other_matches"], 2, "{found}");
    // Of a node there is nothing to count.
    let found = koru.search_with(&json!({ "query": "red green", "per": "node" }));
    assert_eq!(found["hits"][0]["snippet"], "red green");
    assert!(found["hits"][0]["other_matches"].is_null(), "{found}");
}

#[test]
fn above_a_node_only_titles_and_headings_supply_words() {
    let koru = Fixture::new();
    // The words of the second heading are not above the task.
    let nodes = ["heading Packing", ">task warm socks", "heading Urgent summer"];
    let doc = koru.page("Holiday", &nodes);
    let urgent = json!({ "key": "koru.priority", "value": { "kind": "text", "value": "urgent" } });
    for node in ["Holiday", "Packing"] {
        koru.change(&doc, node, "set_attribute", &urgent);
        koru.change(&doc, node, "add_tag", &json!({ "tag": "summer" }));
    }
    for (query, count) in [("holiday packing socks", 1), ("urgent socks", 0), ("summer socks", 0)] {
        let found = koru.search_with(&json!({ "query": query, "per": "node" }));
        assert_eq!(found["hits"].as_array().unwrap().len(), count, "{query}: {found}");
        assert_eq!(koru.titles(query), ["Holiday"], "all words hold in the document");
    }
}

/// Case C54: the accented query finds both, the exact word first.
#[test]
fn c54_accents_do_not_matter_but_exactness_comes_first() {
    let koru = Fixture::new();
    for word in ["ma", "má", "mà", "mả", "mã", "mạ"] {
        koru.page(&format!("Word {word}"), &[&format!("paragraph tiếng {word} việt")]);
    }
    for word in ["má", "mà", "mả", "mạ"] {
        let found = koru.titles(&format!("{word} "));
        assert_eq!(found.len(), 6);
        assert_eq!(found[0], format!("Word {word}"));
    }
    assert_eq!(koru.titles("ma ").len(), 6);
}

#[test]
fn a_misspelt_word_is_corrected_and_said_so() {
    let koru = Fixture::new();
    koru.page("Minutes", &["paragraph the committee meeting", "paragraph another meeting"]);
    let found = koru.search("commitee meetnig ");
    assert_eq!(titles(&found), Vec::<String>::new(), "committee stands in one row only");
    let found = koru.search("meetnig ");
    assert_eq!(found["corrected_query"], "meeting ");
    assert_eq!(titles(&found), ["Minutes"]);
    let found = koru.search("\"meetnig\"");
    assert!(found["corrected_query"].is_null(), "what is quoted is meant so");
    let found = koru.search("meet");
    assert!(found["corrected_query"].is_null() && titles(&found) == ["Minutes"]);
}

#[test]
fn nothing_to_look_for_finds_nothing_and_is_no_error() {
    let koru = Fixture::new();
    koru.page("Anything", &["paragraph at all"]);
    for query in ["", " ", "...", ":", "**", "()", "—", "-!?", "\"", "\"\"", "\u{301}", "\u{200d}"]
    {
        let found = koru.search(query);
        assert_eq!(found["hits"], json!([]), "{query:?}");
    }
    let long = "word ".repeat(20_000);
    let found = koru.search(&long);
    assert_eq!((&found["hits"], &found["query_cut"]), (&json!([]), &json!(true)));
}

/// Case C50: a failure is no empty list.
#[test]
fn c50_what_cannot_be_searched_is_an_error() {
    let koru = Fixture::new();
    koru.page("Anything", &["paragraph at all"]);
    for table in ["search_node", "search_head", "search_body"] {
        let away = format!("ALTER TABLE {table} RENAME TO away");
        let back = format!("ALTER TABLE away RENAME TO {table}");
        koru.database().execute(&away, ()).unwrap();
        let found = koru.call("search_documents", &json!({ "query": "anything at" }));
        assert!(found.is_err(), "{table}: {found:?}");
        koru.database().execute(&back, ()).unwrap();
        assert_eq!(koru.titles("anything at"), ["Anything"], "{table}");
    }
}

#[test]
fn the_best_of_several_places_is_shown() {
    let koru = Fixture::new();
    koru.page("Middle", &["paragraph migration of the database"]);
    koru.page(
        "Best",
        &[
            "paragraph database migration plan",
            "paragraph a database that has seen quite some words before a migration",
        ],
    );
    let found = koru.search("database migration");
    assert_eq!(found["hits"][0]["title"], "Best");
    assert_eq!(found["hits"][0]["snippet"], "database migration plan");
}

#[test]
fn a_name_is_a_word_whatever_adjoins_its_token() {
    let koru = Fixture::new();
    let (a, b) = (koru.page("zebra", &[]), koru.page("giraffe", &[]));
    koru.page("Zoo", &[&format!("paragraph x[[document:{}]][[document:{}]]y", a.id, b.id)]);
    for query in ["zebra ", "giraffe ", "\"x zebra giraffe y\""] {
        assert!(koru.titles(query).contains(&"Zoo".to_owned()), "{query}");
    }
}

#[test]
fn a_correction_knows_new_words_titles_and_the_documents_that_are_searched() {
    let koru = Fixture::new();
    koru.page("First", &["paragraph something", "paragraph something"]);
    assert_eq!(koru.search("somethnig ")["corrected_query"], "something ");
    koru.page("Later", &["paragraph photosynthesis", "paragraph photosynthesis"]);
    assert_eq!(koru.search("photosyntesis ")["corrected_query"], "photosynthesis ");
    koru.page("Chrysanthemum care", &[]);
    assert_eq!(koru.search("chrysanthemun ")["corrected_query"], "chrysanthemum ");
    let trashed = koru.page("Gone", &["paragraph photosyntesis"]);
    koru.admin("document.trash", &trashed, &json!({}));
    assert_eq!(koru.search("photosyntesis ")["corrected_query"], "photosynthesis ");
}

#[test]
fn scope_is_kept() {
    let koru = Fixture::new();
    koru.page("Here", &["paragraph shared word"]);
    let other = koru.new_id();
    koru.ok("workspace.create", &json!({ "workspace_id": other, "name": "Other" }));
    koru.ok("create_document", &json!({ "workspace_id": other, "title": "Shared there" }));
    assert_eq!(koru.titles("shared").len(), 2);
    let found = koru.search_with(&json!({ "query": "shared", "workspace_ids": [other] }));
    assert_eq!(titles(&found), ["Shared there"]);
    assert_eq!(found["hits"][0]["workspace_name"], "Other");
    koru.ok("workspace.delete", &json!({ "workspace_id": other, "deleted": true }));
    assert_eq!(koru.titles("shared"), ["Here"]);
    let found = koru.search_with(&json!({ "query": "shared", "workspace_ids": [other] }));
    assert_eq!(titles(&found), ["Shared there"], "a deleted workspace is searched by its ID");
    let unknown = koru.new_id();
    let refused =
        koru.call("search_documents", &json!({ "query": "x", "workspace_ids": [unknown] }));
    assert!(refused.is_err());
}

#[test]
fn a_title_that_is_the_query_comes_first_however_many_hold_it() {
    let koru = Fixture::new();
    koru.page("Report", &["paragraph of old"]);
    for number in 0..300 {
        let title = format!("Report number {number}");
        koru.page(&title, &["paragraph a report", "paragraph another report"]);
    }
    for query in ["report", "report ", "Report*"] {
        assert_eq!(koru.titles(query).first().map(String::as_str), Some("Report"), "{query}");
    }
}

#[test]
fn whole_words_come_before_words_that_they_begin() {
    let koru = Fixture::new();
    koru.page("Longer", &["paragraph markets here", "paragraph marketing there"]);
    let lines: Vec<String> = (0..700).map(|line| format!("paragraph market {line}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    koru.page("Some", &lines);
    let found = koru.search("market");
    assert_eq!(titles(&found), ["Some", "Longer"]);
    assert_eq!(found["incomplete"], json!(null));
    for number in 0..9 {
        koru.page(&format!("More {number}"), &lines);
    }
    // So many that words that only begin so are not looked for: that is said.
    let found = koru.search("market");
    assert_eq!(found["incomplete"], json!(true));
    assert_eq!(koru.titles("marketing"), ["Longer"]);
    // Another order needs them all.
    let found = koru.search_with(&json!({ "query": "market", "sort": "observed_modified" }));
    assert_eq!(titles(&found).last().map(String::as_str), Some("Longer"));
    assert_eq!(found["incomplete"], json!(null));
}

#[test]
fn frequent_words_are_found_in_few_documents_among_many() {
    let koru = Fixture::new();
    let few = koru.page(
        "Few common",
        &["heading Usual", "paragraph common words", "paragraph usual words", "quote common usual"],
    );
    let lines: Vec<String> =
        (0..1_500).map(|line| format!("paragraph common usual {line}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    for number in 0..15 {
        koru.page(&format!("Page {number}"), &lines);
    }
    let within = |query: &str, per: &str| {
        koru.search_with(&json!({ "query": query, "per": per, "document_id": few.id }))
    };
    for (query, nodes) in
        [("common usual ", 3), ("common ", 3), ("usual", 3), ("\"common usual\"", 1)]
    {
        let found = within(query, "document");
        assert_eq!(titles(&found), ["Few common"], "{query}");
        assert_eq!(found["incomplete"], json!(null));
        let found = within(query, "node");
        assert_eq!(found["hits"].as_array().unwrap().len(), nodes, "{query}: {found}");
    }
}
