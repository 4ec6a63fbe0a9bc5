//! Trials: the answer that a drawn timed batch has left, judged whole.
//!
//! Checksums are held against the oracle's in every call; a trial looks at the answer itself. In a
//! unit one contestant is on trial, in a batch that is drawn: its output is overwritten after the
//! untimed call before the batch, and what it dumps after the clock has stopped must be the
//! oracle's answer. A contestant that writes its output only when it believes that somebody looks
//! does not know when that is.

use super::Workers;
use super::blame::{Frame, no_worker};
use super::difference;
use crate::output::memory_file;
use std::collections::HashMap;
use std::fs::File;
use tiebreak_abi::Random;
use tiebreak_core::sampler::UnitFailure;
use tiebreak_core::verdict::Fault;

/// The part of the units' time that trials may take, beside the first of them.
const SHARE: u64 = 10;

/// A batch on trial.
#[derive(Debug)]
pub(super) struct Trial {
    /// The contestant, by its index in the plan.
    pub(super) contestant: usize,
    /// Its place among the batches of the request.
    pub(super) batch: usize,
    /// What its output is overwritten with is drawn from this.
    pub(super) noise: u64,
    /// Where its answer goes.
    pub(super) dump: File,
}

/// The trials of a run so far.
#[derive(Debug, Default)]
pub(super) struct Trials {
    /// How many each contestant has had.
    had: HashMap<usize, u64>,
    trials_ns: u64,
    units_ns: u64,
}

impl Trials {
    /// Draws who is on trial in these rounds, among those who were least often, and in which batch;
    /// nobody if trials have taken more than their share of the time.
    pub(super) fn draw(
        &self,
        orders: &[Vec<usize>],
        seed: u64,
    ) -> Result<Option<Trial>, UnitFailure> {
        let batches: Vec<usize> = orders.iter().flatten().copied().collect();
        let had = |contestant: &usize| self.had.get(contestant).copied().unwrap_or(0);
        let least = batches.iter().map(had).min();
        let Some(least) = least.filter(|_| self.trials_ns * SHARE <= self.units_ns) else {
            return Ok(None);
        };
        let due = |(_, contestant): &(usize, &usize)| had(contestant) == least;
        let due: Vec<(usize, &usize)> = batches.iter().enumerate().filter(due).collect();
        let mut random = Random::new(seed);
        let (batch, contestant) = due[random.below(due.len() as u64) as usize];
        let dump = memory_file().map_err(|error| no_worker(&error))?;
        Ok(Some(Trial { contestant: *contestant, batch, noise: random.next_u64(), dump }))
    }

    /// Notes how long a unit took, the trial in it included, and how long that took.
    pub(super) fn spent(&mut self, trial: Option<&Trial>, trial_ns: u64, unit_ns: u64) {
        if let Some(trial) = trial {
            *self.had.entry(trial.contestant).or_default() += 1;
        }
        self.trials_ns += trial_ns;
        self.units_ns += unit_ns.saturating_sub(trial_ns);
    }
}

impl Workers {
    /// Holds what a contestant on trial has dumped against the oracle's answer.
    pub(super) fn verdict_of(
        &mut self,
        trial: &Trial,
        input_seed: u64,
        frame: &Frame<'_>,
    ) -> Result<(), UnitFailure> {
        let contract = self.contract(trial.contestant)?.to_owned();
        let (_, answer) = self.inputs.answered(input_seed, &contract)?;
        let Some(answer) = answer else { return Ok(()) };
        let compared = difference::first(&answer.text, &trial.dump);
        let Some(found) = compared.map_err(|error| no_worker(&error))? else { return Ok(()) };
        let what = format!(
            "left another answer after a timed batch than its checksum says: item {} should be \
             '{}' and was '{}' (its output was overwritten before the batch)",
            found.item, found.expected, found.got
        );
        let workload = frame.workload.to_owned();
        Err(UnitFailure::Fault(trial.contestant, Fault::Conduct { workload, what }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_contestant_has_its_turn_and_trials_have_their_share_of_the_time() {
        let orders = [vec![4, 2, 9], vec![9, 4, 2]];
        let flat: Vec<usize> = orders.iter().flatten().copied().collect();
        let mut trials = Trials::default();
        let mut places = std::collections::HashSet::new();
        for seed in 0..300 {
            let trial = trials.draw(&orders, seed).unwrap().unwrap();
            assert_eq!(flat[trial.batch], trial.contestant);
            places.insert(trial.batch);
            trials.spent(Some(&trial), 10, 110);
        }
        assert_eq!(trials.had, HashMap::from([(4, 100), (2, 100), (9, 100)]));
        assert_eq!(places.len(), flat.len());
        trials.spent(None, 1, 1);
        assert!(trials.draw(&orders, 1).unwrap().is_none());
        trials.spent(None, 0, 20);
        assert!(trials.draw(&orders, 1).unwrap().is_some());
        assert!(trials.draw(&[], 1).unwrap().is_none());
    }
}
