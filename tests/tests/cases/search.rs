//! Section F: searches as agents write them. What a query finds word by word is tested in the service; here it
//! goes through the real programs.

use koru_tests::support::bridge::Bridge;
use koru_tests::support::documents::{Page, id, operation, remove, replace, text};
use koru_tests::support::home::Home;
use serde_json::{Value, json};

fn search(bridge: &Bridge, query: &str) -> Value {
    bridge.ok("search_documents", json!({ "query": query }))
}

fn titles(found: &Value) -> Vec<String> {
    let hits = found["hits"].as_array().expect("hits");
    hits.iter().map(|hit| text(&hit["title"])).collect()
}

/// What the spans of a hit cover.
fn marked(hit: &Value) -> Vec<String> {
    let snippet = text(&hit["snippet"]);
    let spans = hit["spans"].as_array().expect("spans");
    let at = |span: &Value, end: &str| usize::try_from(span[end].as_u64().expect("a place")).ok();
    spans
        .iter()
        .filter_map(|span| snippet.get(at(span, "start_utf8")?..at(span, "end_utf8")?))
        .map(str::to_owned)
        .collect()
}

/// Each text is a page of its own, titled by its number.
fn pages(bridge: &Bridge, texts: &[&str]) -> Vec<Page> {
    let page = |(number, text): (usize, &&str)| {
        Page::new(bridge, &format!("Nr {number:03}"), &[("paragraph", text)])
    };
    texts.iter().enumerate().map(page).collect()
}

#[test]
fn c49_no_character_of_a_query_is_syntax() {
    let home = Home::new();
    let bridge = home.bridge();
    let found_by: &[(&str, &str)] = &[
        ("Downloads/x", "saved to Downloads/x today"),
        ("don't", "they don't know"),
        ("health.base", "the table health.base is read"),
        ("ask-codex", "run ask-codex first"),
        ("50%", "a rise of 50% or so"),
        ("co-op", "the co-op is open"),
        ("a AND", "a logical AND gate"),
        ("NOT", "this is NOT it"),
        ("NEAR(", "NEAR the river"),
        ("a NEAR b", "points a NEAR b"),
        ("^x", "marked x here"),
        ("x*", "xylophone"),
        ("C++", "written in C++ once"),
        ("C#", "ported to C# twice"),
        ("@nasa", "seen by @nasa"),
        ("#tag", "with a #tag in it"),
        ("a;b", "the list a;b"),
        ("'; DROP TABLE", "she typed '; DROP TABLE students"),
        ("title:x", "the field title:x is text"),
        ("^a", "anchored ^a"),
        ("\"unclosed", "an unclosed matter"),
        ("(unbalanced", "an unbalanced thing"),
        ("- x", "minus x"),
        ("foo:bar", "key foo:bar"),
        ("{a b}: c", "braces {a b}: c"),
        ("e\u{301}tude", "une étude"),
    ];
    let texts: Vec<&str> = found_by.iter().map(|(_, text)| *text).collect();
    pages(&bridge, &texts);
    for (number, (query, _)) in found_by.iter().enumerate() {
        let found = titles(&search(&bridge, query));
        assert!(found.contains(&format!("Nr {number:03}")), "{query}: {found:?}");
    }
    let nothing =
        ["\"", "\"\"", "(", "\\", "%", "_", "*", "\u{301}", "\u{0}", "-", "^", "NEAR/5 zzz"];
    for query in nothing {
        assert_eq!(search(&bridge, query)["hits"], json!([]), "{query:?}");
    }
}

#[test]
fn c50_nothing_to_look_for_is_defined_and_a_failure_is_no_empty_list() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::new(&bridge, "Tagged", &[("task", "one"), ("paragraph", "two")]);
    page.change(&bridge, &[operation("add_tag", &page.nodes[0], "one", json!({ "tag": "list" }))]);
    let by_tag = |query: &str| {
        bridge.ok("search_documents", json!({ "query": query, "tags": ["list"], "per": "node" }))
    };
    for query in ["", " ", "\t\n"] {
        assert_eq!(search(&bridge, query)["hits"], json!([]), "{query:?}");
        let found = by_tag(query);
        assert_eq!(found["hits"][0]["node"], page.nodes[0], "{found}");
        assert_eq!(found["hits"].as_array().map(Vec::len), Some(1));
    }
    let long = search(&bridge, &"one ".repeat(25_000));
    assert_eq!(long["query_cut"], true, "100,000 characters");
    assert_eq!(titles(&long), ["Tagged"]);

    // The store loses its texts under the running service: an error, and never "nothing found".
    let database = home.folders().database();
    assert_eq!(titles(&search(&bridge, "two")), ["Tagged"]);
    home.stop_service();
    let kept = std::fs::read(&database).expect("a store");
    std::fs::write(
        &database,
        b"no database at all, but long enough to look like a file of one....",
    )
    .expect("a file");
    let bridge = home.bridge();
    let refused = bridge.err("search_documents", json!({ "query": "two" }));
    assert!(refused["code"].is_string() && refused["message"].is_string(), "{refused}");
    std::fs::write(&database, kept).expect("a file");
    assert_eq!(titles(&search(&home.bridge(), "two")), ["Tagged"]);
}

#[test]
fn c51_punctuation_finds_nothing_and_an_emoji_itself() {
    let home = Home::new();
    let bridge = home.bridge();
    pages(&bridge, &["plain text", "a smile 🙂 here", "... : ** () — -!?", "a thumb 👍🏽 up"]);
    for query in ["...", ":", "**", "()", "—", "-!?", "…", "„“", "\u{200d}\u{fe0f}"] {
        assert_eq!(search(&bridge, query)["hits"], json!([]), "{query:?}");
    }
    assert_eq!(titles(&search(&bridge, "🙂")), ["Nr 001"]);
    assert_eq!(titles(&search(&bridge, "👍")), ["Nr 003"], "in any skin tone");
}

#[test]
fn c52_languages_without_spaces_are_found_by_their_fragments() {
    let home = Home::new();
    let bridge = home.bridge();
    let texts = [
        "步2 重跑gen-itgc后50条悬空引用清零",
        "東京都の天気は晴れ",
        "ﾃﾞｰﾀを読む",
        "조선시대의 역사",
        "ภาษาไทยไม่มีช่องว่าง",
    ];
    pages(&bridge, &texts);
    for (query, number, shown) in [
        ("悬空", 0, "悬空"),
        ("itgc", 0, "itgc"),
        ("gen-itgc", 0, "gen itgc"),
        ("\"gen-itgc\"", 0, "gen-itgc"),
        ("引用", 0, "引用"),
        ("引用清零", 0, "引用清零"),
        ("重跑", 0, "重跑"),
        ("天気", 1, "天気"),
        ("都の", 1, "都の"),
        ("データ", 2, "ﾃﾞｰﾀ"),
        ("시대", 3, "시대"),
        ("역사", 3, "역사"),
        ("ไทย", 4, "ไทย"),
        ("ช่อง", 4, "ช่อง"),
    ] {
        let found = search(&bridge, query);
        assert_eq!(titles(&found), [format!("Nr {number:03}")], "{query}");
        let shown: Vec<&str> = shown.split(' ').collect();
        assert_eq!(marked(&found["hits"][0]), shown, "{query}");
    }
}

#[test]
fn c53_short_words_are_found_among_many_documents() {
    let home = Home::new();
    let bridge = home.bridge();
    let texts = [
        "雨が降る",
        "部署の一覧",
        "let it go now",
        "about AI today",
        "역사를 배우다",
        "the language C",
        "广西 and 桂林",
        "release v2",
        "広場",
    ];
    let made = pages(&bridge, &texts);
    let fill: Vec<(&str, &str)> = vec![("paragraph", "some other words in many nodes"); 5_000];
    for number in 0..2 {
        let _ = Page::new(&bridge, &format!("Filler {number}"), &fill);
    }
    for (query, number) in [
        ("雨", 0),
        ("部署", 1),
        ("go", 2),
        ("AI", 3),
        ("역사", 4),
        ("C ", 5),
        ("广西", 6),
        ("桂林", 6),
        ("v2", 7),
        ("広", 8),
    ] {
        assert_eq!(titles(&search(&bridge, query)), [format!("Nr {number:03}")], "{query}");
    }
    // OR is a word like others.
    assert_eq!(search(&bridge, "广西 OR 桂林")["hits"], json!([]));
    let go = &made[2];
    go.change(&bridge, &[operation("add_tag", &go.nodes[0], texts[2], json!({ "tag": "short" }))]);
    let tagged = |query: &str| {
        titles(&bridge.ok("search_documents", json!({ "query": query, "tags": ["short"] })))
    };
    assert_eq!(tagged("go"), ["Nr 002"]);
    assert_eq!(tagged("雨"), Vec::<String>::new());
}

#[test]
fn c54_accents_fold_in_both_directions_and_exact_words_come_first() {
    let home = Home::new();
    let bridge = home.bridge();
    let pairs = [
        ("caffe", "caffè"),
        ("caffe", "caffe\u{300}"),
        ("duong", "đường"),
        ("strasse", "straße"),
        ("ilik", "ılık"),
        ("κοσμος", "κόσμος"),
        ("елка", "ёлка"),
        ("aether", "Æther"),
        ("office", "oﬃce"),
        ("wide", "ｗｉｄｅ"),
        ("lodz", "Łódź"),
        ("smorrebrod", "smørrebrød"),
        ("שלום", "שָׁלוֹם"),
        ("محمد", "مُحَمَّد"),
    ];
    for (number, (plain, marked)) in pairs.iter().enumerate() {
        for (kind, word) in [("plain", plain), ("marked", marked)] {
            let title = format!("{kind} {number:02}");
            let _ = Page::new(&bridge, &title, &[("paragraph", &format!("- {word} -"))]);
        }
    }
    for (number, (plain, marked)) in pairs.iter().enumerate() {
        for (query, first) in [(plain, "plain"), (marked, "marked")] {
            let found = titles(&search(&bridge, &format!("{query} ")));
            for kind in ["plain", "marked"] {
                assert!(found.contains(&format!("{kind} {number:02}")), "{query}: {found:?}");
            }
            assert!(found[0].starts_with(first), "{query}: {found:?}");
        }
    }
}

#[test]
fn c55_words_may_stand_apart_and_names_are_found_by_their_parts() {
    let home = Home::new();
    let bridge = home.bridge();
    let _ = Page::new(
        &bridge,
        "Plan",
        &[("paragraph", "The database comes first."), ("paragraph", "Then a migration of users.")],
    );
    let names =
        ["use session-recall", "see CLAUDE.md", "edit src/main.py", "in phase-2", "getUserName()"];
    pages(&bridge, &names);
    assert_eq!(titles(&search(&bridge, "database migration")), ["Plan"]);
    assert_eq!(search(&bridge, "\"database migration\"")["hits"], json!([]));
    assert_eq!(titles(&search(&bridge, "\"a migration of\"")), ["Plan"]);
    for (query, number) in [
        ("session-recall", 0),
        ("session recall", 0),
        ("recall", 0),
        ("CLAUDE.md", 1),
        ("claude", 1),
        ("src/main.py", 2),
        ("main.py", 2),
        ("Phase 2", 3),
        ("phase-2", 3),
        ("user name", 4),
        ("getusername", 4),
        ("get_user_name", 4),
    ] {
        assert_eq!(titles(&search(&bridge, query)), [format!("Nr {number:03}")], "{query}");
    }
    // One misspelt word of four.
    for _ in 0..2 {
        let _ = Page::new(&bridge, "Minutes", &[("paragraph", "the committee meets on monday")]);
    }
    let found = search(&bridge, "the comittee meets on ");
    assert_eq!(found["corrected_query"], "the committee meets on ");
    assert_eq!(titles(&found), ["Minutes", "Minutes"]);
}

#[test]
fn c56_the_index_is_the_store_at_every_answer() {
    let home = Home::new();
    let (writer, reader) = (home.bridge(), home.bridge());
    let page = Page::new(&writer, "Diary", &[("task", "quixotic"), ("paragraph", "zephyr wind")]);
    let other = Page::of_lines(&writer, "Other", 1);
    let shows = |query: &str| titles(&search(&reader, query));
    let nobody: [&str; 0] = [];
    assert_eq!(shows("quixotic"), ["Diary"]);
    page.change(&writer, &[replace(&page.nodes[0], "quixotic", "sensible")]);
    assert_eq!(shows("quixotic"), nobody);
    assert_eq!(shows("sensible"), ["Diary"]);
    page.change(&writer, &[replace(&page.root, "Diary", "Journal")]);
    assert_eq!((shows("diary"), shows("journal")), (vec![], vec!["Journal".to_owned()]));

    // Away into another document, and back by restoring.
    let before = page.now(&writer);
    writer.ok(
        "extract_to_document",
        json!({ "workspace_id": page.workspace, "source_document_id": page.document, "base_revision": before,
            "source_node_id": page.nodes[1], "expected": "zephyr wind", "target_document_id": other.document }),
    );
    assert_eq!(shows("zephyr"), ["Other"]);
    other.change(&writer, &[remove(&page.nodes[1], "zephyr wind")]);
    assert_eq!(shows("zephyr"), nobody);
    let versions = writer.ok("list_document_versions", page.this());
    let oldest = versions["entries"].as_array().and_then(|all| all.last()).expect("an entry");
    let restore = json!({ "entry_id": oldest["id"], "base_revision": page.now(&writer) });
    writer.ok("restore_document_version", page.reading(restore));
    assert_eq!(
        (shows("quixotic"), shows("zephyr")),
        (vec!["Diary".to_owned()], vec!["Diary".to_owned()])
    );

    let trash = |command: &str| {
        let done = home.run(&["document", command, &page.document]);
        assert!(done.status.success(), "{done:?}");
    };
    trash("trash");
    assert_eq!(shows("quixotic"), nobody);
    let all = reader.ok("search_documents", json!({ "query": "quixotic", "lifecycle": "all" }));
    assert_eq!(all["hits"][0]["lifecycle"], "trash");
    trash("untrash");
    assert_eq!(shows("quixotic"), ["Diary"]);
}

#[test]
fn c57_large_documents_give_small_pages_around_the_hit() {
    let home = Home::new();
    let bridge = home.bridge();
    let filler = "lorem ipsum dolor sit amet ".repeat(18_500);
    let documents = 20;
    let large: Vec<Page> = (0..documents)
        .map(|number| {
            let text = format!("{filler}needle number {number}");
            Page::new(&bridge, &format!("Large {number:02}"), &[("paragraph", &text)])
        })
        .collect();
    let page = |size: u32, offset: u64| {
        let params = json!({ "query": "needle number", "page_size": size, "offset": offset });
        let found = bridge.ok("search_documents", params);
        assert!(found.to_string().len() < 26 * 1024);
        found
    };
    assert_eq!(page(1, 0)["hits"].as_array().map(Vec::len), Some(1));
    let too_many = json!({ "query": "needle", "page_size": 1000 });
    assert_eq!(bridge.err("search_documents", too_many)["code"], "invalid_request");
    let mut seen = Vec::new();
    let mut offset = Some(0);
    while let Some(at) = offset {
        let found = page(7, at);
        for hit in found["hits"].as_array().expect("hits") {
            let snippet = text(&hit["snippet"]);
            assert!(
                snippet.contains("needle number") && snippet.chars().count() <= 240,
                "{snippet}"
            );
            assert_eq!(marked(hit), ["needle", "number"]);
            let owner = large.iter().find(|page| hit["document"] == page.document);
            assert_eq!(hit["node"], owner.expect("a page").nodes[0]);
            seen.push(text(&hit["document"]));
        }
        offset = found["next_offset"].as_u64();
        // Another client makes one that would come first.
        let _ = Page::new(&bridge, "needle number", &[("paragraph", &id())]);
    }
    assert_eq!(seen.len(), documents, "{seen:?}");
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), documents, "none twice");
}

/// Two agents page through the same search; what the second one sees is not the first one's list.
#[test]
fn each_bridge_pages_through_its_own_list() {
    let home = Home::new();
    let (one, other) = (home.bridge(), home.bridge());
    let made = pages(&one, &["a lantern", "a lantern", "a lantern"]);
    let page = |bridge: &Bridge, offset: u32| -> Vec<String> {
        let params = json!({ "query": "lantern", "page_size": 1, "offset": offset });
        titles(&bridge.ok("search_documents", params))
    };
    let mut seen = page(&one, 0);
    assert_eq!(seen, ["Nr 002"]);
    // Now another document is the newest, which the other bridge sees at once.
    let first = made.first().expect("a page");
    first.change(&one, &[replace(&first.nodes[0], "a lantern", "the lantern")]);
    assert_eq!(page(&other, 0), ["Nr 000"]);
    seen.extend(page(&one, 1));
    seen.extend(page(&one, 2));
    assert_eq!(seen, ["Nr 002", "Nr 001", "Nr 000"]);
}
