//! Many contests under one error, raced in turns, so that open claims get the time.

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

/// Races the contests of a file to their end. Calls `watch` with the standing after each turn,
/// between two rounds. `done` are contests of the file that earlier races have settled.
///
/// # Errors
/// Fails if a journal cannot be written, or if the machine fails. What was finished is in the
/// journals.
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
            // If one contest breaks, the others can be resumed.
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

/// The totals of contests that are not raced any more.
struct Done {
    /// The number of proven claims.
    proven: usize,
    rounds: u64,
    elapsed_ns: u64,
}

impl Done {
    fn of(done: &[ContestResult]) -> Done {
        let claims = done.iter().flat_map(|contest| &contest.run.verdicts);
        Done {
            proven: claims
                .filter(|claim| !matches!(claim.verdict, Verdict::Undecided | Verdict::Void))
                .count(),
            rounds: done.iter().map(|contest| rounds_used(&contest.run)).sum(),
            elapsed_ns: done.iter().map(|contest| (contest.run.seconds * 1e9) as u64).sum(),
        }
    }
}

/// Returns the rounds of the budget that a run has used: see [`Referee::rounds_used`].
fn rounds_used(run: &RunResult) -> u64 {
    let of_claims = run.verdicts.iter().map(|claim| claim.rounds).max();
    of_claims.filter(|_| run.study.is_some()).unwrap_or(run.rounds)
}

/// A contest in the race.
struct Runner<'a, R: Recorder> {
    engine: Engine<'a, R>,
    has_begun: bool,
    /// Set when the contest is over.
    reason: Option<StopReason>,
}

/// All contests in the race.
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

    /// Returns the contest to race next: of the open ones, the one with the least time so far. With
    /// e-BH, contests come first if a claim of theirs is not among the currently proven ones. Of a
    /// study's workloads, those come first whose budget goes to claims before cells of the table.
    fn next(&self) -> Option<usize> {
        let level = self.level();
        let open = (0..self.runners.len()).filter(|index| self.runners[*index].reason.is_none());
        open.min_by_key(|index| {
            let referee = self.runners[*index].engine.referee();
            let is_proven = level.is_some_and(|error| is_settled_at(referee, error));
            (is_proven, !referee.claims_first(), referee.elapsed_ns())
        })
    }

    /// Returns the reason to end the whole file, if there is one.
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

    /// Returns the error at which e-BH settles each of the proven claims: `k q / C`, where `k` is
    /// the largest number such that `k` of the `C` claims are settled at it. `None` if there is no
    /// such number, or if the error is controlled otherwise.
    fn level(&self) -> Option<f64> {
        if self.rules.family != Family::EBh {
            return None;
        }
        let Rules { error, claims, .. } = *self.rules;
        let mut proven = claims;
        while proven > 0 {
            let level = family::e_bh_error(error, claims, proven);
            let raced: usize = self.referees().map(|referee| settled_at(referee, level)).sum();
            let settled = self.done.proven + raced;
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
    /// Races rounds for one turn, at least one, until the contest is over. Sets the contest up
    /// before its first turn, and cleans up after its last, so that it does not load the others'
    /// turns.
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

/// Returns how many claims of a run are proven, or would be at this error.
fn settled_at(referee: &Referee, error: f64) -> usize {
    let claims = 0..referee.plan().claims.len();
    let proven = claims.filter(|claim| match referee.verdict(*claim) {
        Verdict::Undecided => referee.would_settle(*claim, error),
        Verdict::Void => false,
        Verdict::Holds | Verdict::Refuted | Verdict::TooClose => true,
    });
    proven.count()
}

/// Returns whether nothing is left to prove at this error.
fn is_settled_at(referee: &Referee, error: f64) -> bool {
    (0..referee.plan().claims.len()).all(|claim| {
        referee.verdict(claim) != Verdict::Undecided || referee.would_settle(claim, error)
    })
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
fn together(rules: &Rules, mut contests: Vec<ContestResult>) -> CheckResult {
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
