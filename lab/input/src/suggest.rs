//! Suggestions: what was probably meant, by edit distance.

/// The largest number of edits that still looks like a slip.
const MAX_EDITS: usize = 2;

/// The candidate that is most like the word: at most two letters inserted, deleted, replaced or
/// swapped with their neighbour, whatever their case, and at most half of the letters of either.
/// Of several the first one.
pub(crate) fn closest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let word: Vec<char> = word.to_lowercase().chars().collect();
    let mut best = None;
    for candidate in candidates {
        let letters: Vec<char> = candidate.to_lowercase().chars().collect();
        if word.len().abs_diff(letters.len()) > MAX_EDITS {
            continue;
        }
        let Some(edits) = edit_distance(&word, &letters) else { continue };
        let is_slip = 2 * edits <= word.len().min(letters.len());
        if is_slip && best.is_none_or(|(fewest, _)| edits < fewest) {
            best = Some((edits, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The optimal string alignment distance (Damerau-Levenshtein without editing a letter twice) if it
/// is at most the largest number of edits. Only a band around the diagonal can lead there, and it
/// is left as soon as all of it is beyond, which mostly is after a few letters: time in the product
/// of the lengths at worst, three rows of memory.
fn edit_distance(a: &[char], b: &[char]) -> Option<usize> {
    let far = MAX_EDITS + 1;
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).map(|edits| edits.min(far)).collect();
    for i in 1..=a.len() {
        let mut row = vec![far; b.len() + 1];
        row[0] = i.min(far);
        for j in i.saturating_sub(MAX_EDITS).max(1)..=b.len().min(i + MAX_EDITS) {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        // A swap may still start from the row before.
        if row.iter().chain(&last).all(|edits| *edits >= far) {
            return None;
        }
        before_last = std::mem::replace(&mut last, row);
    }
    Some(last[b.len()]).filter(|edits| *edits < far)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same distance by its definition, however large.
    fn plain_distance(a: &[char], b: &[char]) -> usize {
        let (Some((last_a, rest_a)), Some((last_b, rest_b))) = (a.split_last(), b.split_last())
        else {
            return a.len() + b.len();
        };
        let replaced = plain_distance(rest_a, rest_b) + usize::from(last_a != last_b);
        let deleted = plain_distance(rest_a, b).min(plain_distance(a, rest_b)) + 1;
        match (rest_a.split_last(), rest_b.split_last()) {
            (Some((c, a)), Some((d, b))) if c == last_b && d == last_a => {
                replaced.min(deleted).min(plain_distance(a, b) + 1)
            }
            _ => replaced.min(deleted),
        }
    }

    proptest! {
        #[test]
        fn the_band_loses_nothing(a in "[ab]{0,6}", b in "[abc]{0,6}") {
            let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            let plain = Some(plain_distance(&a, &b)).filter(|edits| *edits <= MAX_EDITS);
            prop_assert_eq!(edit_distance(&a, &b), plain);
        }
    }

    #[test]
    fn edits_are_counted() {
        let cases = [
            ("", "", Some(0)),
            ("", "ab", Some(2)),
            ("faster", "faster", Some(0)),
            ("fsater", "faster", Some(1)),
            ("fastre", "faster", Some(1)),
            ("fast", "faster", Some(2)),
            ("afster", "fasetr", Some(2)),
            ("abcdefgh", "cdefgh", Some(2)),
            ("kitten", "sitting", None),
            ("ca", "abc", None),
            ("fastest", "steady", None),
        ];
        for (a, b, edits) in cases {
            let (left, right): (Vec<_>, Vec<_>) = (a.chars().collect(), b.chars().collect());
            assert_eq!(edit_distance(&left, &right), edits, "{a} {b}");
            assert_eq!(edit_distance(&right, &left), edits, "{b} {a}");
        }
    }

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        let cases = [
            ("swr", Some("swar")),
            ("SWAR", Some("swar")),
            ("niave", Some("naive")),
            ("x", None),
            ("b", Some("B")),
            ("C", None),
            ("Bx", None),
            ("nive", Some("naive")),
            ("quick", None),
        ];
        for (word, expected) in cases {
            assert_eq!(closest(word, ["swar", "naive", "B"]), expected, "{word}");
        }
    }
}
