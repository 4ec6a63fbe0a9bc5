//! `tiebreak show`: shows a run as its report, finished or not.

use crate::exit;
use crate::failure::Failure;
use crate::io::Io;
use crate::options::Source;
use crate::output::{self, JsonTarget};
use crate::source;
use clap::{Args, ValueHint};
use std::path::PathBuf;
use tiebreak_lab::replay;

#[derive(Debug, Args)]
pub struct ShowOptions {
    #[command(flatten)]
    pub source: Source,

    /// Write the result as JSON; - for standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,
}

pub fn run(options: &ShowOptions, io: &mut Io) -> Result<u8, Failure> {
    let json = JsonTarget::open(options.json.as_ref())?;
    let journal = source::journal(&options.source)?;
    output::deliver(&replay::result(&journal), json, false, io)?;
    Ok(exit::HOLDS)
}
