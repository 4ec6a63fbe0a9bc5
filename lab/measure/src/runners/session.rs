//! A unit: its processes, its rounds, its samples.

use super::Runners;
use super::judge::{Input, Left};
use super::process::{Process, no_process};
use super::runner::{self, Batch, Runner};
use super::usage::Usage;
use crate::honesty::{Turn, no_contestant, wrong_checksum};
use crate::resources::{Around, marked};
use crate::stillness;
use std::collections::BTreeMap;
use tiebreak_core::plan::Scope;
use tiebreak_core::sample::{Beside, Mark, Sample};
use tiebreak_core::sampler::{FunctionSampler, UnitFailure, UnitRan, UnitRequest};
use tiebreak_core::schedule::{RoundCoins, UnitCoins};
use tiebreak_core::study::Untimed;
use tiebreak_machine::clock;

/// The processes of a unit, or at scope `layout` of all its rounds.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) input: Input,
    input_seed: u64,
    /// The runners by contestant.
    runners: BTreeMap<usize, Runner>,
}

/// The timed batches of each contestant in a unit.
pub(super) type Taken = BTreeMap<usize, Vec<Batch>>;

impl Session {
    pub(super) fn runner(&mut self, contestant: usize) -> Result<&mut Runner, UnitFailure> {
        self.runners.get_mut(&contestant).ok_or_else(|| no_contestant(contestant))
    }

    /// Returns the CPU time of all its processes so far.
    fn cpu_ns(&self) -> u64 {
        self.runners.values().map(|runner| runner.process.counters.cpu_ns()).sum()
    }
}

/// Returns the time on a CPU of one call of these batches, and of one reset, if a batch has this
/// many calls.
pub(super) fn a_call_ns(batches: &[Batch], calls_a_batch: u64) -> (u64, u64) {
    let calls = calls_a_batch.max(1) * batches.len().max(1) as u64;
    let worked_ns = batches.iter().map(Batch::worked_ns).sum::<u64>();
    (worked_ns / calls, batches.iter().map(|batch| batch.reset_ns).sum::<u64>() / calls)
}

/// Converts a runner's batches to a sample. If the time that counts is a mean of parts, CPU time
/// and waiting are scaled in the same way.
fn sample(batches: &[Batch], runner: &Runner, around: &Around, unit_ns: u64) -> Sample {
    let wall_ns = batches.iter().map(|batch| batch.time.high_ns).sum::<u64>();
    let elapsed_ns = batches.iter().map(|batch| batch.elapsed_ns).sum::<u64>();
    let scale = wall_ns as f64 / elapsed_ns.max(1) as f64;
    let mut usage = Usage::default();
    batches.iter().for_each(|batch| usage.add(&batch.usage));
    let counters = &runner.process.counters;
    let mut sample = usage.into_sample(wall_ns, counters.system_share(), scale);
    sample.peak_memory_bytes = counters.peak_memory_bytes();
    let share = wall_ns as f64 / unit_ns.max(1) as f64;
    let Beside { foreign_cpu_ns, steal_ns, throttled_ns, .. } = around.beside;
    sample.beside = Beside { foreign_cpu_ns, steal_ns, throttled_ns, ..sample.beside };
    sample.beside.take_part(share);
    let worked_ns: Vec<u64> = batches.iter().map(Batch::worked_ns).collect();
    sample.marks = marked(
        around.marks(sample.marks),
        [
            (usage.counted.involuntary_switches > batches.len() as u64, Mark::Preempted),
            (!runner.is_warm || runner::was_cold(&worked_ns), Mark::NotWarm),
        ],
    );
    sample
}

impl FunctionSampler for Runners {
    /// Runs one unit, or at scope `layout` one more round of the existing processes.
    fn run_unit(&mut self, request: &UnitRequest<'_>) -> Result<UnitRan, UnitFailure> {
        self.verified = None;
        self.check_unchecked(request.coins)?;
        let start_ns = clock::monotonic_ns();
        self.surroundings.before_run();
        let old = self.session.take();
        let mut cpu_before_ns = 0;
        let (mut session, seed) = if let Some(unit) = &request.coins.unit {
            drop(old);
            (self.begin(request, unit)?, unit.orders_seed)
        } else {
            let what = "a round is to go on in runners that are not there";
            let mut session = old.ok_or_else(|| UnitFailure::Broken(what.to_owned()))?;
            for runner in session.runners.values_mut() {
                runner.process.timeout_ns = request.timeout_ns;
            }
            cpu_before_ns = session.cpu_ns();
            (session, request.coins.round)
        };
        let turn = self.trials.draw(request.orders, seed);
        // Another workload of the study may work ahead.
        let timed = stillness::timed();
        let begun_ns = clock::monotonic_ns();
        let (taken, left) = self.rounds(&mut session, request, turn)?;
        let rounds_ns = clock::monotonic_ns() - begun_ns;
        drop(timed);
        self.check_checksums(&mut session, &taken)?;
        self.check_untimed(&mut session, &taken, left.as_ref())?;
        let unit_ns = clock::monotonic_ns() - start_ns;
        let cpu_ns = session.cpu_ns().saturating_sub(cpu_before_ns);
        let around = self.surroundings.after_run(start_ns, unit_ns, cpu_ns);
        let dump_ns = left.as_ref().map_or(0, |left| left.dump_ns);
        let rounds_ns = rounds_ns.saturating_sub(dump_ns);
        let mut ran = UnitRan { samples: Vec::new(), batches: Vec::new(), rounds_ns };
        for contestant in &request.coins.order {
            let batches = taken.get(contestant).ok_or_else(|| no_contestant(*contestant))?;
            ran.samples.push(sample(batches, session.runner(*contestant)?, &around, unit_ns));
            ran.batches.push(batches.iter().map(|batch| batch.time).collect());
        }
        if let Some(left) = &left {
            self.judge_trial(&mut session, &taken, left)?;
        }
        let now_ns = clock::monotonic_ns() - start_ns;
        self.trials.spent(turn.as_ref(), now_ns - unit_ns + dump_ns, now_ns);
        if self.scope == Scope::Layout {
            self.session = Some(session);
        } else {
            session.runners.into_values().for_each(|runner| runner.process.bye());
        }
        Ok(ran)
    }

    fn untimed(&self, contestant: usize) -> Option<Untimed> {
        self.untimed.get(&contestant).copied()
    }
}

impl Runners {
    /// Checks each contestant's answer before its first unit if no oracle gives checksums, also in
    /// a resumed run.
    fn check_unchecked(&mut self, coins: &RoundCoins) -> Result<(), UnitFailure> {
        if self.oracle.is_some() {
            return Ok(());
        }
        let mut unchecked = self.functions.judged_order();
        unchecked.retain(|one| coins.order.contains(one) && !self.checked.contains(one));
        let seed = coins.unit.as_ref().map_or(0, |unit| unit.input_seed);
        unchecked.into_iter().try_for_each(|contestant| self.check(contestant, seed))
    }

    /// Starts, loads and warms up a process for each contestant that the request names. They start
    /// and load at the same time, as many as there are CPUs for them. Each warms up alone: what a
    /// runtime compiles must not depend on its neighbour.
    fn begin(
        &mut self,
        request: &UnitRequest<'_>,
        unit: &UnitCoins,
    ) -> Result<Session, UnitFailure> {
        let input = self.input(unit.input_seed)?;
        let mut runners = BTreeMap::new();
        let members: Vec<(usize, usize)> = request.members.iter().copied().enumerate().collect();
        for together in members.chunks(self.at_once) {
            let started = self.started(request, together, &input)?;
            started.iter().for_each(|runner| runner.process.rest());
            for mut runner in started {
                let contestant = runner.process.contestant;
                let calls = self.functions.calls_a_batch.of(contestant, &request.coins.order);
                runner.warm_up(calls)?;
                runners.insert(contestant, runner);
            }
        }
        Ok(Session { input, input_seed: unit.input_seed, runners })
    }

    /// Starts and loads these contestants at the same time, each given with its position in the
    /// unit.
    ///
    /// # Errors
    /// Of several failures, one that no contestant has caused comes first.
    fn started(
        &self,
        request: &UnitRequest<'_>,
        together: &[(usize, usize)],
        input: &Input,
    ) -> Result<Vec<Runner>, UnitFailure> {
        let workload = &self.functions.workload;
        // All by this thread: a process ends with the thread that has started it.
        let processes = together.iter().map(|&(position, contestant)| {
            let padding = request.coins.padding_bytes.get(1 + position).copied().unwrap_or(0);
            Process::start(self.launch(contestant)?, padding, request.timeout_ns, &workload.name)
        });
        let processes = processes.collect::<Result<Vec<Process>, UnitFailure>>()?;
        let ends: Vec<Result<Runner, UnitFailure>> = std::thread::scope(|scope| {
            let threads = processes.into_iter().map(|process| {
                let greet = move || Runner::greet(process, workload, input);
                std::thread::Builder::new().spawn_scoped(scope, greet).map_err(no_process)
            });
            let threads: Vec<_> = threads.collect();
            let joined = threads.into_iter().map(|thread| {
                let end = thread?.join();
                end.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            joined.collect()
        });
        let is_graver = |end: &&Result<Runner, UnitFailure>| {
            matches!(end, Err(UnitFailure::Interrupted | UnitFailure::Broken(_)))
        };
        match ends.iter().find(is_graver) {
            Some(Err(failure)) => Err(failure.clone()),
            _ => ends.into_iter().collect(),
        }
    }

    /// Runs the rounds, each timed batch after an untimed call of the same contestant. Returns also
    /// the answer that the batch on trial has left.
    fn rounds(
        &mut self,
        session: &mut Session,
        request: &UnitRequest<'_>,
        turn: Option<Turn>,
    ) -> Result<(Taken, Option<Left>), UnitFailure> {
        let mut taken = Taken::new();
        let mut left = None;
        for (index, &contestant) in request.orders.iter().flatten().enumerate() {
            let runner = session.runner(contestant)?;
            runner.once()?;
            let calls = self.functions.calls_a_batch.of(contestant, &request.coins.order);
            let batch = runner.batch(calls, self.suspicions.get_mut(contestant))?;
            taken.entry(contestant).or_default().push(batch);
            if let Some(turn) = turn.filter(|turn| turn.batch == index) {
                let (answer, dump_ns) = runner.dump()?;
                left = Some(Left { turn, answer, dump_ns });
            }
        }
        Ok((taken, left))
    }

    /// Checks that every checksum is the one of this input. If one is not, the whole answer shows
    /// what is wrong with it.
    fn check_checksums(&mut self, session: &mut Session, taken: &Taken) -> Result<(), UnitFailure> {
        for (&contestant, batches) in taken {
            let right = self.checksum(&mut session.input, contestant)?;
            let last = batches.last().map_or(0, |batch| batch.checksum);
            if batches.iter().all(|batch| batch.checksum == right.unwrap_or(last)) {
                continue;
            }
            self.check(contestant, session.input_seed)?;
            let fault = wrong_checksum(&self.functions.workload.name, right.unwrap_or(0), last);
            return Err(UnitFailure::Fault(contestant, fault));
        }
        Ok(())
    }
}
