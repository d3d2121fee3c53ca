//! What a character is to the tokenizer.
//!
//! Letters, digits and marks are told apart by the standard library and by `unicode-normalization`.
//! Scripts without spaces are told by their blocks (Unicode's `Blocks.txt`), the line-breaking class
//! SA of which (UAX #14) says that their words are not spaced; invisible characters by the property
//! `Default_Ignorable_Code_Point` (`DerivedCoreProperties.txt`).

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

use super::known::known;

/// Scripts that are written without spaces, or that join words in runs. A run holds one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    /// Han, hiragana, katakana and bopomofo: Japanese words mix them.
    Ideographic,
    Hangul,
    Thai,
    Lao,
    Myanmar,
    Khmer,
    TaiLe,
    NewTaiLue,
    TaiTham,
    TaiViet,
    Cham,
    Javanese,
    Balinese,
}

impl Group {
    /// Whether a unit may go on with marks that a fragment of it leaves out.
    pub(super) const fn has_marks(self) -> bool {
        !matches!(self, Self::Ideographic | Self::Hangul)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Separator,
    /// `_`, which parts an identifier.
    Joint,
    Apostrophe,
    /// The point of the Catalan `l·l`.
    MiddleDot,
    /// Invisible: it neither separates nor is part of a token.
    Ignored,
    /// Goes with the letter before it.
    Mark,
    /// A letter or a digit of a script with spaces.
    Letter,
    Unspaced(Group),
    Emoji,
}

/// First and last code point, in order.
const BLOCKS: [(u32, u32, Group); 37] = [
    (0x0E00, 0x0E7F, Group::Thai),
    (0x0E80, 0x0EFF, Group::Lao),
    (0x1000, 0x109F, Group::Myanmar),
    (0x1100, 0x11FF, Group::Hangul),
    (0x1780, 0x17FF, Group::Khmer),
    (0x1950, 0x197F, Group::TaiLe),
    (0x1980, 0x19DF, Group::NewTaiLue),
    (0x1A20, 0x1AAF, Group::TaiTham),
    (0x1B00, 0x1B7F, Group::Balinese),
    (0x2E80, 0x2FDF, Group::Ideographic),
    (0x3005, 0x3007, Group::Ideographic),
    (0x3021, 0x3029, Group::Ideographic),
    (0x3031, 0x3035, Group::Ideographic),
    (0x3038, 0x303C, Group::Ideographic),
    (0x3041, 0x30FF, Group::Ideographic),
    (0x3100, 0x312F, Group::Ideographic),
    (0x3130, 0x318F, Group::Hangul),
    (0x31A0, 0x31BF, Group::Ideographic),
    (0x31F0, 0x31FF, Group::Ideographic),
    (0x3400, 0x4DBF, Group::Ideographic),
    (0x4E00, 0x9FFF, Group::Ideographic),
    (0xA960, 0xA97F, Group::Hangul),
    (0xA980, 0xA9DF, Group::Javanese),
    (0xA9E0, 0xA9FF, Group::Myanmar),
    (0xAA00, 0xAA5F, Group::Cham),
    (0xAA60, 0xAA7F, Group::Myanmar),
    (0xAA80, 0xAADF, Group::TaiViet),
    (0xAC00, 0xD7FF, Group::Hangul),
    (0xF900, 0xFAFF, Group::Ideographic),
    (0xFF66, 0xFF9F, Group::Ideographic),
    (0xFFA1, 0xFFDC, Group::Hangul),
    (0x116D0, 0x116FF, Group::Myanmar),
    (0x16FE0, 0x16FFF, Group::Ideographic),
    (0x1AFF0, 0x1AFFF, Group::Ideographic),
    (0x1B000, 0x1B16F, Group::Ideographic),
    (0x20000, 0x2FFFF, Group::Ideographic),
    (0x30000, 0x3FFFF, Group::Ideographic),
];

/// The group whose block holds `c`.
pub(super) fn group(c: char) -> Option<Group> {
    let code = c as u32;
    let after = BLOCKS.partition_point(|&(first, _, _)| first <= code);
    let &(_, last, group) = BLOCKS.get(after.checked_sub(1)?)?;
    (code <= last).then_some(group)
}

pub(super) fn class(c: char) -> Class {
    match c as u32 {
        0x4E00..=0x9FFF => Class::Unspaced(Group::Ideographic),
        0xAC00..=0xD7A3 => Class::Unspaced(Group::Hangul),
        _ => known(c).map_or_else(|| class_by_rule(c), |known| known.class),
    }
}

/// What humps of identifiers are told by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    Lower,
    Upper,
    Digit,
    /// A letter without case.
    None,
}

pub(super) fn case(c: char) -> Case {
    known(c).map_or_else(|| case_by_rule(c), |known| known.case)
}

pub(super) fn case_by_rule(c: char) -> Case {
    if c.is_uppercase() {
        Case::Upper
    } else if c.is_lowercase() {
        Case::Lower
    } else if c.is_numeric() {
        Case::Digit
    } else {
        Case::None
    }
}

pub(super) fn class_by_rule(c: char) -> Class {
    match c as u32 {
        0x30..=0x39 | 0x41..=0x5A | 0x61..=0x7A => Class::Letter,
        0x5F => Class::Joint,
        0x27 => Class::Apostrophe,
        0..=0x7F => Class::Separator,
        0xB7 => Class::MiddleDot,
        // Quotation marks, full width, and the modifier letters that transliterations write.
        0x2018 | 0x2019 | 0xFF07 | 0x2B9..=0x2BF | 0x5F3 | 0x5F4 => Class::Apostrophe,
        0xFF3F => Class::Joint,
        // The voicing marks of kana that stand alone; they are joined to the kana before them.
        0x309B | 0x309C => Class::Unspaced(Group::Ideographic),
        code if is_invisible(code) => Class::Ignored,
        _ => rare_class(c),
    }
}

fn rare_class(c: char) -> Class {
    if is_combining_mark(c) {
        Class::Mark
    } else if is_emoji(c) {
        Class::Emoji
    } else if c.is_alphanumeric() {
        group(c).map_or(Class::Letter, Class::Unspaced)
    } else if matches!(c, '\u{3200}'..='\u{33FF}') {
        // Units, dates and companies in one character: what they are made of.
        let mut found = Class::Separator;
        decompose_compatible(c, |part| {
            if found == Class::Separator && part.is_alphanumeric() {
                found = group(part).map_or(Class::Letter, Class::Unspaced);
            }
        });
        found
    } else {
        Class::Separator
    }
}

/// `Default_Ignorable_Code_Point`.
pub(super) const fn is_invisible(code: u32) -> bool {
    matches!(
        code,
        0xAD | 0x34F
            | 0x61C
            | 0x115F..=0x1160
            | 0x17B4..=0x17B5
            | 0x180B..=0x180F
            | 0x200B..=0x200F
            | 0x202A..=0x202E
            | 0x2060..=0x206F
            | 0x3164
            | 0xFE00..=0xFE0F
            | 0xFEFF
            | 0xFFA0
            | 0xFFF0..=0xFFF8
            | 0x1BCA0..=0x1BCA3
            | 0x1D173..=0x1D17A
            | 0xE0000..=0xE0FFF
    )
}

/// Pictures: whole blocks where they hold nothing else, so check marks and stars are findable, too.
/// Signs that are emoji only when asked to be (©, ™, arrows) are not.
pub(super) const fn is_emoji(c: char) -> bool {
    matches!(
        c as u32,
        0x231A..=0x231B
            | 0x2328
            | 0x23CF
            | 0x23E9..=0x23FA
            | 0x25AA..=0x25AB
            | 0x25B6
            | 0x25C0
            | 0x25FB..=0x25FE
            | 0x2600..=0x2767
            | 0x2794..=0x27BF
            | 0x2934..=0x2935
            | 0x2B05..=0x2B07
            | 0x2B1B..=0x2B1C
            | 0x2B50
            | 0x2B55
            | 0x1F000..=0x1F0FF
            | 0x1F170..=0x1F171
            | 0x1F17E..=0x1F17F
            | 0x1F18E
            | 0x1F191..=0x1F3FA
            | 0x1F400..=0x1FAFF
            | 0x1FC00..=0x1FFFD
    )
}
