//! Order keys: where a node stands among its siblings, as a text that leaves room between any two.
//!
//! A key is one to eight digits of 24 bits, each written as four characters whose ASCII order is
//! their value. Measured for 10,000 inserts in a row (design, model and store, section 1): append and
//! prepend 4 characters, "always after the same node" 8, random places 16.

const ALPHABET: &[u8; 64] = b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
const LIMIT: u32 = 1 << 24;
/// The longest key, in characters, before siblings are given new keys.
pub const MAX_KEY: usize = 32;

fn digits(key: &str) -> Vec<u32> {
    key.as_bytes()
        .chunks(4)
        .map(|chunk| {
            chunk.iter().fold(0, |sum, byte| {
                let value = ALPHABET.iter().position(|c| c == byte).unwrap_or(0);
                (sum << 6) | u32::try_from(value).unwrap_or(0)
            })
        })
        .collect()
}

fn write(digits: &[u32]) -> String {
    let mut out = String::with_capacity(digits.len() * 4);
    for digit in digits {
        for shift in [18, 12, 6, 0] {
            let at = usize::try_from((digit >> shift) & 63).unwrap_or(0);
            out.push(char::from(ALPHABET.get(at).copied().unwrap_or(b'-')));
        }
    }
    out
}

/// A key between two others; none stands for the end on that side. `chance` spreads keys that are
/// made at the same place at once; it comes from the node's ID.
///
/// The caller sees to it that `left` is less than `right`.
#[must_use]
pub fn between(left: Option<&str>, right: Option<&str>, chance: u32) -> String {
    key_between(left, right, 1 + chance % 1_024)
}

/// A key between two others, at most `step` from one of them.
fn key_between(left: Option<&str>, right: Option<&str>, step: u32) -> String {
    let low = left.map(digits).unwrap_or_default();
    let high = right.map(digits);
    let mut out = Vec::with_capacity(low.len() + 1);
    let mut bounded = high.is_some();
    let high = high.unwrap_or_default();
    loop {
        let at = out.len();
        let floor = low.get(at).copied().unwrap_or(0);
        let ceiling = if bounded { high.get(at).copied().unwrap_or(0) } else { LIMIT };
        if bounded && floor == ceiling && at < high.len() {
            out.push(floor);
            continue;
        }
        let gap = ceiling.saturating_sub(floor);
        if gap > 1 {
            let step = step.min(gap / 2);
            out.push(if !bounded && at >= low.len() {
                (LIMIT / 2 + step).min(LIMIT - 1)
            } else if !bounded || low.len() > high.len() {
                floor + step
            } else {
                ceiling - step
            });
            return write(&out);
        }
        out.push(floor);
        bounded = false;
    }
}

/// `count` keys between two others, in order, with room between them.
#[must_use]
pub fn spread(left: Option<&str>, right: Option<&str>, count: usize) -> Vec<String> {
    if count == 0 {
        return Vec::new();
    }
    let middle = key_between(left, right, LIMIT / 2);
    let mut keys = spread(left, Some(&middle), count / 2);
    let after = spread(Some(&middle), right, count - 1 - count / 2);
    keys.push(middle);
    keys.extend(after);
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Inserts `count` keys at the places that `place` names and returns them in order.
    fn grow(count: usize, mut place: impl FnMut(usize) -> usize) -> Vec<String> {
        let mut keys: Vec<String> = Vec::new();
        for round in 0..count {
            let at = place(keys.len()).min(keys.len());
            let left = at.checked_sub(1).map(|before| keys[before].clone());
            let right = keys.get(at).cloned();
            let chance = u32::try_from(round).unwrap().wrapping_mul(2_654_435_761);
            let key = between(left.as_deref(), right.as_deref(), chance >> 8);
            assert!(left.is_none_or(|left| left < key), "{round}");
            assert!(right.is_none_or(|right| key < right), "{round}");
            keys.insert(at, key);
        }
        keys
    }

    #[test]
    fn keys_stay_in_order_and_short() {
        let longest = |keys: &[String]| keys.iter().map(String::len).max().unwrap();
        assert_eq!(longest(&grow(5_000, |len| len)), 4);
        assert_eq!(longest(&grow(5_000, |_| 0)), 4);
        assert!(longest(&grow(5_000, |len| len.min(1))) <= 12);
        assert!(longest(&grow(5_000, |len| len.saturating_sub(1))) <= 12);
        let mut seed = 1_usize;
        let random = grow(5_000, |len| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % (len + 1)
        });
        assert!(longest(&random) <= 16);
    }

    #[test]
    fn a_spread_is_in_order() {
        let keys = spread(Some("8---"), Some("8--0"), 64);
        assert!(keys.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(keys.first().unwrap().as_str() > "8---" && keys.last().unwrap().as_str() < "8--0");
    }
}
