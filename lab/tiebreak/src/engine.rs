//! The loop: draw a round, journal it, run it, journal its samples, update the evidence, ask.

use crate::error::LabError;
use crate::output_check::{FirstRound, OutputCheck};
use crate::referee::Referee;
use std::sync::atomic::{AtomicBool, Ordering};
use tiebreak_core::journal::{Event, Journal, Round, StopReason};
use tiebreak_core::plan::{Plan, PlannedClaim};
use tiebreak_core::sample::{Mark, Sample};
use tiebreak_core::sampler::{OutputPrint, Quiet, Ran, RunFailure, RunRequest, Sampler};
use tiebreak_core::schedule::RoundCoins;
use tiebreak_core::verdict::{Fault, Verdict};
use tiebreak_core::warning::Warning;
use tiebreak_stats::coins::{self, Seed};
use tiebreak_store::{RunId, Store};

/// A warm-up run may take this long before it is ended.
const WARMUP_TIMEOUT_NS: u64 = 60_000_000_000;

/// Drives one run: owns its referee, and writes its journal.
pub struct Engine<'a, S: Sampler> {
    store: &'a mut Store,
    run: RunId,
    plan: Plan,
    seed: Seed,
    sampler: &'a mut S,
    referee: Referee,
    outputs: OutputCheck,
    attempt: u32,
    /// The run's own time when this session began, and the sampler's clock then.
    elapsed_before_ns: u64,
    started_ns: u64,
    stop: &'a AtomicBool,
}

/// How an attempt at a round ended.
enum Attempt {
    Finished(Vec<Sample>, Vec<Option<OutputPrint>>),
    Void(usize, Fault),
    Interrupted,
}

impl<'a, S: Sampler> Engine<'a, S> {
    /// Takes up a run where its journal stands: at its beginning, or after the last finished round.
    pub fn new(
        store: &'a mut Store,
        run: RunId,
        journal: &Journal,
        sampler: &'a mut S,
        stop: &'a AtomicBool,
    ) -> Engine<'a, S> {
        let plan = journal.header.plan.clone();
        let referee = Referee::from_journal(journal);
        let mut outputs = OutputCheck::new(&plan.program.check);
        for event in &journal.events {
            if let Event::FirstOutputs { outputs: first } = event {
                outputs.first_round(&names(&plan), first);
            }
        }
        let next = referee.rounds();
        let attempts = journal.lost.iter().filter(|coins| coins.round == next);
        let attempt = attempts.map(|coins| coins.attempt + 1).max().unwrap_or(0);
        Engine {
            seed: Seed::from_text(&plan.seed),
            elapsed_before_ns: referee.elapsed_ns(),
            started_ns: 0,
            store,
            run,
            plan,
            sampler,
            referee,
            outputs,
            attempt,
            stop,
        }
    }

    /// Runs until every claim is settled, the budget is used up or somebody asks to stop.
    ///
    /// `watch` sees the referee after every finished round, between two rounds.
    ///
    /// # Errors
    /// The journal cannot be written, or the machine fails. What was finished is in the journal.
    pub fn run(
        mut self,
        mut watch: impl FnMut(&Referee),
    ) -> Result<(Referee, StopReason), LabError> {
        let contestants = self.referee.needed();
        let reason = match self.set_up(&contestants)? {
            Some(reason) => reason,
            None => {
                self.started_ns = self.sampler.now_ns();
                self.rounds(&mut watch)?
            }
        };
        self.clean_up(&contestants)?;
        self.finish(reason)?;
        Ok((self.referee, reason))
    }

    /// Runs the clean-up hooks of all contestants. A failing one costs no result: it is a warning.
    fn clean_up(&mut self, contestants: &[usize]) -> Result<(), LabError> {
        for contestant in contestants {
            let why = match self.sampler.clean_up(*contestant) {
                Ok(()) | Err(RunFailure::Interrupted) => continue,
                Err(RunFailure::Fault(fault)) => fault.to_string(),
                Err(RunFailure::Broken(why)) => why,
            };
            let contestant = self.plan.contestants[*contestant].name.clone();
            self.warn(Warning::CleanUpFailed { contestant, why })?;
        }
        Ok(())
    }

    fn rounds(&mut self, watch: &mut impl FnMut(&Referee)) -> Result<StopReason, LabError> {
        loop {
            if let Some(reason) = self.reason_to_stop() {
                return Ok(reason);
            }
            let left_ns = self.referee.left_ns().unwrap_or(u64::MAX);
            let quiet = self.sampler.wait_for_quiet(left_ns);
            let contestants = self.referee.needed();
            let round = self.referee.rounds();
            let coins = coins::draw(self.seed, round, self.attempt, &contestants);
            self.store.begin_attempt(&self.run, &coins)?;
            match self.attempt(&coins)? {
                Attempt::Finished(samples, outputs) => {
                    if round == 0 && !self.first_outputs(&coins, &outputs)? {
                        continue;
                    }
                    self.take(coins, quiet, samples)?;
                    watch(&self.referee);
                }
                Attempt::Void(contestant, fault) => self.void(&coins, contestant, fault)?,
                Attempt::Interrupted => return Ok(StopReason::Interrupted),
            }
        }
    }

    fn reason_to_stop(&self) -> Option<StopReason> {
        if self.referee.needed().is_empty() {
            let is_void = |claim| self.referee.verdict(claim) == Verdict::Void;
            let all_void = (0..self.plan.claims.len()).all(is_void);
            return Some(if all_void { StopReason::Void } else { StopReason::Settled });
        }
        if self.stop.load(Ordering::SeqCst) {
            return Some(StopReason::Interrupted);
        }
        self.referee.is_out_of_budget().then_some(StopReason::Budget)
    }

    /// Hooks and warm-up runs before the first round; a reason if that already ends the run.
    fn set_up(&mut self, contestants: &[usize]) -> Result<Option<StopReason>, LabError> {
        for contestant in contestants {
            let mut failure = self.sampler.set_up(*contestant).err();
            for _ in 0..self.plan.program.warmup_runs {
                let request = RunRequest {
                    contestant: *contestant,
                    padding_bytes: 0,
                    timeout_ns: self.plan.program.timeout_ns.unwrap_or(WARMUP_TIMEOUT_NS),
                };
                failure = failure.or_else(|| self.sampler.run(&request).err());
            }
            match failure {
                None => {}
                Some(RunFailure::Fault(fault)) => self.journal_void(*contestant, fault)?,
                Some(RunFailure::Interrupted) => return Ok(Some(StopReason::Interrupted)),
                Some(RunFailure::Broken(why)) => return Err(LabError::Broken(why)),
            }
        }
        Ok(None)
    }

    /// The primer and then every contestant in the order of the coins.
    fn attempt(&mut self, coins: &RoundCoins) -> Result<Attempt, LabError> {
        let timeout_ns = self.referee.timeout_ns();
        let mut samples = Vec::with_capacity(coins.order.len());
        let mut outputs = Vec::with_capacity(coins.order.len());
        let runs = std::iter::once(&coins.primer).chain(&coins.order);
        for (position, (contestant, padding)) in runs.zip(&coins.padding_bytes).enumerate() {
            let request =
                RunRequest { contestant: *contestant, padding_bytes: *padding, timeout_ns };
            let ran = match self.sampler.run(&request) {
                Ok(ran) => ran,
                Err(RunFailure::Fault(fault)) => return Ok(Attempt::Void(*contestant, fault)),
                Err(RunFailure::Interrupted) => return Ok(Attempt::Interrupted),
                Err(RunFailure::Broken(why)) => return Err(LabError::Broken(why)),
            };
            let Ran { sample, output } = ran;
            if let Some(fault) = self.outputs.later(output.as_ref()) {
                return Ok(Attempt::Void(*contestant, fault));
            }
            if position > 0 {
                samples.push(sample);
                outputs.push(output);
            }
        }
        Ok(Attempt::Finished(samples, outputs))
    }

    /// Journals and judges the first round's outputs; false if a contestant became void by them.
    fn first_outputs(
        &mut self,
        coins: &RoundCoins,
        outputs: &[Option<OutputPrint>],
    ) -> Result<bool, LabError> {
        let mut by_contestant = vec![None; self.plan.contestants.len()];
        for (contestant, output) in coins.order.iter().zip(outputs) {
            by_contestant[*contestant].clone_from(output);
        }
        match self.outputs.first_round(&names(&self.plan), &by_contestant) {
            FirstRound::Fine => {}
            FirstRound::Differ => self.warn(Warning::OutputsDiffer)?,
            FirstRound::Fault(contestant, fault) => {
                self.void(coins, contestant, fault)?;
                return Ok(false);
            }
        }
        self.store.event(&self.run, &Event::FirstOutputs { outputs: by_contestant })?;
        Ok(true)
    }

    /// Samples become evidence, and are in the journal before anybody sees them.
    fn take(
        &mut self,
        coins: RoundCoins,
        quiet: Quiet,
        mut samples: Vec<Sample>,
    ) -> Result<(), LabError> {
        if !quiet.quiet {
            let mark = |sample: &mut Sample| sample.marks = sample.marks.with(Mark::NotQuiet);
            samples.iter_mut().for_each(mark);
        }
        if coins.round == 0 {
            self.check_measured(&samples)?;
        }
        let waited_ns = quiet.waited_ns;
        let now_ns = self.sampler.now_ns();
        let elapsed_ns = self.elapsed_before_ns + now_ns.saturating_sub(self.started_ns);
        let mut round = Round { coins, waited_ns, elapsed_ns, samples, wealth: Vec::new() };
        round.wealth = self.referee.take_round(&round);
        self.store.finish_round(&self.run, &round)?;
        for wealth in &round.wealth {
            if self.referee.verdict(wealth.claim) != Verdict::Undecided {
                self.store.verdict(&self.run, &self.referee.record(wealth.claim))?;
            }
        }
        self.attempt = 0;
        for warning in self.sampler.take_warnings() {
            self.warn(warning)?;
        }
        self.store.sync_if_due(now_ns)?;
        Ok(())
    }

    /// Every claim's metric must be measured on this machine.
    fn check_measured(&self, samples: &[Sample]) -> Result<(), LabError> {
        let missing = |planned: &&PlannedClaim| {
            let metric = planned.claim.metric;
            samples.iter().any(|sample| sample.value(metric).is_none())
        };
        match self.plan.claims.iter().find(missing) {
            None => Ok(()),
            Some(planned) => Err(LabError::NotMeasured {
                claim: planned.claim.text.clone(),
                metric: planned.claim.metric.name(),
            }),
        }
    }

    fn void(
        &mut self,
        coins: &RoundCoins,
        contestant: usize,
        fault: Fault,
    ) -> Result<(), LabError> {
        self.referee.lose_attempt(coins);
        self.attempt += 1;
        self.journal_void(contestant, fault)
    }

    fn journal_void(&mut self, contestant: usize, fault: Fault) -> Result<(), LabError> {
        let round = self.referee.rounds();
        self.referee.void(contestant, &fault);
        self.store.event(&self.run, &Event::Void { contestant, round, fault })?;
        Ok(())
    }

    fn warn(&mut self, warning: Warning) -> Result<(), LabError> {
        self.store.event(&self.run, &Event::Warned { warning: warning.clone() })?;
        self.referee.warn(warning);
        Ok(())
    }

    /// Journals the verdicts that are still missing and why the run stopped.
    fn finish(&mut self, reason: StopReason) -> Result<(), LabError> {
        if reason != StopReason::Interrupted && self.referee.self_check().is_none() {
            for claim in 0..self.plan.claims.len() {
                let verdict = self.referee.verdict(claim);
                if matches!(verdict, Verdict::Undecided | Verdict::Void) {
                    self.store.verdict(&self.run, &self.referee.record(claim))?;
                }
            }
        }
        let rounds = self.referee.rounds();
        self.store.event(&self.run, &Event::Stopped { rounds, reason })?;
        self.store.sync()?;
        Ok(())
    }
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.contestants.iter().map(|contestant| contestant.name.as_str()).collect()
}
