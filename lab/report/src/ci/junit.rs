//! JUnit reports, as CI systems read them.

use crate::check::{effect, sentence};
use crate::prelude::*;
use crate::repeat_line;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite, XmlString};
use std::time::Duration;

/// The result of a file of claims as a JUnit report: a suite a contest, a case a claim.
///
/// A refuted claim is a failure, a void one an error. One that is neither proven nor refuted is a
/// failure too, with its verdict as the type, unless a gate lets it pass: then it is skipped. So
/// unless the check was interrupted, there are failures or errors where the exit code is not 0, and
/// nowhere else. The message of these, and what a passed
/// case wrote, is the sentence; a case's properties are its verdict, effect, rounds, error and
/// journal. What XML forbids is left out of names and texts. Seconds are the contest's own when the
/// claim was settled, so those of a suite add up to more than the suite's.
pub fn text(check: &CheckResult) -> String {
    let mut report = Report::new(format!("tiebreak {}", plain(&check.file)));
    report.set_time(duration(check.seconds));
    for contest in &check.contests {
        report.add_test_suite(suite(check, contest));
    }
    // The report goes to memory, and every text in it is XML's: nothing here can fail.
    report.to_string().unwrap_or_default()
}

fn suite(check: &CheckResult, contest: &ContestResult) -> TestSuite {
    let mut suite = TestSuite::new(plain(&contest.name));
    suite.set_time(duration(contest.run.seconds));
    suite.add_property(("seed", plain(&contest.run.seed).as_str()));
    suite.add_property(("journal", plain(&contest.run.journal).as_str()));
    if let Some(command) = repeat_line(&contest.run) {
        suite.add_property(("repeat", plain(&command).as_str()));
    }
    // Several claims may have the same to say.
    for warning in each_once(&contest.run.warnings) {
        let (name, text) = (format!("warning.{}", warning.code()), plain(&warning.to_string()));
        suite.add_property((name.as_str(), text.as_str()));
    }
    for (index, claim) in contest.run.verdicts.iter().enumerate() {
        let mut case = case(check, contest, claim);
        case.extra.insert(XmlString::new("file"), XmlString::new(plain(&check.file)));
        if let Some(line) = contest.lines.get(index) {
            case.extra.insert(XmlString::new("line"), XmlString::new(line.to_string()));
        }
        suite.add_test_case(case);
    }
    suite
}

fn case(check: &CheckResult, contest: &ContestResult, claim: &ClaimResult) -> TestCase {
    let sentence = plain(&sentence(check, &contest.run, claim));
    let mut status = match claim.outcome() {
        ClaimOutcome::Passed => TestCaseStatus::success(),
        ClaimOutcome::PassedUnproven => TestCaseStatus::skipped(),
        ClaimOutcome::Void => TestCaseStatus::non_success(NonSuccessKind::Error),
        _ => TestCaseStatus::non_success(NonSuccessKind::Failure),
    };
    let has_passed = claim.outcome() == ClaimOutcome::Passed;
    if !has_passed {
        status.set_type(claim.verdict.name());
        status.set_message(sentence.as_str());
        // GitLab shows what stands in the element, most others the message.
        status.set_description(sentence.as_str());
    }
    let mut case = TestCase::new(plain(&claim.claim), status);
    case.set_classname(plain(&contest.name));
    case.set_time(duration(claim.seconds));
    case.add_property(("verdict", claim.verdict.name()));
    case.add_property(("effect", plain(&effect(claim)).as_str()));
    case.add_property(("rounds", claim.rounds.to_string().as_str()));
    case.add_property(("error", claim.error.to_string().as_str()));
    if has_passed {
        case.set_system_out(sentence.as_str());
    }
    case
}

/// Returns seconds as a duration; 0 for what is not one.
fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::shares::{checked, nasty};
    use tiebreak_core::result::Family;

    #[test]
    fn a_report_looks_as_it_was_approved() {
        insta::assert_snapshot!(text(&checked(Family::EBonferroni)));
    }

    #[test]
    fn what_is_written_can_be_read_back() {
        for check in [checked(Family::EBonferroni), nasty()] {
            let written = text(&check);
            let report = Report::deserialize_from_str(&written).unwrap();
            assert_eq!(report.test_suites.len(), check.contests.len());
            for (suite, contest) in report.test_suites.iter().zip(&check.contests) {
                assert_eq!(suite.name.as_str(), plain(&contest.name));
                for (case, claim) in suite.test_cases.iter().zip(&contest.run.verdicts) {
                    assert_eq!(case.name.as_str(), plain(&claim.claim));
                    assert_eq!(case.properties[0].value.as_str(), claim.verdict.name());
                }
            }
        }
    }

    #[test]
    fn counts_are_those_of_the_outcomes() {
        let report = Report::deserialize_from_str(&text(&checked(Family::EBonferroni))).unwrap();
        let counts = [report.tests, report.failures, report.errors, report.skipped];
        assert_eq!(counts, [9, 3, 2, 1]);
    }
}
