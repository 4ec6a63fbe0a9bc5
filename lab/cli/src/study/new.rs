//! `tiebreak study new`: creates a study that works as it is.

use super::{NewOptions, here};
use crate::exit;
use crate::failure::Failure;
use crate::io::Io;
use tiebreak_lab::studies;

pub fn run(options: &NewOptions, io: &mut Io) -> Result<u8, Failure> {
    let here = here()?;
    let folder = studies::create(&options.name, options.place.studies.as_deref(), &here)?;
    let shown = folder.strip_prefix(&here).unwrap_or(&folder);
    io.out(&format!("made {}: study.toml says what it holds\n", shown.display()));
    Ok(exit::HOLDS)
}
