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
        let edits = edit_distance(&word, &letters);
        let is_slip = edits <= MAX_EDITS && 2 * edits <= word.len().min(letters.len());
        if is_slip && best.is_none_or(|(fewest, _)| edits < fewest) {
            best = Some((edits, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The optimal string alignment distance (Damerau-Levenshtein without editing a letter twice):
/// time in the product of the lengths, three rows of memory.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        let cases = [
            ("", "", 0),
            ("", "ab", 2),
            ("faster", "faster", 0),
            ("fsater", "faster", 1),
            ("fastre", "faster", 1),
            ("fast", "faster", 2),
            ("kitten", "sitting", 3),
            ("ca", "abc", 3),
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
