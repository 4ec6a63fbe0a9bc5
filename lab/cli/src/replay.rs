//! `tiebreak replay`: recomputes the verdict from the journal alone.

use crate::exit;
use crate::failure::Failure;
use crate::io::Io;
use crate::options::Source;
use crate::output::{self, JsonTarget};
use crate::quantities;
use crate::source;
use clap::{Args, ValueHint};
use std::path::PathBuf;
use tiebreak_lab::replay;

#[derive(Debug, Args)]
pub struct ReplayOptions {
    #[command(flatten)]
    pub source: Source,

    /// How the chain over the journal must end, as a report of the run has it
    #[arg(long, value_name = "HASH", value_parser = quantities::chain_head)]
    pub head: Option<String>,

    /// Write the result as JSON; - for standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,

    /// Of the report, the verdict only
    #[arg(long, short = 'q')]
    pub quiet: bool,
}

pub fn run(options: &ReplayOptions, io: &mut Io) -> Result<u8, Failure> {
    let json = JsonTarget::open(options.json.as_ref())?;
    let journal = source::journal(&options.source)?;
    if let Some(head) = &options.head {
        replay::check_head(&journal, head)?;
    }
    let result = replay::replay(&journal)?;
    output::deliver(&result, json, options.quiet, io)?;
    Ok(exit::of_result(&result))
}
