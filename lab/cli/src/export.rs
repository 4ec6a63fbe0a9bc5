//! `tiebreak export`: writes a run as data.

use crate::exit;
use crate::failure::Failure;
use crate::io::Io;
use crate::options::Source;
use crate::source;
use clap::{Args, ValueHint};
use std::path::PathBuf;
use tiebreak_lab::core::journal::Journal;
use tiebreak_lab::report::{csv, json};
use tiebreak_lab::{replay, store};

#[derive(Debug, Args)]
pub struct ExportOptions {
    #[command(flatten)]
    pub source: Source,

    /// Samples as CSV, one a line; - for standard output [default, if nothing else is asked for]
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-",
          value_hint = ValueHint::FilePath)]
    pub csv: Option<PathBuf>,

    /// The result as JSON; - for standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-",
          value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,

    /// The whole journal as JSON lines, which replay reads; - for standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-",
          value_hint = ValueHint::FilePath)]
    pub journal: Option<PathBuf>,
}

pub fn run(options: &ExportOptions, io: &mut Io) -> Result<u8, Failure> {
    let journal = source::journal(&options.source)?;
    let wanted = [
        (&options.csv, csv_text as fn(&Journal) -> Vec<u8>),
        (&options.json, json_text),
        (&options.journal, journal_text),
    ];
    let standard = wanted.iter().filter(|(path, _)| path.as_deref().is_some_and(is_standard));
    if standard.count() > 1 {
        return Err(Failure::usage("only one of --csv, --json and --journal can go to '-'"));
    }
    let mut written = 0;
    for (path, text) in wanted.iter().filter_map(|(path, text)| Some((path.as_ref()?, text))) {
        write(path, &text(&journal), io)?;
        written += 1;
    }
    if written == 0 {
        io.out(&String::from_utf8_lossy(&csv_text(&journal)));
    }
    Ok(exit::HOLDS)
}

fn is_standard(path: &std::path::Path) -> bool {
    path.as_os_str() == "-"
}

fn csv_text(journal: &Journal) -> Vec<u8> {
    let mut text = String::new();
    csv::samples(journal, &mut text);
    text.into_bytes()
}

fn json_text(journal: &Journal) -> Vec<u8> {
    json::text(&replay::result(journal)).into_bytes()
}

fn journal_text(journal: &Journal) -> Vec<u8> {
    let mut lines = Vec::new();
    // Writing to memory cannot fail.
    let _ = store::write_lines(journal, &mut lines);
    lines
}

fn write(path: &PathBuf, text: &[u8], io: &mut Io) -> Result<(), Failure> {
    if is_standard(path) {
        io.out(&String::from_utf8_lossy(text));
        return Ok(());
    }
    match std::fs::write(path, text) {
        // The reader has closed the pipe: that is not an error.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(()),
        Err(error) => {
            return Err(Failure::data(format!("cannot write {}: {error}", path.display())));
        }
        Ok(()) => {}
    }
    io.err(&format!("wrote {}\n", path.display()));
    Ok(())
}
