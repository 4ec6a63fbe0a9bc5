//! `tiebreak show`: a run as its report, finished or not.

use crate::args::ShowOptions;
use crate::exit;
use crate::failure::Failure;
use crate::io::Io;
use crate::output::{self, JsonTarget};
use crate::source;
use tiebreak_lab::replay;

pub fn run(options: &ShowOptions, io: &mut Io) -> Result<u8, Failure> {
    let json = JsonTarget::open(options.json.as_ref())?;
    let journal = source::journal(&options.source)?;
    output::deliver(&replay::result(&journal), json, false, io)?;
    Ok(exit::HOLDS)
}
