//! `tiebreak machine tune`: What makes this machine noisy.

use crate::exit;
use crate::failure::Failure;
use crate::io::Io;
use clap::Args;

pub const EXAMPLES: &str = "\
Example:
  tiebreak machine tune";

#[derive(Debug, Args)]
pub struct TuneOptions {}

pub fn run(_options: &TuneOptions, _io: &mut Io) -> Result<u8, Failure> {
    Ok(exit::HOLDS)
}
