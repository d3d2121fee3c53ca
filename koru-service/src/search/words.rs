//! Which word was meant, where a word stands in no document.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use strsim::osa_distance;

use crate::errors::ServiceError;

/// A word must stand in so many rows to be proposed.
const LEAST_ROWS: u32 = 2;
/// The shortest and the longest word that is proposed, in characters.
const LENGTHS: std::ops::RangeInclusive<usize> = 3..=32;
/// After as many new rows as a fiftieth of the words, and no more than this, the words are read again.
const NEW_ROWS: u64 = 5_000;
/// How many words are proposed for one.
const PROPOSED: usize = 3;

/// A word of the index.
#[derive(Debug)]
struct Word {
    text: Box<str>,
    rows: u32,
    /// One bit for each of its letters, in 32 classes: an edit changes two of them at most.
    letters: u32,
}

/// The words of the index by their length in characters.
#[derive(Debug, Default)]
struct Vocabulary {
    by_length: Vec<Vec<Word>>,
}

fn letters(word: &str) -> u32 {
    word.chars().fold(0, |bits, letter| bits | 1 << (u32::from(letter) % 32))
}

impl Vocabulary {
    fn read(connection: &Connection) -> Result<Self, ServiceError> {
        let mut vocabulary = Self::default();
        // Words of titles alone stand in few rows each.
        for (sql, least) in [
            ("SELECT term, doc FROM search_words WHERE doc >= ?1", LEAST_ROWS),
            ("SELECT term, doc FROM search_head_words WHERE doc >= ?1", 1),
        ] {
            let mut statement = connection.prepare(sql)?;
            let mut rows = statement.query([least])?;
            while let Some(row) = rows.next()? {
                let word = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
                vocabulary.add(word, row.get(1)?);
            }
        }
        Ok(vocabulary)
    }

    fn add(&mut self, word: &str, rows: u32) {
        let length = word.chars().count();
        if !LENGTHS.contains(&length) || !word.chars().all(char::is_alphabetic) {
            return;
        }
        if self.by_length.len() <= length {
            self.by_length.resize_with(length + 1, Vec::new);
        }
        if let Some(bucket) = self.by_length.get_mut(length) {
            bucket.push(Word { text: word.into(), rows, letters: letters(word) });
        }
    }

    fn new_rows(&self) -> u64 {
        let words: usize = self.by_length.iter().map(Vec::len).sum();
        (words as u64 / 50).clamp(1, NEW_ROWS)
    }

    /// The likeliest words within one edit (of 4 and 5 letters) or two; a swap of neighbours is one. Frequent words and
    /// those with the same first letter are likelier (design, search, section 4).
    fn nearest(&self, typed: &str) -> Vec<&str> {
        let length = typed.chars().count();
        let most = if length < 6 { 1 } else { 2 };
        let (bits, first) = (letters(typed), typed.chars().next());
        let lengths = length.saturating_sub(most)..=length + most;
        let buckets = lengths.filter_map(|length| self.by_length.get(length));
        let mut found: Vec<(f64, &str)> = buckets
            .flatten()
            .filter(|word| (word.letters ^ bits).count_ones() as usize <= 2 * most)
            .filter_map(|word| {
                let distance = osa_distance(typed, &word.text);
                if distance == 0 || distance > most {
                    return None;
                }
                let same_first = if word.text.chars().next() == first { 1.5 } else { 0.0 };
                let likely = f64::from(word.rows).ln() - 6.0 * distance as f64 + same_first;
                Some((likely, &*word.text))
            })
            .collect();
        found.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(right.1)));
        found.dedup_by(|left, right| left.1 == right.1);
        found.iter().take(PROPOSED).map(|(_, word)| *word).collect()
    }
}

/// The words, read when first needed.
#[derive(Debug, Default)]
pub struct Words {
    read: Mutex<Option<(u64, Arc<Vocabulary>)>>,
    written: AtomicU64,
}

impl Words {
    /// So many rows were written.
    pub fn note_written(&self, rows: u64) {
        self.written.fetch_add(rows, Ordering::Relaxed);
    }

    /// Reads the words, where they were never read or many rows were written since.
    ///
    /// # Errors
    /// Those of the storage.
    pub fn refresh(&self, connection: &Connection) -> Result<(), ServiceError> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let written = self.written.load(Ordering::Relaxed);
        if read.as_ref().is_none_or(|(at, words)| written - at >= words.new_rows()) {
            *read = Some((written, Arc::new(Vocabulary::read(connection)?)));
        }
        Ok(())
    }

    /// The words that were likely meant by a folded one, the likeliest first.
    #[must_use]
    pub fn nearest(&self, typed: &str) -> Vec<String> {
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some((_, vocabulary)) = read else { return Vec::new() };
        vocabulary.nearest(typed).into_iter().map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likeliest_word_is_near_frequent_and_begins_alike() {
        let mut vocabulary = Vocabulary::default();
        for (word, rows) in [
            ("meeting", 40),
            ("melting", 3),
            ("greeting", 300),
            ("garden", 9),
            ("harden", 9),
            ("note", 5),
            ("the", 9_000),
            ("東京", 8),
        ] {
            vocabulary.add(word, rows);
        }
        for (typed, meant) in [
            ("meetnig", Some("meeting")),
            ("meting", Some("meeting")),
            ("gaarden", Some("garden")),
            ("ntoe", Some("note")),
            ("note", None),
            ("noet", Some("note")),
            ("nxyz", None),
            ("zzzzzz", None),
        ] {
            assert_eq!(vocabulary.nearest(typed).first().copied(), meant, "{typed}");
        }
    }
}
