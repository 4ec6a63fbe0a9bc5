//! `tiebreak resume`: continues a run that was killed, interrupted or out of budget.

use crate::failure::Failure;
use crate::io::Io;
use crate::output::{JsonTarget, SvgTarget};
use crate::quantities;
use crate::race::{self, Targets};
use crate::source;
use crate::study::{self, StudyTargets};
use clap::{Args, ValueHint};
use std::path::PathBuf;
use tiebreak_lab::core::plan::{Budget, Kind};
use tiebreak_lab::machine::fingerprint;
use tiebreak_lab::measure::{Programs, interrupt};
use tiebreak_lab::resume::NewBudget;
use tiebreak_lab::session::Session;
use tiebreak_lab::studies::{self, Book};

#[derive(Debug, Args)]
pub struct ResumeOptions {
    /// A run by its name or the beginning of it [default: the latest]
    pub run: Option<String>,

    /// The budget from here on, earlier rounds and seconds included
    #[arg(long, value_name = "BUDGET", allow_hyphen_values = true,
          value_parser = quantities::budget)]
    pub budget: Option<Budget>,

    /// Go on for so much longer, with all the evidence so far [default, if nothing is said: the
    /// run's own budget once more]
    #[arg(long, value_name = "BUDGET", num_args = 0..=1, conflicts_with = "budget",
          value_parser = quantities::more)]
    pub more: Option<Option<Budget>>,

    /// Write the result as JSON; - for standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,

    /// The journal [default: the user's data folder]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub store: Option<PathBuf>,

    /// No progress, and of the report the verdict only
    #[arg(long, short = 'q')]
    pub quiet: bool,
}

pub fn run(options: &ResumeOptions, io: &mut Io) -> Result<u8, Failure> {
    let json = JsonTarget::open(options.json.as_ref())?;
    let store = source::existing_store(options.store.as_ref())?;
    let run = source::find_run(&store, options.run.as_deref())?;
    let header = Session::header(&store, &run)?;
    // Relative paths in commands, hooks and files are relative to the folder where the run began.
    if !header.directory.is_empty() {
        std::env::set_current_dir(&header.directory).map_err(|error| {
            let folder = &header.directory;
            Failure::data(format!("cannot go to {folder}, where the run began: {error}"))
        })?;
    }
    let budget = match (options.budget, options.more) {
        (Some(budget), _) => NewBudget::Is(budget),
        (None, Some(more)) => NewBudget::More(more),
        (None, None) => NewBudget::Same,
    };
    let stop = interrupt::flag();
    let targets = Targets { json, svg: SvgTarget::none(), quiet: options.quiet };
    if matches!(header.plan.kind, Kind::Stream { .. }) {
        let session = Session::take_up(store, run, &fingerprint::read(), budget)?;
        return race::read(session, stop, targets, io);
    }
    if header.plan.functions.is_some() {
        let store = store.path().to_owned();
        let book = Book { store, command: header.command, machine: fingerprint::read() };
        let line_up = studies::take_up(&run, budget, &study::environment()?, &book)?;
        return study::race(line_up, StudyTargets::plain(targets.json, targets.quiet), io);
    }
    if let Some(why) = tiebreak_lab::revisions::gone(&header.plan) {
        return Err(Failure::data(format!("the run cannot be resumed: {why}")));
    }
    // Before the rounds are read: otherwise the programs' peak memory would begin at that of this
    // process.
    let programs = Programs::new(&header.plan, stop)?;
    let session = Session::take_up(store, run, &fingerprint::read(), budget)?;
    race::go(session, programs, stop, targets, io)
}
