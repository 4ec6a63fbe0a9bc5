//! `tiebreak show`, `replay`, `export` and `report`: a run again, from its journal.

use crate::exit;
use crate::io::Io;
use crate::options::{Json, Reporting, Source};
use crate::output::page;
use crate::quantities;
use clap::Args;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use tiebreak_lab::core::journal::Journal;
use tiebreak_lab::report::{csv, html, json};
use tiebreak_lab::{LabError, prints, probes, replay, source, write_lines};

#[derive(Debug, Args)]
pub struct ShowOptions {
    #[command(flatten)]
    pub source: Source,

    #[command(flatten)]
    pub json: Json,
}

#[derive(Debug, Args)]
pub struct ReplayOptions {
    #[command(flatten)]
    pub source: Source,

    /// How the chain over the journal must end, as a report of the run has it
    #[arg(long, value_name = "HASH", value_parser = quantities::chain_head)]
    pub head: Option<String>,

    #[command(flatten)]
    pub reporting: Reporting,
}

#[derive(Debug, Args)]
pub struct ExportOptions {
    #[command(flatten)]
    pub source: Source,

    /// Samples as CSV, one a line; - for standard output [default, if nothing else is asked for]
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub csv: Option<PathBuf>,

    /// The result as JSON; - for standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<PathBuf>,

    /// The whole journal as JSON lines, which replay reads; - for standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub journal: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ReportOptions {
    #[command(flatten)]
    pub source: Source,

    /// Write the page into this file [default: standard output]
    #[arg(long, short = 'o', value_name = "FILE")]
    pub html: Option<PathBuf>,
}

fn journal(source: &Source) -> Result<Journal, LabError> {
    source::journal(source.run.as_deref(), source.store.path())
}

/// Shows a run as its report, finished or not.
pub fn show(options: &ShowOptions, io: &mut Io) -> Result<u8, LabError> {
    let targets = options.json.open(json::text)?;
    let result = replay::result(&journal(&options.source)?);
    targets.deliver(&page(&result, false, io), &result, io)?;
    Ok(exit::HOLDS)
}

/// Computes the verdict again, from the journal alone.
pub fn replay(options: &ReplayOptions, io: &mut Io) -> Result<u8, LabError> {
    let targets = options.reporting.json.open(json::text)?;
    let journal = journal(&options.source)?;
    if let Some(head) = &options.head {
        replay::check_head(&journal, head)?;
    }
    let result = replay::replay(&journal)?;
    targets.deliver(&page(&result, options.reporting.quiet, io), &result, io)?;
    Ok(exit::of_result(&result))
}

/// Writes a run as one page of HTML, with the machine's print from the store of the run, or else
/// from the user's.
pub fn report(options: &ReportOptions, io: &mut Io) -> Result<u8, LabError> {
    let run = replay::result(&journal(&options.source)?);
    let Source { run: named, store } = &options.source;
    let of_run = named.as_deref().map(Path::new).filter(|path| path.is_file());
    let of_user = source::store_path(store.path()).ok();
    let stores: Vec<&Path> = of_run.into_iter().chain(of_user.as_deref()).collect();
    let print = prints::of_run(&run, &stores);
    let page = html::page(&run, print.as_ref().map(probes::measured).as_ref());
    write(options.html.as_deref().unwrap_or(Path::new("-")), &page, io)?;
    Ok(exit::HOLDS)
}

/// Writes a run as data.
pub fn export(options: &ExportOptions, io: &mut Io) -> Result<u8, LabError> {
    let journal = journal(&options.source)?;
    let texts = [
        (&options.csv, csv_text as fn(&Journal) -> String),
        (&options.json, |journal| json::text(&replay::result(journal))),
        (&options.journal, lines),
    ];
    let wanted = texts.into_iter().filter_map(|(path, text)| Some((path.as_deref()?, text)));
    let mut wanted: Vec<(&Path, _)> = wanted.collect();
    if wanted.iter().filter(|(path, _)| is_standard(path)).count() > 1 {
        let why = "only one of --csv, --json and --journal can go to '-'";
        return Err(LabError::Usage(why.to_owned()));
    }
    if wanted.is_empty() {
        wanted.push((Path::new("-"), csv_text));
    }
    for (path, text) in wanted {
        write(path, &text(&journal), io)?;
    }
    Ok(exit::HOLDS)
}

fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn csv_text(journal: &Journal) -> String {
    let mut text = String::new();
    csv::samples(journal, &mut text);
    text
}

fn lines(journal: &Journal) -> String {
    let mut lines = Vec::new();
    // Writing to memory cannot fail.
    let _ = write_lines(journal, &mut lines);
    String::from_utf8(lines).unwrap_or_default()
}

/// Writes a text to standard output, for `-`, or into a file.
fn write(path: &Path, text: &str, io: &mut Io) -> Result<(), LabError> {
    if is_standard(path) {
        io.out(text);
        return Ok(());
    }
    match std::fs::write(path, text) {
        Ok(()) => io.err(&format!("wrote {}\n", path.display())),
        // The reader has closed the pipe: that is not an error.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        Err(error) => {
            return Err(LabError::Data(format!("cannot write {}: {error}", path.display())));
        }
    }
    Ok(())
}
