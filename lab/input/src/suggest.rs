//! Suggests what was probably meant, by edit distance.

/// The largest number of edits of a slip.
const MAX_EDITS: usize = 2;

/// Returns the candidate that is most similar to the word: at most two letters inserted, deleted,
/// replaced or swapped with their neighbour, in any case, and at most half of the letters of
/// either. If several are equal, the first one.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let letters = word.chars().count();
    let mut best = None;
    for candidate in candidates {
        let plain = candidate.to_lowercase();
        let count = plain.chars().count();
        // The distance is at least the difference in length; computing it costs the product of
        // both.
        if letters.abs_diff(count) > MAX_EDITS {
            continue;
        }
        let edits = strsim::osa_distance(&word, &plain);
        let is_slip = edits <= MAX_EDITS && 2 * edits <= letters.min(count);
        if is_slip && best.is_none_or(|(fewest, _)| edits < fewest) {
            best = Some((edits, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("navie", Some("naive")),
            ("anivee", Some("naive")),
            ("swarming", None),
        ];
        for (word, expected) in cases {
            assert_eq!(closest(word, ["swar", "naive", "B"]), expected, "{word}");
        }
    }
}
