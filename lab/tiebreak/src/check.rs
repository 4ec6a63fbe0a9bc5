//! Many contests under one error: raced in turns, so that the claims that are open get the time.

use crate::engine::Engine;
use crate::error::LabError;
use crate::recorder::{Recorder, StoredRun};
use crate::referee::Referee;
use crate::session::{Session, Standing};
use std::sync::atomic::AtomicBool;
use tiebreak_core::journal::{Journal, StopReason};
use tiebreak_core::plan::Budget;
use tiebreak_core::result::{CheckResult, ContestResult, Family};
use tiebreak_core::sampler::Sampler;
use tiebreak_core::verdict::Verdict;
use tiebreak_formats as formats;
use tiebreak_report as report;
use tiebreak_stats::family;

/// A contest has the machine for at least this long before another one may have it.
const TURN_NS: u64 = 200_000_000;

/// The words in which the formats of CI systems tell of claims: those of the reports.
pub const WORDS: formats::Words = formats::Words {
    sentence: report::check::sentence,
    effect: report::check::effect,
    summary: report::check::summary,
    promise: report::check::promise,
    repeat: report::repeat_line,
};

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
    /// The most that all contests together may use.
    pub budget: Budget,
}

/// Races the contests of a file to their end; `watch` sees it as it stands after each turn, between
/// two rounds.
///
/// # Errors
/// A journal cannot be written, or the machine fails. What was finished is in the journals.
pub fn race<S: Sampler>(
    contests: &mut [Contest<S>],
    rules: &Rules,
    stop: &AtomicBool,
    mut watch: impl FnMut(&dyn Fn() -> CheckResult),
) -> Result<CheckResult, LabError> {
    let mut ended = Vec::with_capacity(contests.len());
    {
        let named: Vec<_> =
            contests.iter().map(|contest| (contest.name.clone(), contest.lines.clone())).collect();
        let parts = contests.iter_mut().map(|contest| {
            let (stored, journal) = contest.session.split();
            (stored, journal, &mut contest.sampler)
        });
        let mut journals = Vec::new();
        let mut runners = Vec::new();
        for (stored, journal, sampler) in parts {
            journals.push(journal);
            runners.push(Runner::<StoredRun<'_>, S> {
                engine: Engine::new(stored, journal, sampler, stop),
                reason: None,
            });
        }
        let mut field = Field { runners, rules };
        let ran = field.run(|field| watch(&|| field.standing(&named, &journals)));
        for Runner { engine, reason } in field.runners {
            // Where one contest breaks, the others can be gone on with.
            let reason = reason.unwrap_or(StopReason::Interrupted);
            ended.push((engine.end(reason)?, reason));
        }
        ran?;
    }
    let mut results = Vec::with_capacity(contests.len());
    for (contest, (referee, reason)) in contests.iter_mut().zip(ended) {
        let run = contest.session.conclude(referee, reason)?;
        let (name, lines) = (contest.name.clone(), contest.lines.clone());
        results.push(ContestResult { name, run, lines });
    }
    Ok(together(rules, results))
}

/// A contest that is being raced.
struct Runner<'a, R: Recorder, S: Sampler> {
    engine: Engine<'a, R, S>,
    /// Set when it is over.
    reason: Option<StopReason>,
}

/// All contests that are being raced.
struct Field<'a, 'r, R: Recorder, S: Sampler> {
    runners: Vec<Runner<'a, R, S>>,
    rules: &'r Rules,
}

impl<R: Recorder, S: Sampler> Field<'_, '_, R, S> {
    fn run(&mut self, mut watch: impl FnMut(&Self)) -> Result<(), LabError> {
        for runner in &mut self.runners {
            runner.reason = runner.engine.begin()?;
            runner.engine.pause();
            if runner.reason == Some(StopReason::Interrupted) {
                return self.interrupt();
            }
        }
        while let Some(next) = self.next() {
            let runner = &mut self.runners[next];
            runner.turn()?;
            if runner.reason == Some(StopReason::Interrupted) {
                return self.interrupt();
            }
            watch(self);
            if let Some(reason) = self.reason_to_stop() {
                return self.stop(reason);
            }
        }
        self.stop(StopReason::Settled)
    }

    /// The contest to race next: of those that are open, the one that has had the least time. With
    /// e-BH, first those with a claim that is not among the proven ones as things stand.
    fn next(&self) -> Option<usize> {
        let level = self.level();
        let open = (0..self.runners.len()).filter(|index| self.runners[*index].reason.is_none());
        open.min_by_key(|index| {
            let referee = self.runners[*index].engine.referee();
            let is_proven = level.is_some_and(|error| is_settled_at(referee, error));
            (is_proven, referee.elapsed_ns())
        })
    }

    /// What ends the whole file.
    fn reason_to_stop(&self) -> Option<StopReason> {
        let referees = || self.runners.iter().map(|runner| runner.engine.referee());
        let rounds: u64 = referees().map(Referee::rounds).sum();
        let elapsed_ns: u64 = referees().map(Referee::elapsed_ns).sum();
        let Budget { rounds: most_rounds, seconds } = self.rules.budget;
        if most_rounds.is_some_and(|most| rounds >= most)
            || seconds.is_some_and(|most| elapsed_ns as f64 >= most * 1e9)
        {
            return Some(StopReason::Budget);
        }
        let level = self.level()?;
        referees().all(|referee| is_settled_at(referee, level)).then_some(StopReason::Settled)
    }

    /// The error at which e-BH lets each of the proven claims be settled: `k q / C`, where `k` is
    /// the largest number such that `k` of the `C` claims are settled at it. `None` if there is no
    /// such number, or the error is kept otherwise.
    fn level(&self) -> Option<f64> {
        if self.rules.family != Family::EBh {
            return None;
        }
        let referees = || self.runners.iter().map(|runner| runner.engine.referee());
        let claims: usize = referees().map(|referee| referee.plan().claims.len()).sum();
        let level = |proven| family::e_bh_error(self.rules.error, claims, proven);
        let mut proven = claims;
        while proven > 0 {
            let settled = referees().map(|referee| settled_at(referee, level(proven))).sum();
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
                runner.engine.relax(level)?;
            }
        }
        for runner in &mut self.runners {
            runner.reason.get_or_insert(reason);
        }
        Ok(())
    }

    fn interrupt(&mut self) -> Result<(), LabError> {
        for runner in &mut self.runners {
            runner.reason.get_or_insert(StopReason::Interrupted);
        }
        Ok(())
    }

    fn standing(&self, named: &[(String, Vec<u64>)], journals: &[&Journal]) -> CheckResult {
        let contests = self.runners.iter().zip(named).zip(journals);
        let contests = contests.map(|((runner, (name, lines)), journal)| {
            let run = Standing::new(runner.engine.referee(), journal).result();
            ContestResult { name: name.clone(), run, lines: lines.clone() }
        });
        together(self.rules, contests.collect())
    }
}

impl<R: Recorder, S: Sampler> Runner<'_, R, S> {
    /// Rounds for a turn, at least one, until the contest is over.
    fn turn(&mut self) -> Result<(), LabError> {
        let until_ns = self.engine.referee().elapsed_ns() + TURN_NS;
        loop {
            self.reason = self.engine.step()?;
            if self.reason.is_some() || self.engine.referee().elapsed_ns() >= until_ns {
                break;
            }
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

fn together(rules: &Rules, contests: Vec<ContestResult>) -> CheckResult {
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
