//! The exit codes, and which of several verdicts determines them.

use tiebreak_lab::LabError;
use tiebreak_lab::core::journal::StopReason;
use tiebreak_lab::core::result::{CheckResult, ClaimOutcome, ClaimResult, RunResult, StudyResult};
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

/// Returns the exit code of a result: that of the worst verdict, in the order 3, 1, 2, 0.
pub fn of_result(result: &RunResult) -> u8 {
    if result.stopped == Some(StopReason::Interrupted) {
        return INTERRUPTED;
    }
    if let Some(check) = &result.self_check {
        return match check {
            _ if has_void(result) => VOID,
            check if check.rate_low > check.error => REFUTED,
            check if check.comparisons == 0 => OPEN,
            _ => HOLDS,
        };
    }
    if result.study.is_some() {
        return of_workload(result);
    }
    worst(result.verdicts.iter().map(of_claim))
}

/// Returns the exit code of a study: a void contestant comes first, then the claims. The table's
/// ratios are not claims, and without a claim nothing can fail.
pub fn of_study(result: &StudyResult) -> u8 {
    if result.interrupted {
        return INTERRUPTED;
    }
    worst(result.runs.iter().map(of_workload))
}

fn of_workload(run: &RunResult) -> u8 {
    if has_void(run) {
        return VOID;
    }
    let claims = run.verdicts.iter().filter(|claim| !claim.statement.is_measure());
    worst(claims.map(of_claim))
}

fn has_void(run: &RunResult) -> bool {
    run.contestants.iter().any(|contestant| contestant.fault.is_some())
}

/// Returns the exit code of a file of claims: that of its worst verdict.
pub fn of_check(result: &CheckResult) -> u8 {
    if result.interrupted {
        return INTERRUPTED;
    }
    worst(result.contests.iter().map(|contest| of_result(&contest.run)))
}

fn of_claim(claim: &ClaimResult) -> u8 {
    match claim.outcome() {
        ClaimOutcome::Passed | ClaimOutcome::PassedUnproven => HOLDS,
        ClaimOutcome::Unproven => OPEN,
        ClaimOutcome::Failed => REFUTED,
        ClaimOutcome::Void => VOID,
    }
}

/// Returns the worst of these codes, in the order 3, 1, 2, 0; 0 if there are none.
pub fn worst(codes: impl Iterator<Item = u8>) -> u8 {
    let order = [HOLDS, OPEN, REFUTED, VOID];
    codes.max_by_key(|code| order.iter().position(|other| other == code)).unwrap_or(HOLDS)
}
