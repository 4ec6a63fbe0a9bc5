//! What `compare`, `aa` and `resume` share: a session, a screen and a result.

use crate::failure::Failure;
use crate::io::Io;
use crate::options::Measuring;
use crate::output::{self, JsonTarget, SvgTarget};
use crate::screen::Screen;
use crate::source;
use crate::{dry_run, exit, github};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use tiebreak_lab::core::journal::StopReason;
use tiebreak_lab::core::plan::Plan;
use tiebreak_lab::core::result::RunResult;
use tiebreak_lab::error::LabError;
use tiebreak_lab::machine::fingerprint;
use tiebreak_lab::measure::{Programs, interrupt};
use tiebreak_lab::report::{announcement, resume_command};
use tiebreak_lab::session::{Origin, Session};
use tiebreak_lab::store::Store;

/// Opens the store that the user named, or the default one.
fn open_store(path: Option<&PathBuf>) -> Result<Store, Failure> {
    Ok(Store::open(&source::store_path(path)?)?)
}

/// Makes a new run of this plan. Finds the programs before anything is written.
pub fn start(
    plan: Plan,
    options: &Measuring,
    typed: Vec<String>,
    io: &mut Io,
) -> Result<u8, Failure> {
    start_with(plan, options, SvgTarget::none(), typed, io)
}

/// Does the same as [`start`], with a picture.
pub fn start_with(
    plan: Plan,
    options: &Measuring,
    svg: SvgTarget,
    typed: Vec<String>,
    io: &mut Io,
) -> Result<u8, Failure> {
    let stop = interrupt::flag();
    let programs = Programs::new(&plan, stop)?;
    if options.dry_run {
        io.out(&dry_run::describe(&plan));
        return Ok(exit::HOLDS);
    }
    let json = JsonTarget::open(options.json.as_ref())?;
    let origin = Origin { command: typed, machine: fingerprint::read(), files: programs.files() };
    let session = Session::begin(open_store(options.store.as_ref())?, plan, origin)?;
    go(session, programs, stop, Targets { json, svg, quiet: options.quiet }, io)
}

/// Makes a new run of a plan about lines of standard input.
pub fn read_stream(
    plan: Plan,
    options: &Measuring,
    svg: SvgTarget,
    typed: Vec<String>,
    io: &mut Io,
) -> Result<u8, Failure> {
    if options.dry_run {
        io.out(&dry_run::describe(&plan));
        return Ok(exit::HOLDS);
    }
    let json = JsonTarget::open(options.json.as_ref())?;
    let origin = Origin { command: typed, machine: fingerprint::read(), files: Vec::new() };
    let session = Session::begin(open_store(options.store.as_ref())?, plan, origin)?;
    read(session, interrupt::flag(), Targets { json, svg, quiet: options.quiet }, io)
}

/// The targets of a result.
pub struct Targets {
    /// `--json`.
    pub json: JsonTarget,
    /// `--svg`.
    pub svg: SvgTarget,
    /// `--quiet`.
    pub quiet: bool,
}

impl Targets {
    fn deliver(self, result: &RunResult, io: &mut Io) -> Result<u8, Failure> {
        let delivered = output::deliver(result, self.json, self.quiet, io);
        github::tell_of_gate(result, io);
        self.svg.draw(result).and(delivered)?;
        if result.stopped == Some(StopReason::Interrupted) {
            let command = resume_command(result);
            io.err(&format!("interrupted: everything is kept; '{command}' goes on\n"));
        }
        Ok(exit::of_result(result))
    }
}

/// Prints, before anything is observed, the least number of observations that is needed.
fn announce(so_far: &RunResult, targets: &Targets, io: &mut Io) {
    for text in so_far.verdicts.iter().filter_map(|claim| announcement(claim, &so_far.budget)) {
        if !targets.quiet {
            io.err(&(text + "\n"));
        }
    }
}

/// Reads a stream into a session to its end and delivers the result.
pub fn read(
    session: Session,
    stop: &AtomicBool,
    targets: Targets,
    io: &mut Io,
) -> Result<u8, Failure> {
    announce(&session.result_so_far(), &targets, io);
    let id = session.id().to_owned();
    let input = io.take_input();
    let mut screen = Screen::new(io, targets.quiet);
    let result = session.read(input, stop, |standing| screen.show(|| standing.result()));
    screen.clear();
    let result = result.map_err(|error| {
        let mut failure = Failure::from(error);
        failure.text += &format!("\nwhat came before it is kept as run {id}");
        failure
    })?;
    targets.deliver(&result, io)
}

/// Returns an error with the messages of the meters, if one of them is missing.
fn explain(error: LabError, programs: &Programs) -> Failure {
    let is_missing = matches!(error, LabError::NotMeasured { .. });
    let mut failure = Failure::from(error);
    for reason in programs.missing_meters().iter().filter(|_| is_missing) {
        failure.text += &format!("\n{reason}");
    }
    failure
}

/// Runs a session to its end and delivers its result.
pub fn go(
    session: Session,
    mut programs: Programs,
    stop: &AtomicBool,
    targets: Targets,
    io: &mut Io,
) -> Result<u8, Failure> {
    let so_far = session.result_so_far();
    announce(&so_far, &targets, io);
    let mut screen = Screen::new(io, targets.quiet);
    screen.show(|| so_far);
    let result = session.go(&mut programs, stop, |standing| screen.show(|| standing.result()));
    screen.clear();
    let result = result.map_err(|error| explain(error, &programs))?;
    targets.deliver(&result, io)
}
