//! Trials: the answer that a drawn timed batch has left, judged whole.
//!
//! Checksums are held against the oracle's in every call; a trial looks at the answer itself. In a
//! unit one contestant is on trial, in a batch that is drawn: its output is overwritten after the
//! untimed call before the batch, and what it dumps after the clock has stopped must be the
//! oracle's answer. A contestant that writes its output only when it believes that somebody looks
//! does not know when that is.
//!
//! Where the study says that contestants read their input in `run` alone, another input is then put
//! in the place of theirs, with the same addresses, and theirs again: each answer must be that of
//! the input that is there, and the work must be done anew. The times are those of the thread on a
//! CPU, and the shortest counts, so that other load accuses nobody.

use super::Workers;
use super::blame::{Frame, no_worker};
use super::difference;
use crate::output::memory_file;
use crate::worker::area::Record;
use std::collections::HashMap;
use std::fs::File;
use tiebreak_abi::Random;
use tiebreak_core::sampler::UnitFailure;
use tiebreak_core::verdict::Fault;

/// The part of the units' time that trials may take, beside the first of them.
const SHARE: u64 = 10;

/// The first call on an input may take so many times as long as the next ones on the same, and so
/// much longer, before it shows that these do not do the work. Branches that a processor learns by
/// heart make it up to ten times as long.
const KEPT_TIMES: u64 = 20;
const KEPT_NS: u64 = 1000;

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
        record: &Record,
        input_seed: u64,
        frame: &Frame<'_>,
    ) -> Result<(), UnitFailure> {
        let contract = self.contract(trial.contestant)?.to_owned();
        let workload = frame.workload.to_owned();
        let fault =
            |what| Err(UnitFailure::Fault(trial.contestant, Fault::Conduct { workload, what }));
        let other = self.inputs.other_checksum(&contract)?;
        let calls = self.functions.calls_a_batch.of(trial.contestant);
        if let Some(what) = exchanged(record, other, calls) {
            return fault(what);
        }
        let (_, answer) = self.inputs.answered(input_seed, &contract)?;
        let Some(answer) = answer else { return Ok(()) };
        let compared = difference::first(&answer.text, &trial.dump);
        let Some(found) = compared.map_err(|error| no_worker(&error))? else { return Ok(()) };
        let what = format!(
            "left another answer after a timed batch than its checksum says: item {} should be \
             '{}' and was '{}' (its output was overwritten before the batch)",
            found.item, found.expected, found.got
        );
        fault(what)
    }
}

/// What is wrong with the answers of a contestant under which the input was exchanged, or with the
/// time that they took; nothing if the input stayed.
fn exchanged(record: &Record, other: Option<u64>, calls: u64) -> Option<String> {
    let expected = other.filter(|_| record.exchanges > 0)?;
    let got = record.other_checksum;
    if got != expected {
        let what = match got == record.checksum {
            true => "answered for an input that was no longer there".to_owned(),
            false => format!("gave the checksum {got} instead of {expected}"),
        };
        return Some(format!(
            "{what} when another input was put in the place of its own between two calls (where \
             'prepare' may read the input, study.toml says reads_input = \"prepare\")"
        ));
    }
    let a_call_ns = record.run_ns / calls.max(1);
    let (took_ns, most_ns) = (record.exchanged_ns, KEPT_TIMES * a_call_ns + KEPT_NS);
    (got != record.checksum && took_ns > most_ns).then(|| {
        let times = took_ns / a_call_ns.max(1);
        format!(
            "did its work once for all calls on one input: a call on an input that had just been \
             exchanged took {times} times as long as those of a timed batch"
        )
    })
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
