//! `tiebreak resume`: going on with a run that was killed, interrupted or out of budget.

use crate::args::ResumeOptions;
use crate::failure::Failure;
use crate::io::Io;
use crate::output::JsonTarget;
use crate::race;
use crate::source;
use tiebreak::machine::fingerprint;
use tiebreak::measure::{Programs, interrupt};
use tiebreak::session::Session;

pub fn run(options: &ResumeOptions, io: &mut Io) -> Result<u8, Failure> {
    let json = JsonTarget::open(options.json.as_ref())?;
    let store = source::existing_store(options.store.as_ref())?;
    let run = source::find_run(&store, options.run.as_deref())?;
    let session = Session::take_up(store, run, &fingerprint::read(), options.budget)?;
    let stop = interrupt::flag();
    let programs = Programs::new(session.plan(), stop)?;
    race::go(session, programs, stop, json, options.quiet, io)
}
