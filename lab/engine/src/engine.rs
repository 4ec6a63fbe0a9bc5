//! The loop: wait, draw a round, journal it, run it, journal its samples, update the evidence,
//! repeat.

use crate::ahead;
use crate::error::{LabError, Result};
use crate::output_check::{FirstRound, OutputCheck};
use crate::recorder::Recorder;
use crate::referee::Referee;
use crate::replay;
use std::sync::atomic::{AtomicBool, Ordering};
use tiebreak_core::journal::{Event, Journal, RecordedVerdict, Round, StopReason};
use tiebreak_core::plan::{PlannedClaim, Scope};
use tiebreak_core::sample::{BatchTime, Mark, Outcome, Sample};
use tiebreak_core::sampler::{
    Contestants, FunctionSampler, OutputDigest, ProgramSampler, Quiet, Ran, RunFailure, RunRequest,
    Sampler, UnitFailure, UnitRan, UnitRequest,
};
use tiebreak_core::schedule::RoundCoins;
use tiebreak_core::verdict::{Fault, Verdict};
use tiebreak_core::warning::Warning;
use tiebreak_stats::coins::{self, Seed};

/// A warm-up run may take this long before it is ended.
const WARMUP_TIMEOUT_NS: u64 = 60_000_000_000;

/// Drives one run: owns its referee, and writes its journal.
///
/// [`Engine::run`] does all of it. A run that takes turns with others is begun, stepped round by
/// round and ended instead; its own time stops between [`Engine::pause`] and the next step.
pub struct Engine<'a> {
    sampler: Contestants<'a>,
    race: Race<'a>,
}

/// The run without the source of its samples.
struct Race<'a> {
    recorder: Recorder<'a>,
    seed: Seed,
    referee: Referee,
    outputs: OutputCheck,
    attempt: u32,
    /// The contestants whose clean-up hooks run at the end.
    to_clean_up: Vec<usize>,
    /// The latest verdict on each claim in the journal.
    recorded: Vec<Option<RecordedVerdict>>,
    /// The run's own time when this session began, and the sampler's clock then.
    elapsed_before_ns: u64,
    started_ns: u64,
    paused_ns: Option<u64>,
    /// Whether functions have a process in which later rounds may run.
    has_process: bool,
    stop: &'a AtomicBool,
}

/// The result of an attempt: cut off, or finished.
type Attempted = Result<Finished, UnitFailure>;

/// The result of an attempt that was not cut off.
#[derive(Default)]
struct Finished {
    samples: Vec<Sample>,
    batches: Vec<Vec<BatchTime>>,
    outputs: Vec<Option<OutputDigest>>,
    /// Of servers.
    histograms: Vec<Vec<u8>>,
    /// The first failures that a claim counts.
    failures: Vec<Event>,
}

impl<'a> Engine<'a> {
    /// Resumes a run from its journal: at its beginning, or after the last finished round.
    pub fn new(
        recorder: Recorder<'a>,
        journal: &Journal,
        sampler: &'a mut dyn Sampler,
        stop: &'a AtomicBool,
    ) -> Engine<'a> {
        let plan = &journal.header.plan;
        let referee = Referee::from_journal(journal);
        let mut outputs = OutputCheck::new(&plan.program.check);
        for event in &journal.events {
            if let Event::FirstOutputs { outputs: first } = event {
                let all = first.iter().cloned().enumerate();
                let written: Vec<_> = all.filter(|(_, output)| output.is_some()).collect();
                outputs.first_round(&written);
            }
        }
        let next = referee.rounds;
        let attempts = journal.lost.iter().filter(|coins| coins.round == next);
        let attempt = attempts.map(|coins| coins.attempt + 1).max().unwrap_or(0);
        // A run that was killed has cleaned up nothing.
        let was_killed = next > 0 && replay::last_stop(journal).is_none();
        let to_clean_up =
            if was_killed { (0..plan.contestants.len()).collect() } else { Vec::new() };
        let mut recorded = vec![None; plan.claims.len()];
        for verdict in &journal.verdicts {
            recorded[verdict.claim] = Some(*verdict);
        }
        let race = Race {
            seed: Seed::from_text(&plan.seed),
            elapsed_before_ns: referee.elapsed_ns,
            started_ns: 0,
            paused_ns: None,
            to_clean_up,
            recorder,
            referee,
            outputs,
            attempt,
            recorded,
            has_process: false,
            stop,
        };
        Engine { sampler: sampler.contestants(), race }
    }

    /// Runs until every claim is settled, the budget is used up or the user asks to stop.
    ///
    /// Calls `watch` with the referee after every finished round, between two rounds.
    ///
    /// # Errors
    /// Fails if the journal cannot be written, or if the machine fails. What was finished is in the
    /// journal.
    pub fn run(mut self, mut watch: impl FnMut(&Referee)) -> Result<(Referee, StopReason)> {
        let raced = self.begin_and_race(&mut watch);
        if raced.is_err() {
            // The first error is the one to report.
            let _ = self.clean_up();
        }
        let reason = raced?;
        Ok((self.end(reason)?, reason))
    }

    fn begin_and_race(&mut self, watch: &mut impl FnMut(&Referee)) -> Result<StopReason> {
        let mut ended = self.begin()?;
        loop {
            if let Some(reason) = ended {
                return Ok(reason);
            }
            let rounds = self.race.referee.rounds;
            ended = self.step()?;
            if self.race.referee.rounds > rounds {
                watch(&self.race.referee);
            }
        }
    }

    /// Runs set-up hooks and warm-up runs, before the first step. Returns a reason if that already
    /// ends the run.
    ///
    /// # Errors
    /// Fails if the journal cannot be written, or if the machine fails.
    pub fn begin(&mut self) -> Result<Option<StopReason>> {
        let reason = match &mut self.sampler {
            Contestants::Programs(programs) => self.race.set_up(*programs)?,
            Contestants::Functions(_) => None,
        };
        self.race.started_ns = self.sampler.any().now_ns();
        Ok(reason)
    }

    /// Ends a run that was begun: runs clean-up hooks, and journals the last verdicts and the
    /// reason.
    ///
    /// # Errors
    /// Fails if the journal cannot be written.
    pub fn end(mut self, reason: StopReason) -> Result<Referee> {
        self.clean_up()?;
        self.race.finish(reason)?;
        Ok(self.race.referee)
    }

    /// Returns the reason why the run is over, if it is.
    pub fn reason_to_stop(&self) -> Option<StopReason> {
        self.race.reason_to_stop()
    }

    /// Stops the run's own time until its next step.
    pub fn pause(&mut self) {
        self.race.paused_ns = Some(self.sampler.any().now_ns());
    }

    /// Returns the run's current state.
    pub fn referee(&self) -> &Referee {
        &self.race.referee
    }

    /// Settles, at this error, the open claims that the evidence of many runs together permits, and
    /// journals that.
    ///
    /// # Errors
    /// Fails if the journal cannot be written.
    pub fn relax(&mut self, error: f64, false_share: f64) -> Result<()> {
        self.race.journal_event(Event::Relaxed { error, false_share })
    }

    /// Runs the clean-up hooks of the contestants whose set-up was begun, once. A failing hook is
    /// only a warning.
    ///
    /// # Errors
    /// Fails if the journal cannot be written.
    pub fn clean_up(&mut self) -> Result<()> {
        let mut warnings = Vec::new();
        if let Contestants::Programs(programs) = &mut self.sampler {
            for contestant in std::mem::take(&mut self.race.to_clean_up) {
                let why = match programs.clean_up(contestant) {
                    Ok(()) | Err(RunFailure::Interrupted) => continue,
                    Err(RunFailure::Fault(fault)) => fault.to_string(),
                    Err(RunFailure::Broken(why)) => why,
                };
                let contestant = self.race.referee.plan.contestants[contestant].name.clone();
                warnings.push(Warning::CleanUpFailed { contestant, why });
            }
        }
        warnings.extend(self.sampler.any().take_warnings());
        warnings
            .into_iter()
            .try_for_each(|warning| self.race.journal_event(Event::Warned { warning }))
    }

    /// Waits for quiet and makes one attempt at a round. Returns a reason if the run must end
    /// instead.
    ///
    /// # Errors
    /// Fails if the journal cannot be written, or if the machine fails. What was finished is in the
    /// journal.
    pub fn step(&mut self) -> Result<Option<StopReason>> {
        if let Some(paused_ns) = self.race.paused_ns.take() {
            self.race.started_ns += self.sampler.any().now_ns().saturating_sub(paused_ns);
        }
        if let Some(reason) = self.race.reason_to_stop() {
            return Ok(Some(reason));
        }
        if let Contestants::Functions(functions) = &mut self.sampler {
            ahead::announce(&self.race.referee, self.race.attempt, *functions);
        }
        let left_ns = self.race.referee.left_ns().unwrap_or(u64::MAX);
        let quiet = self.sampler.any().wait_for_quiet(left_ns);
        let coins = self.race.draw();
        self.race.recorder.begin_attempt(&coins)?;
        let attempt = match &mut self.sampler {
            Contestants::Programs(programs) => self.race.attempt(*programs, &coins),
            Contestants::Functions(functions) => self.race.attempt_unit(*functions, &coins),
        };
        match attempt {
            Ok(finished) => self.race.journal_round(coins, quiet, finished, self.sampler.any())?,
            Err(UnitFailure::Fault(contestant, fault)) => {
                self.race.void(&coins, contestant, fault)?;
            }
            Err(UnitFailure::Interrupted) => {
                self.race.referee.lose_attempt(&coins, None);
                return Ok(Some(StopReason::Interrupted));
            }
            Err(UnitFailure::Broken(why)) => return Err(LabError::Broken(why)),
        }
        Ok(None)
    }
}

impl Race<'_> {
    /// Draws the next attempt.
    fn draw(&self) -> RoundCoins {
        let mut coins = self.referee.draw(self.attempt);
        if self.referee.plan.functions.is_some() && !self.has_process {
            coins.unit = Some(coins::draw_unit(self.seed, &coins, self.referee.plan.scope));
        }
        coins
    }

    fn reason_to_stop(&self) -> Option<StopReason> {
        if self.referee.needed().is_empty() {
            let mut claims = 0..self.referee.plan.claims.len();
            let is_void = claims.all(|claim| self.referee.verdict(claim) == Verdict::Void);
            return Some(if is_void { StopReason::Void } else { StopReason::Settled });
        }
        if self.stop.load(Ordering::SeqCst) {
            return Some(StopReason::Interrupted);
        }
        self.referee.is_out_of_budget().then_some(StopReason::Budget)
    }

    /// Runs hooks and warm-up runs before the first round. Returns a reason if that already ends
    /// the run.
    fn set_up(&mut self, programs: &mut dyn ProgramSampler) -> Result<Option<StopReason>> {
        for contestant in self.referee.needed() {
            if !self.to_clean_up.contains(&contestant) {
                self.to_clean_up.push(contestant);
            }
            let mut failure = programs.set_up(contestant).err();
            let timeout_ns = self.referee.plan.program.timeout_ns.unwrap_or(WARMUP_TIMEOUT_NS);
            let request = RunRequest { contestant, padding_bytes: 0, timeout_ns, load_seed: 0 };
            for _ in 0..self.referee.plan.program.warmup_runs {
                failure = failure.or_else(|| programs.run(&request).err());
            }
            match failure {
                None => {}
                Some(RunFailure::Fault(fault)) => self.journal_void(contestant, None, fault)?,
                Some(RunFailure::Interrupted) => return Ok(Some(StopReason::Interrupted)),
                Some(RunFailure::Broken(why)) => return Err(LabError::Broken(why)),
            }
        }
        Ok(None)
    }

    /// Runs the primer, if there is one, and then every contestant in the order of the coins, and
    /// judges the outputs.
    fn attempt(&mut self, programs: &mut dyn ProgramSampler, coins: &RoundCoins) -> Attempted {
        let timeout_ns = self.referee.timeout_ns();
        let mut finished = Finished::default();
        let untimed = coins.primer.iter().count();
        let runs = coins.primer.iter().chain(&coins.order).zip(&coins.padding_bytes);
        for (position, (contestant, padding)) in runs.enumerate() {
            let (contestant, padding_bytes) = (*contestant, *padding);
            let is_timed = position >= untimed;
            let load_seed = coins.load_seed.unwrap_or(0);
            let request = RunRequest { contestant, padding_bytes, timeout_ns, load_seed };
            let ran = programs.run(&request).and_then(|ran| {
                let fault = self.outputs.later(ran.output.as_ref());
                fault.map_or(Ok(ran), |fault| Err(RunFailure::Fault(fault)))
            });
            let ran = match ran {
                Ok(ran) => ran,
                // An open claim is about how often runs fail, so this is an observation.
                Err(RunFailure::Fault(fault))
                    if fault.is_failed_run() && self.referee.counts_failures(contestant) =>
                {
                    if is_timed && self.referee.seen[contestant].first_failure.is_none() {
                        let round = coins.round;
                        finished.failures.push(Event::FirstFailure { contestant, round, fault });
                    }
                    Ran { sample: Sample::failed(), output: None, histogram: Vec::new() }
                }
                Err(RunFailure::Fault(fault)) => return Err(UnitFailure::Fault(contestant, fault)),
                Err(RunFailure::Interrupted) => return Err(UnitFailure::Interrupted),
                Err(RunFailure::Broken(why)) => return Err(UnitFailure::Broken(why)),
            };
            if is_timed {
                finished.samples.push(ran.sample);
                finished.outputs.push(ran.output);
                finished.histograms.push(ran.histogram);
            }
        }
        if finished.histograms.iter().all(Vec::is_empty) {
            finished.histograms.clear();
        }
        Ok(finished)
    }

    /// Runs a unit of functions in a new process or, at scope `layout`, in the existing one.
    fn attempt_unit(
        &mut self,
        functions: &mut dyn FunctionSampler,
        coins: &RoundCoins,
    ) -> Attempted {
        let rounds = self.referee.plan.functions.as_ref().map_or(1, |plan| plan.rounds_a_unit);
        let orders = match (&coins.unit, self.referee.plan.scope) {
            (Some(unit), Scope::Code | Scope::Binary) => {
                coins::unit_orders(unit.orders_seed, rounds, &coins.order)
            }
            // At scope `layout` each round is an observation, in the order that was drawn for it.
            _ => vec![coins.order.clone()],
        };
        let timeout_ns = self.referee.timeout_ns();
        let members = self.members(coins);
        let request = UnitRequest { coins, members: &members, orders: &orders, timeout_ns };
        let ran = functions.run_unit(&request);
        self.has_process = ran.is_ok() && self.referee.plan.scope == Scope::Layout;
        let UnitRan { samples, mut batches, .. } = ran?;
        if batches.iter().all(|of| of.len() == 1 && of[0].is_known()) {
            batches.clear();
        }
        Ok(Finished { samples, batches, ..Finished::default() })
    }

    /// Returns the contestants to load if a process is started for this round. At scope `layout`
    /// the process also serves later rounds, so it holds every contestant whose turn may come.
    fn members(&self, coins: &RoundCoins) -> Vec<usize> {
        match &coins.unit {
            Some(unit)
                if self.referee.plan.scope == Scope::Layout && self.referee.plan.races_pairs() =>
            {
                coins::unit_orders(unit.orders_seed, 1, &self.referee.needed()).concat()
            }
            _ => coins.order.clone(),
        }
    }

    /// Judges the outputs of the first round that has all of them, and returns the events to
    /// journal with the round. `None` if a contestant became void by its output, and the round with
    /// it.
    fn first_outputs(
        &mut self,
        coins: &RoundCoins,
        outputs: Vec<Option<OutputDigest>>,
    ) -> Result<Option<Vec<Event>>> {
        let mut events = Vec::new();
        if !self.outputs.is_open || self.referee.plan.functions.is_some() {
            return Ok(Some(events));
        }
        let outputs: Vec<_> = coins.order.iter().copied().zip(outputs).collect();
        match self.outputs.first_round(&outputs) {
            FirstRound::Unknown => return Ok(Some(events)),
            FirstRound::Fine => {}
            FirstRound::Differ => events.push(Event::Warned { warning: Warning::OutputsDiffer }),
            FirstRound::Fault(contestant, other) => {
                let fault = Fault::OutputDiffers {
                    from: self.referee.plan.contestants[other].name.clone(),
                };
                self.outputs = OutputCheck::new(&self.referee.plan.program.check);
                self.void(coins, contestant, fault)?;
                return Ok(None);
            }
        }
        let mut by_contestant = vec![None; self.referee.plan.contestants.len()];
        for (contestant, output) in outputs {
            by_contestant[contestant] = output;
        }
        events.push(Event::FirstOutputs { outputs: by_contestant });
        Ok(Some(events))
    }

    /// Journals a round and adds its samples to the evidence, unless an output voids a contestant.
    /// They are in the journal before any observer sees them, in one write with the verdicts that
    /// they settle.
    fn journal_round(
        &mut self,
        coins: RoundCoins,
        quiet: Quiet,
        finished: Finished,
        sampler: &mut dyn Sampler,
    ) -> Result<()> {
        let Finished { mut samples, batches, outputs, histograms, failures } = finished;
        let Some(mut events) = self.first_outputs(&coins, outputs)? else { return Ok(()) };
        let (warnings, now_ns) = (sampler.take_warnings(), sampler.now_ns());
        for sample in samples.iter_mut().filter(|_| !quiet.quiet) {
            sample.marks = sample.marks.with(Mark::NotQuiet);
        }
        if coins.round == 0 {
            self.check_measured(&samples)?;
        }
        let waited_ns = quiet.waited_ns;
        let elapsed_ns = self.elapsed_before_ns + now_ns.saturating_sub(self.started_ns);
        let wealth = Vec::new();
        let mut round =
            Round { coins, waited_ns, elapsed_ns, samples, batches, histograms, wealth };
        round.wealth = self.referee.take_round(&round);
        events.extend(failures);
        events.extend(warnings.into_iter().map(|warning| Event::Warned { warning }));
        events.iter().for_each(|event| self.referee.take_event(event));
        let verdicts = self.unrecorded(|verdict| verdict != Verdict::Undecided);
        self.recorder.finish_round(&round, &events, &verdicts)?;
        self.attempt = 0;
        self.recorder.store.sync_if_due(now_ns)?;
        Ok(())
    }

    /// Returns the verdicts of this kind that the journal does not have yet, and counts them as
    /// journalled.
    fn unrecorded(&mut self, wanted: impl Fn(Verdict) -> bool) -> Vec<RecordedVerdict> {
        let mut verdicts = Vec::new();
        if self.referee.self_check.is_some() {
            return verdicts;
        }
        for claim in 0..self.referee.plan.claims.len() {
            let is_final =
                self.recorded[claim].is_some_and(|old| old.verdict != Verdict::Undecided);
            if is_final || !wanted(self.referee.verdict(claim)) {
                continue;
            }
            let verdict = self.referee.record(claim);
            if self.recorded[claim].replace(verdict) != Some(verdict) {
                verdicts.push(verdict);
            }
        }
        verdicts
    }

    /// Checks that this machine measures every claim's metric.
    fn check_measured(&self, samples: &[Sample]) -> Result<()> {
        let ran = samples.iter().filter(|sample| sample.outcome != Outcome::Failed);
        for PlannedClaim { claim, .. } in &self.referee.plan.claims {
            let is_missing = ran.clone().any(|one| one.value(claim.metric).is_none());
            if is_missing && !claim.statement.is_about_success() {
                let (text, metric) = (&claim.text, claim.metric.name());
                return Err(LabError::NotMeasured(format!(
                    "'{text}' cannot be settled here: this machine does not measure {metric}"
                )));
            }
        }
        Ok(())
    }

    fn void(&mut self, coins: &RoundCoins, contestant: usize, fault: Fault) -> Result<()> {
        self.referee.lose_attempt(coins, Some(contestant));
        self.attempt += 1;
        self.journal_void(contestant, Some(coins.attempt), fault)
    }

    fn journal_void(
        &mut self,
        contestant: usize,
        attempt: Option<u32>,
        fault: Fault,
    ) -> Result<()> {
        let round = self.referee.rounds;
        self.referee.void(contestant, &fault);
        self.recorder.event(&Event::Void { contestant, round, attempt, fault })
    }

    /// Journals an event, and then applies it.
    fn journal_event(&mut self, event: Event) -> Result<()> {
        self.recorder.event(&event)?;
        self.referee.take_event(&event);
        Ok(())
    }

    /// Journals the missing verdicts and why the run stopped.
    fn finish(&mut self, reason: StopReason) -> Result<()> {
        let is_interrupted = reason == StopReason::Interrupted;
        for verdict in self.unrecorded(|one| one != Verdict::Undecided || !is_interrupted) {
            self.recorder.verdict(&verdict)?;
        }
        let rounds = self.referee.rounds;
        self.recorder.event(&Event::Stopped { rounds, reason })?;
        Ok(self.recorder.store.sync()?)
    }
}
