//! `tiebreak check`: a file of claims, read, planned, and raced under one error.

use crate::check::{self, Contest, Rules};
use crate::error::{LabError, data, usage};
use crate::file_plan::{self, Shared};
use crate::planning::{SECONDS_A_CLAIM, seed_or_random};
use crate::request::ERROR;
use crate::resume::NewBudget;
use crate::revisions::{self, Revisions};
use crate::session::{Earlier, Origin, Session};
use crate::studies::Book;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use tiebreak_core::plan::{Budget, Plan};
use tiebreak_core::result::{CheckResult, ContestResult, Family};
use tiebreak_input::{self as input, ClaimsFile, Entrants};
use tiebreak_machine::clock;
use tiebreak_measure::{self as measure, Programs};
use tiebreak_report::contents::planned;
use tiebreak_store::Store;

/// A file of claims, and what replaces its words.
#[derive(Clone, Debug, Default)]
pub struct FileRequest {
    /// The file.
    pub path: PathBuf,
    /// The contests to race; empty for all. The error of their claims stays what the whole file
    /// gives them.
    pub only: Vec<String>,
    /// The revision that is compared with, in contests of two revisions.
    pub base: Option<String>,
    /// The revision that is compared, in contests of two revisions.
    pub head: Option<String>,
    /// The budget of all contests together. By default what the file says, or 60 s a claim.
    pub budget: Option<Budget>,
    /// The seed. By default what the file says, or a random one.
    pub seed: Option<String>,
}

/// The contests of a file, each with its plan. Their programs and revisions exist.
pub struct Planned {
    path: PathBuf,
    shared: Shared,
    contests: Vec<(input::Contest, Plan)>,
}

/// A step before the race.
pub enum Step<'a> {
    /// A revision is checked out or built.
    Revision(revisions::Step<'a>),
    /// The file changed since the earlier race of this contest, which begins anew.
    Changed {
        /// The contest.
        contest: &'a str,
    },
}

/// The contests to race.
pub struct LineUp {
    contests: Vec<Contest<Programs>>,
    /// The results that earlier races have settled.
    done: Vec<ContestResult>,
    rules: Rules,
    /// The worktrees of revisions: removed after the contests.
    _worktrees: Vec<Revisions>,
}

/// Reads a file and plans its contests.
///
/// # Errors
/// Fails with all errors of the file, or else with all missing programs, inputs, folders, CPUs and
/// revisions.
pub fn plan(asked: &FileRequest) -> Result<Planned, LabError> {
    let file = read(&asked.path)?;
    let contests = chosen(asked, &file)?;
    let shared = shared(asked, &file)?;
    let mut planned = Vec::with_capacity(contests.len());
    for contest in contests {
        let plan = file_plan::plan(&contest, &shared)?;
        planned.push((contest, plan));
    }
    let planned = Planned { path: asked.path.clone(), shared, contests: planned };
    planned.check_there()?;
    Ok(planned)
}

fn read(path: &Path) -> Result<ClaimsFile, LabError> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| {
        let hint = "'tiebreak check --example > claims.toml' makes one to begin with";
        LabError::Data(format!("cannot read {name}: {error}; {hint}"))
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        LabError::Data(format!("{name} is not UTF-8: byte {at} is not part of a character"))
    })?;
    input::parse_file(&name, &text).map_err(|errors| LabError::File(Box::new(errors)))
}

/// Returns the contests to race, with the revisions of the request.
fn chosen(asked: &FileRequest, file: &ClaimsFile) -> Result<Vec<input::Contest>, LabError> {
    let FileRequest { path, only, base, head, .. } = asked;
    let known: Vec<&str> = file.contests.iter().map(|contest| contest.name.as_str()).collect();
    if let Some(unknown) = only.iter().find(|only| !known.contains(&only.as_str())) {
        let (name, known) = (path.display(), known.join(", "));
        return usage(format!("{name} has no contest '{unknown}'; it has {known}"));
    }
    let mut contests = file.contests.clone();
    contests.retain(|contest| only.is_empty() || only.contains(&contest.name));
    let mut any = false;
    for contest in &mut contests {
        if let Entrants::Revisions(revisions) = &mut contest.entrants {
            any = true;
            base.iter().for_each(|base| revisions.base.clone_from(base));
            head.iter().for_each(|head| revisions.head.clone_from(head));
        }
    }
    if !any && (base.is_some() || head.is_some()) {
        return usage(
            "--base and --head are for contests of two revisions, and the file has none: see \
             'tiebreak check --example'"
                .to_owned(),
        );
    }
    Ok(contests)
}

fn shared(asked: &FileRequest, file: &ClaimsFile) -> Result<Shared, LabError> {
    let seconds = Some(SECONDS_A_CLAIM * file.claims() as f64);
    Ok(Shared {
        family: file.family.unwrap_or(Family::EBonferroni),
        error: file.error.unwrap_or(ERROR),
        claims: file.claims(),
        budget: asked.budget.or(file.budget).unwrap_or(Budget { rounds: None, seconds }),
        seed: seed_or_random(asked.seed.as_deref().or(file.seed.as_deref()))?,
        clock_step_ns: clock::step_ns() as f64,
    })
}

impl Planned {
    /// Returns the seed of the file, of which each contest draws its own.
    pub fn seed(&self) -> &str {
        &self.shared.seed
    }

    /// Describes the plans in words.
    pub fn describe(&self) -> String {
        let contests = self.contests.iter();
        contests
            .map(|(contest, plan)| format!("contest {}\n{}", contest.name, planned(plan)))
            .collect()
    }

    /// Returns the folder of the file, to which its revisions are relative.
    fn folder(&self) -> &Path {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        folder.unwrap_or(Path::new("."))
    }

    /// Reports everything that is missing in the whole file at once.
    fn check_there(&self) -> Result<(), LabError> {
        let file = self.path.display();
        let mut problems = Vec::new();
        for (contest, plan) in &self.contests {
            let found: Vec<String> = match file_plan::asked(contest, self.folder()) {
                Some(asked) => {
                    let found = revisions::find(&asked).err();
                    found.iter().map(ToString::to_string).collect()
                }
                None => measure::problems(plan).iter().map(ToString::to_string).collect(),
            };
            let place = format!("{file}:{}: in the contest '{}'", contest.line, contest.name);
            problems.extend(found.into_iter().map(|problem| format!("{place}: {problem}")));
        }
        match problems.len() {
            0 => Ok(()),
            1 => data(problems.remove(0)),
            count => {
                let list = problems.join("\nerror: ");
                data(format!("{list}\n\n{count} problems in {file}"))
            }
        }
    }

    /// Checks out and builds what contests of revisions need, and begins the run of each contest;
    /// if `resumes`, goes on with earlier runs of the same contests. Calls `progress` before each
    /// step.
    ///
    /// # Errors
    /// Fails if a revision cannot be built, or a journal cannot be written; also with
    /// [`LabError::Interrupted`].
    pub fn line_up(
        mut self,
        book: &Book,
        resumes: bool,
        stop: &'static AtomicBool,
        mut progress: impl FnMut(Step<'_>),
    ) -> Result<LineUp, LabError> {
        let worktrees = self.prepare(stop, &mut progress)?;
        let Planned { path, shared: Shared { family, error, claims, budget, .. }, contests } = self;
        let rules = Rules { file: path.display().to_string(), family, error, claims, budget };
        let mut line_up =
            LineUp { contests: Vec::new(), done: Vec::new(), rules, _worktrees: worktrees };
        for (contest, plan) in contests {
            line_up.add(contest, plan, book, resumes, stop, &mut progress)?;
        }
        Ok(line_up)
    }

    /// Checks out and builds revisions, and places the contestants in their worktrees.
    fn prepare(
        &mut self,
        stop: &'static AtomicBool,
        progress: &mut impl FnMut(Step<'_>),
    ) -> Result<Vec<Revisions>, LabError> {
        let folder = self.folder().to_owned();
        let mut all = Vec::new();
        for (contest, plan) in &mut self.contests {
            let Some(asked) = file_plan::asked(contest, &folder) else { continue };
            let made = Revisions::prepare(&asked, stop, |step| progress(Step::Revision(step)))?;
            made.place(plan)?;
            all.push(made);
        }
        Ok(all)
    }
}

impl LineUp {
    /// Resumes or begins the run of a contest.
    fn add(
        &mut self,
        contest: input::Contest,
        plan: Plan,
        book: &Book,
        resumes: bool,
        stop: &'static AtomicBool,
        progress: &mut impl FnMut(Step<'_>),
    ) -> Result<(), LabError> {
        let lines = contest.claims.iter().map(|claim| claim.line as u64).collect();
        let name = contest.name;
        let store = Store::open(&book.store)?;
        let sampler = Programs::new(&plan, stop)?;
        let (command, machine) = (book.command.clone(), book.machine.clone());
        let origin = Origin { command, machine, files: sampler.files() };
        let earlier =
            if resumes { Session::earlier(&store, &plan, &origin)? } else { Earlier::None };
        let (session, sampler) = match earlier {
            Earlier::Settled(run) => {
                self.done.push(ContestResult { name, run: *run, lines });
                return Ok(());
            }
            Earlier::Open(run, made) => {
                let sampler = Programs::new(&made, stop)?;
                let budget = NewBudget::Is(plan.budget);
                (Session::take_up(store, run, &origin.machine, budget)?, sampler)
            }
            Earlier::None => (Session::begin(store, plan, origin)?, sampler),
            Earlier::Otherwise => {
                progress(Step::Changed { contest: &name });
                (Session::begin(store, plan, origin)?, sampler)
            }
        };
        self.contests.push(Contest { name, lines, session, sampler });
        Ok(())
    }

    /// Races the contests in turns, so that the claims that are still open get the time. Calls
    /// `watch` with the standing after each turn.
    ///
    /// # Errors
    /// As [`check::race`].
    pub fn race(
        &mut self,
        stop: &AtomicBool,
        watch: impl FnMut(&dyn Fn() -> CheckResult),
    ) -> Result<CheckResult, LabError> {
        check::race(&mut self.contests, &self.done, &self.rules, stop, watch)
    }
}
