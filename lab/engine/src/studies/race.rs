//! The race of a study's workloads, in turns, under one error and one budget.

use super::functions::Functions;
use super::line_up::LineUp;
use crate::check;
use crate::error::LabError;
use std::sync::atomic::AtomicBool;
use tiebreak_core::result::{CheckResult, StudyResult};

/// Races the workloads to their end. Calls `watch` with their standing after each turn, between two
/// units.
///
/// # Errors
/// Fails if a journal cannot be written, or if the machine fails. What was finished is in the
/// journals.
pub fn race(
    line_up: &mut LineUp,
    stop: &AtomicBool,
    mut watch: impl FnMut(&dyn Fn() -> StudyResult),
) -> Result<StudyResult, LabError> {
    let LineUp { contests, done, rules, title } = line_up;
    let raced = check::race::<Functions>(contests, done, rules, stop, |standing| {
        watch(&|| of_study(standing(), title));
    })?;
    Ok(of_study(raced, title))
}

/// Converts the result: a study's workloads correspond to a file's contests.
fn of_study(raced: CheckResult, title: &str) -> StudyResult {
    StudyResult {
        study: raced.file,
        title: title.to_owned(),
        error: raced.error,
        budget: raced.budget,
        seconds: raced.seconds,
        interrupted: raced.interrupted,
        runs: raced.contests.into_iter().map(|contest| contest.run).collect(),
    }
}
