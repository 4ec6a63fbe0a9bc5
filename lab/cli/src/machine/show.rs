//! `tiebreak machine show`: A print that was kept.

use crate::exit;
use crate::failure::Failure;
use crate::io::Io;
use clap::Args;

pub const EXAMPLES: &str = "\
Example:
  tiebreak machine tune";

#[derive(Debug, Args)]
pub struct ShowOptions {}

pub fn run(_options: &ShowOptions, _io: &mut Io) -> Result<u8, Failure> {
    Ok(exit::HOLDS)
}
