//! Many contests under one error: raced in turns, so that the claims that are open get the time.

use crate::engine::Engine;
use crate::error::LabError;
use crate::recorder::{Recorder, StoredRun};
use crate::referee::Referee;
use crate::session::{Session, Standing};
use std::sync::atomic::AtomicBool;
use tiebreak_core::journal::{Journal, StopReason};
use tiebreak_core::plan::Budget;
use tiebreak_core::result::{CheckResult, ContestResult, Family, RunResult};
use tiebreak_core::sampler::Sampler;
use tiebreak_core::verdict::Verdict;
use tiebreak_stats::family;

/// A contest has the machine for at least this long before another one may have it.
const TURN_NS: u64 = 200_000_000;

/// A contest of a file: a run of its own.
pub struct Contest<S> {
    /// Its name.
    pub name: String,
    /// The line of the file at which each of its claims stands, counted from 1.
    pub lines: Vec<u64>,
    /// The run.
    pub session: Session,
    /// What gives its samples.
    pub sampler: S,
}

/// What holds for a file as a whole.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The file's name.
    pub file: String,
    /// How the error is kept.
    pub family: Family,
    /// The error of all claims together.
    pub error: f64,
    /// How many claims the file has, those of contests that are not raced among them.
    pub claims: usize,
    /// The most that all contests together may use.
    pub budget: Budget,
}

/// Races the contests of a file to their end; `watch` sees it as it stands after each turn, between
/// two rounds. `done` are contests of the file that earlier races have settled.
///
/// # Errors
/// A journal cannot be written, or the machine fails. What was finished is in the journals.
pub fn race<S: Sampler>(
    contests: &mut [Contest<S>],
    done: &[ContestResult],
    rules: &Rules,
    stop: &AtomicBool,
    mut watch: impl FnMut(&dyn Fn() -> CheckResult),
) -> Result<CheckResult, LabError> {
    let ended = {
        let named: Vec<_> =
            contests.iter().map(|contest| (contest.name.clone(), contest.lines.clone())).collect();
        let (mut journals, mut runners) = (Vec::new(), Vec::new());
        for contest in contests.iter_mut() {
            let (stored, journal) = contest.session.split();
            journals.push(journal);
            let engine = Engine::new(stored, journal, &mut contest.sampler, stop);
            runners.push(Runner::<StoredRun<'_>> { engine, has_begun: false, reason: None });
        }
        let mut field = Field { runners, rules, done: Done::of(done) };
        let ran = field.run(|field| watch(&|| field.standing(&named, &journals, done)));
        let mut ended = Vec::with_capacity(field.runners.len());
        for Runner { engine, reason, .. } in field.runners {
            // Where one contest breaks, the others can be gone on with.
            let reason = reason.unwrap_or(StopReason::Interrupted);
            ended.push((engine.end(reason)?, reason));
        }
        ran?;
        ended
    };
    let mut results = done.to_vec();
    for (contest, (referee, reason)) in contests.iter_mut().zip(ended) {
        let run = contest.session.conclude(referee, reason)?;
        let (name, lines) = (contest.name.clone(), contest.lines.clone());
        results.push(ContestResult { name, run, lines });
    }
    Ok(together(rules, results))
}

/// What contests that are not raced any more have come to.
struct Done {
    /// Claims that are proven.
    proven: usize,
    rounds: u64,
    elapsed_ns: u64,
}

impl Done {
    fn of(done: &[ContestResult]) -> Done {
        let claims = done.iter().flat_map(|contest| &contest.run.verdicts);
        let is_proven = |verdict| !matches!(verdict, Verdict::Undecided | Verdict::Void);
        Done {
            proven: claims.filter(|claim| is_proven(claim.verdict)).count(),
            rounds: done.iter().map(|contest| rounds_used(&contest.run)).sum(),
            elapsed_ns: done.iter().map(|contest| (contest.run.seconds * 1e9) as u64).sum(),
        }
    }
}

/// The rounds of the budget that a run has used: see [`Referee::rounds_used`].
fn rounds_used(run: &RunResult) -> u64 {
    let of_claims = || run.verdicts.iter().map(|claim| claim.rounds).max();
    run.study.as_ref().and_then(|_| of_claims()).unwrap_or(run.rounds)
}

/// A contest that is being raced.
struct Runner<'a, R: Recorder> {
    engine: Engine<'a, R>,
    has_begun: bool,
    /// Set when it is over.
    reason: Option<StopReason>,
}

/// All contests that are being raced.
struct Field<'a, 'r, R: Recorder> {
    runners: Vec<Runner<'a, R>>,
    rules: &'r Rules,
    done: Done,
}

impl<R: Recorder> Field<'_, '_, R> {
    fn run(&mut self, mut watch: impl FnMut(&Self)) -> Result<(), LabError> {
        while let Some(next) = self.next() {
            let runner = &mut self.runners[next];
            runner.turn()?;
            if runner.reason == Some(StopReason::Interrupted) {
                self.end_all(StopReason::Interrupted);
                return Ok(());
            }
            watch(self);
            if let Some(reason) = self.reason_to_stop() {
                return self.stop(reason);
            }
        }
        self.stop(StopReason::Settled)
    }

    fn referees(&self) -> impl Iterator<Item = &Referee> {
        self.runners.iter().map(|runner| runner.engine.referee())
    }

    /// The contest to race next: of those that are open, the one that has had the least time. With
    /// e-BH, first those with a claim that is not among the proven ones as things stand; of a
    /// study's workloads, first those whose budget goes to claims before cells of the table.
    fn next(&self) -> Option<usize> {
        let level = self.level();
        let open = (0..self.runners.len()).filter(|index| self.runners[*index].reason.is_none());
        open.min_by_key(|index| {
            let referee = self.runners[*index].engine.referee();
            let is_proven = level.is_some_and(|error| is_settled_at(referee, error));
            (is_proven, !referee.claims_first(), referee.elapsed_ns())
        })
    }

    /// What ends the whole file.
    fn reason_to_stop(&self) -> Option<StopReason> {
        let rounds = self.done.rounds + self.referees().map(Referee::rounds_used).sum::<u64>();
        let elapsed_ns =
            self.done.elapsed_ns + self.referees().map(Referee::elapsed_ns).sum::<u64>();
        let Budget { rounds: most_rounds, seconds } = self.rules.budget;
        if most_rounds.is_some_and(|most| rounds >= most)
            || seconds.is_some_and(|most| elapsed_ns as f64 >= most * 1e9)
        {
            return Some(StopReason::Budget);
        }
        let level = self.level()?;
        let is_done = self.referees().all(|referee| is_settled_at(referee, level));
        is_done.then_some(StopReason::Settled)
    }

    /// The error at which e-BH lets each of the proven claims be settled: `k q / C`, where `k` is
    /// the largest number such that `k` of the `C` claims are settled at it. `None` if there is no
    /// such number, or the error is kept otherwise.
    fn level(&self) -> Option<f64> {
        if self.rules.family != Family::EBh {
            return None;
        }
        let level = |proven| family::e_bh_error(self.rules.error, self.rules.claims, proven);
        let settled_at = |error| {
            let raced: usize = self.referees().map(|referee| settled_at(referee, error)).sum();
            self.done.proven + raced
        };
        let mut proven = settled_at(level(self.rules.claims));
        while proven > 0 {
            let settled = settled_at(level(proven));
            if settled >= proven {
                return Some(level(proven));
            }
            proven = settled;
        }
        None
    }

    fn stop(&mut self, reason: StopReason) -> Result<(), LabError> {
        if let Some(level) = self.level() {
            for runner in &mut self.runners {
                runner.engine.relax(level, self.rules.error)?;
            }
        }
        self.end_all(reason);
        Ok(())
    }

    fn end_all(&mut self, reason: StopReason) {
        for runner in &mut self.runners {
            runner.reason.get_or_insert(reason);
        }
    }

    fn standing(
        &self,
        named: &[(String, Vec<u64>)],
        journals: &[&Journal],
        done: &[ContestResult],
    ) -> CheckResult {
        let raced = self.runners.iter().zip(named).zip(journals);
        let raced = raced.map(|((runner, (name, lines)), journal)| {
            let run = Standing::new(runner.engine.referee(), journal).result();
            ContestResult { name: name.clone(), run, lines: lines.clone() }
        });
        together(self.rules, done.iter().cloned().chain(raced).collect())
    }
}

impl<R: Recorder> Runner<'_, R> {
    /// Rounds for a turn, at least one, until the contest is over. What it needs is set up before
    /// its first turn, and cleaned up after its last, so that it does not load the others' turns.
    fn turn(&mut self) -> Result<(), LabError> {
        let until_ns = self.engine.referee().elapsed_ns() + TURN_NS;
        if !self.has_begun {
            self.has_begun = true;
            self.reason = self.engine.begin()?;
        }
        while self.reason.is_none() && self.engine.referee().elapsed_ns() < until_ns {
            self.reason = self.engine.step()?;
        }
        if self.reason.is_some() {
            self.engine.clean_up()?;
        }
        self.engine.pause();
        Ok(())
    }
}

/// How many claims of a run are proven, or would be at this error.
fn settled_at(referee: &Referee, error: f64) -> usize {
    let is_proven = |claim: &usize| match referee.verdict(*claim) {
        Verdict::Undecided => referee.would_settle(*claim, error),
        Verdict::Void => false,
        Verdict::Holds | Verdict::Refuted | Verdict::TooClose => true,
    };
    (0..referee.plan().claims.len()).filter(is_proven).count()
}

/// Whether nothing is left to prove at this error.
fn is_settled_at(referee: &Referee, error: f64) -> bool {
    let is_open = |claim: usize| {
        referee.verdict(claim) == Verdict::Undecided && !referee.would_settle(claim, error)
    };
    !(0..referee.plan().claims.len()).any(is_open)
}

/// The contests in the order of the file.
fn together(rules: &Rules, mut contests: Vec<ContestResult>) -> CheckResult {
    contests.sort_by_key(|contest| contest.lines.first().copied());
    let stopped = |contest: &ContestResult| contest.run.stopped;
    CheckResult {
        file: rules.file.clone(),
        family: rules.family,
        error: rules.error,
        seconds: contests.iter().map(|contest| contest.run.seconds).sum(),
        budget: rules.budget,
        interrupted: contests.iter().any(|c| stopped(c) == Some(StopReason::Interrupted)),
        contests,
    }
}
