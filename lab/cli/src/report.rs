//! `tiebreak report`: writes a run as one page of HTML.

use crate::exit;
use crate::failure::Failure;
use crate::io::Io;
use crate::machine::prints;
use crate::options::Source;
use crate::output_file::OutputFile;
use crate::source;
use clap::{Args, ValueHint};
use std::path::{Path, PathBuf};
use tiebreak_lab::core::result::RunResult;
use tiebreak_lab::probes::{self, MachinePrint};
use tiebreak_lab::{replay, report};

pub const EXAMPLES: &str = "\
Examples:
  tiebreak report --html report.html
  tiebreak report latest --html -

The page needs nothing beside itself: verdicts, tables, pictures, the machine, and the command that
repeats the run.";

#[derive(Debug, Args)]
pub struct ReportOptions {
    #[command(flatten)]
    pub source: Source,

    /// Write the page into this file [default: standard output]
    #[arg(long, short = 'o', value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
}

pub fn run(options: &ReportOptions, io: &mut Io) -> Result<u8, Failure> {
    let file = match options.html.as_ref().filter(|path| path.as_os_str() != "-") {
        Some(path) => OutputFile::open("html", Some(path))?,
        None => None,
    };
    let journal = source::journal(&options.source)?;
    let run = replay::result(&journal);
    let print = print(&run, &options.source);
    let page = report::html::page(&run, print.as_ref().map(probes::measured).as_ref());
    match (file, &options.html) {
        (Some(file), Some(path)) => {
            file.write(&page)?;
            io.err(&format!("wrote {}\n", path.display()));
        }
        _ => io.out(&page),
    }
    Ok(exit::HOLDS)
}

/// Returns the print that the run names, from the store of the run, or else from the user's.
fn print(run: &RunResult, source: &Source) -> Option<MachinePrint> {
    let file = source.run.as_deref().map(Path::new).filter(|path| path.is_file());
    let stores = [file.map(Path::to_owned), source::store_path(source.store.as_ref()).ok()];
    stores.into_iter().flatten().find_map(|store| prints::of_run(run, &store))
}
