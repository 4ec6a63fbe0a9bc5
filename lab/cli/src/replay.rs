//! `tiebreak replay`: the verdict again, from the journal alone.

use crate::args::ReplayOptions;
use crate::exit;
use crate::failure::Failure;
use crate::io::Io;
use crate::output::{self, JsonTarget};
use crate::source;
use tiebreak_lab::replay;

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
