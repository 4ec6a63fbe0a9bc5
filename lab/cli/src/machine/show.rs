//! `tiebreak machine show`: shows a print from the store.

use super::Pictures;
use super::prints::{self, LATEST, Loaded};
use crate::exit;
use crate::failure::Failure;
use crate::io::Io;
use crate::output::JsonTarget;
use crate::output_file::OutputFile;
use crate::source;
use clap::{Args, ValueHint};
use std::path::PathBuf;
use tiebreak_lab::probes::{self, ListRow, Probe};
use tiebreak_lab::store::{PrintSummary, Store};

pub const EXAMPLES: &str = "\
Examples:
  tiebreak machine show
  tiebreak machine show --list
  tiebreak machine show latest --probe energy
  tiebreak machine show --html machine.html --svg pictures

Each 'tiebreak machine' that looks at all of the machine keeps a print. What is shown is what was
found then: nothing is measured.";

#[derive(Debug, Args)]
pub struct ShowOptions {
    /// The print: its name, the beginning of it, or a file that --json wrote [default: the latest]
    #[arg(value_name = "NAME|FILE", value_hint = ValueHint::FilePath)]
    print: Option<String>,

    /// List the prints that were kept
    #[arg(long, conflicts_with_all = ["print", "probe", "json", "svg", "html"])]
    list: bool,

    /// Show everything that this probe found
    #[arg(long, value_name = "PROBE", value_parser = probe)]
    probe: Option<Probe>,

    /// Write the print as JSON; - for standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    json: Option<PathBuf>,

    /// Write the pictures of all probes as SVG into a folder; with --probe, its picture into a file
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::AnyPath)]
    svg: Option<PathBuf>,

    /// Write the print as one page of HTML, with its pictures
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    html: Option<PathBuf>,

    /// Where prints are kept [default: the user's data folder]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    store: Option<PathBuf>,
}

fn probe(text: &str) -> Result<Probe, String> {
    let found = Probe::ALL.into_iter().find(|probe| probe.name() == text);
    found.ok_or_else(|| {
        let names = Probe::ALL.map(Probe::name).join(", ");
        format!("no probe is called '{text}': there are {names}")
    })
}

pub fn run(options: &ShowOptions, io: &mut Io) -> Result<u8, Failure> {
    if options.list {
        return list(options, io);
    }
    let json = JsonTarget::open(options.json.as_ref())?;
    let html = OutputFile::open("html", options.html.as_ref())?;
    let asked = options.print.as_deref().unwrap_or(LATEST);
    let Loaded { name, print } = prints::load(asked, options.store.as_ref())?;
    let pictures = Pictures::open(options.probe, options.svg.as_ref())?;
    let look = io.out_look();
    let page = match options.probe {
        Some(probe) => probes::page(&print, probe, &look),
        None => probes::screen(&print, name.as_deref(), &look),
    };
    let shown = json.write_beside(&page, || probes::json(&print), io);
    let html =
        html.map_or(Ok(()), |file| file.write(&probes::machine_page(&print, name.as_deref())));
    shown.and(pictures.write(&print)).and(html)?;
    match options.probe {
        Some(probe) if print.state(probe).is_none() => {
            Err(Failure::data(format!("this print has no {}: it was not asked for", probe.name())))
        }
        _ => Ok(exit::HOLDS),
    }
}

fn list(options: &ShowOptions, io: &mut Io) -> Result<u8, Failure> {
    let path = source::store_path(options.store.as_ref())?;
    // Before the first run there is neither a store nor a print.
    let prints = if path.exists() { Store::open_existing(&path)?.prints()? } else { Vec::new() };
    let rows: Vec<ListRow> = prints.iter().map(row).collect();
    let page = probes::list(&rows, &io.out_look());
    io.out(&page);
    Ok(exit::HOLDS)
}

fn row(print: &PrintSummary) -> ListRow {
    ListRow {
        name: print.id.to_string(),
        taken_unix_ms: print.taken_unix_ms,
        took_ns: print.took_ns,
        machine: print.machine.clone(),
    }
}
