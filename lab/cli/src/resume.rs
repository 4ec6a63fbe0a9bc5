//! `tiebreak resume`: continues a run that was killed, interrupted or out of budget.

use crate::io::Io;
use crate::options::{Reporting, Store};
use crate::output::{OutputFile, Targets};
use crate::{quantities, race, study};
use clap::Args;
use tiebreak_lab::core::plan::Budget;
use tiebreak_lab::report::json;
use tiebreak_lab::resume::NewBudget;
use tiebreak_lab::run::{self, Resumed};
use tiebreak_lab::{LabError, interrupt};

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

    #[command(flatten)]
    pub reporting: Reporting,

    #[command(flatten)]
    pub store: Store,
}

pub fn run(options: &ResumeOptions, io: &mut Io) -> Result<u8, LabError> {
    let Reporting { json, quiet } = &options.reporting;
    let json = OutputFile::open_json(json.json.as_deref())?;
    let budget = match (options.budget, options.more) {
        (Some(budget), _) => NewBudget::Is(budget),
        (None, Some(more)) => NewBudget::More(more),
        (None, None) => NewBudget::Same,
    };
    let stop = interrupt::flag();
    match run::resume(options.run.as_deref(), options.store.path(), budget, stop)? {
        Resumed::Run(run) => race::go(*run, Targets::of(json, json::text), *quiet, io),
        Resumed::Study(line_up) => {
            study::race(line_up, Targets::of(json, json::text), *quiet, false, io)
        }
    }
}
