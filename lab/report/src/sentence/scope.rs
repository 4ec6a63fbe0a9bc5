//! What a verdict speaks of.

use tiebreak_core::plan::Scope;
use tiebreak_core::result::{ClaimResult, RunResult};
use tiebreak_core::warning::Warning;

/// What a verdict speaks of, as the end of a sentence: of a study's, with its inputs.
pub(super) fn scope_words(run: &RunResult, claim: &ClaimResult) -> String {
    let is_reused = |warning: &Warning| matches!(warning, Warning::PlacementsReused { .. });
    if run.warnings.iter().any(is_reused) {
        return "for this code, in placements that were drawn again and again, which is not valid,"
            .to_owned();
    }
    let what = match (claim.scope, &run.study) {
        (Scope::Layout, Some(_)) => "these binaries as they lie in memory",
        (Scope::Binary, Some(_)) => "these binaries in fresh processes",
        (Scope::Code, Some(_)) => "this code, placed afresh in memory",
        _ => return scope_of_programs(claim).to_owned(),
    };
    let is_drawn = run.study.as_ref().is_some_and(|study| study.workload.is_drawn);
    let inputs = match claim.scope {
        Scope::Binary | Scope::Code if is_drawn => "inputs drawn afresh",
        _ => "this input",
    };
    format!("for {what}, on {inputs} and this machine")
}

fn scope_of_programs(claim: &ClaimResult) -> &'static str {
    match (claim.scope, claim.right.is_some()) {
        (Scope::Layout, true) => {
            "for these binaries as they happen to lie in memory on this machine"
        }
        (Scope::Layout, false) => "for this binary as it happens to lie in memory on this machine",
        (Scope::Binary, true) => "for these exact binaries on this machine",
        (Scope::Binary, false) => "for this exact binary on this machine",
        (Scope::Code, _) => "for this code on this machine, freshly placed in memory",
        (Scope::Stream, _) => "for this stream of lines",
    }
}

/// What a round of a run is: of a study the unit of several rounds that share what was drawn,
/// except where everything stays in one process.
pub(crate) fn observation_noun(run: &RunResult) -> &'static str {
    match &run.study {
        Some(study) if study.scope != Scope::Layout => "unit",
        _ => "round",
    }
}
