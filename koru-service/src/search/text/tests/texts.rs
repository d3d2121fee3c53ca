//! Random texts, and queries that nobody would type.

/// The settings of the property tests: how often, and from which seed.
pub(super) fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// SplitMix64.
pub(super) struct Chance(pub(super) u64);

impl Chance {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    pub(super) fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// Few enough that texts share words.
const WORDS: &[&str] = &[
    "a",
    "ab",
    "abc",
    "the",
    "note",
    "notes",
    "Note",
    "NOTE",
    "user",
    "getUserName",
    "get_user_name",
    "getusername",
    "GetUser",
    "HTTPServer",
    "http",
    "server",
    "URLs",
    "v2",
    "utf8Decode",
    "x",
    "1",
    "2024",
    "don't",
    "dont",
    "l'école",
    "école",
    "ecole",
    "caffè",
    "caffe\u{300}",
    "straße",
    "ŁÓDŹ",
    "ёлка",
    "ПриветМир",
    "κόσμος",
    "שָׁלוֹם",
    "مُحَمَّد",
    "हिन्दी",
    "ＡＢ",
    "ﬁle",
    "½",
    "東京都の天気",
    "天気",
    "雨",
    "大雨天",
    "悬空引用清零",
    "引用",
    "ガイド",
    "ｶﾞｲﾄﾞ",
    "조선시대",
    "시대",
    "각",
    "ภาษาไทย",
    "น้ำ",
    "ที่นี่",
    "ພາສາລາວ",
    "မြန်မာ",
    "ភាសាខ្មែរ",
    "🙂",
    "👨\u{200D}👩\u{200D}👧",
    "🇩🇪",
];

const BETWEEN: &[&str] = &[
    " ", " ", " ", " ", ", ", "-", "_", "/", ".", "::", "\n", "\t  ", "", "", "'", "’", "。", "、",
    "\u{3000}", "@", "\u{200B}", "\r\n", "\u{A0}", "—",
];

const HOSTILE: &[&str] = &[
    "\"",
    "\"",
    "\"\"",
    "*",
    "^",
    "(",
    ")",
    "((",
    "NEAR(",
    "NEAR",
    "AND",
    "OR",
    "NOT",
    "and",
    "+",
    "-",
    ":",
    "t:",
    "title:x",
    "rank:",
    "{t} :",
    "'",
    "''",
    "';--",
    "\\",
    "\\\"",
    "\\ud800",
    "\\u0000",
    "\0",
    "\u{1}",
    "\u{7F}",
    "\u{85}",
    "%",
    "_",
    "__",
    "\u{300}",
    "\u{301}\u{302}",
    "\u{E49}",
    "\u{3099}",
    "\u{200D}",
    "\u{200B}",
    "\u{200F}",
    "\u{202E}",
    "\u{FE0F}",
    "\u{FEFF}",
    "\u{FFFD}",
    "\u{E000}",
    "\u{10FFFF}",
    "🏽",
    "👍🏽",
    "🏳\u{FE0F}\u{200D}🌈",
    "1\u{FE0F}\u{20E3}",
    "🇩",
    "🏴\u{E0067}\u{E0062}\u{E007F}",
    "㍿",
    "㎏",
    "①",
    "ﷺ",
    "ǅ",
    "İ",
    "ẞ",
    "ſ",
    "\u{1160}",
    "\u{11A8}",
    "ໜ",
    ",",
];

/// A text of up to `length` words.
pub(super) fn text(chance: &mut Chance, length: usize) -> String {
    let mut text = String::new();
    for _ in 0..chance.below(length + 1) {
        match chance.below(12) {
            0 => text.push_str(chance.pick(HOSTILE)),
            1 => text.extend(char::from_u32((chance.next() % 0x2_0000) as u32)),
            2 => text.push_str(&"Long".repeat(chance.below(40))),
            _ => text.push_str(chance.pick(WORDS)),
        }
        text.push_str(chance.pick(BETWEEN));
    }
    text
}

/// A query: parts of a text, words and what could be syntax, in any order.
pub(super) fn query(chance: &mut Chance, texts: &[String]) -> String {
    let mut query = String::new();
    for _ in 0..=chance.below(5) {
        match chance.below(8) {
            0 | 1 => query.push_str(chance.pick(HOSTILE)),
            2 | 3 => query.push_str(chance.pick(WORDS)),
            4 => query.extend(char::from_u32((chance.next() % 0x2_0000) as u32)),
            _ => {
                let from: Vec<char> = texts[chance.below(texts.len())].chars().collect();
                let start = chance.below(from.len());
                query.extend(from.iter().skip(start).take(1 + chance.below(12)));
            }
        }
        if chance.below(2) == 0 {
            query.push_str(chance.pick(BETWEEN));
        }
    }
    query
}
