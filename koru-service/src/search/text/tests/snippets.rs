//! What is shown of a text.

use super::texts::{Chance, setting};
use super::{covered, shown};
use crate::search::text::SNIPPET_CHARS;

#[test]
fn short_texts_are_shown_whole_in_one_line() {
    for (query, text, expected, spans) in [
        ("world", "Hello World", "Hello World", vec!["World"]),
        ("x", "", "", vec![]),
        ("y", "Hello\nWorld", "Hello World", vec![]),
        ("one two", "\tone\r\n\r\n  two \u{0} three\n", "one two three", vec!["one", "two"]),
        ("\"one two\"", "so one\n\n two", "so one two", vec!["one two"]),
        ("hello", "hello, hello; HELLO", "hello, hello; HELLO", vec!["hello", "hello", "HELLO"]),
        ("caffe", "un caffe\u{300}!", "un caffe\u{300}!", vec!["caffe\u{300}"]),
        ("straße", "STRASSE", "STRASSE", vec!["STRASSE"]),
        ("get user", "getUserName", "getUserName", vec!["getUser"]),
        ("getusername", "x.getUserName()", "x.getUserName()", vec!["getUserName"]),
        ("天気", "東京都の天気", "東京都の天気", vec!["天気"]),
        ("天", "東京都の天気", "東京都の天気", vec!["天"]),
        ("の天 天気", "東京都の天気", "東京都の天気", vec!["の天気"]),
        (
            "引用",
            "步2 重跑gen-itgc后50条悬空引用清零",
            "步2 重跑gen-itgc后50条悬空引用清零",
            vec!["引用"],
        ),
        ("ที", "อยู่ที่นี่", "อยู่ที่นี่", vec!["ที่"]),
        ("🙂", "a🙂b", "a🙂b", vec!["🙂"]),
        ("👍", "ok 👍🏽!", "ok 👍🏽!", vec!["👍🏽"]),
    ] {
        let shown = shown(text, query);
        assert_eq!(shown.text, expected, "{query:?}");
        assert_eq!(covered(&shown), spans, "{query:?} in {text:?}");
    }
}

#[test]
fn a_hit_far_behind_is_shown_with_what_is_around_it() {
    let filler = "lorem ipsum dolor sit amet ".repeat(2_000);
    let shown_part = shown(&format!("{filler}the needle stands here {filler}"), "needle");
    assert!(shown_part.text.starts_with('…') && shown_part.text.ends_with('…'));
    assert!(shown_part.text.contains("the needle stands here"));
    assert_eq!(covered(&shown_part), ["needle"]);
    assert!((200..=SNIPPET_CHARS).contains(&shown_part.text.chars().count()), "{shown_part:?}");
    let inner = shown_part.text.trim_matches('…');
    assert!(
        inner
            .split(' ')
            .all(|word| "lorem ipsum dolor sit amet the needle stands here".contains(word)
                && word.len() > 2),
        "{inner}"
    );

    let at_end = shown(&format!("{filler}needle"), "needle");
    assert!(at_end.text.starts_with('…') && at_end.text.ends_with("needle"));
    assert!(at_end.text.chars().count() > 200, "{at_end:?}");
    let at_start = shown(&format!("needle {filler}"), "needle");
    assert!(at_start.text.starts_with("needle") && at_start.text.ends_with('…'));
    let none = shown(&filler, "needle");
    assert!(none.text.starts_with("lorem") && none.spans.is_empty());
    assert!(none.text.chars().count() > 200);
}

#[test]
fn the_place_with_most_words_near_each_other_is_shown() {
    let filler = "x ".repeat(300);
    let text = format!(
        "alpha alpha alpha {filler} beta {filler} alpha one two beta {filler} alpha beta {filler} beta"
    );
    assert_eq!(covered(&shown(&text, "alpha beta ")), ["alpha", "beta"]);
    assert!(shown(&text, "alpha beta ").text.contains("alpha beta"));
    assert_eq!(covered(&shown(&text, "alpha ")), ["alpha", "alpha", "alpha"]);
    let many = "a ".repeat(20_000);
    assert_eq!(covered(&shown(&format!("{many} needle {many}"), "needle a-2")), ["needle"]);
    let near = shown(&format!("{many} needle {many}"), "a needle ");
    assert!(covered(&near).contains(&"needle"), "{near:?}");
    let text = format!("category {filler} a cat {filler} categories");
    assert_eq!(covered(&shown(&text, "cat")), ["cat"]);
}

#[test]
fn what_is_larger_than_a_snippet_is_cut() {
    for text in [
        "a".repeat(1_000),
        format!("x {}", "b".repeat(1_000)),
        format!("a{} b", "\u{301}".repeat(1_000)),
        "🇩🇪".repeat(500),
        "👨\u{200D}".repeat(500),
        "東".repeat(1_000),
        "ที่".repeat(500),
        "\n".repeat(1_000) + "a" + &" ".repeat(1_000),
        "e\u{301}".repeat(400),
    ] {
        for query in ["a", "x", "b", &text, "東東", "\"東東東東\"", "ที่", "🇩🇪", "é"]
        {
            let shown = shown(&text, query);
            assert!(shown.text.chars().count() <= SNIPPET_CHARS, "{query:?}");
            for span in &shown.spans {
                let part = shown.text.get(span.start_utf8 as usize..span.end_utf8 as usize);
                assert!(part.is_some_and(|part| !part.is_empty()));
            }
        }
    }
    let long = shown(&format!("x {} y", "e\u{301}".repeat(400)), "é");
    assert!(!long.text.trim_matches('…').starts_with('\u{301}'), "{long:?}");
}

#[test]
fn cuts_stand_between_graphemes() {
    use unicode_segmentation::UnicodeSegmentation as _;
    let seed = setting("KORU_SEED", 1);
    let parts = ["e\u{301}", "👨\u{200D}👩\u{200D}👧", "🇩🇪", "ที่", "東", "한", "a", "ß", "👍🏽"];
    for case in 0..setting("KORU_CASES", 300) {
        let mut chance = Chance(seed.wrapping_add(case));
        let spaced = chance.below(2) == 0;
        let mut text = String::new();
        let hit = chance.below(400);
        for index in 0..400 {
            text.push_str(if index == hit { " needle " } else { chance.pick(&parts) });
            if spaced && chance.below(6) == 0 {
                text.push(' ');
            }
        }
        let shown = shown(&text, "needle");
        assert_eq!(covered(&shown), ["needle"], "seed {seed} case {case}");
        assert!(shown.text.chars().count() > 120, "seed {seed} case {case} {shown:?}");
        let whole: Vec<&str> = text.graphemes(true).filter(|part| *part != " ").collect();
        let inner: Vec<&str> =
            shown.text.trim_matches('…').graphemes(true).filter(|part| *part != " ").collect();
        let at = whole.windows(inner.len()).position(|window| window == inner);
        assert!(at.is_some(), "seed {seed} case {case} {shown:?}");
    }
}
