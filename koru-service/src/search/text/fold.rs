//! Folding: the form in which texts and queries are compared.

use unicode_normalization::char::{decompose_compatible, is_combining_mark};
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

use super::known::known;
use super::scripts::is_invisible;

/// A text in the form in which it is compared, word boundaries and punctuation kept: for values that
/// are compared as a whole.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut folded = String::with_capacity(text.len());
    for c in text.chars().map(full_width_jamo) {
        if is_compared_whole(c) {
            folded.push(c);
        } else {
            decompose_compatible(c, |part| {
                if !is_dropped(part) {
                    lower(part, &mut folded);
                }
            });
        }
    }
    folded.nfc().collect()
}

/// Adds what `c` is in a token: letters, digits and marks alone, not composed yet. Returns whether
/// it holds marks, which [`compose`] must put in order.
pub(super) fn fold_char(c: char, folded: &mut String) -> bool {
    if c.is_ascii() {
        if c.is_ascii_alphanumeric() {
            folded.push(c.to_ascii_lowercase());
        }
        return false;
    }
    if let Some(known) = known(c)
        && let Some(text) = known.folded()
    {
        folded.push_str(text);
        return known.marked;
    }
    fold_by_rule(c, folded)
}

pub(super) fn fold_by_rule(c: char, folded: &mut String) -> bool {
    let c = full_width_jamo(c);
    if is_compared_whole(c) {
        folded.push(c);
        return false;
    }
    let mut marked = false;
    decompose_compatible(c, |part| {
        let mark = is_combining_mark(part);
        if !is_dropped(part) && (mark || part.is_alphanumeric()) {
            marked |= mark;
            lower(part, folded);
        }
    });
    marked
}

/// Composes what stands in `folded` from the byte `from` on.
pub(super) fn compose(folded: &mut String, from: usize) {
    let Some(tail) = folded.get(from..) else { return };
    if is_nfc_quick(tail.chars()) == IsNormalized::Yes {
        return;
    }
    let composed: String = tail.nfc().collect();
    folded.truncate(from);
    folded.push_str(&composed);
}

/// Cuts what stands in `folded` from the byte `from` on to `limit` bytes, between two characters.
pub(super) fn cut(folded: &mut String, from: usize, limit: usize) {
    if folded.len() > from + limit {
        folded.truncate(folded.floor_char_boundary(from + limit));
    }
}

/// The letter of Hangul Compatibility Jamo for its half-width form: NFKD would go on to a jamo that
/// joins with its neighbours.
fn full_width_jamo(c: char) -> char {
    let code = c as u32;
    let full = match code {
        0xFFA1..=0xFFBE => code - 0xFFA1 + 0x3131,
        0xFFC2..=0xFFC7 => code - 0xFFC2 + 0x314F,
        0xFFCA..=0xFFCF => code - 0xFFCA + 0x3155,
        0xFFD2..=0xFFD7 => code - 0xFFD2 + 0x315B,
        0xFFDA..=0xFFDC => code - 0xFFDA + 0x3161,
        _ => return c,
    };
    char::from_u32(full).unwrap_or(c)
}

/// Vulgar fractions, which would become other numbers, and what is composed already.
const fn is_compared_whole(c: char) -> bool {
    matches!(
        c as u32,
        0xBC..=0xBE | 0x2150..=0x215F | 0x2189 | 0x4E00..=0x9FFF | 0xAC00..=0xD7A3 | 0x3131..=0x318E
    )
}

/// Diacritics, points and invisible characters.
pub(super) const fn is_dropped(c: char) -> bool {
    matches!(
        c as u32,
        // Diacritics of any script: Combining Diacritical Marks, their supplements, half marks.
        0x300..=0x36F | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF | 0x20D0..=0x20FF | 0xFE20..=0xFE2F
        // Cyrillic titlo and its kin.
        | 0x483..=0x489
        // Hebrew accents and points.
        | 0x591..=0x5BD | 0x5BF | 0x5C1..=0x5C2 | 0x5C4..=0x5C5 | 0x5C7
        // Arabic points, signs of the Quran, tatweel; Syriac points.
        | 0x610..=0x61A | 0x640 | 0x64B..=0x65F | 0x670 | 0x6D6..=0x6DC | 0x6DF..=0x6E4
        | 0x6E7..=0x6E8 | 0x6EA..=0x6ED | 0x711 | 0x730..=0x74A | 0x897..=0x89F
        | 0x8CA..=0x8E1 | 0x8E3..=0x8FF
    ) || is_invisible(c as u32)
}

fn lower(c: char, folded: &mut String) {
    for small in c.to_lowercase() {
        match plain(small) {
            Some(text) => folded.push_str(text),
            None => folded.push(small),
        }
    }
}

/// Letters that people type in a plain form, which Unicode does not decompose into it.
const fn plain(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'þ' => "th",
        'ø' => "o",
        'đ' | 'ð' | 'ɖ' => "d",
        'ł' | 'ƚ' => "l",
        'ħ' => "h",
        'ŧ' => "t",
        'ı' | 'ɨ' => "i",
        'ƀ' => "b",
        'ɇ' => "e",
        'ǥ' => "g",
        'ɍ' => "r",
        'ʉ' => "u",
        'ɏ' => "y",
        'ƶ' => "z",
        'ĸ' => "k",
        'ς' => "σ",
        'ی' | 'ى' => "ي",
        'ک' => "ك",
        _ => return None,
    })
}
