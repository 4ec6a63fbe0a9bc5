//! The small print of a verdict: what its error means, and what it does not cover.

use crate::number::{Rounding, percent};
use tiebreak_core::claim::Relation;
use tiebreak_core::plan::Centre;
use tiebreak_core::result::{ClaimResult, RunResult};
use tiebreak_core::verdict::Verdict;

/// The small print of a run's verdicts: two or three sentences, one an entry, without styles; empty
/// if every verdict is void.
///
/// Questions and `within` use both limits at once, at half the error each; a claim with one side
/// spends all of its error on each limit, so that what is said jointly is said at twice the error.
pub fn small_print(run: &RunResult) -> Vec<String> {
    let said = || run.verdicts.iter().filter(|claim| claim.verdict != Verdict::Void);
    let mut lines: Vec<String> = Vec::new();
    for claim in said() {
        let line = error_statement(claim, said().count() > 1);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    if lines.is_empty() {
        return lines;
    }
    lines.push("Stopping inflates the estimate: quote the interval.".to_owned());
    let mean = match said().any(|claim| claim.centre == Centre::Median) {
        true => "the mean",
        false => "the mean unless the factor is constant",
    };
    lines.push(format!(
        "Not covered: other machines and inputs, fixed paths and environment names, {mean}."
    ));
    lines
}

fn error_statement(claim: &ClaimResult, several: bool) -> String {
    let two_sided = matches!(claim.relation, Relation::Order | Relation::Within { .. });
    if two_sided {
        let right = percent(1.0 - claim.error, Rounding::Down);
        let what = match several {
            true => "a verdict and its interval",
            false => "the verdict and the interval",
        };
        return format!(
            "With probability at least {right} {what} are both right, whenever the run stops."
        );
    }
    let one = percent(claim.error, Rounding::Up);
    let both = percent(2.0 * claim.error, Rounding::Up);
    format!(
        "Whenever the run stops: verdict wrong at most {one}; each limit wrong at most {one}; \
         everything at once at most {both}."
    )
}
