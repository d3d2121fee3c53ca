//! Section F of the cases that broke other products, as far as one text and one query show them.

use super::{finds, words};
use crate::search::text::{Kind, Query, indexed, parts, tokenize};

#[test]
fn words_identifiers_and_paths_become_these_tokens() {
    for (text, expected) in [
        ("", ""),
        ("Hello, World", "hello world"),
        ("don't DON’T 'quoted' rock 'n' roll dogs'", "dont dont quoted rock n roll dogs"),
        ("snake_case _private __init__ a_", "snake case private init a"),
        ("getUserName HTTPServer parseXMLFile", "get user name http server parse xml file"),
        ("v2 utf8 H2O 3D B2B mp3 MP3Player 2nd", "v2 utf8 h2o 3d b2b mp3 mp3 player 2nd"),
        ("utf8Decode 3Blue1Brown", "utf8 decode 3 blue1 brown"),
        ("URLs PDFs IDs URLsOf", "urls pdfs ids ur ls of"),
        ("iPhone GitHub CLAUDE.md", "i phone git hub claude md"),
        (
            "a.b@c.org src/main.py std::fs session-recall",
            "a b c org src main py std fs session recall",
        ),
        ("ПриветМир ÉcoleÉtat", "привет мир ecole etat"),
        ("l'école d’État qu'il c'est dell'arte", "l ecole d etat qu il c est dell arte"),
        ("col·lecció a·b", "colleccio a b"),
        ("3.14 1,000 50% C++ C# #tag @nasa", "3 14 1 000 50 c c tag nasa"),
        ("x² ½ 1½ ⑦ № ㎏", "x2 ½ 1½ 7 kg"),
        ("步2 重跑gen-itgc后50条", "步 2 重跑 跑 gen itgc 后 50 条"),
        ("東京都の天気", "東京 京都 都の の天 天気 気"),
        ("ｶﾞｲﾄﾞ ガイド か\u{3099}", "ガイ イド ド ガイ イド ド が"),
        ("조선시대 각", "조선 선시 시대 대 각"),
        ("ㅋㅋ ﾡ", "ㅋㅋ ㅋ ㄱ"),
        ("น้ำ นํ้า", "น\u{e49}\u{e4d}า า น\u{e49}\u{e4d}า า"),
        ("㍿ ㈱", "株式 式会 会社 社 株"),
        ("葛\u{E0100}城", "葛城 城"),
        (
            "hi🙂world 👍🏽👍 👨\u{200D}👩\u{200D}👧 🇩🇪🇫🇷 1️⃣ ✔\u{FE0F} ©™",
            "hi 🙂 world 👍 👍 👨👩👧 🇩🇪 🇫🇷 1 ✔",
        ),
        ("\u{301} \u{200D} \u{FEFF} \u{200F} \u{E000} 🏽 \u{0} ـ ' _ '' ''' ·", ""),
        ("a\u{AD}b c\u{200D}d e\u{200B}f", "ab cd ef"),
        ("\u{FEFF}bom \u{202B}rtl\u{202C}", "bom rtl"),
        ("שָׁלוֹם מُحَمَّد أحمد آب", "שלום מحمد احمد اب"),
        ("हिन्दी क़लम", "हिन\u{94d}दी क\u{93c}लम"),
        ("a''b a_'b a'_b", "a b a b a b"),
    ] {
        assert_eq!(words(text), expected, "{text:?}");
    }
}

#[test]
fn offsets_are_those_of_the_source_with_the_marks_of_a_word() {
    let text = "— Ca\u{301}fe\u{301}\u{200D} ＡＢ 東京 🙂";
    let tokens = tokenize(text);
    let slices: Vec<&str> = tokens
        .iter()
        .map(|token| text.get(token.start as usize..token.end as usize).unwrap())
        .collect();
    assert_eq!(slices, ["Ca\u{301}fe\u{301}", "ＡＢ", "東京", "京", "🙂"]);
    let kinds: Vec<Kind> = tokens.iter().map(|token| token.kind).collect();
    assert_eq!(kinds, [Kind::Word, Kind::Word, Kind::Pair, Kind::Unit, Kind::Emoji]);
}

#[test]
fn joined_forms_stand_behind_the_text_once_each() {
    let text = "call getUserName or get_user_name now, setX, plain";
    let expected = "call get user name or get user name now set x plain \
                    \u{E000} getusername \u{E000} setx";
    assert_eq!(indexed(text), expected);
}

#[test]
fn long_words_are_cut_in_the_text_as_in_the_query() {
    for word in [
        "a".repeat(300),
        "é".repeat(300),
        "Ab".repeat(300),
        "ก\u{E49}".repeat(2),
        format!("ก{}", "\u{E34}".repeat(100)),
    ] {
        for token in tokenize(&word).iter() {
            assert!(token.text.len() <= 64, "{token:?}");
        }
        assert!(finds(&word, &format!("x {word} y")), "{word}");
        assert!(finds(&format!("{word} "), &word), "{word}");
    }
}

#[test]
fn queries_find_these_texts_and_not_those() {
    let table: &[(&str, &[&str], &[&str])] = &[
        ("Downloads/x", &["~/Downloads/x.txt"], &["Downloads"]),
        ("don't", &["I dont", "I don’t"], &["don"]),
        ("health.base", &["see health.base.yml", "health base"], &["health"]),
        ("ask-codex", &["ask-codex", "Ask Codex"], &["ask"]),
        ("50%", &["50 %", "by 50% more"], &["500"]),
        ("a AND", &["this and a"], &["a", "and"]),
        ("NOT", &["not", "Nothing"], &["knot"]),
        ("NEAR(", &["near by"], &["far"]),
        ("^x", &["x", "xy"], &["ax"]),
        ("x*", &["x", "xy"], &["ax"]),
        ("C++", &["C and C++"], &["cat", "a b"]),
        ("C# ", &["C#"], &["csharp"]),
        ("@nasa", &["nasa"], &["usa"]),
        ("#tag", &["tag", "a #tag"], &["stag"]),
        ("a;b", &["a, b", "b a"], &["a;c"]),
        ("title:x", &["the title x", "x title"], &["title"]),
        ("- x", &["x"], &["y"]),
        ("'; DROP TABLE", &["drop the tables"], &["drop"]),
        ("\"unclosed phrase", &["an unclosed phrase"], &["phrase unclosed"]),
        ("\"user na\"", &["user na"], &["user name"]),
        ("user na", &["a name of a user"], &["user nb"]),
        ("user na ", &["user na"], &["user name"]),
        ("getusername", &["getUserName", "get_user_name", "GETUSERNAME"], &["get user name"]),
        (
            "getUserName",
            &["getUserName", "get_user_name", "getusername", "get user name"],
            &["name user get"],
        ),
        ("get_user_name", &["getUserName", "get_user_name", "getusername"], &["get name"]),
        ("\"get user name\"", &["getUserName", "get_user_name"], &["getusername"]),
        (
            "\"call getUserName now\"",
            &["call getUserName now", "Call get_user_name now"],
            &["call now getUserName"],
        ),
        ("getuserna", &["getUserName"], &["getUser name"]),
        ("iphone", &["iPhone"], &["i phone"]),
        ("ecole", &["l'école"], &["lécol"]),
        ("lecole", &["l'école"], &["l ecole"]),
        ("悬空", &["步2 重跑gen-itgc后50条悬空引用清零"], &["悬 空"]),
        ("itgc", &["步2 重跑gen-itgc后50条悬空引用清零"], &[]),
        ("gen-itgc", &["步2 重跑gen-itgc后50条悬空引用清零"], &[]),
        ("引用", &["步2 重跑gen-itgc后50条悬空引用清零"], &["引 用"]),
        ("第3章", &["共第3章节", "第3章"], &["第4章3"]),
        ("天気", &["東京都の天気", "天気予報"], &["天の気"]),
        ("シティ", &["ニューシティへ", "ｼﾃｨ"], &["シテ"]),
        ("시대", &["조선시대"], &["시 대"]),
        ("雨", &["雨", "大雨", "雨天"], &["雪"]),
        ("部署", &["已部署完毕"], &["部 署"]),
        ("go", &["go", "Go!", "golang"], &["ego"]),
        ("AI", &["AI", "aim"], &["OpenBI"]),
        ("역사", &["한국의 역사책"], &["역의사"]),
        ("C", &["C", "cat"], &["abc"]),
        ("v2", &["API v2"], &["v 2", "v1"]),
        ("广西 OR 桂林", &["桂林 or 广西"], &["广西 桂林"]),
        ("数据库，迁移", &["迁移了数据库"], &["数据，库"]),
        ("ไทย", &["ภาษาไทยง่าย"], &["ไท"]),
        ("ที", &["ที่นี่"], &["ทา"]),
        ("database migration", &["migration of each database"], &["database"]),
        ("session-recall", &["Session recall", "recall a session"], &["sessions recalled"]),
        ("datetime::until", &["DateTime::until", "until some datetime"], &["DateTime::since"]),
        ("CLAUDE.md", &["CLAUDE.md", "claude.mdx"], &["claude"]),
        ("main.py", &["src/main.py"], &["main.rs"]),
        ("phase-2", &["Phase 2", "phase_2"], &["phase2 "]),
        ("🙂", &["hi🙂", "🙂🙂"], &["🎉"]),
        ("👍", &["👍🏽"], &["👎"]),
        ("👩\u{200D}💻", &["a 👩🏽\u{200D}💻"], &["👩"]),
        ("👨", &["👨\u{200D}👩\u{200D}👧"], &["👩"]),
    ];
    for (query, right, wrong) in table {
        for text in *right {
            assert!(finds(query, text), "{query:?} must find {text:?}: {:?}", Query::parse(query));
        }
        for text in *wrong {
            assert!(!finds(query, text), "{query:?} must not find {text:?}");
        }
    }
}

#[test]
fn a_query_without_a_word_has_no_terms() {
    for query in [
        "", " ", "\"", "\"\"", "\"\"\"", "(", "\\", "%", "_", "...", ":", "**", "()", "—", "-!?",
        "*", "\u{301}", "\u{200D}", "\u{FEFF}", "\u{0}", "\u{E000}", "🏽", "'", "\" \"",
    ] {
        let query = Query::parse(query);
        assert!(query.terms.is_empty() && !query.cut, "{query:?}");
        assert_eq!(query.expression(), "");
    }
}

#[test]
fn expressions_are_quoted_tokens() {
    for (query, expected) in [
        ("Foo bar", "\"foo\" AND \"bar\" *"),
        ("foo bar ", "\"foo\" AND \"bar\""),
        ("a\"b c\"d", "\"a\" AND \"b c\" AND \"d\" *"),
        ("getName x ", "(\"get name\" OR \"getname\") AND \"x\""),
        ("get_na", "(\"get na\" * OR \"getna\" *)"),
        ("NOT OR NEAR( ", "\"not\" AND \"or\" AND \"near\""),
        ("a/b.c ", "\"a\" AND \"b\" AND \"c\""),
        ("a/2.c ", "\"a 2 c\""),
        ("\"a/b.c\"", "\"a b c\""),
        ("雨 ", "\"雨\" *"),
        ("天気 予報", "\"天気\" AND \"予報\""),
        ("\"天気 予報\"", "\"天気 気 予報\""),
        ("第3章", "\"第 3 章\" *"),
        ("ที่ ", "\"ที่\" *"),
        ("🙂 ", "\"🙂\""),
    ] {
        assert_eq!(Query::parse(query).expression(), expected, "{query:?}");
    }
}

#[test]
fn only_plain_long_words_may_be_misspelt() {
    for (query, expected) in [
        ("database", true),
        ("Größe", true),
        ("данные ", true),
        ("map", false),
        ("\"database\"", false),
        ("data_base", false),
        ("data/base", true),
        ("data/2base", false),
        ("data2base", false),
        ("数据库迁移", false),
        ("ประเทศ", false),
        ("조선시대", false),
        ("2024", false),
    ] {
        let query = Query::parse(query);
        assert_eq!(query.terms[0].correctable, expected, "{query:?}");
    }
    let query = Query::parse("the  databse \"in use\" migraton");
    assert_eq!(query.terms[1].word(), Some("databse"));
    assert_eq!(
        query.with_words(&[(1, "database"), (3, "migration"), (9, "x")]),
        "the  database \"in use\" migration"
    );
}

#[test]
fn long_queries_are_cut_and_say_so() {
    let long = "word ".repeat(20_000);
    let query = Query::parse(&long);
    assert!(query.cut);
    assert_eq!(query.terms.len(), 32);
    assert!(query.terms.iter().all(|term| !term.prefix && term.typed == "word"));

    let query = Query::parse(&"w".repeat(100_000));
    assert!(query.cut && query.terms.len() == 1);
    let query = Query::parse(&format!("{} rest of it", "-".repeat(990)));
    assert!(query.cut);
    assert_eq!(query.terms.iter().map(|term| &*term.typed).collect::<Vec<_>>(), ["rest", "of"]);

    let exact = "ab ".repeat(32);
    assert!(!Query::parse(exact.trim()).cut);
    assert!(Query::parse(&format!("{exact} a")).cut);
    assert!(!Query::parse(&format!("{exact} - ")).cut);
    let phrase = format!("\"{}\"", "ab ".repeat(40));
    let query = Query::parse(&phrase);
    assert!(query.cut && query.terms[0].token_count() == 32);
    let han = "汉".repeat(33);
    assert!(!Query::parse(&han).cut);
    assert!(Query::parse(&format!("{han}汉")).cut);
}

#[test]
fn a_match_says_how_well_it_fits() {
    let fit = |query: &str, text: &str| {
        let tokens = tokenize(text);
        let found = Query::parse(query).terms[0].find(&tokens);
        let found = found.first().unwrap();
        (
            text.get(found.start as usize..found.end as usize).unwrap().to_owned(),
            found.whole,
            found.as_typed,
        )
    };
    for (query, text, covers, whole, as_typed) in [
        ("cat", "a cat", "cat", true, true),
        ("Cat", "a cat", "cat", true, false),
        ("cat", "the category", "category", false, true),
        ("cat", "the Category", "Category", false, false),
        ("caffe", "un caffè", "caffè", true, false),
        ("caffè", "un caffe\u{300}", "caffe\u{300}", true, true),
        ("má", "ma má", "ma", true, false),
        ("getUserName", "x getUserName", "getUserName", true, true),
        ("get_user_name", "x getUserName", "getUserName", true, false),
        ("getusername", "x getUserName", "getUserName", true, false),
        ("getuser", "x getUserName", "getUserName", false, false),
        ("雨", "大雨天", "雨", true, true),
        ("雨", "大雨", "雨", true, true),
        ("天気", "の天気予", "天気", true, true),
        ("社", "㍿", "㍿", true, false),
    ] {
        assert_eq!(fit(query, text), (covers.to_owned(), whole, as_typed), "{query:?} in {text:?}");
    }
}

#[test]
fn a_whole_text_is_known_whatever_its_case() {
    let all = |query: &str, text: &str| Query::parse(query).is_all_of(&tokenize(text));
    assert!(all("release notes", "Release Notes!"));
    assert!(all("\"東京都の天気\"", "東京都の天気"));
    assert!(!all("release", "Release Notes"));
    assert!(!all("", "") && !all("-", "—"));
}

#[test]
fn neighbours_are_known_behind_a_fragment() {
    let text = "今日の天気 予報 x";
    let tokens = tokenize(text);
    let query = Query::parse("天気 予報");
    let (left, right) = (query.terms[0].find(&tokens)[0], query.terms[1].find(&tokens)[0]);
    assert_eq!(tokens.position_behind(left.last + 1, left.end), right.first);
}

#[test]
fn pieces_of_a_long_text_lose_nothing() {
    let text =
        "The getUserName of 東京都の天気予報をお伝えします, and ไทยภาษาง่าย don't. ".repeat(300);
    let whole = tokenize(&text);
    for limit in [200, 1_000, 4_096] {
        let pieces = parts(&text, limit);
        assert_eq!((pieces[0].start, pieces.last().unwrap().end), (0, text.len()));
        for pair in pieces.windows(2) {
            let overlap = text.get(pair[1].start..pair[0].end).unwrap();
            assert!(tokenize(overlap).len() >= 32, "{limit}: {overlap}");
            assert!(pair[0].len() <= limit.max(600));
        }
        let mut seen = vec![false; whole.len()];
        for piece in &pieces {
            for token in tokenize(text.get(piece.clone()).unwrap()).iter() {
                let start = token.start as usize + piece.start;
                let end = token.end as usize + piece.start;
                let at = whole.iter().position(|other| {
                    (other.start as usize, other.end as usize, other.text)
                        == (start, end, token.text)
                });
                if let Some(at) = at {
                    seen[at] = true;
                }
            }
        }
        assert!(seen.iter().all(|seen| *seen), "limit {limit}");
    }
    assert_eq!(parts("short", 64), [std::ops::Range { start: 0, end: 5 }]);
    assert_eq!(parts(&"-".repeat(100), 64), [std::ops::Range { start: 0, end: 100 }]);
}
