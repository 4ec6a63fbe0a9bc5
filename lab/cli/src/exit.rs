//! The exit codes, and which of several verdicts determines them.

use tiebreak_lab::LabError;
use tiebreak_lab::core::journal::StopReason;
use tiebreak_lab::core::result::{ClaimOutcome, ClaimResult, RunResult};
use tiebreak_lab::core::warning::Warning;
use tiebreak_lab::error::Blame;

/// Every claim holds, or a question is answered.
pub const HOLDS: u8 = 0;
/// A claim is refuted.
pub const REFUTED: u8 = 1;
/// A claim is undecided or too close.
pub const OPEN: u8 = 2;
/// A contestant failed.
pub const VOID: u8 = 3;
/// The command line or a claim is wrong.
pub const USAGE: u8 = 64;
/// A file or program that the user named cannot be used.
pub const DATA: u8 = 65;
/// A fault of the machine or of tiebreak.
pub const TOOL: u8 = 70;
/// Stopped by the user.
pub const INTERRUPTED: u8 = 130;

/// Returns the exit code of a command that ends without a result.
pub fn of_error(error: &LabError) -> u8 {
    match error.blame() {
        Blame::Usage => USAGE,
        Blame::Data => DATA,
        Blame::Machine => OPEN,
        Blame::Tool => TOOL,
        Blame::User => INTERRUPTED,
    }
}

/// Returns the exit code of a run.
pub fn of_result(result: &RunResult) -> u8 {
    of_runs(result.stopped == Some(StopReason::Interrupted), [result])
}

/// Returns the exit code of runs: that of the worst verdict, in the order 3, 1, 2, 0.
pub fn of_runs<'a>(interrupted: bool, runs: impl IntoIterator<Item = &'a RunResult>) -> u8 {
    if interrupted { INTERRUPTED } else { of_worst(runs.into_iter().map(outcome)) }
}

/// Returns the exit code of the worst of these outcomes; 0 if there are none.
pub fn of_worst(outcomes: impl Iterator<Item = ClaimOutcome>) -> u8 {
    match outcomes.max() {
        None | Some(ClaimOutcome::Passed | ClaimOutcome::PassedUnproven) => HOLDS,
        Some(ClaimOutcome::Unproven) => OPEN,
        Some(ClaimOutcome::Failed) => REFUTED,
        Some(ClaimOutcome::Void) => VOID,
    }
}

/// Returns the worst outcome of a run. In a study, a void contestant comes first, then the claims:
/// the table's ratios are not claims, and without a claim nothing can fail. A claim that could not
/// be judged here is open.
fn outcome(run: &RunResult) -> ClaimOutcome {
    let is_void = run.contestants.iter().any(|contestant| contestant.fault.is_some());
    let is_study = run.study.is_some();
    if is_void && (is_study || run.self_check.is_some()) {
        return ClaimOutcome::Void;
    }
    if let Some(check) = &run.self_check {
        return match check {
            check if check.rate_low > check.error => ClaimOutcome::Failed,
            check if check.comparisons == 0 => ClaimOutcome::Unproven,
            _ => ClaimOutcome::Passed,
        };
    }
    let claims = run.verdicts.iter().filter(|claim| !is_study || !claim.statement.is_measure());
    let not_judged = run.warnings.iter().any(|one| matches!(one, Warning::NotJudged { .. }));
    let open = (is_study && not_judged).then_some(ClaimOutcome::Unproven);
    claims.map(ClaimResult::outcome).chain(open).max().unwrap_or(ClaimOutcome::Passed)
}
