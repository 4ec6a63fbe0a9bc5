//! `tiebreak check`: settles every claim of a file, under one error.

use crate::failure::Failure;
use crate::io::Io;
use crate::output::JsonTarget;
use crate::output_file::OutputFile;
use crate::screen::Screen;
use crate::{dry_run, exit, github, quantities, revisions, source};
use clap::{Args, ValueHint};
use std::path::{Path, PathBuf};
use tiebreak_lab::check::{self, Contest, Rules};
use tiebreak_lab::core::plan::{Budget, Plan};
use tiebreak_lab::core::result::{CheckResult, ContestResult, Family};
use tiebreak_lab::file_plan::{self, Shared};
use tiebreak_lab::input::{self, ClaimsFile};
use tiebreak_lab::machine::{clock, fingerprint};
use tiebreak_lab::measure::{self, Programs, interrupt};
use tiebreak_lab::planning::SECONDS_A_CLAIM;
use tiebreak_lab::report;
use tiebreak_lab::report::ci::{junit, markdown};
use tiebreak_lab::resume::NewBudget;
use tiebreak_lab::revisions::Revisions;
use tiebreak_lab::session::{Earlier, Origin, Session};
use tiebreak_lab::store::Store;

/// The default file.
const FILE: &str = "claims.toml";
/// The default error of a file.
const ERROR: f64 = 0.01;
/// The schema that editors use to check files of claims.
const SCHEMA: &str = include_str!("../../../docs/schema/claims-1.schema.json");

pub const EXAMPLES: &str = "\
Examples:
  tiebreak check --example
  tiebreak check --example > claims.toml && tiebreak check --budget 20s
  tiebreak check --json result.json --junit junit.xml --markdown summary.md --budget 9s

The contests of the file are raced in turns, so that the claims that are still open get the time.
On GitHub the table goes into the summary of the step, and what fails is noted at its line.";

#[derive(Debug, Args)]
pub struct CheckOptions {
    /// The file of claims
    #[arg(value_name = "FILE", default_value = FILE, value_hint = ValueHint::FilePath)]
    pub file: PathBuf,

    /// Print a file with every field, each explained, that runs as it is
    #[arg(long)]
    pub example: bool,

    /// Print the schema of such files, for editors
    #[arg(long, conflicts_with = "example")]
    pub schema: bool,

    /// Go on with what is there: contests that were settled keep their verdicts, and those that
    /// were interrupted or ran out of budget go on, if the file still says the same of them
    #[arg(long)]
    pub resume: bool,

    /// Race this contest only; the error of its claims stays what the whole file gives them
    #[arg(long, value_name = "CONTEST")]
    pub only: Vec<String>,

    /// Of contests of two revisions, the revision that is compared with, whatever the file says
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,

    /// Of contests of two revisions, the revision that is compared, whatever the file says
    #[arg(long, value_name = "REV")]
    pub head: Option<String>,

    /// The most that all races together may use [default: what the file says, or 60s a claim]
    #[arg(long, value_name = "BUDGET", value_parser = quantities::budget)]
    pub budget: Option<Budget>,

    /// Seed of every coin: any text [default: what the file says, or from the system]
    #[arg(long, value_name = "TEXT")]
    pub seed: Option<String>,

    /// Write the results as JSON; - for standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,

    /// Write the results as JUnit XML, which CI systems read
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub junit: Option<PathBuf>,

    /// Write the results as Markdown, for a comment or a summary
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub markdown: Option<PathBuf>,

    /// The journal [default: the user's data folder]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub store: Option<PathBuf>,

    /// No progress, and of the report the verdicts only
    #[arg(long, short = 'q')]
    pub quiet: bool,

    /// Say what would be raced, and run nothing
    #[arg(long)]
    pub dry_run: bool,
}

pub fn run(options: CheckOptions, mut typed: Vec<String>, io: &mut Io) -> Result<u8, Failure> {
    if options.example || options.schema {
        io.out(if options.example { input::EXAMPLE } else { SCHEMA });
        return Ok(exit::HOLDS);
    }
    let (file, mut chosen) = read(&options, io)?;
    let shared = shared(&options, &file)?;
    if options.seed.is_none() {
        // So that a repeated race of the file has the same coins, whatever their source.
        typed.extend(["--seed".to_owned(), shared.seed.clone()]);
    }
    let mut plans = Vec::with_capacity(chosen.len());
    for contest in &chosen {
        plans.push(file_plan::plan(contest, &shared)?);
    }
    let folder = folder_of(&options.file);
    check_there(&options, &chosen, &plans, &folder)?;
    if options.dry_run {
        for (contest, plan) in chosen.iter().zip(&plans) {
            io.out(&format!("contest {}\n{}", contest.name, dry_run::describe(plan)));
        }
        return Ok(exit::HOLDS);
    }
    let targets = Targets::open(&options)?;
    // Worktrees are removed when this goes out of scope.
    let _worktrees = prepare(&mut chosen, &mut plans, &folder, options.quiet, io)?;
    let Line { mut contests, done } = line_up(chosen, plans, &options, &typed, io)?;
    let rules = Rules {
        file: options.file.display().to_string(),
        family: shared.family,
        error: shared.error,
        claims: shared.claims,
        budget: shared.budget,
    };
    let stop = interrupt::flag();
    let mut screen = Screen::new(io, options.quiet);
    let result = check::race(&mut contests, &done, &rules, stop, |standing| {
        screen.show_as(|look, is_frame| report::check::progress(&standing(), look, is_frame));
    });
    screen.clear();
    let result = result?;
    targets.deliver(&result, options.quiet, io)?;
    if result.interrupted {
        let file = options.file.display();
        io.err(&format!(
            "interrupted: everything is kept; 'tiebreak check {file} --resume' goes on \
             (contests of revisions from their beginning, as their worktrees are gone)\n"
        ));
    }
    Ok(exit::of_check(&result))
}

/// Reads the file, and returns it with its contests to race.
fn read(options: &CheckOptions, io: &mut Io) -> Result<(ClaimsFile, Vec<input::Contest>), Failure> {
    let name = options.file.display().to_string();
    let bytes = std::fs::read(&options.file).map_err(|error| {
        let hint = "'tiebreak check --example > claims.toml' makes one to begin with";
        Failure::data(format!("cannot read {name}: {error}; {hint}"))
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::data(format!("{name} is not UTF-8: byte {at} is not part of a character"))
    })?;
    let file = input::parse_file(&name, &text)
        .map_err(|errors| Failure::data(errors.render(io.err_color())))?;
    let known: Vec<&str> = file.contests.iter().map(|contest| contest.name.as_str()).collect();
    if let Some(unknown) = options.only.iter().find(|only| !known.contains(&only.as_str())) {
        let known = known.join(", ");
        return Err(Failure::usage(format!("{name} has no contest '{unknown}'; it has {known}")));
    }
    let is_chosen =
        |contest: &&input::Contest| options.only.is_empty() || options.only.contains(&contest.name);
    let mut chosen: Vec<input::Contest> = file.contests.iter().filter(is_chosen).cloned().collect();
    name_revisions(options, &mut chosen)?;
    Ok((file, chosen))
}

/// Replaces the revisions of the file by those of the command line.
fn name_revisions(options: &CheckOptions, contests: &mut [input::Contest]) -> Result<(), Failure> {
    let mut any = false;
    for contest in contests {
        if let input::Entrants::Revisions(revisions) = &mut contest.entrants {
            any = true;
            revisions.base = options.base.clone().unwrap_or_else(|| revisions.base.clone());
            revisions.head = options.head.clone().unwrap_or_else(|| revisions.head.clone());
        }
    }
    if !any && (options.base.is_some() || options.head.is_some()) {
        return Err(Failure::usage(
            "--base and --head are for contests of two revisions, and the \
             file has none: see 'tiebreak check --example'",
        ));
    }
    Ok(())
}

fn shared(options: &CheckOptions, file: &ClaimsFile) -> Result<Shared, Failure> {
    let seed = options.seed.clone().or_else(|| file.seed.clone());
    let seconds = Some(SECONDS_A_CLAIM * file.claims() as f64);
    Ok(Shared {
        family: file.family.unwrap_or(Family::EBonferroni),
        error: file.error.unwrap_or(ERROR),
        claims: file.claims(),
        budget: options.budget.or(file.budget).unwrap_or(Budget { rounds: None, seconds }),
        seed: match seed {
            Some(seed) => seed,
            None => tiebreak_lab::seed::from_system().map_err(Failure::data)?,
        },
        clock_step_ns: clock::step_ns() as f64,
    })
}

/// Returns the folder of the file, to which its revisions are relative.
fn folder_of(file: &Path) -> PathBuf {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.map_or_else(|| PathBuf::from("."), Path::to_owned)
}

/// Reports missing programs, inputs, folders, CPUs and revisions of the whole file at once.
fn check_there(
    options: &CheckOptions,
    contests: &[input::Contest],
    plans: &[Plan],
    folder: &Path,
) -> Result<(), Failure> {
    let file = options.file.display();
    let mut problems = Vec::new();
    for (contest, plan) in contests.iter().zip(plans) {
        let found: Vec<String> = match file_plan::asked(contest, folder) {
            Some(asked) => {
                let found = tiebreak_lab::revisions::find(&asked);
                found.err().into_iter().map(|error| error.to_string()).collect()
            }
            None => measure::problems(plan).iter().map(ToString::to_string).collect(),
        };
        let place = format!("{file}:{}: in the contest '{}'", contest.line, contest.name);
        problems.extend(found.into_iter().map(|problem| format!("{place}: {problem}")));
    }
    match problems.len() {
        0 => Ok(()),
        1 => Err(Failure::data(problems.remove(0))),
        count => {
            let list = problems.join("\nerror: ");
            Err(Failure::data(format!("{list}\n\n{count} problems in {file}")))
        }
    }
}

/// Checks out and builds what contests of revisions need.
fn prepare(
    contests: &mut [input::Contest],
    plans: &mut [Plan],
    folder: &Path,
    quiet: bool,
    io: &mut Io,
) -> Result<Vec<Revisions>, Failure> {
    let mut all = Vec::new();
    for (contest, plan) in contests.iter().zip(plans) {
        let Some(asked) = file_plan::asked(contest, folder) else { continue };
        let stop = interrupt::flag();
        let made = Revisions::prepare(&asked, stop, |step| revisions::say(&step, quiet, io))?;
        made.place(plan)?;
        all.push(made);
    }
    Ok(all)
}

/// The contests to race, and the results that earlier races have settled.
#[derive(Default)]
struct Line {
    contests: Vec<Contest<Programs>>,
    done: Vec<ContestResult>,
}

/// Resumes or begins the run of each contest; only `--resume` uses earlier runs.
fn line_up(
    chosen: Vec<input::Contest>,
    plans: Vec<Plan>,
    options: &CheckOptions,
    typed: &[String],
    io: &mut Io,
) -> Result<Line, Failure> {
    let stop = interrupt::flag();
    let mut line = Line::default();
    for (contest, plan) in chosen.into_iter().zip(plans) {
        let lines = contest.claims.iter().map(|claim| claim.line as u64).collect();
        let name = contest.name;
        let store = Store::open(&source::store_path(options.store.as_ref())?)?;
        let sampler = Programs::new(&plan, stop)?;
        let command = typed.to_vec();
        let origin = Origin { command, machine: fingerprint::read(), files: sampler.files() };
        let earlier =
            if options.resume { Session::earlier(&store, &plan, &origin)? } else { Earlier::None };
        match earlier {
            Earlier::Settled(run) => line.done.push(ContestResult { name, run: *run, lines }),
            Earlier::Open(run, made) => {
                let sampler = Programs::new(&made, stop)?;
                let budget = NewBudget::Is(plan.budget);
                let session = Session::take_up(store, run, &origin.machine, budget)?;
                line.contests.push(Contest { name, lines, session, sampler });
            }
            Earlier::None | Earlier::Otherwise => {
                if matches!(earlier, Earlier::Otherwise) {
                    io.err(&format!("{name}: the file says otherwise now, so it begins anew\n"));
                }
                let session = Session::begin(store, plan, origin)?;
                line.contests.push(Contest { name, lines, session, sampler });
            }
        }
    }
    Ok(line)
}

/// The targets of the results, in addition to standard output: opened before anything is raced.
struct Targets {
    json: JsonTarget,
    junit: Option<OutputFile>,
    markdown: Option<OutputFile>,
}

impl Targets {
    fn open(options: &CheckOptions) -> Result<Targets, Failure> {
        Ok(Targets {
            json: JsonTarget::open(options.json.as_ref())?,
            junit: OutputFile::open("junit", options.junit.as_ref())?,
            markdown: OutputFile::open("markdown", options.markdown.as_ref())?,
        })
    }

    /// Prints first, and then writes every file that can be written.
    fn deliver(self, result: &CheckResult, quiet: bool, io: &mut Io) -> Result<(), Failure> {
        if !self.json.is_standard() {
            let page = if quiet {
                report::check::verdicts(result)
            } else {
                report::check::page(result, &io.out_look())
            };
            io.out(&page);
        }
        github::tell(result, io);
        let json = self.json.write(|| report::json::text(result), io);
        let junit = self.junit.map(|file| file.write(&junit::text(result)));
        let markdown = self.markdown.map(|file| file.write(&markdown::text(result)));
        json.and(junit.unwrap_or(Ok(()))).and(markdown.unwrap_or(Ok(())))
    }
}
