//! Going on with a run: only its budget may change.

use crate::error::LabError;
use crate::referee::Referee;
use crate::session::has_changed;
use crate::{replay, revisions};
use tiebreak_core::fingerprint::Fingerprint;
use tiebreak_core::journal::{Event, Journal, StopReason};
use tiebreak_core::plan::{Budget, ENGINE_VERSION};
use tiebreak_store::{RunId, Store};

/// The budget in force, and whether it is another than before.
pub(crate) fn budget_of(journal: &Journal) -> Budget {
    let resumed = journal.events.iter().rev().find_map(|event| match event {
        Event::Resumed { budget, .. } => Some(*budget),
        _ => None,
    });
    resumed.unwrap_or(journal.header.plan.budget)
}

/// What becomes of a run's budget when it goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NewBudget {
    /// It stays what it was.
    Same,
    /// It is this one, earlier rounds and seconds included.
    Is(Budget),
    /// It is so much more than what was used; `None` for the run's own budget once more.
    More(Option<Budget>),
}

impl NewBudget {
    fn of(self, referee: &Referee, old: Budget, planned: Budget) -> Budget {
        match self {
            NewBudget::Same => old,
            NewBudget::Is(budget) => budget,
            NewBudget::More(more) => {
                let Budget { rounds, seconds } = more.unwrap_or(planned);
                Budget {
                    rounds: rounds.map(|rounds| rounds.saturating_add(referee.rounds())),
                    seconds: seconds.map(|seconds| seconds + referee.elapsed_ns() as f64 / 1e9),
                }
            }
        }
    }
}

/// Checks that the run can go on, on this machine and with these files, and journals another
/// budget.
///
/// A run that was killed goes on as if nothing had happened: its journal stays what it would have
/// been.
///
/// # Errors
/// Its claims are settled; another engine, machine or file; no budget is left.
pub fn prepare(
    store: &mut Store,
    run: &RunId,
    journal: &mut Journal,
    machine: &Fingerprint,
    budget: NewBudget,
) -> Result<(), LabError> {
    let refuse = |why: String| Err(LabError::Resume { id: journal.id.clone(), why });
    let header = &journal.header;
    if header.plan.engine_version != ENGINE_VERSION {
        return refuse(format!("it was begun by tiebreak {}: use that one", header.version));
    }
    let differing = header.machine.differences(machine);
    if !differing.is_empty() {
        return refuse(format!(
            "this is another machine ({} differ): start a new run",
            differing.join(", ")
        ));
    }
    for file in &header.files {
        if has_changed(file) {
            return refuse(format!("{} has changed: start a new run", file.path));
        }
    }
    if let Some(why) = revisions::gone(&header.plan) {
        return refuse(why);
    }
    let stopped = replay::last_stop(journal);
    if matches!(stopped, Some(StopReason::Settled | StopReason::Void)) {
        return refuse(format!("it is finished: 'tiebreak show {}' shows it", journal.id));
    }
    if journal.events.iter().any(|event| matches!(event, Event::Relaxed { .. })) {
        return refuse("its file settled all contests together: start a new run".into());
    }
    let referee = Referee::from_journal(journal);
    let old = budget_of(journal);
    let new = budget.of(&referee, old, journal.header.plan.budget);
    let mut extended = referee.clone();
    extended.set_budget(new);
    // A run that was killed before it could say why it stopped goes on to say so.
    if extended.is_out_of_budget() && stopped.is_some() {
        return refuse(format!(
            "its budget is used up after {} rounds and {:.1} s: give it more by --more",
            referee.rounds(),
            referee.elapsed_ns() as f64 / 1e9
        ));
    }
    if new != old || stopped.is_some() {
        let budget = new;
        let (rounds, lost) = (referee.rounds(), journal.lost.len() as u64);
        let event = Event::Resumed { rounds, lost, budget };
        store.event(run, &event)?;
        journal.events.push(event);
    }
    Ok(())
}
