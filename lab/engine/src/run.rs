//! A run of programs or of a stream, from its plan or from its journal.

use crate::commands::Commands;
use crate::error::{LabError, Result, data};
use crate::resume::NewBudget;
use crate::session::{Book, Session};
use crate::studies::{self, Environment, LineUp};
use crate::{load_claims, revisions, source};
use std::io::Read;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use tiebreak_core::plan::{Kind, Plan};
use tiebreak_core::result::RunResult;

/// A plan that can be run: its programs were found.
pub struct Ready {
    /// The plan.
    pub plan: Plan,
    /// `None` for a stream.
    commands: Option<Commands>,
    stop: &'static AtomicBool,
}

impl Ready {
    /// Finds the programs of a plan. The run ends between two rounds when `stop` becomes true
    /// ([`interrupt::flag`](crate::interrupt::flag) does on Ctrl-C).
    ///
    /// # Errors
    /// Fails if a program, a file or a CPU of the plan cannot be used.
    pub fn new(plan: Plan, stop: &'static AtomicBool) -> Result<Ready> {
        if plan.suite.is_some() {
            return data("the run is a benchmark of a suite, which only 'tiebreak suite' times");
        }
        let is_stream = matches!(plan.kind, Kind::Stream { .. });
        let commands = if is_stream { None } else { Some(Commands::new(&plan, stop)?) };
        Ok(Ready { plan, commands, stop })
    }

    /// Journals a new run in the named store, or else in the user's default. `command` is the
    /// command line that asked for it, word by word.
    ///
    /// # Errors
    /// Fails if a file of a program cannot be read, or the journal cannot be written.
    pub fn begin(self, store: Option<&Path>, command: Vec<String>) -> Result<Run> {
        let Ready { plan, commands, stop } = self;
        let files = commands.as_ref().map(Commands::files).unwrap_or_default();
        let book = Book::here(source::store_path(store)?, command);
        let session = Session::begin(&book, plan, &files)?;
        Ok(Run { session, commands, stop })
    }
}

/// A run in a journal, to be run to its end.
pub struct Run {
    session: Session,
    commands: Option<Commands>,
    stop: &'static AtomicBool,
}

impl Run {
    /// Returns whether it judges lines of a stream or messages of a load, and starts no programs.
    pub fn is_stream(&self) -> bool {
        self.commands.is_none()
    }

    /// Returns how many messages of its load are to arrive a second, if claims are about those.
    pub fn arrivals_per_second(&self) -> Option<f64> {
        let load = self.session.plan().load.as_deref()?;
        Some(load.rate_per_second as f64 * f64::from(load.arrivals_a_message))
    }

    /// Returns the result before the next round.
    pub fn result_so_far(&self) -> RunResult {
        self.session.result_so_far()
    }

    /// Runs until every claim is settled, or the budget is spent. Calls `watch` after every round
    /// with a function that returns the result so far. A run of a stream reads `input`.
    ///
    /// # Errors
    /// Fails if the machine fails or lacks a meter, a line of the stream is invalid, or the journal
    /// cannot be written. What was finished is in the journal.
    pub fn go(
        self,
        input: impl Read + Send + 'static,
        watch: impl FnMut(&dyn Fn() -> RunResult),
    ) -> Result<RunResult> {
        let Run { session, commands, stop } = self;
        if let Some(load) = session.plan().load.clone() {
            return load_claims::go(session, *load, stop, watch);
        }
        let Some(mut commands) = commands else {
            let id = session.id().to_owned();
            return session
                .read(input, stop, watch)
                .map_err(|error| error.noted(format!("what came before it is kept as run {id}")));
        };
        session.go(&mut commands, stop, watch).map_err(|error| match error {
            LabError::NotMeasured(_) => {
                commands.missing_meters().iter().fold(error, LabError::noted)
            }
            error => error,
        })
    }
}

/// A run that goes on, and what it is a part of.
pub enum Resumed {
    /// A run of programs or of a stream.
    Run(Box<Run>),
    /// All runs of a study.
    Study(LineUp),
}

/// Resumes a run of a store: the named one, or else the latest. Goes to the folder where it began,
/// to which relative paths in commands, hooks and files are relative.
///
/// # Errors
/// Fails if there is no such run, it is over, or it cannot go on here: on another machine, without
/// its folder, or with other files.
pub fn resume(
    run: Option<&str>,
    store: Option<&Path>,
    budget: NewBudget,
    stop: &'static AtomicBool,
) -> Result<Resumed> {
    let store = source::existing_store(store)?;
    let run = store.find(run.unwrap_or(source::LATEST))?;
    let header = store.header(&run)?;
    if !header.directory.is_empty() {
        std::env::set_current_dir(&header.directory).map_err(|error| {
            let folder = &header.directory;
            LabError::Data(format!("cannot go to {folder}, where the run began: {error}"))
        })?;
    }
    let book = Book::here(store.path().to_owned(), header.command);
    if header.plan.functions.is_some() {
        let environment = Environment::here(stop)?;
        return Ok(Resumed::Study(studies::take_up(&run, budget, &environment, &book)?));
    }
    if let Some(why) = revisions::gone(&header.plan) {
        return data(format!("the run cannot be resumed: {why}"));
    }
    // Before the rounds are read: otherwise the programs' peak memory would begin at that of this
    // process.
    let Ready { commands, .. } = Ready::new(header.plan, stop)?;
    let session = Session::take_up(&book, run, budget)?;
    Ok(Resumed::Run(Box::new(Run { session, commands, stop })))
}
