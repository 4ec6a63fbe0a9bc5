//! Checks on a runner in addition to the checksum of each batch: the answer that a drawn batch has
//! left, the work of a call on a new input, and the time of its resets.
//!
//! Times are those of the main thread on a CPU, and the shortest of several counts, so that other
//! load makes no honest runner void.

use super::judge::{self, Expected};
use super::session::{Session, Taken};
use super::{Runners, blamed, nobody, wrong_checksum};
use crate::honesty::{Turn, hidden_in_reset};
use std::collections::BTreeMap;
use tiebreak_abi::Random;
use tiebreak_core::plan::Scope;
use tiebreak_core::sampler::{UnitFailure, UnitRequest};
use tiebreak_core::verdict::Fault;

/// The cost of an empty reset: one line is read, and one written.
const RESET_NS: u64 = 200_000;

/// A call on an input that was just loaded may take this many times as long as one of a timed
/// batch, plus a constant, before it shows that timed batches do not do the work. A compiler may
/// discard its code when another input comes.
const KEPT_TIMES: u64 = 100;
const KEPT_NS: u64 = 1_000_000;

/// The number of inputs that are loaded in turn: a collector or a compiler may disturb one.
const FRESH_INPUTS: usize = 3;

/// What the batch on trial has left.
#[derive(Debug)]
pub(super) struct Left {
    pub(super) turn: Turn,
    pub(super) answer: Vec<u8>,
    pub(super) dump_ns: u64,
}

impl Runners {
    /// Records untimed work, and checks how long the resets of a unit took.
    pub(super) fn check_untimed(
        &mut self,
        session: &mut Session,
        taken: &BTreeMap<usize, Taken>,
        left: Option<&Left>,
    ) -> Result<(), UnitFailure> {
        let calls = self.functions.calls_a_batch.clone();
        let a_call_ns = |(one, taken): (&usize, &Taken)| taken.a_call_ns(calls.of(*one));
        let least_ns = taken.iter().map(|one| a_call_ns(one).1).min().unwrap_or(0);
        for (contestant, taken) in taken {
            let (run_ns, reset_ns) = a_call_ns((contestant, taken));
            let load_ns = session.runner(*contestant)?.load_ns();
            let dumped = left.filter(|left| left.turn.contestant == *contestant);
            let dump_ns = dumped.map_or(0, |left| left.dump_ns);
            let untimed = self.untimed.entry(*contestant).or_default();
            untimed.take(std::iter::once((load_ns, dump_ns)), reset_ns);
            if let Some(what) = hidden_in_reset([reset_ns, run_ns, least_ns], RESET_NS) {
                return Err(self.misconduct(*contestant, what));
            }
        }
        Ok(())
    }

    /// Judges a trial: the answer that the batch has left and, if the processes end with the unit,
    /// calls on other inputs.
    pub(super) fn judge_trial(
        &mut self,
        session: &mut Session,
        taken: &BTreeMap<usize, Taken>,
        left: &Left,
        request: &UnitRequest<'_>,
    ) -> Result<(), UnitFailure> {
        let contestant = left.turn.contestant;
        let built = self.built(contestant)?.clone();
        let expected = self.judge.expected(&session.input, &built)?;
        let expected = expected.map(|expected| Expected { checksum: None, ..expected });
        let workload = &self.functions.workload.name;
        let wrong = |right| judge::compare(workload, &right, &left.answer, 0);
        if let Some(fault) = expected.and_then(wrong) {
            return Err(UnitFailure::Fault(contestant, fault));
        }
        let is_drawn = self.judge.has_oracle() && self.functions.workload.is_drawn;
        if self.scope == Scope::Layout || !is_drawn {
            return Ok(());
        }
        let taken = taken.get(&contestant).ok_or_else(|| nobody(contestant))?;
        let (call_ns, _) = taken.a_call_ns(self.functions.calls_a_batch.of(contestant));
        let first_ns = self.first_call_ns(session, left.turn, request)?;
        if first_ns <= KEPT_TIMES * call_ns + KEPT_NS {
            return Ok(());
        }
        let times = first_ns / call_ns.max(1);
        let what = format!(
            "did its work once for all runs on one input: a run on an input that had just been \
             loaded took {times} times as long as those of a timed batch"
        );
        Err(self.misconduct(contestant, what))
    }

    /// Loads other inputs, each for one run, whose checksums must be right, and returns the
    /// shortest time of these runs.
    fn first_call_ns(
        &mut self,
        session: &mut Session,
        turn: Turn,
        request: &UnitRequest<'_>,
    ) -> Result<u64, UnitFailure> {
        let contestant = turn.contestant;
        let built = self.built(contestant)?.clone();
        let mut random = Random::new(turn.seed);
        let mut shortest_ns = u64::MAX;
        for _ in 0..FRESH_INPUTS {
            let mut input = self.judge.input(random.next_u64())?;
            let right = self.judge.checksum(&mut input, &built)?;
            let patience = self.patience(request.timeout_ns);
            let runner = session.runner(contestant)?;
            let loaded = runner.load(&self.load(&input), &patience);
            let ran = loaded.and_then(|()| runner.once(&patience));
            let (checksum, ran_ns) = ran.map_err(blamed(contestant))?;
            if let Some(right) = right.filter(|right| *right != checksum) {
                let fault = wrong_checksum(&self.functions.workload.name, right, checksum);
                return Err(UnitFailure::Fault(contestant, fault));
            }
            shortest_ns = shortest_ns.min(ran_ns);
        }
        Ok(shortest_ns)
    }

    fn misconduct(&self, contestant: usize, what: String) -> UnitFailure {
        let workload = self.functions.workload.name.clone();
        UnitFailure::Fault(contestant, Fault::Conduct { workload, what })
    }
}
