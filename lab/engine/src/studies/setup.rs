//! A study that can be raced: its settings, what was built of it, on how many threads each
//! contestant runs here, and the plans of its runs.

use super::{Environment, Functions, Step, StudyRequest, questions};
use crate::error::{LabError, Result};
use crate::planning::{self, SECONDS_A_CLAIM};
use crate::request::Request;
use std::path::PathBuf;
use tiebreak_core::claim::Claim;
use tiebreak_core::plan::{
    Adjust, Budget, Centre, Contestant, Hooks, Plan, PlannedClaim, Primer, ProgramPlan, Scope,
};
use tiebreak_core::study::{
    BatchCalls, Built, BuiltForm, Entrant, FunctionPlan, NotRun, Pilot, Published, Team,
    ThreadCount, Threads, Workload,
};
use tiebreak_machine::cpus;
use tiebreak_measure::build::{BuildError, Builder, print_of};
use tiebreak_measure::workers::{self, LoadError};

/// The share of its part of a budget in seconds that a study's run gives only to claims. After it,
/// a claim that nothing decides shares the rest with the cells of the table, which would otherwise
/// stay empty.
const CLAIMS_SHARE: f64 = 0.75;

/// A study whose contestants were built, on all its workloads.
pub struct Setup<'a> {
    pub asked: &'a StudyRequest,
    pub environment: &'a Environment,
    /// Contestants that were built.
    pub ready: Vec<Ready>,
    /// Contestants that take no part, and why.
    pub not_run: Vec<NotRun>,
    /// The shared library of the oracle.
    oracle: Option<PathBuf>,
    pub workloads: Vec<Workload>,
    pub scope: Scope,
    /// The budget of all workloads together.
    pub budget: Budget,
    /// What the plans of all workloads share.
    pub request: Request,
}

impl<'a> Setup<'a> {
    /// Checks a request, and builds the contestants.
    ///
    /// # Errors
    /// As [`StudyRequest::frame`] and [`Setup::build`].
    pub fn new(
        asked: &'a StudyRequest,
        environment: &'a Environment,
        progress: &mut dyn FnMut(Step<'_>),
    ) -> Result<Setup<'a>> {
        let (scope, workloads) = asked.frame()?;
        let centre = asked.centre.or(asked.study.centre);
        let budget = asked.budget(workloads.len());
        let request = Request {
            error: asked.error,
            resolution: asked.resolution,
            centre: centre.unwrap_or_else(|| Centre::unless_said(Adjust::NONE)),
            program: ProgramPlan {
                cpus: asked.cpu().into_iter().collect(),
                wait_for_quiet: asked.wait_for_quiet,
                primer: Primer::Always,
                ..ProgramPlan::default()
            },
            ..Request::new(Vec::new(), asked.seed.clone())
        };
        let (ready, not_run, oracle) = (Vec::new(), Vec::new(), None);
        let mut setup =
            Setup { asked, environment, ready, not_run, oracle, workloads, scope, budget, request };
        setup.build(progress)?;
        Ok(setup)
    }

    /// Builds the requested contestants and the oracle, and inspects each library.
    ///
    /// A contestant takes no part if its compiler is missing, or if it needs what this CPU does not
    /// have.
    ///
    /// # Errors
    /// Fails if a build fails although its compiler exists, a library is not a contestant's (all of
    /// these at once), or fewer than two contestants are left; also with [`LabError::Interrupted`].
    /// If all that is wrong is that this machine lacks something, with [`LabError::NotMeasured`].
    fn build(&mut self, progress: &mut dyn FnMut(Step<'_>)) -> Result<()> {
        let Setup { asked, environment, .. } = *self;
        let builder = Builder::new(&environment.cache);
        let mut problems = Vec::new();
        // Whether nothing is wrong but that this machine lacks something.
        let mut is_lacking = false;
        let entrants = asked.entrants()?;
        let cpus = u32::try_from(cpus::allowed().len()).unwrap_or(u32::MAX).max(1);
        for entrant in &entrants {
            let made = team(entrant, &entrants, cpus).map_err(Problem::NotRun).and_then(|team| {
                progress(Step::Building(&entrant.name));
                self.make(&builder, entrant, team)
            });
            match made {
                Ok(ready) => self.ready.push(ready),
                Err(Problem::NotRun(why)) => {
                    let not_run = NotRun { name: entrant.name.clone(), why };
                    progress(Step::NotRun(&not_run));
                    self.not_run.push(not_run);
                }
                Err(Problem::Wrong(why)) => problems.push(format!("{}: {why}", entrant.name)),
                Err(Problem::Interrupted) => return Err(LabError::Interrupted),
            }
        }
        let lacks_some = !self.not_run.is_empty();
        self.fold(progress);
        match builder.build_oracle(&asked.study, environment.stop) {
            Ok(oracle) => self.oracle = oracle,
            Err(BuildError::Interrupted) => return Err(LabError::Interrupted),
            Err(error) => {
                is_lacking = problems.is_empty() && matches!(error, BuildError::Missing { .. });
                problems.push(format!("the oracle: {error}"));
            }
        }
        if problems.is_empty() && self.ready.len() < 2 {
            let few = "fewer than two of its contestants can run here, so nothing can be compared";
            is_lacking = lacks_some;
            problems.push(few.to_owned());
            problems.extend(self.not_run.iter().map(|one| format!("{}: {}", one.name, one.why)));
        }
        let why = problems.join("\n");
        match problems.is_empty() {
            true => Ok(()),
            false if is_lacking => Err(asked.cannot_here(&why)),
            false => Err(asked.cannot(&why)),
        }
    }

    /// Leaves out contestants of a table with lists whose machine code is that of one before them:
    /// another level of optimisation, for example, may change nothing. The reference stays, and so
    /// do those that a claim names, or that were asked for by their whole name.
    fn fold(&mut self, progress: &mut dyn FnMut(Step<'_>)) {
        let asked = self.asked;
        let texts = asked.claims.iter().chain(asked.study.claims.iter().map(|claim| &claim.text));
        let named: Vec<&str> = texts.flat_map(|text| text.split_whitespace()).collect();
        let mut kept: Vec<Ready> = Vec::with_capacity(self.ready.len());
        for ready in std::mem::take(&mut self.ready) {
            let name = ready.entrant.name.as_str();
            let is_asked = asked.contestants.iter().any(|one| one == name);
            let is_kept = is_asked || name == asked.study.reference || named.contains(&name);
            let is_raced_too = |one: &Ready| {
                let mut workloads = asked.study.workloads.iter();
                workloads.all(|on| !on.races(name) || on.races(&one.entrant.name))
            };
            let twin = kept.iter().find(|one| {
                let is_same = one.print.is_some() && one.print == ready.print;
                is_same && is_variant(one, &ready) && is_raced_too(one)
            });
            let Some(twin) = twin.filter(|_| !is_kept) else {
                kept.push(ready);
                continue;
            };
            let why = format!("the same code as {}", twin.entrant.name);
            let not_run = NotRun { name: name.to_owned(), why };
            progress(Step::NotRun(&not_run));
            self.not_run.push(not_run);
        }
        self.ready = kept;
    }

    fn make(&self, builder: &Builder, entrant: &Entrant, team: Option<Team>) -> Made {
        let Environment { program, stop, .. } = self.environment;
        let (mut built, library) = builder.build(&self.asked.study, entrant, stop)?;
        built.team = team;
        // Of a contestant in a process of its own the runner resets it; a library is looked at all
        // the same, for what it needs of the CPU.
        let (resets, print) = match library {
            Some(library) => (workers::probe(&library, program)?.has_reset, print_of(&library)),
            None => (false, None),
        };
        let has_reset = resets && !matches!(built.form, BuiltForm::Runner { .. });
        Ok(Ready { entrant: entrant.clone(), built, has_reset, print })
    }

    /// Returns the name of a contestant that was built.
    pub fn name(&self, contestant: usize) -> &str {
        &self.ready[contestant].entrant.name
    }

    /// Returns those that take part, by index: those that were built and are not void.
    pub fn without<T>(&self, void: &[(usize, T)]) -> impl Iterator<Item = usize> {
        (0..self.ready.len()).filter(|index| !void.iter().any(|(one, _)| one == index))
    }

    /// Returns the first of these contestants with an exact contract.
    pub fn first_exact(&self, contestants: &[usize]) -> Option<usize> {
        contestants.iter().copied().find(|one| self.ready[*one].built.is_exact)
    }

    /// Returns a workload's part of the budget; if only rounds are limited, the default.
    pub fn seconds(&self) -> f64 {
        let all = self.budget.seconds;
        all.map_or(SECONDS_A_CLAIM, |seconds| seconds / self.workloads.len().max(1) as f64)
    }

    /// Returns the plan of the functions before the pilot: one call in each batch.
    pub fn first_plan(&self, workload: &Workload) -> FunctionPlan {
        let study = &self.asked.study;
        let reference = self.ready.iter().position(|one| one.entrant.name == study.reference);
        FunctionPlan {
            folder: study.folder.clone(),
            study: study.name.clone(),
            title: study.title.clone(),
            source: study.source.clone(),
            item: study.item.clone(),
            call: study.call,
            workload: workload.clone(),
            // Known after all workloads were tried.
            workloads: Vec::new(),
            contracts: study.contracts.clone(),
            items: 0,
            input_bytes: 0,
            oracle: self.oracle.as_ref().map(|path| path.display().to_string()),
            built: self.ready.iter().map(|one| one.built.clone()).collect(),
            not_run: self.not_run.clone(),
            reference: reference.unwrap_or(0),
            published: published(&study.published, workload),
            published_claims: questions::published(study, workload),
            rounds_a_unit: if self.scope == Scope::Layout { 1 } else { 2 },
            calls_a_batch: BatchCalls::Alike(1),
            times_each_call: self.ready.iter().any(|one| one.has_reset),
            reads_in_run: study.reads_in_run,
            reads_whole: study.reads_whole,
            starts_processes: study.starts_processes,
            cpu: self.request.program.cpus.first().copied(),
            placements: self.asked.placements,
            pilot: Pilot::default(),
            untimed: Vec::new(),
        }
    }

    /// Returns claims with the contestants that they name, each at this error, after this wait.
    pub fn planned(
        &self,
        claims: &[Claim],
        error: f64,
        waits_ns: u64,
    ) -> Result<Vec<PlannedClaim>> {
        let names: Vec<&str> = self.ready.iter().map(|one| one.entrant.name.as_str()).collect();
        let planned = claims.iter().cloned().map(|claim| {
            let planned = planning::planned(claim, &names, &self.request, error)?;
            Ok(PlannedClaim { waits_ns, ..planned })
        });
        planned.collect()
    }

    /// Returns the plan of a run on a workload. The caller splits claims and error over all of
    /// them.
    pub fn plan(&self, functions: FunctionPlan, claims: Vec<PlannedClaim>) -> Plan {
        let workload = functions.workload.name.clone();
        let contestants = self.ready.iter().map(|ready| {
            let recipe = &ready.entrant.recipe;
            let words =
                std::iter::once(&recipe.compiler).chain(&recipe.flags).chain(&recipe.sources);
            Contestant {
                name: ready.entrant.name.clone(),
                command: words.chain(&recipe.libraries).cloned().collect::<Vec<_>>().join(" "),
                workload: workload.clone(),
                parameters: Vec::new(),
                hooks: Hooks::default(),
                directory: None,
            }
        });
        // If nothing is left to compare, the run only reports which contestants are void.
        let error = if claims.is_empty() {
            self.asked.error
        } else {
            claims.iter().map(|planned| planned.error).sum()
        };
        Plan {
            error,
            scope: self.scope,
            // Each workload has its own coins.
            seed: format!("{} {workload}", self.asked.seed),
            functions: Some(Box::new(functions)),
            ..planning::assembled(&self.request, contestants.collect(), claims, self.budget)
        }
    }

    /// Returns the sampler for the functions of such a plan.
    ///
    /// # Errors
    /// As [`Functions::new`].
    pub fn sampler(&self, functions: FunctionPlan, claims: &[PlannedClaim]) -> Result<Functions> {
        Functions::new(&self.plan(functions, claims.to_vec()), self.environment)
    }
}

/// Returns the tables with figures for this workload, or with a text.
fn published(tables: &[Published], workload: &Workload) -> Vec<Published> {
    let mut tables = tables.to_vec();
    for table in &mut tables {
        table.figures.retain(|figure| figure.workload == workload.name);
    }
    tables.retain(|table| !table.figures.is_empty() || !table.text.is_empty());
    tables
}

/// Returns how long the cells of the table wait in each run under a budget: together
/// [`CLAIMS_SHARE`] of its seconds, divided by what the claims of each run are expected to need, so
/// that those of a dear workload get their time; but half of an equal part at least, as estimates
/// err. A budget in rounds applies to each pair, so none waits.
pub fn waits_ns(budget: Budget, needs_ns: &[f64]) -> Vec<u64> {
    let seconds = budget.seconds.filter(|_| budget.rounds.is_none()).unwrap_or(0.0);
    let all_ns = CLAIMS_SHARE * seconds * 1e9;
    let needed_ns: f64 = needs_ns.iter().sum();
    let equal_ns = all_ns / needs_ns.len().max(1) as f64;
    let waits = needs_ns.iter().map(|need_ns| {
        let by_need_ns = if needed_ns > 0.0 { all_ns * need_ns / needed_ns } else { equal_ns };
        by_need_ns.max(equal_ns / 2.0).ceil() as u64
    });
    waits.collect()
}

/// A contestant that was built.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The contestant as in the study.
    pub entrant: Entrant,
    /// Its build.
    pub built: Built,
    /// Whether something must be reset before each of its calls.
    pub has_reset: bool,
    /// A hash of its machine code, if it is a library.
    print: Option<String>,
}

/// Returns whether two contestants come from one table of the study, and run on as many threads.
fn is_variant(one: &Ready, other: &Ready) -> bool {
    one.entrant.stem == other.entrant.stem && one.built.team == other.built.team
}

/// A contestant that was to be built.
type Made = Result<Ready, Problem>;

/// Why a contestant is not ready.
enum Problem {
    NotRun(String),
    Wrong(String),
    Interrupted,
}

impl From<BuildError> for Problem {
    fn from(error: BuildError) -> Problem {
        match error {
            BuildError::Interrupted => Problem::Interrupted,
            BuildError::Missing { .. } => Problem::NotRun(error.to_string()),
            _ => Problem::Wrong(error.to_string()),
        }
    }
}

impl From<LoadError> for Problem {
    fn from(error: LoadError) -> Problem {
        match error {
            LoadError::Needs { .. } => Problem::NotRun(error.to_string()),
            _ => Problem::Wrong(error.to_string()),
        }
    }
}

/// Returns the team of a contestant if this many CPUs may be used: one for each thread, so that
/// none waits for another. `among` are all requested contestants. If `all` is a number that the
/// same contestant also has, only one of the two runs.
///
/// # Errors
/// Returns why it takes no part.
fn team(entrant: &Entrant, among: &[Entrant], cpus: u32) -> Result<Option<Team>, String> {
    let Some(Threads { family, count }) = &entrant.threads else { return Ok(None) };
    let threads = match *count {
        ThreadCount::All => cpus,
        ThreadCount::Number(number) => number,
    };
    if threads > cpus {
        return Err(format!("needs {threads} CPUs, and {cpus} may be used here"));
    }
    // Of the two, the one that runs.
    let kept = if cpus == 1 { ThreadCount::Number(1) } else { ThreadCount::All };
    let twin = Some(Threads { family: family.clone(), count: kept });
    let twin = among.iter().find(|other| other.threads == twin);
    if let Some(Entrant { name, .. }) = twin.filter(|_| threads == cpus && *count != kept) {
        let suffix = name.strip_prefix(family).unwrap_or(name);
        let cpus = if cpus == 1 { "1 CPU".to_owned() } else { format!("{cpus} CPUs") };
        return Err(format!("the same as {suffix}, as {cpus} may be used here"));
    }
    Ok(Some(Team { family: family.clone(), threads }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_core::language::Language;
    use tiebreak_core::study::{Recipe, Threads};

    #[test]
    fn cells_wait_for_a_share_of_the_seconds() {
        fn check(rounds: Option<u64>, seconds: Option<f64>, needs: &[f64], expected: &[u64]) {
            assert_eq!(waits_ns(Budget { rounds, seconds }, needs), expected);
        }
        check(None, Some(4.0), &[5.0], &[3_000_000_000]);
        check(None, Some(4.0), &[1.0; 3], &[1_000_000_000; 3]);
        check(None, Some(4.0), &[0.0; 3], &[1_000_000_000; 3]);
        // A dear workload gets what its claims need, and every one half of an equal part.
        check(None, Some(4.0), &[8e9, 0.0, 0.0], &[3_000_000_000, 500_000_000, 500_000_000]);
        check(None, Some(1e-9), &[1.0], &[1]);
        check(Some(30), None, &[1.0, 1.0], &[0, 0]);
        check(Some(30), Some(4.0), &[1.0, 1.0], &[0, 0]);
        check(None, None, &[], &[]);
    }

    fn entrant(name: &str, count: ThreadCount) -> Entrant {
        Entrant {
            name: name.to_owned(),
            stem: name.to_owned(),
            recipe: Recipe {
                language: Language::named("c").unwrap(),
                sources: Vec::new(),
                compiler: String::new(),
                flags: Vec::new(),
                libraries: Vec::new(),
                version: Vec::new(),
                package: String::new(),
                environment: Vec::new(),
                is_linked: false,
                is_process: false,
            },
            contract: String::new(),
            about: String::new(),
            threads: Some(Threads { family: "a".to_owned(), count }),
        }
    }

    #[test]
    fn one_thread_has_one_cpu() {
        let number = ThreadCount::Number;
        let counts = [number(1), number(2), number(4), ThreadCount::All];
        let names = ["a-x1", "a-x2", "a-x4", "a-xall"];
        let among: Vec<_> = names.iter().zip(counts).map(|(name, on)| entrant(name, on)).collect();
        fn check(among: &[Entrant], cpus: u32, expected: &[Result<u32, &str>]) {
            for (entrant, expected) in among.iter().zip(expected) {
                let team = team(entrant, among, cpus).map(|team| team.unwrap().threads);
                let expected = expected.map_err(str::to_owned);
                assert_eq!(team, expected, "{} of {cpus}", entrant.name);
            }
        }
        let few = [
            Ok(1),
            Err("needs 2 CPUs, and 1 may be used here"),
            Err("needs 4 CPUs, and 1 may be used here"),
            Err("the same as -x1, as 1 CPU may be used here"),
        ];
        check(&among, 1, &few);
        let two = [
            Ok(1),
            Err("the same as -xall, as 2 CPUs may be used here"),
            Err("needs 4 CPUs, and 2 may be used here"),
            Ok(2),
        ];
        check(&among, 2, &two);
        check(&among, 3, &[Ok(1), Ok(2), Err("needs 4 CPUs, and 3 may be used here"), Ok(3)]);
        check(&among, 64, &[Ok(1), Ok(2), Ok(4), Ok(64)]);
        check(&among[..2], 2, &[Ok(1), Ok(2)]);
        check(&among[3..], 1, &[Ok(1)]);
        let alone = Entrant { threads: None, ..among[0].clone() };
        assert_eq!(team(&alone, &among, 1), Ok(None));
    }
}
