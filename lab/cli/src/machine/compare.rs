//! `tiebreak machine compare`: shows two machines side by side.

use super::prints;
use crate::exit;
use crate::failure::Failure;
use crate::io::Io;
use crate::output::JsonTarget;
use clap::{Args, ValueHint};
use std::path::{Path, PathBuf};
use tiebreak_lab::probes::compare::{self, Named};

pub const EXAMPLES: &str = "\
Examples:
  tiebreak machine topology --json here.json --quiet && tiebreak machine compare here.json here.json
  tiebreak machine compare here.json here.json --price A=2.32,B=2.176

A print is what 'tiebreak machine --json FILE' writes, or the name of one that was kept: 'tiebreak
machine show --list' has them. With prices, what is sold by the hour (CPUs, memory,
bandwidth) is also shown divided by its price.";

#[derive(Debug, Args)]
pub struct CompareOptions {
    /// The first machine: a file, or the name of a print that was kept
    #[arg(value_name = "A", value_hint = ValueHint::FilePath)]
    a: PathBuf,

    /// The second machine
    #[arg(value_name = "B", value_hint = ValueHint::FilePath)]
    b: PathBuf,

    /// What they cost, in one unit: by A and B, or by the names of the files without their ending
    #[arg(long, value_name = "A=PRICE,B=PRICE")]
    price: Option<String>,

    /// Write the comparison as JSON; - for standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    json: Option<PathBuf>,

    /// Where prints are kept [default: the user's data folder]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    store: Option<PathBuf>,
}

pub fn run(options: &CompareOptions, io: &mut Io) -> Result<u8, Failure> {
    let json = JsonTarget::open(options.json.as_ref())?;
    let paths = [&options.a, &options.b];
    let names = paths.map(|path| name(path));
    let prices = match &options.price {
        None => [None; 2],
        Some(text) => compare::prices(text, [&names[0], &names[1]])
            .map_err(|error| Failure::usage(format!("--price: {error}")))?
            .map(Some),
    };
    let load = |path: &Path| prints::load(&path.to_string_lossy(), options.store.as_ref());
    let prints = [load(&options.a)?.print, load(&options.b)?.print];
    let named =
        |place: usize| Named { print: &prints[place], name: &names[place], price: prices[place] };
    let comparison = compare::compare(named(0), named(1));
    let page = compare::comparison(&comparison, &io.out_look());
    json.write_beside(&page, || compare::comparison_json(&comparison), io)?;
    Ok(exit::HOLDS)
}

/// Returns the name of a file without its extension.
fn name(path: &Path) -> String {
    path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
