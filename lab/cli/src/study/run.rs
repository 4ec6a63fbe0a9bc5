//! `tiebreak study run`: races the contestants of a study.

use super::targets::{StudyTargets, TargetOptions};
use super::{Place, clear, environment, find, say};
use crate::failure::Failure;
use crate::io::Io;
use crate::options::CentreName;
use crate::quantities::{self, CpuChoice};
use crate::screen::Screen;
use crate::{exit, source};
use clap::{Args, ValueEnum, ValueHint};
use std::path::PathBuf;
use tiebreak_lab::core::plan::{Budget, Centre, Scope};
use tiebreak_lab::core::study::Placements;
use tiebreak_lab::machine::fingerprint;
use tiebreak_lab::measure::interrupt;
use tiebreak_lab::report;
use tiebreak_lab::studies::{self, Book, LineUp, Pinning, StudyRequest};

pub const EXAMPLES: &str = "\
Examples:
  tiebreak study run demo --budget '20 rounds'
  tiebreak study run demo --scope layout --precision 10% --budget 2s --markdown table.md
  tiebreak study run demo --contestants plain,unrolled --order --budget '20 rounds'
  tiebreak study run demo --claim 'unrolled is within 50% of plain' --budget '20 rounds'

Every contestant is built from source and its answers are judged; a pilot finds how long a batch
must be and how many rounds a unit should have; then all workloads are raced in turns, under one
error and one budget. The exit code is that of the claims: without one it is 0. A contestant that
answers wrongly is void (3), and the others go on.";

#[derive(Debug, Args)]
pub struct RunOptions {
    /// The study: its folder or its name
    #[arg(value_name = "NAME", value_hint = ValueHint::DirPath)]
    pub name: String,

    /// Race on this workload only; may be repeated
    #[arg(long, value_name = "WORKLOAD")]
    pub only: Vec<String>,

    /// Race these contestants only
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub contestants: Vec<String>,

    /// Settle this claim in place of the study's and of its table; may be repeated
    #[arg(long = "claim", value_name = "SENTENCE")]
    pub claims: Vec<String>,

    /// Ask only which is faster, of each contestant and the reference, in place of the study's
    /// claims and of its table
    #[arg(long, conflicts_with_all = ["claims", "precision"])]
    pub order: bool,

    /// What each observation draws afresh, and so what the verdicts are about [default: what the
    /// study says]
    #[arg(long, value_enum)]
    pub scope: Option<ScopeName>,

    /// How exact a ratio of the table must be [default: what the study says]
    #[arg(long, value_name = "SHARE", value_parser = quantities::fraction)]
    pub precision: Option<f64>,

    /// Draw placements from so many, again and again. That is invalid: luck with one of them counts
    /// as often as it comes, and the option is here to show it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub placements: Option<u32>,

    /// The most that the probability of a wrong verdict may be, over the whole study
    #[arg(long, value_name = "RATE", default_value = "1%", allow_hyphen_values = true,
          value_parser = quantities::fraction)]
    pub error: f64,

    /// The most that all races together may use [default: what the study says, or 60s a workload]
    #[arg(long, value_name = "BUDGET", allow_hyphen_values = true,
          value_parser = quantities::budget)]
    pub budget: Option<Budget>,

    /// How small a difference still matters to a claim; 0 for any
    #[arg(long, value_name = "SHARE", default_value = "1%", allow_hyphen_values = true,
          value_parser = quantities::fraction)]
    pub resolution: f64,

    /// What the ratio is [default: what the study says, or the median]
    #[arg(long, value_enum)]
    pub centre: Option<CentreName>,

    /// Seed of every coin: any text [default: from the system, and printed]
    #[arg(long, value_name = "TEXT")]
    pub seed: Option<String>,

    /// The CPU that functions run on, or 'any' for where the kernel puts them [default: the last
    /// one; of other runtimes any]
    #[arg(long, value_name = "CPU", value_parser = quantities::cpu_choice)]
    pub cpus: Option<CpuChoice>,

    /// Do not wait for a quiet machine before a unit
    #[arg(long)]
    pub no_wait: bool,

    #[command(flatten)]
    pub place: Place,

    #[command(flatten)]
    pub targets: TargetOptions,

    /// The journal [default: the user's data folder]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub store: Option<PathBuf>,

    /// No progress, and of the report the verdicts only
    #[arg(long, short = 'q')]
    pub quiet: bool,

    /// Say what would be raced, and build nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// What each observation draws afresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScopeName {
    /// Nothing: rounds in one process
    Layout,
    /// A process
    Binary,
    /// A process, and where its code and data lie
    Code,
}

pub fn run(options: RunOptions, mut typed: Vec<String>, io: &mut Io) -> Result<u8, Failure> {
    let asked = asked(&options, io)?;
    if options.seed.is_none() {
        // So that a repeated race of the study has the same coins.
        typed.extend(["--seed".to_owned(), asked.seed.clone()]);
    }
    if options.dry_run {
        return describe(&asked, io);
    }
    let store = source::store_path(options.store.as_ref())?;
    let targets = options.targets.open(&asked, &store, options.quiet)?;
    let book = Book { store, command: typed, machine: fingerprint::read() };
    let quiet = options.quiet;
    let line_up =
        studies::line_up(&asked, &environment()?, &book, &mut |step| say(&step, quiet, io));
    clear(io);
    race(line_up?, targets, io)
}

/// Races the runs of a line-up, and delivers the result.
pub fn race(mut line_up: LineUp, targets: StudyTargets, io: &mut Io) -> Result<u8, Failure> {
    let mut screen = Screen::new(io, targets.quiet);
    let result = studies::race(&mut line_up, interrupt::flag(), |standing| {
        screen.show_as(|look, is_frame| report::study::progress(&standing(), look, is_frame));
    });
    screen.clear();
    let result = result.map_err(|error| {
        let mut failure = Failure::from(error);
        if let Some(contest) = line_up.contests.first() {
            let id = contest.session.id();
            failure.text += &format!(
                "\nwhat came before it is kept: 'tiebreak resume {id}' goes on with the study"
            );
        }
        failure
    })?;
    targets.deliver(&result, io)?;
    if result.interrupted {
        let id = result.runs.first().map_or("", |run| run.journal.as_str());
        io.err(&format!("interrupted: everything is kept; 'tiebreak resume {id}' goes on\n"));
    }
    Ok(exit::of_study(&result))
}

fn asked(options: &RunOptions, io: &Io) -> Result<StudyRequest, Failure> {
    let study = find(&options.name, options.place.studies.as_deref(), io)?;
    let seed = match &options.seed {
        Some(seed) => seed.clone(),
        None => tiebreak_lab::seed::from_system().map_err(Failure::data)?,
    };
    Ok(StudyRequest {
        study,
        only: options.only.clone(),
        contestants: options.contestants.clone(),
        claims: options.claims.clone(),
        asks_order: options.order,
        scope: options.scope.map(|scope| match scope {
            ScopeName::Layout => Scope::Layout,
            ScopeName::Binary => Scope::Binary,
            ScopeName::Code => Scope::Code,
        }),
        centre: options.centre.map(Centre::from),
        precision: options.precision,
        error: options.error,
        resolution: options.resolution,
        budget: options.budget,
        seed,
        pinning: match options.cpus {
            None => Pinning::Default,
            Some(CpuChoice::Any) => Pinning::Any,
            Some(CpuChoice::To(cpu)) => Pinning::To(cpu),
        },
        wait_for_quiet: !options.no_wait,
        placements: options.placements.map_or(Placements::Fresh, Placements::Reused),
    })
}

/// `--dry-run`: describes what would be raced, without building anything.
fn describe(asked: &StudyRequest, io: &mut Io) -> Result<u8, Failure> {
    let (frame, workloads) = studies::frame(asked)?;
    let mut text = format!("study {}\nworkloads\n", asked.study.name);
    for workload in &workloads {
        text += &format!("  {}: {}\n", workload.name, workload.about);
    }
    text += "contestants\n";
    for entrant in asked.entrants()? {
        let recipe = &entrant.recipe;
        text += &format!("  {}: {} {}\n", entrant.name, recipe.compiler, recipe.sources.join(" "));
    }
    text += "claims\n";
    let of_study = asked.study.claims.iter().map(|claim| &claim.text);
    let claims: Vec<&String> =
        if asked.claims.is_empty() { of_study.collect() } else { asked.claims.iter().collect() };
    for claim in claims {
        text += &format!("  {claim}\n");
    }
    text += &format!("scope {}\nseed {}\n", frame.scope.name(), asked.seed);
    io.out(&text);
    Ok(exit::HOLDS)
}
