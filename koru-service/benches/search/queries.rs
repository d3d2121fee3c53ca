//! The queries of each type, chosen by how many rows hold a word.

use std::collections::HashMap;

use koru_model::ids::WorkspaceId;
use koru_model::node::Kind;
use koru_model::protocol::tools::{AttributeFilter, AttributeOp, SearchDocuments, Sort};

use crate::kit::Outcome;
use crate::kit::baseline::{Baseline, quoted};
use crate::kit::corpus::Page;
use crate::kit::random::{Random, Sample};
use crate::kit::store::{TAG, words};
use crate::kit::words::latin;

/// How many queries a type has.
const QUERIES: usize = 20;
/// How many of the most frequent words are common: each stands in one row of eleven, on average.
const COMMON: usize = 30;

/// What a type is judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Common words and short prefixes: what a plain index is slow at.
    Broad,
    /// Two common words, a phrase, a word with a prefix.
    Joined,
    /// All else that a plain index can do.
    Narrow,
    /// What a plain index cannot do.
    Own,
    /// The same as the types above, limited by a filter.
    Filtered,
    /// Other than the types above; nothing is demanded.
    Shown,
}

/// One query on both sides.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    pub(crate) ours: SearchDocuments,
    pub(crate) baseline: Option<String>,
    /// The words for ripgrep.
    pub(crate) pattern: Option<String>,
}

/// The queries of one type.
#[derive(Debug, Clone)]
pub(crate) struct Set {
    pub(crate) name: String,
    pub(crate) class: Class,
    pub(crate) queries: Vec<Query>,
}

/// What is kept of the texts in order to ask for them.
pub(crate) struct Texts {
    blocks: Sample<String>,
    unspaced: Sample<String>,
}

impl Texts {
    pub(crate) fn new(seed: u64) -> Self {
        Self { blocks: Sample::new(seed, 30_000), unspaced: Sample::new(seed, 500) }
    }

    pub(crate) fn see(&mut self, page: &Page) {
        for block in &page.blocks {
            if block.kind != Kind::Code {
                self.blocks.see(|| block.text.clone());
            }
            if let Some(run) = &block.unspaced {
                self.unspaced.see(|| run.clone());
            }
        }
    }
}

/// Words by how many rows hold them.
struct Ranks {
    common: Vec<String>,
    mid: Vec<String>,
    rare: Vec<String>,
    rows: HashMap<String, usize>,
    /// From how many rows on a word is mid.
    least_mid: usize,
}

impl Ranks {
    fn of(all: Vec<(String, usize)>, nodes: usize, random: &mut Random) -> Self {
        let (least_mid, most_mid) = ((nodes / 1_000).max(7), (nodes / 250).max(20));
        let mut common: Vec<String> =
            all.iter().take(COMMON).map(|(word, _)| word.clone()).collect();
        let among = |least: usize, most: usize, letters: usize| -> Vec<String> {
            all.iter()
                .filter(|(word, rows)| (least..=most).contains(rows) && word.len() >= letters)
                .map(|(word, _)| word.clone())
                .collect()
        };
        let (mut mid, mut rare) = (among(least_mid, most_mid, 3), among(2, 6, 4));
        for words in [&mut common, &mut mid, &mut rare] {
            random.shuffle(words);
        }
        Self { common, mid, rare, rows: all.into_iter().collect(), least_mid }
    }

    fn is_mid(&self, word: &str) -> bool {
        self.rows.get(word).is_some_and(|rows| *rows >= self.least_mid)
    }
}

fn set(name: &str, class: Class, queries: impl IntoIterator<Item = Query>) -> Set {
    Set { name: name.to_owned(), class, queries: queries.into_iter().take(QUERIES).collect() }
}

fn query(query: &str, baseline: String) -> Query {
    let pattern = query.replace('"', "");
    Query { ours: words(query), baseline: Some(baseline), pattern: Some(pattern) }
}

fn word(word: &str) -> Query {
    query(word, quoted(word))
}

/// A space behind it says that it is a whole word.
fn whole(word: &String) -> Query {
    query(&format!("{word} "), quoted(word))
}

fn prefix(letters: &str) -> Query {
    query(letters, format!("{} *", quoted(letters)))
}

fn both(one: &str, other: &str) -> Query {
    query(&format!("{one} {other}"), format!("{} AND {}", quoted(one), quoted(other)))
}

fn letters(word: &str, count: usize) -> String {
    word.chars().take(count).collect()
}

/// Different beginnings of words.
fn beginnings(ranks: &Ranks, count: usize) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in ranks.common.iter().chain(&ranks.mid).filter(|word| word.len() > count) {
        let beginning = letters(word, count);
        if !found.contains(&beginning) {
            found.push(beginning);
        }
    }
    found
}

/// Fragments of runs in scripts without spaces.
fn fragments(texts: &Texts, count: usize, random: &mut Random) -> Vec<Query> {
    let mut found = Vec::new();
    for run in &texts.unspaced.kept {
        let all: Vec<char> = run.chars().collect();
        if all.len() >= count {
            let from = random.below(all.len() + 1 - count);
            let fragment: String = all.iter().skip(from).take(count).collect();
            found.push(query(&fragment, format!("{} *", quoted(&fragment))));
        }
    }
    found
}

/// All types that have words.
pub(crate) fn with_words(
    texts: &Texts,
    baseline: &Baseline,
    nodes: usize,
    seed: u64,
) -> Outcome<Vec<Set>> {
    let mut random = Random::new(seed);
    let ranks = Ranks::of(baseline.words()?, nodes, &mut random);
    let mut neighbours: Vec<(String, String)> = Vec::new();
    let mut mids: Vec<(String, String)> = Vec::new();
    for block in &texts.blocks.kept {
        let all = latin(block);
        neighbours.extend(
            all.windows(2)
                .filter(|pair| pair.iter().all(|word| word.len() > 2 && ranks.is_mid(word)))
                .filter_map(|pair| Some((pair.first()?.clone(), pair.get(1)?.clone())))
                .take(1),
        );
        let mut few = all.iter().filter(|word| ranks.mid.contains(word));
        if let (Some(one), Some(other)) = (few.next(), few.next())
            && one != other
        {
            mids.push((one.clone(), other.clone()));
        }
    }
    random.shuffle(&mut neighbours);
    let commons = ranks.common.iter().zip(ranks.common.iter().cycle().skip(COMMON / 3));
    let phrase = |(one, other): &(String, String)| {
        query(&format!("\"{one} {other}\""), quoted(&format!("{one} {other}")))
    };
    let begun = |(one, other): &(String, String)| {
        let beginning = letters(other, 2);
        let baseline = format!("{} AND {} *", quoted(one), quoted(&beginning));
        query(&format!("{one} {beginning}"), baseline)
    };
    let (two, four, single) = (
        fragments(texts, 2, &mut random),
        fragments(texts, 4, &mut random),
        fragments(texts, 1, &mut random),
    );
    Ok(vec![
        set("common word", Class::Broad, ranks.common.iter().map(|found| word(found))),
        set("common word and a space, no prefix", Class::Shown, ranks.common.iter().map(whole)),
        set("mid word", Class::Narrow, ranks.mid.iter().map(|found| word(found))),
        set("rare word", Class::Narrow, ranks.rare.iter().map(|found| word(found))),
        set("two common words", Class::Joined, commons.map(|(one, other)| both(one, other))),
        set("two mid words", Class::Narrow, mids.iter().map(|(one, other)| both(one, other))),
        set("phrase", Class::Joined, neighbours.iter().map(phrase)),
        set("2-letter prefix", Class::Broad, beginnings(&ranks, 2).iter().map(|one| prefix(one))),
        set("3-letter prefix", Class::Broad, beginnings(&ranks, 3).iter().map(|one| prefix(one))),
        set("word and 2-letter prefix", Class::Joined, neighbours.iter().skip(QUERIES).map(begun)),
        set("2 characters of a run", Class::Own, two),
        set("4 characters of a run", Class::Own, four),
        set("1 character of a run", Class::Own, single),
    ])
}

/// The same queries in one workspace alone, and where one document in a hundred has a tag.
pub(crate) fn filtered(sets: &[Set], workspace: WorkspaceId) -> Vec<Set> {
    let limited = |name: &str, limit: &dyn Fn(&mut SearchDocuments)| -> Vec<Set> {
        sets.iter()
            .map(|set| {
                let queries = set.queries.iter().map(|query| {
                    let mut ours = query.ours.clone();
                    limit(&mut ours);
                    Query { ours, baseline: None, pattern: None }
                });
                self::set(&format!("{}, {name}", set.name), Class::Filtered, queries)
            })
            .collect()
    };
    let mut all = limited("one workspace", &|ours| ours.workspace_ids = Some(vec![workspace]));
    all.extend(limited("a tag on 1 %", &|ours| ours.tags = Some(vec![TAG.to_owned()])));
    all
}

/// Filters without words, and words in another order than that of relevance.
pub(crate) fn others(sets: &[Set]) -> Vec<Set> {
    let due = (0..QUERIES).map(|number| {
        let day = |day: usize| format!("2026-{:02}-{day:02}", 1 + number % 12);
        let (first, last) = (day(1 + number), day(7 + number));
        let mut ours = words("");
        ours.kinds = Some(vec![Kind::Task]);
        ours.done = Some(false);
        ours.attributes = Some(vec![AttributeFilter {
            key: "koru.due".into(),
            op: AttributeOp::Between,
            values: Some(vec![first, last]),
            numeric_values: None,
            kinds: None,
        }]);
        Query { ours, baseline: None, pattern: None }
    });
    let mut all = vec![set("open tasks due in a week, no words", Class::Shown, due)];
    let recent = sets.iter().find(|set| set.name == "common word").into_iter().flat_map(|set| {
        set.queries.iter().map(|query| {
            let mut ours = query.ours.clone();
            ours.sort = Some(Sort::ObservedModified);
            Query { ours, baseline: None, pattern: None }
        })
    });
    all.push(set("common word, newest first", Class::Shown, recent));
    all
}

/// A word with one mistake, and the word.
pub(crate) struct Typo {
    pub(crate) typed: String,
    pub(crate) meant: String,
}

/// Words of five letters and more with one letter swapped, left out, doubled or replaced, so that no word begins with
/// what is typed.
pub(crate) fn typos(baseline: &Baseline, count: usize, seed: u64) -> Outcome<Vec<Typo>> {
    let mut random = Random::new(seed);
    let words = baseline.words()?;
    let mut sorted: Vec<&str> = words.iter().map(|(word, _)| word.as_str()).collect();
    sorted.sort_unstable();
    let is_known = |typed: &str| {
        let at = sorted.partition_point(|word| *word < typed);
        sorted.get(at).is_some_and(|word| word.starts_with(typed))
    };
    let mut meant: Vec<&str> = words
        .iter()
        .filter(|(word, rows)| *rows >= 2 && word.len() >= 5)
        .map(|(word, _)| word.as_str())
        .collect();
    random.shuffle(&mut meant);
    let mut typos = Vec::new();
    for word in meant {
        if typos.len() == count {
            break;
        }
        let mut letters: Vec<char> = word.chars().collect();
        let at = random.within(1, letters.len() - 2);
        match random.below(4) {
            0 => letters.swap(at, at + 1),
            1 => drop(letters.remove(at)),
            2 => letters.insert(at, letters.get(at).copied().unwrap_or('e')),
            _ => {
                if let Some(letter) = letters.get_mut(at) {
                    *letter = if *letter == 'e' { 'o' } else { 'e' };
                }
            }
        }
        let typed: String = letters.into_iter().collect();
        if typed != word && !is_known(&typed) {
            typos.push(Typo { typed, meant: word.to_owned() });
        }
    }
    Ok(typos)
}
