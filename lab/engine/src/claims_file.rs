//! `tiebreak check`: a file of claims, read, planned, and raced under one error.

use crate::check::{self, Contest, Rules};
use crate::commands::Commands;
use crate::error::{LabError, data, require, usage};
use crate::planning::{self, SECONDS_A_CLAIM, seed_or_random};
use crate::request::{ERROR, Request};
use crate::resume::NewBudget;
use crate::revisions::{self, NAMES, RevisionRequest, Revisions};
use crate::servers::{self, ReadLoad};
use crate::session::{Book, Earlier, Session};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use tiebreak_core::plan::{Adjust, Budget, Centre, Contestant, Plan, PlannedClaim};
use tiebreak_core::result::{ContestResult, Family};
use tiebreak_core::server::ServerPlan;
use tiebreak_input::{self as input, ClaimsFile, Entrants, FileClaim};
use tiebreak_measure as measure;
use tiebreak_report::contents::planned;

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
    /// The budget of all contests together. By default what the file says, or 60 s a claim. If only
    /// the claims of one contest are open, it may use all of it.
    pub budget: Option<Budget>,
    /// The seed. By default what the file says, or a random one.
    pub seed: Option<String>,
    /// What reads the loads of servers; without it there can be none.
    pub read_load: Option<ReadLoad>,
}

/// The contests of a file, each with its plan. Their programs and revisions exist.
pub struct Planned {
    path: PathBuf,
    rules: Rules,
    /// The seed of the file, of which each contest draws its own.
    pub seed: String,
    contests: Vec<(input::Contest, Plan)>,
}

/// A step before the race.
pub enum Step<'a> {
    /// A revision is checked out or built.
    Revision(revisions::Step<'a>),
    /// The file changed since the earlier race of this contest, which begins anew.
    Changed(&'a str),
}

/// The contests to race.
pub struct LineUp {
    /// The contests.
    pub contests: check::LineUp<Commands>,
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
    // Fixed before the first sample.
    let claims = file.claims();
    let seconds = Some(SECONDS_A_CLAIM * claims as f64);
    let rules = Rules {
        file: asked.path.display().to_string(),
        family: file.family.unwrap_or(Family::EBonferroni),
        error: file.error.unwrap_or(ERROR),
        claims,
        budget: asked.budget.or(file.budget).unwrap_or(Budget { rounds: None, seconds }),
    };
    let seed = seed_or_random(asked.seed.as_deref().or(file.seed.as_deref()))?;
    let all = Request::new(Vec::new(), seed.clone());
    let mut planned = Vec::with_capacity(contests.len());
    for contest in contests {
        let place = place(&rules.file, &contest);
        let said = |error: String| LabError::Data(format!("{place}: {error}"));
        let servers = load_of(&contest.options, asked.read_load).map_err(&said)?;
        let has_servers = servers.is_some();
        let plan = plan_one(&contest, &rules, all.clone(), servers);
        // What is wrong with a load or its servers has no other place.
        let plan = plan.map_err(|error| match error {
            LabError::Usage(text) if has_servers || text.contains("--load") => said(text),
            error => error,
        })?;
        planned.push((contest, plan));
    }
    let planned = Planned { path: asked.path.clone(), rules, seed, contests: planned };
    planned.check_there()?;
    Ok(planned)
}

fn read(path: &Path) -> Result<ClaimsFile, LabError> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| {
        let hint = "'tiebreak check --example > claims.toml' makes one to begin with";
        LabError::unreadable(path, format!("{error}; {hint}"))
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
        let (name, known) = (path.display(), known.join("', '"));
        return usage(format!("{name} has no contest '{unknown}'; it has '{known}'"));
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
    require(
        any || base.is_none() && head.is_none(),
        "--base and --head are for contests of two revisions, and the file has none: see \
         'tiebreak check --example'",
    )?;
    Ok(contests)
}

/// Names a contest and its line, before an error.
fn place(file: &str, contest: &input::Contest) -> String {
    format!("{file}:{}: in the contest '{}'", contest.line, contest.name)
}

/// Reads how the contestants of a contest are loaded, if they are servers.
fn load_of(
    options: &input::Options,
    read_load: Option<ReadLoad>,
) -> Result<Option<ServerPlan>, String> {
    let Some(load) = &options.load else { return Ok(None) };
    let read = read_load.ok_or("servers cannot be loaded here: leave 'load' out")?;
    let mut plan = read(load).map_err(|error| format!("load: {error}"))?;
    options.ready_within_ns.iter().for_each(|ns| plan.ready_within_ns = *ns);
    Ok(Some(plan))
}

/// Makes the plan of a contest; `all` has the seed of the file. [`Revisions::place`] fills in the
/// folders of revisions.
///
/// # Errors
/// Fails for a mean without a cap, and for servers that make no sense.
pub(crate) fn plan_one(
    contest: &input::Contest,
    rules: &Rules,
    all: Request,
    servers: Option<ServerPlan>,
) -> Result<Plan, LabError> {
    let options = &contest.options;
    let adjust = options.adjust.unwrap_or(Adjust::NONE);
    let (contestants, resolution) = match &contest.entrants {
        Entrants::Programs(programs) => (programs.clone(), all.resolution),
        Entrants::Revisions(revisions) => {
            let contestants = NAMES.map(|name| Contestant {
                name: name.to_owned(),
                command: revisions.command.clone(),
                workload: options.workload.clone(),
                parameters: Vec::new(),
                hooks: revisions.hooks.clone(),
                directory: None,
            });
            (contestants.to_vec(), revisions::RESOLUTION)
        }
    };
    let error = rules.error_of_a_claim();
    let request = Request {
        error: error * contest.claims.len() as f64,
        resolution: options.resolution.unwrap_or(resolution),
        centre: options.centre.unwrap_or_else(|| Centre::unless_said(adjust)),
        adjust,
        // Each contest has its own coins.
        seed: format!("{} {}", all.seed, contest.name),
        program: options.program.clone(),
        servers: servers.map(Box::new),
        block_runs: options.block_runs.unwrap_or(1),
        ..all
    };
    planning::check_adjust(request.centre, adjust)?;
    let names: Vec<&str> = contestants.iter().map(|one| one.name.as_str()).collect();
    let mut claims = Vec::with_capacity(contest.claims.len());
    for FileClaim { claim, gate, .. } in &contest.claims {
        let planned = planning::planned(claim.clone(), &names, &request, error)?;
        claims.push(PlannedClaim { gate: *gate, ..planned });
    }
    servers::check(&request, &contestants, &claims)?;
    let plan = planning::assembled(&request, contestants, claims, rules.budget);
    Ok(Plan { adjust, ..plan })
}

impl Planned {
    /// Describes the plans in words.
    pub fn describe(&self) -> String {
        let contests = self.contests.iter();
        contests
            .map(|(contest, plan)| format!("contest {}\n{}", contest.name, planned(plan)))
            .collect()
    }

    /// Returns the revisions of a contest, relative to the folder of the file.
    fn revisions(&self, contest: &input::Contest) -> Option<RevisionRequest> {
        let Entrants::Revisions(revisions) = &contest.entrants else { return None };
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        Some(RevisionRequest {
            base: revisions.base.clone(),
            head: revisions.head.clone(),
            build: revisions.build.clone(),
            directory: folder.unwrap_or(Path::new(".")).to_owned(),
            builds_at_once: revisions.builds_at_once,
            keeps: false,
        })
    }

    /// Reports everything that is missing in the whole file at once.
    fn check_there(&self) -> Result<(), LabError> {
        let file = &self.rules.file;
        let mut problems = Vec::new();
        for (contest, plan) in &self.contests {
            let found: Vec<String> = match self.revisions(contest) {
                Some(asked) => {
                    revisions::find(&asked).err().iter().map(|e| e.to_string()).collect()
                }
                None => measure::problems(plan).iter().map(|e| e.to_string()).collect(),
            };
            let place = place(file, contest);
            problems.extend(found.into_iter().map(|problem| format!("{place}: {problem}")));
        }
        match &problems[..] {
            [] => Ok(()),
            [problem] => data(problem),
            _ => data(format!(
                "{}\n\n{} problems in {file}",
                problems.join("\nerror: "),
                problems.len()
            )),
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
        self,
        book: &Book,
        resumes: bool,
        stop: &'static AtomicBool,
        mut progress: impl FnMut(Step<'_>),
    ) -> Result<LineUp, LabError> {
        let mut worktrees = Vec::new();
        let mut plans = Vec::with_capacity(self.contests.len());
        for (contest, plan) in &self.contests {
            let mut plan = plan.clone();
            if let Some(asked) = self.revisions(contest) {
                let made = Revisions::prepare(&asked, stop, |step| progress(Step::Revision(step)))?;
                made.place(&mut plan)?;
                worktrees.push(made);
            }
            plans.push(plan);
        }
        let mut contests =
            check::LineUp { contests: Vec::new(), done: Vec::new(), rules: self.rules };
        for ((contest, _), plan) in self.contests.iter().zip(plans) {
            let mut sampler = Commands::new(&plan, stop)?;
            let files = sampler.files();
            let earlier =
                if resumes { Session::earlier(book, &plan, &files)? } else { Earlier::None };
            let lines = contest.claims.iter().map(|claim| claim.line as u64).collect();
            let name = contest.name.clone();
            let session = match earlier {
                Earlier::Settled(run) => {
                    contests.done.push(ContestResult { name, run: *run, lines });
                    continue;
                }
                Earlier::Open(run, made) => {
                    sampler = Commands::new(&made, stop)?;
                    Session::take_up(book, run, NewBudget::Is(plan.budget))?
                }
                Earlier::Otherwise => {
                    progress(Step::Changed(&name));
                    Session::begin(book, plan, &files)?
                }
                Earlier::None => Session::begin(book, plan, &files)?,
            };
            contests.contests.push(Contest { name, lines, session, sampler });
        }
        Ok(LineUp { contests, _worktrees: worktrees })
    }
}
