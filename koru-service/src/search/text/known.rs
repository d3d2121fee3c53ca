//! What is known of the common characters, so that reading a text asks no tables of Unicode for
//! them: computed once from the rules in [`scripts`](super::scripts) and [`fold`](super::fold).

use std::sync::LazyLock;

use super::fold::fold_by_rule;
use super::scripts::{Case, Class, case_by_rule, class_by_rule};

/// The code points below this are known: the alphabets, Thai to Khmer, and Latin with two marks.
const KNOWN: u32 = 0x2000;
/// The longest folded text that is kept, in bytes.
const BYTES: usize = 6;

pub(super) struct Known {
    pub(super) class: Class,
    pub(super) case: Case,
    /// Whether the folded text holds marks.
    pub(super) marked: bool,
    len: u8,
    text: [u8; BYTES],
}

impl Known {
    fn of(c: char) -> Self {
        let mut folded = String::new();
        let marked = fold_by_rule(c, &mut folded);
        let mut text = [0; BYTES];
        let kept = text.get_mut(..folded.len()).map(|kept| kept.copy_from_slice(folded.as_bytes()));
        let len = kept.and_then(|()| u8::try_from(folded.len()).ok()).unwrap_or(u8::MAX);
        Self { class: class_by_rule(c), case: case_by_rule(c), marked, len, text }
    }

    /// What the character is in a token; `None` for the few that become very long.
    pub(super) fn folded(&self) -> Option<&str> {
        std::str::from_utf8(self.text.get(..usize::from(self.len))?).ok()
    }
}

static TABLE: LazyLock<Vec<Known>> =
    LazyLock::new(|| (0..KNOWN).filter_map(char::from_u32).map(Known::of).collect());

pub(super) fn known(c: char) -> Option<&'static Known> {
    // No surrogate is below the bound, so a character's number is its place.
    TABLE.get(c as usize)
}
