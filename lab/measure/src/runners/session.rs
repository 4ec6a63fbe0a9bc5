//! A unit: its processes, its rounds, its samples.

use super::judge::{Input, Left};
use super::runner::{self, Batch, Runner};
use super::usage::Usage;
use super::{Runners, blamed};
use crate::honesty::{Turn, no_contestant, wrong_checksum};
use crate::resources::{Around, marked};
use std::collections::BTreeMap;
use tiebreak_core::plan::Scope;
use tiebreak_core::sample::{BatchTime, Mark, Sample};
use tiebreak_core::sampler::{UnitFailure, UnitRan, UnitRequest};
use tiebreak_core::schedule::{RoundCoins, UnitCoins};
use tiebreak_machine::clock;

/// The processes of a unit, or at scope `layout` of all its rounds.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) input: Input,
    input_seed: u64,
    /// The runners by contestant.
    runners: BTreeMap<usize, Runner>,
}

impl Session {
    pub(super) fn runner(&mut self, contestant: usize) -> Result<&mut Runner, UnitFailure> {
        self.runners.get_mut(&contestant).ok_or_else(|| no_contestant(contestant))
    }

    /// Returns the CPU time of all its processes so far.
    fn cpu_ns(&self) -> u64 {
        self.runners.values().map(|runner| runner.process.counters.cpu_ns()).sum()
    }

    fn end(self) {
        self.runners.into_values().for_each(|runner| runner.process.bye());
    }
}

/// The timed batches of one contestant in a unit.
#[derive(Debug, Default)]
pub(super) struct Taken {
    batches: Vec<BatchTime>,
    /// The time of each batch on a CPU.
    worked_ns: Vec<u64>,
    /// The time on a CPU of the resets before its calls.
    reset_ns: u64,
    elapsed_ns: u64,
    usage: Usage,
    checksum: u64,
    checksum_changed: bool,
}

impl Taken {
    fn add(&mut self, batch: &Batch) {
        self.checksum_changed |= !self.batches.is_empty() && self.checksum != batch.checksum;
        self.checksum = batch.checksum;
        self.batches.push(batch.time);
        self.worked_ns.push(batch.worked_ns());
        self.reset_ns += batch.reset_ns;
        self.elapsed_ns += batch.elapsed_ns;
        self.usage.add(&batch.usage);
    }

    /// Returns the time on a CPU of one call, and of one reset, if a batch has this many calls.
    pub(super) fn a_call_ns(&self, calls_a_batch: u64) -> (u64, u64) {
        let calls = calls_a_batch.max(1) * self.batches.len().max(1) as u64;
        (self.worked_ns.iter().sum::<u64>() / calls, self.reset_ns / calls)
    }

    /// Converts the sums to a sample. If the time that counts is a mean of parts, CPU time and
    /// waiting are scaled in the same way.
    fn sample(&self, runner: &Runner, around: &Around, unit_ns: u64) -> Sample {
        let wall_ns = self.batches.iter().map(|time| time.high_ns).sum::<u64>();
        let scale = wall_ns as f64 / self.elapsed_ns.max(1) as f64;
        let (counters, counted) = (&runner.process.counters, &self.usage.counted);
        let mut sample = self.usage.into_sample(wall_ns, counters.system_share(), scale);
        sample.peak_memory_bytes = counters.peak_memory_bytes();
        let share = wall_ns as f64 / unit_ns.max(1) as f64;
        let parts = [around.beside.foreign_cpu_ns, around.beside.steal_ns];
        [sample.beside.foreign_cpu_ns, sample.beside.steal_ns] =
            parts.map(|ns| ns.map(|ns| (ns as f64 * share).round() as u64));
        sample.beside.throttled_ns = around.beside.throttled_ns;
        sample.marks = marked(
            around.marks(sample.marks),
            [
                (counted.involuntary_switches > self.batches.len() as u64, Mark::Preempted),
                (!runner.is_warm || runner::was_cold(&self.worked_ns), Mark::NotWarm),
            ],
        );
        sample
    }
}

impl Runners {
    /// Runs one unit, or at scope `layout` one more round of the existing processes.
    pub(super) fn unit(&mut self, request: &UnitRequest<'_>) -> Result<UnitRan, UnitFailure> {
        self.verified = None;
        self.check_unchecked(request.coins)?;
        let start_ns = clock::monotonic_ns();
        self.surroundings.before_run();
        let mut session = match (&request.coins.unit, self.session.take()) {
            (Some(unit), old) => {
                drop(old);
                self.begin(request, unit)?
            }
            (None, Some(session)) => session,
            (None, None) => {
                let what = "a round is to go on in runners that are not there".to_owned();
                return Err(UnitFailure::Broken(what));
            }
        };
        let is_new = request.coins.unit.is_some();
        let cpu_before_ns = if is_new { 0 } else { session.cpu_ns() };
        let seed = request.coins.unit.as_ref().map_or(request.coins.round, |unit| unit.orders_seed);
        let turn = self.trials.draw(request.orders, seed);
        let (taken, left) = self.rounds(&mut session, request, turn)?;
        self.check_checksums(&mut session, &taken)?;
        self.check_untimed(&mut session, &taken, left.as_ref())?;
        let unit_ns = clock::monotonic_ns() - start_ns;
        let cpu_ns = session.cpu_ns().saturating_sub(cpu_before_ns);
        let around = self.surroundings.after_run(start_ns, unit_ns, cpu_ns);
        let mut ran = UnitRan { samples: Vec::new(), batches: Vec::new() };
        for contestant in &request.coins.order {
            let taken = taken.get(contestant).ok_or_else(|| no_contestant(*contestant))?;
            ran.samples.push(taken.sample(session.runner(*contestant)?, &around, unit_ns));
            ran.batches.push(taken.batches.clone());
        }
        if let Some(left) = &left {
            self.judge_trial(&mut session, &taken, left, request)?;
        }
        let dump_ns = left.map_or(0, |left| left.dump_ns);
        let now_ns = clock::monotonic_ns() - start_ns;
        self.trials.spent(turn.as_ref(), now_ns - unit_ns + dump_ns, now_ns);
        if self.scope == Scope::Layout {
            self.session = Some(session);
        } else {
            session.end();
        }
        Ok(ran)
    }

    /// Checks each contestant's answer before its first unit if no oracle gives checksums, also in
    /// a resumed run.
    fn check_unchecked(&mut self, coins: &RoundCoins) -> Result<(), UnitFailure> {
        if self.judge.has_oracle() {
            return Ok(());
        }
        let mut unchecked = self.functions.judged_order();
        unchecked.retain(|one| coins.order.contains(one) && !self.checked.contains(one));
        let seed = coins.unit.as_ref().map_or(0, |unit| unit.input_seed);
        unchecked.into_iter().try_for_each(|contestant| self.check(contestant, seed))
    }

    /// Starts, loads and warms up a process for each contestant that the request names.
    fn begin(
        &mut self,
        request: &UnitRequest<'_>,
        unit: &UnitCoins,
    ) -> Result<Session, UnitFailure> {
        let input = self.judge.input(unit.input_seed)?;
        let patience = self.patience(request.timeout_ns);
        let mut runners = BTreeMap::new();
        for (position, &contestant) in request.members.iter().enumerate() {
            let padding = request.coins.padding_bytes.get(1 + position).copied().unwrap_or(0);
            let launch = self.launch(contestant)?;
            let runner = Runner::start(launch, padding, &self.load(&input), &patience);
            let mut runner = runner.map_err(blamed(contestant))?;
            let calls = self.functions.calls_a_batch.of(contestant);
            runner.warm_up(calls, &patience).map_err(blamed(contestant))?;
            runners.insert(contestant, runner);
        }
        Ok(Session { input, input_seed: unit.input_seed, runners })
    }

    /// Runs the rounds, each timed batch after an untimed call of the same contestant. Returns also
    /// the answer that the batch on trial has left.
    fn rounds(
        &self,
        session: &mut Session,
        request: &UnitRequest<'_>,
        turn: Option<Turn>,
    ) -> Result<(BTreeMap<usize, Taken>, Option<Left>), UnitFailure> {
        let patience = self.patience(request.timeout_ns);
        let mut taken: BTreeMap<usize, Taken> = BTreeMap::new();
        let mut left = None;
        for (index, &contestant) in request.orders.iter().flatten().enumerate() {
            let runner = session.runner(contestant)?;
            runner.once(&patience).map_err(blamed(contestant))?;
            let suspicion = self.suspicion(contestant)?;
            let calls = self.functions.calls_a_batch.of(contestant);
            let batch = runner.batch(calls, Some(suspicion), &patience);
            taken.entry(contestant).or_default().add(&batch.map_err(blamed(contestant))?);
            if let Some(turn) = turn.filter(|turn| turn.batch == index) {
                let (answer, dump_ns) = runner.dump(&patience).map_err(blamed(contestant))?;
                left = Some(Left { turn, answer, dump_ns });
            }
        }
        Ok((taken, left))
    }

    /// Checks that every checksum is the one of this input. If one is not, the whole answer shows
    /// what is wrong with it.
    fn check_checksums(
        &mut self,
        session: &mut Session,
        taken: &BTreeMap<usize, Taken>,
    ) -> Result<(), UnitFailure> {
        for (&contestant, taken) in taken {
            let built = self.built(contestant)?.clone();
            let right = self.judge.checksum(&mut session.input, &built)?;
            let is_right = right.is_none_or(|right| right == taken.checksum);
            if is_right && !taken.checksum_changed {
                continue;
            }
            self.check(contestant, session.input_seed)?;
            let workload = &self.functions.workload.name;
            let fault = wrong_checksum(workload, right.unwrap_or(0), taken.checksum);
            return Err(UnitFailure::Fault(contestant, fault));
        }
        Ok(())
    }
}
