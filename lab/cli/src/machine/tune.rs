//! `tiebreak machine tune`: shows what makes this machine noisy.

use crate::exit;
use crate::failure::Failure;
use crate::io::Io;
use crate::output::JsonTarget;
use clap::{Args, ValueHint};
use std::path::PathBuf;
use tiebreak_lab::probes::tune;

pub const EXAMPLES: &str = "\
Examples:
  tiebreak machine tune
  tiebreak machine tune --json -

Nothing is changed: each command is for you to run, and beside it stands the one that puts things
back. The exit code is 0 whatever is found.";

#[derive(Debug, Args)]
pub struct TuneOptions {
    /// Write what was found as JSON; - for standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    json: Option<PathBuf>,
}

pub fn run(options: &TuneOptions, io: &mut Io) -> Result<u8, Failure> {
    let json = JsonTarget::open(options.json.as_ref())?;
    let tuning = tune::read();
    let page = tune::tuning(&tuning, &io.out_look());
    json.write_beside(&page, || tune::tuning_json(&tuning), io)?;
    Ok(exit::HOLDS)
}
