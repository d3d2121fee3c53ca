//! Scripts without spaces: any fragment of what a reader sees is found.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation as _;

use super::finds;

const PROSE: &[(&str, &str)] = &[
    (
        "zh",
        "在软件工程中，数据库迁移是指对增量的、可逆的更改进行管理。步2 重跑gen-itgc后50条悬空引用清零，版本v2于2024年3月发布；繁體中文與𠮷野家。",
    ),
    (
        "ja",
        "東京都の天気予報をお伝えします。プログラミング言語のコンパイラーは、ソースコードを機械語に変換する。Rustは２０１５年に1.0が出た。ﾊﾝｶｸｶﾞ、ｺﾞｼﾞｭｳ。",
    ),
    ("ko", "조선시대의 역사책을 읽었다. 소프트웨어는 데이터베이스와 연결된다. ㅋㅋㅋ 정말?"),
    ("th", "ภาษาไทยเป็นภาษาที่มีระดับเสียงของคำแน่นอน น้ำท่วมกรุงเทพฯ ปี๒๕๖๗ ผู้ใหญ่ที่นี่กำลังทำการบ้าน"),
    ("lo", "ພາສາລາວເປັນພາສາທາງການຂອງປະເທດລາວ ນ້ຳໃສ ໜັງສື"),
    ("km", "ភាសាខ្មែរជាភាសាកំណើតរបស់ជនជាតិខ្មែរ ប្រទេសកម្ពុជា"),
    ("my", "မြန်မာဘာသာစကားသည် မြန်မာနိုင်ငံ၏ ရုံးသုံးဘာသာစကားဖြစ်သည်"),
];

/// The parts of a text that show no gap: letters, digits and marks in a row.
fn visible_runs(text: &str) -> Vec<&str> {
    let inner = |c: char| c.is_alphanumeric() || is_combining_mark(c);
    text.split(|c| !inner(c)).filter(|run| !run.is_empty()).collect()
}

/// Whether the letter at a place of a fragment is of a script with spaces.
fn spaced(fragment: &str, place: usize) -> bool {
    let letter = fragment.graphemes(true).nth(place).unwrap_or_default();
    letter.nfkc().any(|c| c.is_ascii_alphanumeric())
}

#[test]
fn every_fragment_of_one_to_four_letters_is_found() {
    for (language, text) in PROSE {
        let mut tried = 0;
        for run in visible_runs(text) {
            let letters: Vec<&str> = run.graphemes(true).collect();
            for length in 1..=4 {
                for fragment in letters.windows(length) {
                    let fragment = fragment.concat();
                    // Of a word of a script with spaces only its beginning is found, and that only
                    // while it may go on.
                    if fragment.chars().all(is_combining_mark) || spaced(&fragment, 0) {
                        continue;
                    }
                    tried += 1;
                    assert!(finds(&fragment, text), "{language} {fragment:?}");
                    if !spaced(&fragment, length - 1) {
                        for query in [format!("{fragment} "), format!("\"{fragment}\"")] {
                            assert!(finds(&query, text), "{language} {query:?}");
                        }
                    }
                }
            }
        }
        assert!(tried > 80, "{language} {tried}");
    }
}

#[test]
fn fragments_that_cut_letters_and_marks_apart_are_found() {
    for (language, text) in PROSE {
        let (mut tried, mut found, mut lost) = (0, 0, Vec::new());
        for run in visible_runs(text) {
            // The voicing of half-width kana makes other letters of them.
            let letters: Vec<char> = run.replace(['ﾞ', 'ﾟ'], "").chars().collect();
            let text = text.replace(['ﾞ', 'ﾟ'], "");
            for length in 2..=4 {
                for fragment in letters.windows(length) {
                    let fragment: String = fragment.iter().collect();
                    if fragment.chars().all(is_combining_mark) || spaced(&fragment, 0) {
                        continue;
                    }
                    tried += 1;
                    if finds(&fragment, &text) {
                        found += 1;
                    } else {
                        lost.push(fragment);
                    }
                }
            }
        }
        assert!(found * 1_000 >= tried * 995, "{language}: {found} of {tried}, not {lost:?}");
    }
}

#[test]
fn fragments_are_found_where_they_stand_alone_only() {
    for (query, text) in
        [("天気", "天の気"), ("数据", "数，据"), ("ไทย", "ไท ย"), ("시대", "시 대")]
    {
        assert!(!finds(query, text), "{query:?} {text:?}");
    }
}
