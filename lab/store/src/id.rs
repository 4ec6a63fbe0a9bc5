//! Names of runs and prints: short, typable, and different in at least two characters.

use std::fmt;

/// Crockford's base 32: without `i`, `l`, `o` and `u`, which are easily mistaken for other
/// characters.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The name of a run of a store. [`Store::create_run`](crate::Store::create_run) and
/// [`Store::find`](crate::Store::find) make it, and it is valid for that store only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunId {
    pub(crate) name: String,
    pub(crate) row: i64,
}

impl RunId {
    /// Returns the name for the n-th run of a store, counted from 1.
    ///
    /// The name is `r`, at least five digits, and a check digit. The digits are
    /// `n * 0x9e3779b1 + salt` modulo a power of two. The salt is the hash of the run's header, so
    /// that runs in the stores of two people have different names, and the same run in two stores
    /// of a test has the same name.
    pub(crate) fn of_row(row: i64, salt: u64) -> RunId {
        RunId { name: name_of('r', row, salt), row }
    }

    /// Returns the name, for `tiebreak show NAME`.
    pub fn as_str(&self) -> &str {
        &self.name
    }
}

/// Returns the name of a row: the letter of its kind, the digits, and the check digit.
pub(crate) fn name_of(letter: char, row: i64, salt: u64) -> String {
    let mut width = 5;
    while (row as u128) >> (5 * width) != 0 {
        width += 1;
    }
    let mixed = (row as u128).wrapping_mul(0x9e37_79b1).wrapping_add(u128::from(salt))
        & ((1 << (5 * width)) - 1);
    let digits = (0..width).rev().map(|place| (mixed >> (5 * place)) as u8 & 31);
    let mut name = String::from(letter);
    let mut check = 0;
    for digit in digits {
        check = times_x(check ^ digit);
        name.push(char::from(DIGITS[usize::from(digit)]));
    }
    name.push(char::from(DIGITS[usize::from(check)]));
    name
}

/// Returns the FNV-1a hash of a text (Fowler, Noll, Vo), which is enough to distinguish headers.
pub(crate) fn salt(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Multiplies by x in GF(32) with the polynomial x^5 + x^2 + 1. A check digit made in this way
/// changes with any single digit and with any swap of two neighbours.
fn times_x(digit: u8) -> u8 {
    let shifted = digit << 1;
    if shifted & 32 == 0 { shifted } else { (shifted ^ 0b100101) & 31 }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

/// Normalises typed text to the form of names: small letters, and the digits that are meant.
pub(crate) fn normalise(typed: &str) -> String {
    let meant = |c: char| match c.to_ascii_lowercase() {
        'o' => '0',
        'i' | 'l' => '1',
        other => other,
    };
    typed.trim().chars().map(meant).collect()
}

/// Computes the Levenshtein distance in characters. The cost is quadratic in the lengths, which are
/// short.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_far_apart() {
        let names: Vec<String> = (1..=1000).map(|row| RunId::of_row(row, 0).name).collect();
        assert!(names.iter().all(|name| name.len() == 7 && name.starts_with('r')), "{names:?}");
        let all: HashSet<_> = names.iter().collect();
        for name in &names {
            for (place, digit) in (1..7).flat_map(|p| DIGITS.iter().map(move |d| (p, *d))) {
                let mut other = name.clone().into_bytes();
                other[place] = digit;
                let other = String::from_utf8(other).unwrap();
                assert!(other == *name || !all.contains(&other), "{other} is {name} mistyped");
            }
        }
    }

    #[test]
    fn many_runs_have_longer_names() {
        for (row, length) in [(1, 7), ((1 << 25) - 1, 7), (1 << 25, 8), (i64::MAX, 15)] {
            assert_eq!(RunId::of_row(row, 0).name.len(), length, "{row}");
        }
        let first: HashSet<_> =
            (1..=20).map(|row| RunId::of_row(row, 0).name[..3].to_owned()).collect();
        assert_eq!(first.len(), 20, "three characters name one of twenty runs");
    }

    #[test]
    fn what_is_typed_is_read_generously() {
        assert_eq!(normalise(" R7F3KO "), "r7f3k0");
        assert_eq!(distance("r7f3k2", "r7f3k2"), 0);
        assert_eq!(distance("r7f3k2", "r7f32"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abcd", "badc"), 3);
    }
}
