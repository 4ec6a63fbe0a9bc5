//! Many contests under one error, raced in turns, so that open claims get the time.

use crate::engine::Engine;
use crate::error::LabError;
use crate::outcome;
use crate::referee::Referee;
use crate::session::Session;
use std::sync::atomic::AtomicBool;
use tiebreak_core::journal::{Journal, StopReason};
use tiebreak_core::plan::Budget;
use tiebreak_core::result::{CheckResult, ContestResult, Family, RunResult};
use tiebreak_core::sampler::Sampler;
use tiebreak_core::verdict::Verdict;
use tiebreak_stats::family;

/// The least time that a contest has the machine before another one may have it.
const TURN_NS: u64 = 200_000_000;

/// A contest of a file, which is a separate run.
pub struct Contest<S> {
    /// Its name.
    pub name: String,
    /// The line number of each of its claims in the file, counted from 1.
    pub lines: Vec<u64>,
    /// The run.
    pub session: Session,
    /// The source of its samples.
    pub sampler: S,
}

/// The contests of a file that will be raced.
pub struct LineUp<S> {
    /// The contests.
    pub contests: Vec<Contest<S>>,
    /// Contests that earlier races have settled.
    pub done: Vec<ContestResult>,
    /// The error and the budget of all of them.
    pub rules: Rules,
}

/// The rules of a file as a whole.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The file's name.
    pub file: String,
    /// How the error is controlled over all claims.
    pub family: Family,
    /// The error of all claims together.
    pub error: f64,
    /// The number of claims in the file, with those of contests that are not raced.
    pub claims: usize,
    /// The most that all contests together may use.
    pub budget: Budget,
}

impl Rules {
    /// Returns the error of a claim: its share or, with e-BH, that of one that is proven alone. At
    /// the end it may be larger.
    pub(crate) fn error_of_a_claim(&self) -> f64 {
        match self.family {
            Family::EBonferroni => family::bonferroni_error(self.error, self.claims),
            Family::EBh => family::e_bh_error(self.error, self.claims, 1),
        }
    }
}

impl<S: Sampler> LineUp<S> {
    /// Races the contests in turns, so that the claims that are still open get the time. Calls
    /// `watch` after each turn, between two rounds, with a function that returns the result so far.
    ///
    /// # Errors
    /// Fails if a journal cannot be written, or if the machine fails. What was finished is in the
    /// journals.
    pub fn race(
        &mut self,
        stop: &AtomicBool,
        watch: impl FnMut(&dyn Fn() -> CheckResult),
    ) -> Result<CheckResult, LabError> {
        self.race_by(false, stop, watch)
    }

    /// Races a round of each open contest, then the next of each. Contests that draw the same coins
    /// are raced so: whether they go on is asked when all have had a round, so that no coin which
    /// one has used decides whether another uses it. A budget in rounds is one of each.
    ///
    /// # Errors
    /// As [`LineUp::race`].
    pub fn race_in_step(
        &mut self,
        stop: &AtomicBool,
        watch: impl FnMut(&dyn Fn() -> CheckResult),
    ) -> Result<CheckResult, LabError> {
        self.race_by(true, stop, watch)
    }

    fn race_by(
        &mut self,
        in_step: bool,
        stop: &AtomicBool,
        mut watch: impl FnMut(&dyn Fn() -> CheckResult),
    ) -> Result<CheckResult, LabError> {
        let LineUp { contests, done, rules } = self;
        let runners = contests.iter_mut().map(|contest| {
            let Contest { name, lines, session, sampler } = contest;
            let (recorder, journal) = session.split();
            let engine = Engine::new(recorder, journal, sampler, stop);
            Runner { name, lines, journal, engine, has_begun: false, reason: None }
        });
        let mut field = Field { runners: runners.collect(), done, rules, in_step };
        let watch = |field: &Field<'_>| watch(&|| field.standing());
        let ran = if in_step { field.run_in_step(watch) } else { field.run(watch) };
        let mut ended = Vec::with_capacity(field.runners.len());
        for Runner { engine, reason, .. } in field.runners {
            // If one contest breaks, the others can be resumed.
            let reason = reason.unwrap_or(StopReason::Interrupted);
            ended.push((engine.end(reason)?, reason));
        }
        ran?;
        let mut results = done.clone();
        for (contest, (referee, reason)) in contests.iter_mut().zip(ended) {
            let run = contest.session.conclude(referee, reason)?;
            let (name, lines) = (contest.name.clone(), contest.lines.clone());
            results.push(ContestResult { name, run, lines });
        }
        Ok(together(rules, results))
    }
}

/// Returns the rounds of the budget that a run has used: see [`Referee::rounds_used`].
fn rounds_used(run: &RunResult) -> u64 {
    let of_claims = run.verdicts.iter().map(|claim| claim.rounds).max();
    of_claims.filter(|_| run.study.is_some()).unwrap_or(run.rounds)
}

/// A contest in the race.
struct Runner<'a> {
    name: &'a str,
    lines: &'a [u64],
    /// The journal as it was when the race began.
    journal: &'a Journal,
    engine: Engine<'a>,
    has_begun: bool,
    /// Set when the contest is over.
    reason: Option<StopReason>,
}

/// All contests in the race.
struct Field<'a> {
    runners: Vec<Runner<'a>>,
    done: &'a [ContestResult],
    rules: &'a Rules,
    /// Whether all have had as many rounds, but for those that are over.
    in_step: bool,
}

impl Field<'_> {
    fn run(&mut self, mut watch: impl FnMut(&Self)) -> Result<(), LabError> {
        while let Some(next) = self.next() {
            let runner = &mut self.runners[next];
            runner.turn(TURN_NS)?;
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

    fn run_in_step(&mut self, mut watch: impl FnMut(&Self)) -> Result<(), LabError> {
        while self.runners.iter().any(|runner| runner.reason.is_none()) {
            for runner in self.runners.iter_mut().filter(|runner| runner.reason.is_none()) {
                runner.turn(0)?;
            }
            // Who is settled takes no part in the next round.
            for runner in self.runners.iter_mut().filter(|runner| runner.reason.is_none()) {
                runner.reason = runner.engine.reason_to_stop();
                if runner.reason.is_some() {
                    runner.engine.clean_up()?;
                }
            }
            watch(self);
            let reasons = self.runners.iter().map(|runner| runner.reason);
            if reasons.into_iter().any(|reason| reason == Some(StopReason::Interrupted)) {
                self.end_all(StopReason::Interrupted);
                return Ok(());
            }
            if let Some(reason) = self.reason_to_stop() {
                return self.stop(reason);
            }
        }
        self.stop(StopReason::Settled)
    }

    fn referees(&self) -> impl Iterator<Item = &Referee> {
        self.runners.iter().map(|runner| runner.engine.referee())
    }

    /// Returns the contest to race next: of the open ones, the one with the least time so far. With
    /// e-BH, contests come first if a claim of theirs is not among the currently proven ones. Of a
    /// study's workloads, those come first whose budget goes to claims before cells of the table,
    /// and among those the one whose next question is expected to need the least time.
    fn next(&self) -> Option<usize> {
        let level = self.level();
        let open = (0..self.runners.len()).filter(|index| self.runners[*index].reason.is_none());
        open.min_by_key(|index| {
            let referee = self.runners[*index].engine.referee();
            let is_proven = level.is_some_and(|error| is_settled_at(referee, error));
            (is_proven, !referee.claims_first(), referee.nearest_ns(), referee.elapsed_ns)
        })
    }

    /// Returns the reason to end the whole file, if there is one.
    fn reason_to_stop(&self) -> Option<StopReason> {
        let done = self.done.iter().map(|contest| &contest.run);
        let rounds = done.clone().map(rounds_used);
        let rounds = rounds.chain(self.referees().map(Referee::rounds_used));
        let rounds = if self.in_step { rounds.max().unwrap_or(0) } else { rounds.sum() };
        let done_ns = done.map(|run| (run.seconds * 1e9) as u64);
        let elapsed_ns: u64 =
            done_ns.chain(self.referees().map(|referee| referee.elapsed_ns)).sum();
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

    /// Returns the error at which e-BH settles each of the proven claims: `k q / C`, where `k` is
    /// the largest number such that `k` of the `C` claims are settled at it. `None` if there is no
    /// such number, or if the error is controlled otherwise.
    fn level(&self) -> Option<f64> {
        if self.rules.family != Family::EBh {
            return None;
        }
        let Rules { error, claims, .. } = *self.rules;
        let done = self.done.iter().flat_map(|contest| &contest.run.verdicts);
        let done = done.filter(|claim| is_proven(claim.verdict)).count();
        let mut proven = claims;
        while proven > 0 {
            let level = family::e_bh_error(error, claims, proven);
            let raced = self.referees().flat_map(|referee| verdicts_at(referee, level));
            let settled = done + raced.filter(|verdict| is_proven(*verdict)).count();
            if settled >= proven {
                return Some(level);
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

    fn standing(&self) -> CheckResult {
        let raced = self.runners.iter().map(|runner| ContestResult {
            name: runner.name.to_owned(),
            run: outcome::result(runner.engine.referee(), runner.journal, None, false),
            lines: runner.lines.to_vec(),
        });
        together(self.rules, self.done.iter().cloned().chain(raced).collect())
    }
}

impl Runner<'_> {
    /// Races rounds for one turn of so long, at least one, until the contest is over. Sets the
    /// contest up before its first turn, and cleans up after its last, so that it does not load the
    /// others' turns.
    fn turn(&mut self, turn_ns: u64) -> Result<(), LabError> {
        let until_ns = self.engine.referee().elapsed_ns + turn_ns;
        if !self.has_begun {
            self.has_begun = true;
            self.reason = self.engine.begin()?;
        }
        while self.reason.is_none() {
            self.reason = self.engine.step()?;
            if self.engine.referee().elapsed_ns >= until_ns {
                break;
            }
        }
        if self.reason.is_some() {
            self.engine.clean_up()?;
        }
        self.engine.pause();
        Ok(())
    }
}

fn is_proven(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Holds | Verdict::Refuted | Verdict::TooClose)
}

/// Returns the verdict on each claim of a run, with `holds` for those that this error would settle
/// in any way.
fn verdicts_at(referee: &Referee, error: f64) -> impl Iterator<Item = Verdict> {
    let claims = 0..referee.plan.claims.len();
    claims.map(move |claim| match referee.verdict(claim) {
        Verdict::Undecided if referee.would_settle(claim, error) => Verdict::Holds,
        verdict => verdict,
    })
}

/// Returns whether nothing is left to prove at this error.
fn is_settled_at(referee: &Referee, error: f64) -> bool {
    verdicts_at(referee, error).all(|verdict| verdict != Verdict::Undecided)
}

/// Returns the result of a single run as that of a file of claims, for the reports of CI systems;
/// `None` if none of its claims is a gate.
pub fn of_gate(run: &RunResult) -> Option<CheckResult> {
    if run.verdicts.iter().all(|claim| claim.gate.is_none()) {
        return None;
    }
    let lines = vec![1; run.verdicts.len()];
    Some(CheckResult {
        file: "tiebreak compare".to_owned(),
        family: Family::EBonferroni,
        error: run.error,
        seconds: run.seconds,
        budget: run.budget,
        interrupted: false,
        contests: vec![ContestResult { name: "gate".to_owned(), run: run.clone(), lines }],
    })
}

/// Combines the contests in the order of the file.
pub(crate) fn together(rules: &Rules, mut contests: Vec<ContestResult>) -> CheckResult {
    contests.sort_by_key(|contest| contest.lines.first().copied());
    CheckResult {
        file: rules.file.clone(),
        family: rules.family,
        error: rules.error,
        seconds: contests.iter().map(|contest| contest.run.seconds).sum(),
        budget: rules.budget,
        interrupted: contests.iter().any(|c| c.run.stopped == Some(StopReason::Interrupted)),
        contests,
    }
}
