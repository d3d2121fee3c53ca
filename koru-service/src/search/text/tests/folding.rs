//! Folding: C54, in both directions.

use super::finds;
use crate::search::text::{Kind, Query, fold, indexed, tokenize};

const PAIRS: [(&str, &str); 44] = [
    ("caffe", "caffè"),
    ("caffe", "caffe\u{300}"),
    ("caffè", "caffe\u{300}"),
    ("duong", "đường"),
    ("ma", "mạ"),
    ("ma", "mả"),
    ("strasse", "straße"),
    ("strasse", "STRAẞE"),
    ("ilik", "ılık"),
    ("istanbul", "İstanbul"),
    ("istanbul", "ISTANBUL"),
    ("κοσμος", "κόσμος"),
    ("ΚΟΣΜΟΣ", "κόσμος"),
    ("κοσμοσ", "κοσμος"),
    ("елка", "ёлка"),
    ("иод", "йод"),
    ("aether", "Æther"),
    ("oeuvre", "œuvre"),
    ("kobenhavn", "København"),
    ("lodz", "Łódź"),
    ("thingvellir", "Þingvellir"),
    ("edda", "eðda"),
    ("hal", "ħal"),
    ("tavda", "ŧavda"),
    ("angstrom", "\u{212B}ngström"),
    ("file", "ﬁle"),
    ("office", "oﬃce"),
    ("abc123", "ＡＢＣ１２３"),
    ("カタカナ", "ｶﾀｶﾅ"),
    ("ガギグ", "ｶﾞｷﾞｸﾞ"),
    ("パン", "ﾊﾟﾝ"),
    ("が", "か\u{3099}"),
    ("한국", "\u{1112}\u{1161}\u{11AB}\u{1100}\u{116E}\u{11A8}"),
    ("ㄱㅏ", "ﾡￂ"),
    ("שלום", "שָׁלוֹם"),
    ("محمد", "مُحَمَّد"),
    ("احمد", "أَحْمَد"),
    ("سلام", "ســلام"),
    ("كتاب", "کتاب"),
    ("hawaii", "Hawaiʻi"),
    ("cooperate", "co\u{AD}operate"),
    ("hello", "ℌ𝓮𝔩𝕝𝚘"),
    ("น้ำ", "นํ้า"),
    ("葛飾", "葛\u{E0100}飾"),
];

#[test]
fn pairs_match_in_both_directions() {
    for (left, right) in PAIRS {
        for (query, text) in [(left, right), (right, left)] {
            assert!(finds(query, text), "{query:?} in {text:?}: {:?}", Query::parse(query));
            assert!(
                finds(&format!("\"{query}\""), &format!("x {text}, y")),
                "{query:?} in {text:?}"
            );
        }
        assert_eq!(indexed(left), indexed(right), "{left:?} {right:?}");
    }
}

#[test]
fn these_stay_different() {
    for (left, right) in
        [("か", "が"), ("か", "カ"), ("мир", "mir"), ("2", "²½"), ("12", "½"), ("มา", "ม้า")]
    {
        assert!(!finds(&format!("\"{left}\""), right), "{left:?} {right:?}");
    }
}

#[test]
fn an_accented_word_is_best_as_it_was_typed() {
    let text = "ma má mà mả mã mạ";
    for word in text.split(' ') {
        let tokens = tokenize(text);
        let query = Query::parse(word);
        let found = query.terms[0].find(&tokens);
        assert_eq!(found.len(), 6);
        let exact: Vec<&str> = found
            .iter()
            .filter(|found| found.as_typed)
            .map(|found| text.get(found.start as usize..found.end as usize).unwrap())
            .collect();
        assert_eq!(exact, [word]);
    }
}

#[test]
fn every_character_folds_into_what_the_index_keeps_whole() {
    let mut tokens_seen = 0;
    for c in ('\0'..=char::MAX).filter(|c| *c != '\u{E000}') {
        for text in [c.to_string(), format!("a{c}"), format!("{c}b"), format!("日{c}本")] {
            let tokens = tokenize(&text);
            tokens_seen += tokens.len();
            let mut before = 0;
            for token in tokens.iter() {
                assert!(!token.text.is_empty() && token.text.len() <= 64, "{text:?} {token:?}");
                let kept = |c: char| !c.is_ascii() || c.is_ascii_digit() || c.is_ascii_lowercase();
                assert!(
                    token.text.chars().all(kept) && !token.text.contains('\u{E000}'),
                    "{text:?}"
                );
                let slice = text.get(token.start as usize..token.end as usize);
                assert!(slice.is_some_and(|slice| !slice.is_empty()), "{text:?} {token:?}");
                assert!(token.start >= before, "{text:?} {token:?}");
                before = token.start;
            }
        }
    }
    assert!(tokens_seen > 1_000_000);
}

#[test]
fn folding_a_value_twice_changes_nothing() {
    for c in '\0'..=char::MAX {
        let once = fold(&format!("x{c}y"));
        assert_eq!(fold(&once), once, "U+{:04X}", c as u32);
    }
    assert_eq!(fold("Ærø, STRASSE (ﬁ) №1"), "aero, strasse (fi) no1");
}

#[test]
fn all_pictographs_are_emoji_but_these() {
    use unicode_segmentation::UnicodeSegmentation as _;
    // Rule GB11 of UAX #29: only pictographs are joined by U+200D.
    let joined = |c: char| format!("{c}\u{200D}{c}").graphemes(true).count() == 1;
    let own = |c: char| format!("a{c}").graphemes(true).count() == 2;
    let mut others = String::new();
    for c in ('\u{80}'..=char::MAX).filter(|c| joined(*c) && own(*c)) {
        let text = c.to_string();
        let tokens = tokenize(&text);
        if tokens.get(0).is_none_or(|token| token.kind != Kind::Emoji || token.text != text) {
            others.push(c);
        }
    }
    assert_eq!(others, "©®‼⁉™ℹ↔↕↖↗↘↙↩↪Ⓜ〰〽㊗㊙");
}
