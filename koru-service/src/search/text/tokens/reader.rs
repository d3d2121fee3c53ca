//! From characters to tokens.

use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation as _;

use super::identifier::{Letter, LetterKind, part_len};
use super::{Entry, Joined, Kind, Tokens};
use crate::search::text::TOKEN_BYTES;
use crate::search::text::fold::{compose, cut, fold_char, is_dropped};
use crate::search::text::scripts::{Class, Group, case, class, is_invisible};

/// The longest unit of a script without spaces, in bytes: two make a token.
const UNIT_BYTES: usize = TOKEN_BYTES / 2;

const LOWER: u8 = 1;
const UPPER: u8 = 2;
const DIGIT: u8 = 4;
const ALNUM: u8 = LOWER | UPPER | DIGIT;
/// What needs the longer way: `_`, an apostrophe, everything that is not ASCII.
const SPECIAL: u8 = 8;

const BYTES: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            b'_' | b'\'' | 0x80.. => SPECIAL,
            _ => 0,
        };
        byte += 1;
    }
    table
};

pub(super) fn read(text: &str) -> Tokens<'_> {
    // What does not fit in 32 bits is not read.
    let text = text.get(..text.floor_char_boundary(u32::MAX as usize)).unwrap_or(text);
    let mut reader = Reader {
        tokens: Tokens {
            source: text,
            folded: String::with_capacity(text.len()),
            entries: Vec::with_capacity(text.len() / 6),
            joined: Vec::new(),
        },
        word: Vec::new(),
        units: Vec::new(),
        run: String::new(),
        parts: String::new(),
    };
    reader.read(text);
    reader.tokens
}

struct Reader<'t> {
    tokens: Tokens<'t>,
    word: Vec<Letter>,
    units: Vec<Unit>,
    run: String,
    parts: String,
}

/// A letter of a script without spaces, and its marks; `at` and `to` are bytes of the folded run.
#[derive(Clone, Copy)]
struct Unit {
    at: usize,
    to: usize,
    start: u32,
    end: u32,
}

#[expect(clippy::cast_possible_truncation, reason = "`read` cuts the text to what 32 bits count")]
const fn offset(at: usize) -> u32 {
    at as u32
}

impl Reader<'_> {
    fn read(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let kind = BYTES[usize::from(byte)];
            at = if kind & ALNUM != 0 {
                self.plain_word(text, at)
            } else if byte.is_ascii() {
                at + 1
            } else {
                self.special(text, at)
            };
        }
    }

    /// A word of ASCII that is no identifier, at once; else the longer way. Returns where to go on.
    fn plain_word(&mut self, text: &str, at: usize) -> usize {
        let bytes = text.as_bytes();
        let (mut end, mut uppers, mut all) = (at, 0_usize, 0);
        let behind = loop {
            let kind = bytes.get(end).map_or(0, |byte| BYTES[usize::from(*byte)]);
            if kind & ALNUM == 0 {
                break kind;
            }
            uppers += usize::from(kind == UPPER);
            all |= kind;
            end += 1;
        };
        let first_only = uppers == 1 && bytes.get(at).is_some_and(u8::is_ascii_uppercase);
        let one_case = uppers == 0 || first_only || all & LOWER == 0;
        let quoted = bytes.get(end) == Some(&b'\'')
            && bytes.get(end + 1).is_none_or(|byte| BYTES[usize::from(*byte)] == 0);
        if !one_case || (behind == SPECIAL && !quoted) {
            return self.word(text, at);
        }
        let from = self.tokens.folded.len();
        self.tokens.folded.push_str(text.get(at..end.min(at + TOKEN_BYTES)).unwrap_or_default());
        if uppers > 0
            && let Some(token) = self.tokens.folded.get_mut(from..)
        {
            token.make_ascii_lowercase();
        }
        self.push(from, offset(at), offset(end), Kind::Word);
        end
    }

    fn special(&mut self, text: &str, at: usize) -> usize {
        let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else {
            return text.len();
        };
        match class(c) {
            Class::Letter => self.word(text, at),
            Class::Unspaced(group) => self.unspaced(text, at, group),
            Class::Emoji => self.emoji(text, at),
            _ => at + c.len_utf8(),
        }
    }

    /// Takes what stands in the folded text from `from` on as a token, if it is anything.
    fn push(&mut self, from: usize, start: u32, end: u32, kind: Kind) -> bool {
        let Ok(len) = u8::try_from(self.tokens.folded.len() - from) else {
            self.tokens.folded.truncate(from);
            return false;
        };
        if len > 0 {
            self.tokens.entries.push(Entry { at: offset(from), start, end, len, kind });
        }
        len > 0
    }

    fn word(&mut self, text: &str, at: usize) -> usize {
        let mut letters = std::mem::take(&mut self.word);
        letters.clear();
        let mut behind = text.len();
        let mut rest = text.get(at..).unwrap_or_default().chars().peekable();
        let mut next = at;
        while let Some(c) = rest.next() {
            let start = next;
            next += c.len_utf8();
            let last = letters.last().map_or(LetterKind::Joint, |letter| letter.kind);
            let kind = match class(c) {
                Class::Letter => LetterKind::Letter(case(c)),
                Class::Mark if is_dropped(c) => {
                    if let Some(letter) = letters.last_mut() {
                        letter.end = offset(next);
                    }
                    continue;
                }
                Class::Mark => LetterKind::Mark,
                Class::Ignored => continue,
                Class::Joint => LetterKind::Joint,
                Class::Apostrophe
                    if !matches!(last, LetterKind::Apostrophe | LetterKind::Joint) =>
                {
                    LetterKind::Apostrophe
                }
                Class::MiddleDot
                    if letters.last().is_some_and(|letter| matches!(letter.c, 'l' | 'L'))
                        && matches!(rest.peek(), Some('l' | 'L')) =>
                {
                    LetterKind::Apostrophe
                }
                _ => {
                    behind = start;
                    break;
                }
            };
            letters.push(Letter { c, start: offset(start), end: offset(next), kind });
        }
        while letters.last().is_some_and(|letter| letter.kind.is_between()) {
            letters.pop();
        }
        self.identifier(&letters);
        self.word = letters;
        behind
    }

    /// The parts of a word, and its joined form if there are several.
    fn identifier(&mut self, letters: &[Letter]) {
        let first = self.tokens.entries.len();
        let mut rest = letters;
        while !rest.is_empty() {
            let (part, behind) = rest.split_at(part_len(rest));
            self.part(part);
            rest = behind;
        }
        let last = self.tokens.entries.len();
        if last < first + 2 {
            return;
        }
        let at = self.tokens.folded.len();
        let mut form = String::new();
        for position in first..last {
            form.push_str(self.tokens.get(position).map_or("", |token| token.text));
            if form.len() > TOKEN_BYTES {
                break;
            }
        }
        cut(&mut form, 0, TOKEN_BYTES);
        if let Ok(len) = u8::try_from(form.len()) {
            self.tokens.folded.push_str(&form);
            let (first, last) = (offset(first), offset(last - 1));
            self.tokens.joined.push(Joined { at: offset(at), len, first, last });
        }
    }

    fn part(&mut self, letters: &[Letter]) {
        let from = self.tokens.folded.len();
        let (mut start, mut end, mut marked) = (None, 0, false);
        for letter in letters.iter().filter(|letter| !letter.kind.is_between()) {
            start = start.or(Some(letter.start));
            end = letter.end;
            // Composing may shorten it; four times the limit is enough whatever it does.
            if self.tokens.folded.len() - from < 4 * TOKEN_BYTES {
                marked |= fold_char(letter.c, &mut self.tokens.folded);
            }
        }
        if marked {
            compose(&mut self.tokens.folded, from);
        }
        cut(&mut self.tokens.folded, from, TOKEN_BYTES);
        if let Some(start) = start {
            self.push(from, start, end, Kind::Word);
        }
    }

    fn unspaced(&mut self, text: &str, at: usize, run: Group) -> usize {
        self.units.clear();
        self.run.clear();
        let mut behind = at;
        for c in text.get(at..).unwrap_or_default().chars() {
            let start = offset(behind);
            behind += c.len_utf8();
            let end = offset(behind);
            match class(c) {
                Class::Unspaced(other) if other == run => self.unit_char(c, start, end),
                Class::Mark => self.unit_mark(c, end),
                Class::Ignored => {}
                _ => {
                    behind -= c.len_utf8();
                    break;
                }
            }
        }
        self.close_unit();
        self.pairs();
        behind
    }

    /// Adds a character of a run: what it is made of begins units or goes with the last one.
    fn unit_char(&mut self, c: char, start: u32, end: u32) {
        if is_whole_unit(c) {
            self.close_unit();
            let at = self.run.len();
            self.run.push(c);
            self.units.push(Unit { at, to: at, start, end });
            return;
        }
        let mut folded = std::mem::take(&mut self.parts);
        folded.clear();
        fold_char(c, &mut folded);
        for part in folded.chars() {
            let attached = is_combining_mark(part) || joins(self.run.chars().next_back(), part);
            if attached && let Some(unit) = self.units.last_mut() {
                unit.end = end;
                if self.run.len() - unit.at < 4 * UNIT_BYTES {
                    insert_mark(&mut self.run, part);
                }
            } else if !is_combining_mark(part) {
                self.close_unit();
                let at = self.run.len();
                self.run.push(part);
                self.units.push(Unit { at, to: at, start, end });
            }
        }
        self.parts = folded;
    }

    /// Adds a mark to the last unit of a run; before the first one it is nothing.
    fn unit_mark(&mut self, c: char, end: u32) {
        let Some(unit) = self.units.last_mut() else { return };
        unit.end = end;
        if self.run.len() - unit.at < 4 * UNIT_BYTES && !is_dropped(c) {
            let mut folded = std::mem::take(&mut self.parts);
            folded.clear();
            fold_char(c, &mut folded);
            for part in folded.chars() {
                insert_mark(&mut self.run, part);
            }
            self.parts = folded;
        }
    }

    fn close_unit(&mut self) {
        if let Some(unit) = self.units.last_mut() {
            let one = self.run.get(unit.at..).is_none_or(|text| text.chars().nth(1).is_none());
            if !one {
                compose(&mut self.run, unit.at);
            }
            cut(&mut self.run, unit.at, UNIT_BYTES);
            unit.to = self.run.len();
        }
    }

    fn pairs(&mut self) {
        for at in 0..self.units.len() {
            let (Some(&unit), next) = (self.units.get(at), self.units.get(at + 1).copied()) else {
                return;
            };
            let from = self.tokens.folded.len();
            let to = next.map_or(unit.to, |next| next.to);
            self.tokens.folded.push_str(self.run.get(unit.at..to).unwrap_or_default());
            let kind = if next.is_some() { Kind::Pair } else { Kind::Unit };
            self.push(from, unit.start, next.map_or(unit.end, |next| next.end), kind);
        }
    }

    fn emoji(&mut self, text: &str, at: usize) -> usize {
        let cluster =
            text.get(at..).and_then(|rest| rest.graphemes(true).next()).unwrap_or_default();
        let from = self.tokens.folded.len();
        for c in cluster.chars() {
            let tag = matches!(c, '\u{E0020}'..='\u{E007F}');
            let tone = matches!(c, '\u{1F3FB}'..='\u{1F3FF}');
            let other = c.is_ascii() || is_combining_mark(c) || is_invisible(c as u32) || tone;
            if tag || !other {
                self.tokens.folded.push(c);
            }
        }
        cut(&mut self.tokens.folded, from, TOKEN_BYTES);
        self.push(from, offset(at), offset(at + cluster.len()), Kind::Emoji);
        at + cluster.len().max(1)
    }
}

/// The common letters that folding leaves as they are: kana, Han, Hangul, Thai.
const fn is_whole_unit(c: char) -> bool {
    matches!(
        c as u32,
        0x3041..=0x3096 | 0x30A1..=0x30FA | 0x30FC | 0x4E00..=0x9FFF | 0xAC00..=0xD7A3
            | 0xE01..=0xE30 | 0xE40..=0xE44
    )
}

/// Whether a jamo that is no first one of a syllable goes on with the letter before it.
fn joins(before: Option<char>, jamo: char) -> bool {
    let Some(before) = before else { return false };
    match jamo as u32 {
        // Vowels, behind a first consonant or another vowel.
        0x1161..=0x11A7 | 0xD7B0..=0xD7C6 => {
            matches!(before as u32, 0x1100..=0x11A7 | 0xA960..=0xA97C | 0xD7B0..=0xD7C6)
        }
        // Last consonants, behind a vowel or a syllable.
        0x11A8..=0x11FF | 0xD7CB..=0xD7FB => {
            matches!(before as u32, 0x1161..=0x11FF | 0xAC00..=0xD7A3 | 0xD7B0..=0xD7FB)
        }
        _ => false,
    }
}

/// Adds a mark to the last unit; a tone mark goes before a nikhahit that was typed before it.
fn insert_mark(run: &mut String, mark: char) {
    let nikhahit = run.chars().next_back().filter(|before| {
        matches!(
            (*before, mark),
            ('\u{0E4D}', '\u{0E48}'..='\u{0E4B}') | ('\u{0ECD}', '\u{0EC8}'..='\u{0ECB}')
        )
    });
    if nikhahit.is_some() {
        run.pop();
    }
    run.push(mark);
    run.extend(nikhahit);
}
