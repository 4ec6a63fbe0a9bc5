//! What became of a file of claims, as JSON.

use super::{BudgetEntry, Document};
use serde::Serialize;
use serde_json::Value;
use tiebreak_core::result::{CheckResult, ContestResult, Family};
use tiebreak_core::verdict::Verdict;

/// The version of the JSON form of a check.
pub const CHECK_SCHEMA: &str = "tiebreak/check/1";

/// The result of a check as a JSON value: one object of the schema of results a contest.
pub fn check(check: &CheckResult) -> Value {
    // Keys are texts and numbers finite or null, so that nothing here can fail.
    serde_json::to_value(CheckDocument::of(check)).unwrap_or(Value::Null)
}

/// The same as text with two blanks of indent and a line feed at the end; keys stand in the order
/// of the schema, always.
pub fn check_text(check: &CheckResult) -> String {
    serde_json::to_string_pretty(&CheckDocument::of(check)).unwrap_or_default() + "\n"
}

#[derive(Serialize)]
struct CheckDocument<'a> {
    schema: &'static str,
    file: &'a str,
    family: Family,
    error: f64,
    seconds: f64,
    budget: BudgetEntry,
    interrupted: bool,
    counts: Counts,
    contests: Vec<ContestEntry<'a>>,
}

/// How many claims of the file ended so.
#[derive(Serialize)]
struct Counts {
    holds: usize,
    refuted: usize,
    too_close: usize,
    undecided: usize,
    void: usize,
}

#[derive(Serialize)]
struct ContestEntry<'a> {
    name: &'a str,
    lines: &'a [u64],
    result: Document<'a>,
}

impl<'a> CheckDocument<'a> {
    fn of(check: &'a CheckResult) -> CheckDocument<'a> {
        let count = |verdict: Verdict| {
            let claims = check.contests.iter().flat_map(|contest| &contest.run.verdicts);
            claims.filter(|claim| claim.verdict == verdict).count()
        };
        let contest = |contest: &'a ContestResult| ContestEntry {
            name: &contest.name,
            lines: &contest.lines,
            result: Document::of(&contest.run),
        };
        CheckDocument {
            schema: CHECK_SCHEMA,
            file: &check.file,
            family: check.family,
            error: check.error,
            seconds: check.seconds,
            budget: BudgetEntry { rounds: check.budget.rounds, seconds: check.budget.seconds },
            interrupted: check.interrupted,
            counts: Counts {
                holds: count(Verdict::Holds),
                refuted: count(Verdict::Refuted),
                too_close: count(Verdict::TooClose),
                undecided: count(Verdict::Undecided),
                void: count(Verdict::Void),
            },
            contests: check.contests.iter().map(contest).collect(),
        }
    }
}
