//! Resumes a run: only its budget may change.

use crate::error::LabError;
use crate::files::has_changed;
use crate::referee::Referee;
use crate::{replay, revisions};
use tiebreak_core::fingerprint::Fingerprint;
use tiebreak_core::journal::{Event, Journal, StopReason};
use tiebreak_core::plan::{Budget, ENGINE_VERSION};
use tiebreak_store::{RunId, Store};

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

/// The use of a budget by runs.
#[derive(Clone, Copy, Debug)]
struct Used {
    rounds: u64,
    seconds: f64,
}

impl Used {
    /// Returns the use by all of them together. Costs a walk through their rounds.
    fn by(journals: &[&Journal]) -> Used {
        let referees = journals.iter().map(|journal| Referee::from_journal(journal));
        referees.fold(Used { rounds: 0, seconds: 0.0 }, |used, referee| Used {
            rounds: used.rounds + referee.rounds_used(),
            seconds: used.seconds + referee.elapsed_ns() as f64 / 1e9,
        })
    }

    fn is_all_of(self, budget: Budget) -> bool {
        budget.rounds.is_some_and(|most| self.rounds >= most)
            || budget.seconds.is_some_and(|most| self.seconds >= most)
    }
}

impl NewBudget {
    fn of(self, used: Used, old: Budget, planned: Budget) -> Budget {
        match self {
            NewBudget::Same => old,
            NewBudget::Is(budget) => budget,
            NewBudget::More(more) => {
                let Budget { rounds, seconds } = more.unwrap_or(planned);
                Budget {
                    rounds: rounds.map(|rounds| rounds.saturating_add(used.rounds)),
                    seconds: seconds.map(|seconds| seconds + used.seconds),
                }
            }
        }
    }
}

/// Returns whether nothing of a run is left to race.
pub(crate) fn is_over(journal: &Journal) -> bool {
    matches!(replay::last_stop(journal), Some(StopReason::Settled | StopReason::Void))
}

/// Returns the budget from now on of runs that share one, with earlier rounds and seconds of all of
/// them. A single run is a list of one.
///
/// # Errors
/// Returns why they cannot continue: all are over; one that is not was begun by another engine, or
/// a file of it has changed; no budget is left.
pub(crate) fn budget_from_here(journals: &[&Journal], asked: NewBudget) -> Result<Budget, String> {
    let open = || journals.iter().filter(|journal| !is_over(journal));
    let Some(first) = open().next() else {
        let id = journals.first().map_or("", |journal| &journal.id);
        return Err(format!("it is finished: 'tiebreak show {id}' shows it"));
    };
    let other_engine = |version: &u32| *version != ENGINE_VERSION;
    if let Some(version) = open().map(|run| run.header.plan.engine_version).find(other_engine) {
        return Err(format!(
            "it was begun by version {version} of the engine, and this is version \
             {ENGINE_VERSION}, which makes other evidence of the same samples: start a new run"
        ));
    }
    let mut files = open().flat_map(|journal| &journal.header.files);
    if let Some(file) = files.find(|file| has_changed(file)) {
        return Err(format!("{} is gone or has changed: start a new run", file.path));
    }
    let used = Used::by(journals);
    let budget = asked.of(used, budget_of(first), first.header.plan.budget);
    // A run that was killed before it could record why it stopped may continue, to record it.
    let all_stopped = journals.iter().all(|journal| replay::last_stop(journal).is_some());
    if all_stopped && used.is_all_of(budget) {
        let Used { rounds, seconds } = used;
        return Err(format!(
            "its budget is used up after {rounds} rounds and {seconds:.1} s: give it more by \
             --more"
        ));
    }
    Ok(budget)
}

/// Checks that the run can continue, on this machine and with these files, and journals another
/// budget.
///
/// A run that was killed continues as if nothing had happened: its journal is what it would have
/// been.
///
/// # Errors
/// Fails if its claims are settled; for another engine, machine or file; if no budget is left.
pub fn prepare(
    store: &mut Store,
    run: &RunId,
    journal: &mut Journal,
    machine: &Fingerprint,
    budget: NewBudget,
) -> Result<(), LabError> {
    let refuse = |why: String| Err(LabError::Resume { id: journal.id.clone(), why });
    let header = &journal.header;
    let differing = header.machine.differences(machine);
    if !differing.is_empty() {
        return refuse(format!(
            "this is another machine ({} differ): start a new run",
            differing.join(", ")
        ));
    }
    if let Some(why) = revisions::gone(&header.plan) {
        return refuse(why);
    }
    if journal.events.iter().any(|event| matches!(event, Event::Relaxed { .. })) {
        return refuse("its file settled all contests together: start a new run".into());
    }
    let new = match budget_from_here(&[&*journal], budget) {
        Ok(budget) => budget,
        Err(why) => return refuse(why),
    };
    if new != budget_of(journal) || replay::last_stop(journal).is_some() {
        let rounds = Referee::from_journal(journal).rounds();
        let (lost, budget) = (journal.lost.len() as u64, new);
        let event = Event::Resumed { rounds, lost, budget };
        store.event(run, &event)?;
        journal.events.push(event);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
