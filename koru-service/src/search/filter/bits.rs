//! Sets of small numbers, as bits.

/// A set of keys of nodes or documents.
#[derive(Debug, Clone, Default)]
pub(in crate::search) struct Bits {
    words: Vec<u64>,
    count: usize,
}

impl Bits {
    /// Adds a number; whether it was not in the set.
    pub(in crate::search) fn add(&mut self, number: u32) -> bool {
        let place = number as usize / 64;
        if self.words.len() <= place {
            self.words.resize(place + 1, 0);
        }
        let Some(word) = self.words.get_mut(place) else { return false };
        let bit = 1 << (number % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        self.count += usize::from(is_new);
        is_new
    }

    pub(in crate::search) fn has(&self, number: u32) -> bool {
        let word = self.words.get(number as usize / 64).copied().unwrap_or(0);
        word >> (number % 64) & 1 == 1
    }

    pub(in crate::search) fn count(&self) -> usize {
        self.count
    }

    /// The numbers, rising.
    pub(in crate::search) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0_u32..).step_by(64).zip(&self.words).flat_map(|(first, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let next = left.trailing_zeros();
                left &= left.wrapping_sub(1);
                (next < 64).then_some(first + next)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_added_in_order() {
        let mut bits = Bits::default();
        assert!(!bits.has(0) && bits.iter().next().is_none());
        for number in [200, 0, 63, 64, 127] {
            assert!(bits.add(number), "{number}");
            assert!(!bits.add(number), "{number}");
        }
        assert_eq!(bits.iter().collect::<Vec<_>>(), [0, 63, 64, 127, 200]);
        assert_eq!(bits.count(), 5);
        assert!(bits.has(127) && !bits.has(126) && !bits.has(1_000_000));
    }
}
