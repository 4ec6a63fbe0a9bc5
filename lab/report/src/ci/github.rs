//! GitHub's workflow commands: lines on standard output that become annotations.

use crate::check::{promise, sentence, summary};
use crate::prelude::*;

/// An annotation for every claim that did not pass, at its line of the file: errors first (refuted,
/// void, or not proven), then warnings (not proven, and a gate lets that pass), and at last a
/// notice with the summary. Each stands on a line of its own.
///
/// GitHub shows ten errors and ten warnings of a step, so those that matter more come first.
pub fn annotations(check: &CheckResult) -> String {
    let mut out = String::new();
    let of = |claim: &ClaimResult| match claim.outcome() {
        ClaimOutcome::Failed | ClaimOutcome::Unproven | ClaimOutcome::Void => Some("error"),
        ClaimOutcome::PassedUnproven => Some("warning"),
        ClaimOutcome::Passed => None,
    };
    for level in ["error", "warning"] {
        for (contest, line, claim) in check.claims().filter(|(.., claim)| of(claim) == Some(level))
        {
            out += &annotation(check, (contest, line, claim), level);
        }
    }
    let text = format!("{}. {}", summary(check), promise(check));
    let file = property(&check.file);
    out += &format!("::notice file={file},title=tiebreak::{}\n", data(&text));
    out
}

fn annotation(
    check: &CheckResult,
    (contest, line, claim): (&ContestResult, Option<u64>, &ClaimResult),
    level: &str,
) -> String {
    let file = property(&check.file);
    let line = line.map_or(String::new(), |line| format!(",line={line}"));
    let title = format!("{}: {}", plain(&contest.name), claim.verdict.name());
    let text = data(&sentence(check, &contest.run, claim));
    format!("::{level} file={file}{line},title={}::{text}\n", property(&title))
}

/// Escapes a message of a workflow command: percent signs and line ends; control
/// characters could only harm the log.
fn data(text: &str) -> String {
    plain(text).replace('%', "%25")
}

/// Escapes a property of a workflow command, which colons and commas would end.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::shares::{checked, nasty};
    use tiebreak_core::result::Family;

    #[test]
    fn annotations_look_as_they_were_approved() {
        insta::assert_snapshot!(annotations(&checked(Family::EBonferroni)));
    }

    #[test]
    fn nothing_leaves_its_line_or_its_property() {
        let text = annotations(&nasty());
        for line in text.lines() {
            let (head, _) = line.strip_prefix("::").unwrap().split_once("::").unwrap();
            let (level, properties) = head.split_once(' ').unwrap();
            assert!(["error", "warning", "notice"].contains(&level), "{line}");
            for property in properties.split(',') {
                let (key, value) = property.split_once('=').unwrap();
                assert!(["file", "line", "title"].contains(&key), "{line}");
                assert!(!value.contains(':'), "{line}");
            }
        }
        assert!(!text.contains(['\r', '\u{1b}']), "{text}");
    }

    #[test]
    fn escapes_are_githubs() {
        assert_eq!(data("100%\r\n::error::x"), "100%25 ::error::x");
        assert_eq!(property("a:b,c%"), "a%3Ab%2Cc%25");
    }
}
