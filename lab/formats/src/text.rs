//! Text from outside made safe to pass on.

use tiebreak_core::result::{CheckResult, ClaimResult, ContestResult};

/// A text on one line without control characters: runs of white space become one blank, other
/// control characters `?`.
pub(crate) fn plain(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    let visible = |c: char| if c.is_control() { '?' } else { c };
    words.join(" ").chars().map(visible).collect()
}

/// All claims in the order of the file, with the contest and the line of each.
pub(crate) fn claims(
    check: &CheckResult,
) -> impl Iterator<Item = (&ContestResult, Option<u64>, &ClaimResult)> {
    check.contests.iter().flat_map(|contest| {
        let line = |index: usize| contest.lines.get(index).copied();
        let numbered = contest.run.verdicts.iter().enumerate();
        numbered.map(move |(index, claim)| (contest, line(index), claim))
    })
}
