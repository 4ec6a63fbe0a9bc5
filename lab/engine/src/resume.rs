//! Resumes a run: only its budget may change.

use crate::error::{LabError, Result};
use crate::referee::Referee;
use crate::replay;
use std::path::Path;
use tiebreak_core::fingerprint::Fingerprint;
use tiebreak_core::journal::{Event, FileDigest, Journal, StopReason};
use tiebreak_core::plan::{Budget, ENGINE_VERSION};
use tiebreak_measure::digest_file;

/// Returns the budget in force: that of the last resumption, else that of the plan.
pub(crate) fn budget_of(journal: &Journal) -> Budget {
    let resumed = journal.events.iter().rev().find_map(|event| match event {
        Event::Resumed { budget, .. } => Some(*budget),
        _ => None,
    });
    resumed.unwrap_or(journal.header.plan.budget)
}

/// The budget of a resumed run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NewBudget {
    /// The same budget as before.
    Same,
    /// This budget, with earlier rounds and seconds.
    Is(Budget),
    /// This much more than was used; `None` for the run's own budget once more.
    More(Option<Budget>),
}

/// Returns whether nothing of a run is left to race.
pub(crate) fn is_over(journal: &Journal) -> bool {
    matches!(replay::last_stop(journal), Some(StopReason::Settled | StopReason::Void))
}

/// Returns whether a file has changed since the run began.
pub(crate) fn has_changed(file: &FileDigest) -> bool {
    !digest_file(Path::new(&file.path)).is_ok_and(|now| now == *file)
}

/// Returns whether a run's claims were settled together with those of its whole file.
pub(crate) fn is_relaxed(journal: &Journal) -> bool {
    journal.events.iter().any(|event| matches!(event, Event::Relaxed { .. }))
}

/// Returns the budget from now on of runs that share one, with earlier rounds and seconds of all of
/// them. A single run is a list of one.
///
/// # Errors
/// Returns why they cannot continue: all are over; one that is not was begun by another engine, or
/// a file of it has changed; no budget is left.
pub(crate) fn budget_from_here(journals: &[&Journal], asked: NewBudget) -> Result<Budget, String> {
    let open: Vec<&Journal> = journals.iter().copied().filter(|one| !is_over(one)).collect();
    let Some(first) = open.first() else {
        let id = journals.first().map_or("", |journal| &journal.id);
        return Err(format!("it is finished: 'tiebreak show {id}' shows it"));
    };
    let mut versions = open.iter().map(|journal| journal.header.plan.engine_version);
    if let Some(version) = versions.find(|version| *version != ENGINE_VERSION) {
        return Err(format!(
            "it was begun by version {version} of the engine, and this is version \
             {ENGINE_VERSION}, which makes other evidence of the same samples: start a new run"
        ));
    }
    let mut files = open.iter().flat_map(|journal| &journal.header.files);
    if let Some(file) = files.find(|file| has_changed(file)) {
        return Err(format!("{} is gone or has changed: start a new run", file.path));
    }
    // Costs a walk through all rounds.
    let referees = journals.iter().map(|journal| Referee::from_journal(journal));
    let (used_rounds, used_s) = referees.fold((0, 0.0), |(rounds, seconds), referee| {
        (rounds + referee.rounds_used(), seconds + referee.elapsed_ns as f64 / 1e9)
    });
    let budget = match asked {
        NewBudget::Same => budget_of(first),
        NewBudget::Is(budget) => budget,
        NewBudget::More(more) => {
            let Budget { rounds, seconds } = more.unwrap_or(first.header.plan.budget);
            Budget {
                rounds: rounds.map(|rounds| rounds.saturating_add(used_rounds)),
                seconds: seconds.map(|seconds| seconds + used_s),
            }
        }
    };
    let is_used_up = budget.rounds.is_some_and(|most| used_rounds >= most)
        || budget.seconds.is_some_and(|most| used_s >= most);
    // A run that was killed before it could record why it stopped may continue, to record it.
    if is_used_up && journals.iter().all(|journal| replay::last_stop(journal).is_some()) {
        return Err(format!(
            "its budget is used up after {used_rounds} rounds and {used_s:.1} s: give it more by \
             --more"
        ));
    }
    Ok(budget)
}

/// Returns the budget from now on of a single run on this machine.
///
/// # Errors
/// Fails if the run cannot continue: see [`budget_from_here`]; or its machine is another one, or
/// its claims were settled together with those of other runs.
pub(crate) fn budget_of_one(
    journal: &Journal,
    machine: &Fingerprint,
    asked: NewBudget,
) -> Result<Budget> {
    let differing = journal.header.machine.differences(machine);
    let budget = if !differing.is_empty() {
        let differing = differing.join(", ");
        Err(format!("this is another machine ({differing} differ): start a new run"))
    } else if is_relaxed(journal) {
        Err("its file settled all contests together: start a new run".to_owned())
    } else {
        budget_from_here(&[journal], asked)
    };
    budget.map_err(|why| refused(&journal.id, &why))
}

/// Returns the error of a run that cannot continue.
pub(crate) fn refused(id: &str, why: &str) -> LabError {
    LabError::Data(format!("run {id} cannot be resumed: {why}"))
}

#[cfg(test)]
mod tests;
