//! GitHub's workflow commands: lines on standard output that become annotations.

use crate::check::{promise, sentence, summary};
use crate::prelude::*;

/// An annotation for every claim that did not pass, at its line of the file: errors first (refuted,
/// void, or not proven), then warnings (not proven, and a gate lets that pass), and at last a
/// notice with the summary. Each stands on a line of its own.
///
/// GitHub shows ten errors and ten warnings of a step, so those that matter more come first.
pub fn annotations(check: &CheckResult) -> String {
    let file = property(&check.file);
    let mut annotations = Vec::new();
    for (contest, line, claim) in check.claims() {
        let level = match claim.outcome() {
            ClaimOutcome::Failed | ClaimOutcome::Unproven | ClaimOutcome::Void => "error",
            ClaimOutcome::PassedUnproven => "warning",
            ClaimOutcome::Passed => continue,
        };
        let line = line.map_or(String::new(), |line| format!(",line={line}"));
        let title = format!("{}: {}", plain(&contest.name), claim.verdict.name());
        let (title, text) = (property(&title), data(&sentence(check, &contest.run, claim)));
        annotations.push(format!("::{level} file={file}{line},title={title}::{text}\n"));
    }
    annotations.sort_by_key(|annotation| annotation.starts_with("::warning"));
    let text = data(&format!("{}. {}", summary(check), promise(check)));
    annotations.concat() + &format!("::notice file={file},title=tiebreak::{text}\n")
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
