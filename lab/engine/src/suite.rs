//! `tiebreak suite`: the benchmarks that a project has already, base against head, each a contest
//! of its own, all under one error.
//!
//! A round of a contest is one process of each revision in drawn order, as for programs. What a
//! process says of the benchmark is the sample. All contests draw the same coins and are raced in
//! step, so that a process times every open benchmark of its program at once (see `sampler.rs`).

mod sampler;

use crate::check::{self, Contest, Rules};
use crate::error::{LabError, Result, data, require};
use crate::planning::{self, Request, seed_or_random};
use crate::revisions::{self, NAMES, Revision, RevisionRequest, Revisions};
use crate::session::{Book, Session};
pub use sampler::BenchmarkSampler;
use sampler::{Benchmark, Benchmarks, Pair, Shared, full_name};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Budget, Check, Gate, OutputPlan, Plan, Primer, SuitePlan};
use tiebreak_core::result::{
    BenchmarkResult, CheckResult, ContestResult, EffectResult, Family, SuiteResult, SuiteRevision,
    Word,
};
use tiebreak_core::verdict::Verdict;
use tiebreak_measure::harnesses::{self, Failure, Harness, Place, Program, SliceRequest, Timed};

/// The budget of a suite, unless the user says another.
const SECONDS: f64 = 300.0;
/// How long a benchmark is timed in a process, unless the user says otherwise.
pub const SLICE: Duration = Duration::from_millis(20);
/// The most benchmarks whose error is divided among them; of more, a share of the verdicts may be
/// wrong.
const FEW: usize = 20;
/// A whole suite may take this long when it is looked at for the first time.
const PILOT_LIMIT: Duration = Duration::from_secs(600);
/// How many times as long as in the pilot a process may take.
const PATIENCE: f64 = 20.0;
/// The least time that a process may take.
const LEAST_LIMIT: Duration = Duration::from_secs(10);
/// The least nanoseconds that a sample says.
const LEAST_SAMPLE_NS: f64 = 1e6;

/// A request for a suite.
#[derive(Clone, Debug)]
pub struct SuiteRequest {
    /// The two revisions.
    pub revisions: RevisionRequest,
    /// The harness by its name; `None` if the project shows it.
    pub harness: Option<String>,
    /// What is said to the harness.
    pub words: Vec<String>,
    /// Only benchmarks with this in their names.
    pub filter: Option<String>,
    /// About how long a benchmark is timed in a process.
    pub slice: Duration,
    /// How much slower head may be, as a fraction.
    pub max_slowdown: f64,
    /// The error of all claims together.
    pub error: f64,
    /// How it is kept; `None` for what their number suggests.
    pub family: Option<Family>,
    /// The most that the races may use.
    pub budget: Option<Budget>,
    /// The seed.
    pub seed: Option<String>,
}

/// A step before the races.
#[derive(Debug)]
pub enum Step<'a> {
    /// A revision is checked out or built.
    Revision(revisions::Step<'a>),
    /// The harness was found, by this file.
    Harness(&'static str, Option<&'a Path>),
    /// The harness builds a revision.
    Building(&'a str),
    /// All benchmarks of a revision are run once.
    Looking(&'a str),
    /// Some were timed, and the program failed: what was not timed is not raced.
    Failed(&'a str, &'a Failure),
}

/// A suite that is ready to be raced.
pub struct LineUp {
    contests: check::LineUp<BenchmarkSampler>,
    /// The result, but for its benchmarks.
    about: SuiteResult,
    /// How many iterations a sample of each benchmark is.
    iterations: Vec<u64>,
    /// How long a round of all of them takes, about, in seconds.
    pub round_seconds: f64,
    /// Removed at the end.
    revisions: Revisions,
}

impl LineUp {
    /// Returns the folder of the worktrees.
    pub fn root(&self) -> &Path {
        self.revisions.root()
    }

    /// Returns how many benchmarks are raced.
    pub fn count(&self) -> usize {
        self.iterations.len()
    }

    /// Races a round of each open benchmark after the other. Calls `watch` after each round of all
    /// with a function that returns the result so far, as that of a file of claims.
    ///
    /// # Errors
    /// Fails if a journal cannot be written, or if the machine fails.
    pub fn race(
        &mut self,
        stop: &AtomicBool,
        watch: impl FnMut(&dyn Fn() -> CheckResult),
    ) -> Result<SuiteResult> {
        let check = self.contests.race_in_step(stop, watch)?;
        let raced = check.contests.iter().zip(&self.iterations);
        let benchmarks = raced.map(|(contest, iterations)| benchmark(contest, *iterations));
        let benchmarks = benchmarks.collect();
        Ok(SuiteResult { benchmarks, check, ..self.about.clone() })
    }
}

/// Returns the result of a benchmark from that of its run.
fn benchmark(contest: &ContestResult, iterations: u64) -> BenchmarkResult {
    let run = &contest.run;
    let claim = &run.verdicts[0];
    // A claim has the ratio of base to head.
    let EffectResult { estimate, low, high, confidence } = claim.effect();
    let turned = |ratio: Option<f64>| ratio.map(|ratio| 1.0 / ratio);
    let ratio = EffectResult {
        estimate: turned(estimate),
        low: turned(high),
        high: turned(low),
        confidence,
    };
    let word = match claim.verdict {
        Verdict::Void => Word::Void,
        Verdict::Refuted => Word::SlowerAsBuilt,
        Verdict::Holds if ratio.high.is_some_and(|high| high < 1.0) => Word::Faster,
        Verdict::Holds => Word::NotSlower,
        Verdict::TooClose | Verdict::Undecided => Word::Open,
    };
    let median = |name: &str| {
        let one = run.contestants.iter().find(|one| one.name == name)?;
        let (_, times) = one.metrics.iter().find(|(metric, _)| *metric == Metric::WallTime)?;
        Some(times.median? / iterations as f64)
    };
    let why = run.contestants.iter().find_map(|one| {
        let fault = one.fault.as_ref()?;
        Some(format!("{} {fault}", one.name))
    });
    BenchmarkResult {
        name: contest.name.clone(),
        word,
        why,
        ratio,
        times_ns: NAMES.map(median),
        iterations,
        rounds: run.rounds,
    }
}

/// Checks out and builds both revisions, runs all benchmarks of each once, and begins a run for
/// each benchmark that both have.
///
/// # Errors
/// Fails if no harness is found, a revision or its benchmarks cannot be built or run, none is left,
/// or a journal cannot be written; also with [`LabError::Interrupted`].
pub fn line_up(
    asked: &SuiteRequest,
    book: &Book,
    stop: &'static AtomicBool,
    mut progress: impl FnMut(Step<'_>),
) -> Result<LineUp> {
    revisions::check_slowdown(asked.max_slowdown)?;
    require(!asked.slice.is_zero(), "a slice of nothing times nothing: --slice 20ms")?;
    planning::check_error(asked.error)?;
    let (harness, trace) = match asked.harness.as_deref() {
        Some(name) => (harness_of(name, asked)?, None),
        None => found_in(&asked.revisions.directory)?,
    };
    progress(Step::Harness(harness.name(), trace.as_deref()));
    let made = Revisions::prepare(&asked.revisions, stop, |step| progress(Step::Revision(step)))?;
    let mut side = |name| {
        progress(Step::Building(name));
        Side::new(harness, asked, &made, name, stop, &mut progress)
    };
    let (base, head) = (side(NAMES[0])?, side(NAMES[1])?);
    let whole_seconds = base.seconds() + head.seconds();
    let (pairs, mut benchmarks, mut alone) = shared(base, head);
    let all = benchmarks.len();
    let is_asked = |name: &str| asked.filter.as_deref().is_none_or(|part| name.contains(part));
    benchmarks.retain(|benchmark| is_asked(&benchmark.full_name));
    alone.iter_mut().for_each(|names| names.retain(|name| is_asked(name)));
    if benchmarks.is_empty() {
        return none_left(asked, harness, all);
    }
    let round_seconds = whole_seconds * benchmarks.len() as f64 / all as f64;
    let iterations = benchmarks.iter().map(|one| one.iterations).collect();
    let results = made.root().join("results");
    let benchmarks = Benchmarks { harness, pairs, benchmarks, results, slice: asked.slice, stop };
    let contests = contests(asked, benchmarks, &made, book)?;
    let check = check::together(&contests.rules, Vec::new());
    let revisions = made
        .revisions
        .clone()
        .map(|Revision { asked, commit, .. }| SuiteRevision { asked, commit });
    let about = SuiteResult {
        harness: harness.name().to_owned(),
        revisions,
        slice_seconds: asked.slice.as_secs_f64(),
        max_slowdown: asked.max_slowdown,
        shared: all as u64,
        alone,
        benchmarks: Vec::new(),
        check,
    };
    Ok(LineUp { contests, about, iterations, round_seconds, revisions: made })
}

/// A revision, built and looked at: its programs, what each has, and how long that took.
struct Side(Vec<(Program, Vec<Timed>, Duration)>);

impl Side {
    fn new(
        harness: &dyn Harness,
        asked: &SuiteRequest,
        made: &Revisions,
        name: &'static str,
        stop: &AtomicBool,
        progress: &mut impl FnMut(Step<'_>),
    ) -> Result<Side> {
        let (project, built) = (made.folder(name), made.root().join(format!("built-{name}")));
        std::fs::create_dir_all(&built).map_err(|error| LabError::unreadable(&built, error))?;
        let place = Place { project: &project, built: &built, words: &asked.words, stop };
        let said = |failure| failed(name, failure);
        let programs = harness.build(&place).map_err(said)?;
        if programs.is_empty() {
            let why = format!("{} built no program with benchmarks", harness.name());
            return Err(failed(name, Failure::Other(why)));
        }
        progress(Step::Looking(name));
        let results = made.root().join("results");
        let whole = SliceRequest {
            names: None,
            slice: asked.slice,
            results: &results,
            padding_bytes: 0,
            limit: PILOT_LIMIT,
            stop,
        };
        let looked = programs.into_iter().map(|program| {
            let began = Instant::now();
            let (timed, failure) = harnesses::look(harness, &program, &whole).map_err(said)?;
            failure.iter().for_each(|failure| progress(Step::Failed(name, failure)));
            let timed = only_once(&program, timed).map_err(said)?;
            Ok((program, timed, began.elapsed()))
        });
        Ok(Side(looked.collect::<Result<_>>()?))
    }

    fn seconds(&self) -> f64 {
        self.0.iter().map(|(.., took)| took.as_secs_f64()).sum()
    }
}

/// Refuses names that cannot be told apart.
fn only_once(program: &Program, timed: Vec<Timed>) -> Result<Vec<Timed>, Failure> {
    let twice = timed
        .iter()
        .enumerate()
        .find(|(at, one)| timed[..*at].iter().any(|other| other.name == one.name));
    match twice {
        None => Ok(timed),
        Some((_, one)) => Err(Failure::Other(format!(
            "{} has two benchmarks called '{}': give one of them another name",
            if program.name.is_empty() { "the suite" } else { &program.name },
            one.name
        ))),
    }
}

fn failed(name: &str, failure: Failure) -> LabError {
    match failure {
        Failure::Interrupted => LabError::Interrupted,
        Failure::TooLong { .. } => LabError::Data(format!(
            "the benchmarks of {name} cannot be raced: {failure}; a shorter --slice takes less"
        )),
        other => LabError::Data(format!("the benchmarks of {name} cannot be raced: {other}")),
    }
}

fn harness_of(name: &str, asked: &SuiteRequest) -> Result<&'static dyn Harness> {
    let has_command = name != "custom" || !asked.words.is_empty();
    require(
        has_command,
        "the harness 'custom' needs a command behind '--', which prints a line 'NAME NANOSECONDS' \
         for each benchmark",
    )?;
    let found = harnesses::ALL.into_iter().find(|harness| harness.name() == name);
    found.ok_or_else(|| {
        LabError::Usage(format!("no harness is called '{name}'; there are {}", all_names()))
    })
}

fn all_names() -> String {
    let names: Vec<_> = harnesses::ALL.iter().map(|harness| harness.name()).collect();
    names.join(", ")
}

/// Returns the one harness that a project shows, and what shows it.
fn found_in(project: &Path) -> Result<(&'static dyn Harness, Option<PathBuf>)> {
    let found = harnesses::ALL.into_iter().map(|harness| (harness, harness.trace(project)));
    let found: Vec<_> = found.filter(|(_, trace)| trace.is_some()).collect();
    match &found[..] {
        [(harness, trace)] => Ok((*harness, trace.clone())),
        [] => data(format!("no harness is found here: --harness names one of {}", all_names())),
        many => {
            let names: Vec<_> = many.iter().map(|(harness, _)| harness.name()).collect();
            data(format!("here are several harnesses: --harness names one of {}", names.join(", ")))
        }
    }
}

/// Returns the programs and the benchmarks that both have, in the order of head, and the names of
/// the benchmarks that only base has, and only head.
fn shared(base: Side, head: Side) -> (Vec<Pair>, Vec<Benchmark>, [Vec<String>; 2]) {
    let (mut pairs, mut both) = (Vec::new(), Vec::new());
    let mut alone = [Vec::new(), Vec::new()];
    let Side(mut others) = base;
    let all = |program: &Program, timed: Vec<Timed>| -> Vec<String> {
        timed.iter().map(|one| full_name(&program.name, &one.name)).collect()
    };
    for (program, timed, took) in head.0 {
        let other = others.iter().position(|(other, ..)| other.name == program.name);
        let Some(other) = other else {
            alone[1].extend(all(&program, timed));
            continue;
        };
        let (other, mut left, other_took) = others.remove(other);
        for one in timed {
            let Some(at) = left.iter().position(|other| other.name == one.name) else {
                alone[1].push(full_name(&program.name, &one.name));
                continue;
            };
            let other = left.remove(at);
            both.push(Benchmark {
                pair: pairs.len(),
                iterations: iterations(other.ns.min(one.ns)),
                step_ns: other.step_ns.max(one.step_ns),
                full_name: full_name(&program.name, &one.name),
                name: one.name,
                is_open: true,
            });
        }
        alone[0].extend(all(&other, left));
        let took = took.max(other_took).mul_f64(PATIENCE);
        let (programs, limit) = ([other, program], LEAST_LIMIT.max(took));
        pairs.push(Pair { programs, limit, is_alone: false, shared: Shared::default() });
    }
    alone[0].extend(others.into_iter().flat_map(|(program, timed, _)| all(&program, timed)));
    (pairs, both, alone)
}

/// Returns the power of ten by which a time becomes so many nanoseconds that whole ones say it
/// exactly.
fn iterations(ns: f64) -> u64 {
    let mut iterations = 1_u64;
    while ns * (iterations as f64) < LEAST_SAMPLE_NS && iterations < 1_000_000_000 {
        iterations *= 10;
    }
    iterations
}

fn none_left<T>(asked: &SuiteRequest, harness: &dyn Harness, all: usize) -> Result<T> {
    match &asked.filter {
        Some(part) if all > 0 => data(format!("none of {all} benchmarks has '{part}' in its name")),
        _ => data(format!(
            "base and head have no benchmark in common that {} shows: is it the right harness?",
            harness.name()
        )),
    }
}

/// Begins a run for each benchmark.
fn contests(
    asked: &SuiteRequest,
    benchmarks: Benchmarks,
    made: &Revisions,
    book: &Book,
) -> Result<check::LineUp<BenchmarkSampler>> {
    let claims = benchmarks.benchmarks.len();
    let few = if claims > FEW { Family::EBh } else { Family::EBonferroni };
    let rules = Rules {
        file: "tiebreak suite".to_owned(),
        family: asked.family.unwrap_or(few),
        error: asked.error,
        claims,
        budget: asked.budget.unwrap_or(Budget { rounds: None, seconds: Some(SECONDS) }),
    };
    let seed = seed_or_random(asked.seed.as_deref())?;
    let all = Rc::new(RefCell::new(benchmarks));
    let mut contests = Vec::with_capacity(claims);
    for index in 0..claims {
        let plan = plan(asked, &all.borrow(), index, &rules, &seed, made)?;
        let session = Session::begin(book, plan, &[])?;
        let name = all.borrow().benchmarks[index].full_name.clone();
        let sampler = BenchmarkSampler::new(Rc::clone(&all), index);
        contests.push(Contest { name, lines: Vec::new(), session, sampler });
    }
    Ok(check::LineUp { contests, done: Vec::new(), rules })
}

/// Returns the plan of a benchmark. All have the same seed, so that they draw the same orders.
fn plan(
    asked: &SuiteRequest,
    all: &Benchmarks,
    index: usize,
    rules: &Rules,
    seed: &str,
    made: &Revisions,
) -> Result<Plan> {
    let benchmark = &all.benchmarks[index];
    let command = format!("{} {}", all.harness.name(), benchmark.full_name);
    let request = Request::new(vec![command], seed.to_owned());
    let mut request = Request {
        error: rules.error_of_a_claim(),
        resolution: revisions::RESOLUTION,
        budget: Some(rules.budget),
        gate: Gate::OpenUnlessRefuted,
        // Another command is another claim.
        workload: asked.words.join(" "),
        ..request
    };
    request.program.check = Check::Exit;
    request.program.output = OutputPlan::Null;
    request.program.primer = Primer::Never;
    let pair = &all.pairs[benchmark.pair];
    request.program.timeout_ns = Some(pair.limit.as_nanos() as u64);
    // What the digits of a time leave open is as a clock's step.
    request.clock_step_ns = 1_f64.max(benchmark.step_ns * benchmark.iterations as f64);
    let mut plan = revisions::plan(request, asked.max_slowdown)?;
    made.place(&mut plan)?;
    plan.suite = Some(Box::new(SuitePlan {
        harness: all.harness.name().to_owned(),
        program: pair.programs[1].name.clone(),
        benchmark: benchmark.name.clone(),
        iterations: benchmark.iterations,
    }));
    Ok(plan)
}
