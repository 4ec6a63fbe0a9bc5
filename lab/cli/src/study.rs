//! `tiebreak study`: contestants built from source, judged, raced and shown with the published
//! figures.

mod details;
mod list;
mod new;
mod run;
mod show;
mod targets;
mod verify;

use crate::failure::Failure;
use crate::io::Io;
use clap::{Args, Subcommand, ValueHint};
use std::path::{Path, PathBuf};
use tiebreak_lab::core::study::Study;
use tiebreak_lab::measure::build;
use tiebreak_lab::measure::interrupt;
use tiebreak_lab::measure::workers::WorkerProgram;
use tiebreak_lab::studies::{self, Environment, Step};

pub use run::race;
pub use targets::StudyTargets;

pub const EXAMPLES: &str = "\
Examples:
  tiebreak study new demo
  tiebreak study list
  tiebreak study run demo --budget '20 rounds'

A study is a folder with a study.toml, or the name of one in the folder 'studies' here or above.";

#[derive(Debug, Subcommand)]
pub enum StudyCommand {
    /// The studies that there are
    #[command(after_help = "\
Example:
  tiebreak study list")]
    List(ListOptions),

    /// What a study holds: workloads, contestants and their compilers, claims, published tables
    #[command(after_help = "\
Example:
  tiebreak study show demo")]
    Show(ShowOptions),

    /// Build a study's contestants, judge their answers, race them, and show the table
    #[command(after_help = run::EXAMPLES)]
    Run(Box<run::RunOptions>),

    /// Judge every answer on everything that the study can ask; nothing is timed
    #[command(after_help = "\
Examples:
  tiebreak study verify demo
  tiebreak study verify demo --contestants plain,unrolled --full")]
    Verify(verify::VerifyOptions),

    /// A new study that works, to begin with
    #[command(after_help = "\
Example:
  tiebreak study new second && tiebreak study run second --budget '20 rounds'")]
    New(NewOptions),
}

/// Where studies are.
#[derive(Debug, Args)]
pub struct Place {
    /// The folder of studies [default: 'studies' here or in a folder above]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub studies: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ListOptions {
    #[command(flatten)]
    pub place: Place,
}

#[derive(Debug, Args)]
pub struct ShowOptions {
    /// The study: its folder or its name
    #[arg(value_name = "NAME", value_hint = ValueHint::DirPath)]
    pub name: String,

    #[command(flatten)]
    pub place: Place,
}

#[derive(Debug, Args)]
pub struct NewOptions {
    /// Its name, or the path of a folder that is to be made
    #[arg(value_name = "NAME", value_hint = ValueHint::DirPath)]
    pub name: String,

    #[command(flatten)]
    pub place: Place,
}

pub fn run(command: StudyCommand, typed: Vec<String>, io: &mut Io) -> Result<u8, Failure> {
    match command {
        StudyCommand::List(options) => list::run(&options, io),
        StudyCommand::Show(options) => show::run(&options, io),
        StudyCommand::Run(options) => run::run(*options, typed, io),
        StudyCommand::Verify(options) => verify::run(options, io),
        StudyCommand::New(options) => new::run(&options, io),
    }
}

/// Returns the current folder.
fn here() -> Result<PathBuf, Failure> {
    std::env::current_dir()
        .map_err(|error| Failure::data(format!("the current folder is not known: {error}")))
}

/// Reads the study that the user named.
fn find(name: &str, studies: Option<&Path>, io: &Io) -> Result<Study, Failure> {
    let folder = studies::find(name, studies, &here()?)?;
    studies::read(&folder).map_err(|errors| Failure::data(errors.render(io.err_color())))
}

/// Returns the environment that builds and runs functions.
pub fn environment() -> Result<Environment, Failure> {
    let cache = build::default_cache().map_err(|error| Failure::data(error.to_string()))?;
    Ok(Environment { cache, program: WorkerProgram::this(), stop: interrupt::flag() })
}

/// Prints a line on standard error for a step; always for contestants that take no part. If lines
/// can be redrawn, the current step replaces the previous one.
fn say(step: &Step<'_>, quiet: bool, io: &mut Io) {
    let (line, passes) = match step {
        Step::NotRun(not_run) => (format!("{} is not run: {}", not_run.name, not_run.why), false),
        Step::Void { workload, contestant, fault } => {
            (format!("{contestant} is void on {workload}: it {fault}"), false)
        }
        _ if quiet => return,
        Step::Building { contestant } => (format!("building {contestant}"), true),
        Step::Checking { workload } => (format!("{workload}: judging the answers"), true),
        Step::Piloted { workload, pilot, rounds_a_unit, batch_ns } => {
            (details::piloted(workload, pilot, *rounds_a_unit, *batch_ns), false)
        }
    };
    let end = if passes && io.err_redraws() { "" } else { "\n" };
    clear(io);
    io.err(&(line + end));
}

/// Removes a line that the next one should replace.
fn clear(io: &mut Io) {
    if io.err_redraws() {
        io.err("\r\x1b[K");
    }
}
