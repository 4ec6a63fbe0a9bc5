//! `tiebreak resume`: going on with a run that was killed, interrupted or out of budget.

use crate::args::ResumeOptions;
use crate::failure::Failure;
use crate::io::Io;
use crate::output::{JsonTarget, SvgTarget};
use crate::race::{self, Targets};
use crate::source;
use crate::study::{self, StudyTargets};
use tiebreak_lab::core::plan::Kind;
use tiebreak_lab::machine::fingerprint;
use tiebreak_lab::measure::{Programs, interrupt};
use tiebreak_lab::resume::NewBudget;
use tiebreak_lab::session::Session;
use tiebreak_lab::studies::{self, Book};

pub fn run(options: &ResumeOptions, io: &mut Io) -> Result<u8, Failure> {
    let json = JsonTarget::open(options.json.as_ref())?;
    let store = source::existing_store(options.store.as_ref())?;
    let run = source::find_run(&store, options.run.as_deref())?;
    let header = Session::header(&store, &run)?;
    // Relative names in commands, hooks and files are those of the folder where the run began.
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
    // Before the rounds are read: the programs' peak memory would else begin at ours.
    let programs = Programs::new(&header.plan, stop)?;
    let session = Session::take_up(store, run, &fingerprint::read(), budget)?;
    race::go(session, programs, stop, targets, io)
}
