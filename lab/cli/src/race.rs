//! What `compare`, `aa` and `resume` share: a session, a screen and a result.

use crate::exit;
use crate::failure::Failure;
use crate::io::Io;
use crate::output::{self, JsonTarget};
use crate::screen::Screen;
use crate::source;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use tiebreak::core::journal::StopReason;
use tiebreak::core::plan::Plan;
use tiebreak::error::LabError;
use tiebreak::machine::fingerprint;
use tiebreak::measure::{Programs, interrupt};
use tiebreak::session::{Origin, Session};
use tiebreak::store::Store;

/// Opens the store that was asked for, or the user's.
pub fn open_store(path: Option<&PathBuf>) -> Result<Store, Failure> {
    Ok(Store::open(&source::store_path(path)?)?)
}

/// Starts a new run: the programs are looked up before anything is written.
pub fn begin(
    plan: Plan,
    store: Option<&PathBuf>,
    typed: Vec<String>,
) -> Result<(Session, Programs, &'static AtomicBool), Failure> {
    let stop = interrupt::flag();
    let programs = Programs::new(&plan, stop)?;
    let origin = Origin { command: typed, machine: fingerprint::read(), files: programs.files() };
    let session = Session::begin(open_store(store)?, plan, origin)?;
    Ok((session, programs, stop))
}

/// An error with what the meters said, where one of them is missing.
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
    json: JsonTarget,
    quiet: bool,
    io: &mut Io,
) -> Result<u8, Failure> {
    let so_far = session.result_so_far();
    let id = session.id().to_owned();
    let mut screen = Screen::new(io, quiet);
    screen.show(|| so_far);
    let result = session.go(&mut programs, stop, |standing| screen.show(|| standing.result()));
    screen.clear();
    let result = result.map_err(|error| explain(error, &programs))?;
    output::deliver(&result, json, quiet, io)?;
    if result.stopped == Some(StopReason::Interrupted) {
        io.err(&format!("interrupted: everything is kept; 'tiebreak resume {id}' goes on\n"));
    }
    Ok(exit::of_result(&result))
}
