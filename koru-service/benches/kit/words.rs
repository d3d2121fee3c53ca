//! Made-up words: a vocabulary in which few are frequent and most are rare, and runs of other scripts.

use std::collections::HashSet;

use super::random::Random;

const VOCABULARY: usize = 150_000;
/// How many words each other script has.
const FOREIGN: usize = 4_000;

const ONSETS: &[&str] = &[
    "b", "c", "d", "f", "g", "h", "j", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "z", "br",
    "cl", "dr", "fl", "gr", "pl", "sh", "st", "th", "tr", "qu", "",
];
const NUCLEI: &[&str] = &["a", "e", "i", "o", "u", "y", "ai", "ea", "io", "ou"];
const CODAS: &[&str] = &["", "", "", "n", "r", "s", "t", "l", "nd", "st", "m", "x"];

/// Words, the most frequent ones first, drawn after Zipf's law.
pub(crate) struct Vocabulary {
    words: Vec<String>,
    weights: Weights,
    scripts: Vec<Script>,
}

/// The sums of the weights 1, 1/2, 1/3 and on.
struct Weights(Vec<f64>);

impl Weights {
    #[expect(clippy::cast_precision_loss, reason = "ranks are small")]
    fn new(count: usize) -> Self {
        let mut sum = 0.0;
        Self(
            (1..=count)
                .map(|rank| {
                    sum += 1.0 / rank as f64;
                    sum
                })
                .collect(),
        )
    }

    fn draw(&self, random: &mut Random) -> usize {
        let at = random.part() * self.0.last().copied().unwrap_or_default();
        self.0.partition_point(|sum| *sum < at)
    }
}

/// A script with words of its own.
struct Script {
    words: Vec<String>,
    weights: Weights,
    /// What stands between words.
    between: &'static str,
    is_unspaced: bool,
}

/// Ranges of letters, how long a word is, and what stands between two.
type Letters = (&'static [(u32, u32)], usize, usize, &'static str);

const SCRIPTS: &[Letters] = &[
    (&[(0x4E00, 0x5200)], 1, 3, ""),                    // Han
    (&[(0x4E00, 0x4F00), (0x3042, 0x3090)], 2, 4, ""),  // Han and hiragana
    (&[(0x0E01, 0x0E2E)], 2, 5, ""),                    // Thai
    (&[(0xAC00, 0xAE00)], 2, 4, " "),                   // Hangul
    (&[(0x0430, 0x044F)], 3, 9, " "),                   // Cyrillic
    (&[(0x03B1, 0x03C1), (0x03C3, 0x03C9)], 3, 9, " "), // Greek
    (&[(0x0628, 0x063A), (0x0641, 0x064A)], 3, 7, " "), // Arabic
];

impl Script {
    fn new(random: &mut Random, number: usize) -> Option<Self> {
        let (ranges, least, most, between) = SCRIPTS.get(number)?;
        let letters: Vec<char> = ranges
            .iter()
            .flat_map(|(first, last)| *first..=*last)
            .filter_map(char::from_u32)
            .collect();
        let words = (0..FOREIGN)
            .map(|_| {
                let length = random.within(*least, *most);
                (0..length).filter_map(|_| random.of(&letters)).collect()
            })
            .collect();
        Some(Self {
            words,
            weights: Weights::new(FOREIGN),
            between,
            is_unspaced: between.is_empty(),
        })
    }
}

fn word(random: &mut Random, syllables: usize) -> String {
    let mut word = String::new();
    for _ in 0..syllables {
        for part in [ONSETS, NUCLEI, CODAS] {
            word.push_str(random.of(part).copied().unwrap_or_default());
        }
    }
    word
}

impl Vocabulary {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut seen = HashSet::new();
        let mut words = Vec::with_capacity(VOCABULARY);
        while words.len() < VOCABULARY {
            // Frequent words are short.
            let syllables = match words.len() {
                0..100 => 1,
                100..3_000 => random.within(1, 2),
                3_000..30_000 => random.within(2, 3),
                _ => random.within(2, 4),
            };
            let word = word(&mut random, syllables);
            if word.len() > 1 && seen.insert(word.clone()) {
                words.push(word);
            }
        }
        let scripts = (0..SCRIPTS.len()).filter_map(|number| Script::new(&mut random, number));
        Self { scripts: scripts.collect(), weights: Weights::new(VOCABULARY), words }
    }

    pub(crate) fn word(&self, random: &mut Random) -> &str {
        self.words.get(self.weights.draw(random)).map_or("", String::as_str)
    }

    /// So many words, parted by spaces.
    pub(crate) fn sentence(&self, random: &mut Random, words: usize) -> String {
        let mut text = String::new();
        for _ in 0..words {
            if !text.is_empty() {
                text.push_str(if random.happens(60) { ", " } else { " " });
            }
            text.push_str(self.word(random));
        }
        text
    }

    /// A run of another script; whether it has no spaces.
    pub(crate) fn foreign(&self, random: &mut Random) -> (String, bool) {
        let Some(script) = random.of(&self.scripts) else { return Default::default() };
        let words = random.within(3, 9);
        let run: Vec<&str> = (0..words)
            .filter_map(|_| script.words.get(script.weights.draw(random)))
            .map(String::as_str)
            .collect();
        (run.join(script.between), script.is_unspaced)
    }

    /// A line of code: identifiers, a path, a call.
    pub(crate) fn code(&self, random: &mut Random) -> String {
        let mut one = || self.word(random).to_owned();
        let (first, second, third, fourth) = (one(), one(), one(), one());
        let camel = |word: &str| {
            let mut letters = word.chars();
            letters
                .next()
                .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
        };
        let (upper, other) = (camel(&second), camel(&third));
        match random.below(4) {
            0 => format!("let {first}_{second} = {third}::{upper}{other}::new({fourth});"),
            1 => format!("fn {first}{upper}({third}: &{other}{upper}) -> {fourth}"),
            2 => format!("/usr/{first}/{second}-{third}/{fourth}.txt"),
            _ => format!("{first}.{second}@{third}.org"),
        }
    }
}

/// The words of a text that are plain Latin letters, in lower case.
pub(crate) fn latin(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphabetic()))
        .map(str::to_ascii_lowercase)
        .collect()
}
