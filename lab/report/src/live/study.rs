//! Progress of a study.

use super::{frame_of, is_open, with_bar};
use crate::effects::padded;
use crate::look::{Look, Spans};
use crate::number::{count, finite, seconds};
use crate::sentence::observation_noun;
use crate::text::{plain, shorten_middle};
use tiebreak_core::result::{ClaimResult, RunResult, StudyResult};

/// The lines of the progress display of a study, at most six, without line feeds. Their number
/// depends on that of the workloads only, so that drawing them again in place does not jump.
///
/// First what is settled and what is left of the budget, with a bar of what is used; then a line a
/// workload, those with something open first: units done, a sign for each claim and for each ratio
/// of its table (`+` settled, `-` refuted, `~` too close, `!` void, `.` open), and how far the one
/// that is furthest has come.
pub fn study_frame(study: &StudyResult, look: &Look) -> Vec<String> {
    let runs = study.runs.iter().map(|run| (name(run), run));
    let units = |shown: &[(&str, &RunResult)]| {
        let units = shown.iter().map(|(_, run)| count(run.rounds, observation_noun(run)));
        let units = padded(units.map(|text| format!("{text:>10}")).collect());
        units.into_iter().map(|text| format!("  {text}  ")).collect()
    };
    frame_of(status(study, *look), runs.collect(), "workload", units, *look)
}

/// One plain line of progress of a study, without a line feed and styles.
pub fn study_line(study: &StudyResult, look: &Look) -> String {
    let text = format!("tiebreak: {}: {}", plain(&study.study), plain_status(study));
    shorten_middle(&text, look.columns(), *look)
}

fn name(run: &RunResult) -> &str {
    run.study.as_ref().map_or("", |study| &study.workload.name)
}

/// `12 of 24 ratios and 3 of 9 claims settled, 12 s of 60 s`.
fn plain_status(study: &StudyResult) -> String {
    let settled = |is_ratio: bool| {
        let all = study.runs.iter().flat_map(|run| &run.verdicts);
        let all: Vec<&ClaimResult> =
            all.filter(|claim| claim.statement.is_measure() == is_ratio).collect();
        let settled = all.iter().filter(|claim| !is_open(claim)).count();
        let noun = if is_ratio { "ratio" } else { "claim" };
        let text = format!("{settled} of {}", count(all.len() as u64, noun));
        (!all.is_empty()).then_some(text)
    };
    let parts: Vec<String> = [settled(true), settled(false)].into_iter().flatten().collect();
    let used = seconds(study.seconds);
    let time = match finite(study.budget.seconds) {
        Some(most) => format!("{used} of {}", seconds(most)),
        None => used,
    };
    match parts.as_slice() {
        [] => time,
        parts => format!("{} settled, {time}", parts.join(" and ")),
    }
}

/// The status, and of the budget what is used.
fn status(study: &StudyResult, look: Look) -> Spans {
    let used = finite(study.budget.seconds).map_or(0.0, |most| study.seconds / most);
    with_bar(plain_status(study), used, look)
}
