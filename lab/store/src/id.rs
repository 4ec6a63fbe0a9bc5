//! Names of runs: short, typable, and different in at least two characters.

use std::fmt;

/// Crockford's base 32: no `i`, `l`, `o` and `u`, which are mistaken for others.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// A run of a store: made by [`Store::create_run`](crate::Store::create_run) or
/// [`Store::find`](crate::Store::find), and of use with that store only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunId {
    pub(crate) name: String,
    pub(crate) row: i64,
}

impl RunId {
    /// The name of the n-th run of a store, counted from 1.
    ///
    /// `r`, at least four digits, and a check digit. The digits are `n * 0x9e3779b1` modulo a power
    /// of two (a bijection, because the factor is odd), so that neighbours differ at the front and
    /// two or three characters are enough to name a run. A function of `n` alone: the same runs
    /// have the same names in another store.
    pub(crate) fn of_row(row: i64) -> RunId {
        let mut width = 4;
        while (row as u128) >> (5 * width) != 0 {
            width += 1;
        }
        let mixed = (row as u128).wrapping_mul(0x9e37_79b1) & ((1 << (5 * width)) - 1);
        let digits = (0..width).rev().map(|place| (mixed >> (5 * place)) as u8 & 31);
        let mut name = String::from("r");
        let mut check = 0;
        for digit in digits {
            check = times_x(check ^ digit);
            name.push(char::from(DIGITS[usize::from(digit)]));
        }
        name.push(char::from(DIGITS[usize::from(check)]));
        RunId { name, row }
    }

    /// The name, for `tiebreak show NAME`.
    pub fn as_str(&self) -> &str {
        &self.name
    }
}

/// Multiplies by x in GF(32) with the polynomial x^5 + x^2 + 1: a check digit made this way changes
/// with any single digit and with any two neighbours that are swapped.
fn times_x(digit: u8) -> u8 {
    let shifted = digit << 1;
    if shifted & 32 == 0 { shifted } else { (shifted ^ 0b100101) & 31 }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

/// What was typed, as names are written: small letters, and the digits that are meant.
pub(crate) fn normalise(typed: &str) -> String {
    let meant = |c: char| match c.to_ascii_lowercase() {
        'o' => '0',
        'i' | 'l' => '1',
        other => other,
    };
    typed.trim().chars().map(meant).collect()
}

/// Levenshtein distance in characters; quadratic in the lengths, which are short.
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
        let names: Vec<String> = (1..=1000).map(|row| RunId::of_row(row).name).collect();
        assert!(names.iter().all(|name| name.len() == 6 && name.starts_with('r')), "{names:?}");
        let all: HashSet<_> = names.iter().collect();
        for name in &names {
            for (place, digit) in (1..6).flat_map(|p| DIGITS.iter().map(move |d| (p, *d))) {
                let mut other = name.clone().into_bytes();
                other[place] = digit;
                let other = String::from_utf8(other).unwrap();
                assert!(other == *name || !all.contains(&other), "{other} is {name} mistyped");
            }
        }
    }

    #[test]
    fn many_runs_have_longer_names() {
        for (row, length) in [(1, 6), ((1 << 20) - 1, 6), (1 << 20, 7), (i64::MAX, 15)] {
            assert_eq!(RunId::of_row(row).name.len(), length, "{row}");
        }
        let first: HashSet<_> =
            (1..=20).map(|row| RunId::of_row(row).name[..3].to_owned()).collect();
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
