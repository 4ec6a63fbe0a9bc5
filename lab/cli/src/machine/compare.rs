//! `tiebreak machine compare`: Two machines side by side.

use crate::exit;
use crate::failure::Failure;
use crate::io::Io;
use clap::Args;

pub const EXAMPLES: &str = "\
Example:
  tiebreak machine tune";

#[derive(Debug, Args)]
pub struct CompareOptions {}

pub fn run(_options: &CompareOptions, _io: &mut Io) -> Result<u8, Failure> {
    Ok(exit::HOLDS)
}
