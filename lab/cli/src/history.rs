//! `tiebreak history`: lists earlier runs.

use crate::exit;
use crate::io::Io;
use crate::options::Store;
use crate::quantities::above_0;
use clap::Args;
use tiebreak_lab::report::{self, table};
use tiebreak_lab::{LabError, history, watch};

#[derive(Debug, Args)]
pub struct HistoryOptions {
    /// How many runs, the latest first
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = above_0::<u64>())]
    pub limit: u64,

    /// All runs
    #[arg(long)]
    pub all: bool,

    /// As JSON
    #[arg(long)]
    pub json: bool,

    /// Watch each claim over all runs of it, and raise an alarm when it has changed
    #[arg(long, conflicts_with_all = ["limit", "all"])]
    pub watch: bool,

    /// With --watch: of this claim only
    #[arg(long, value_name = "SENTENCE", requires = "watch")]
    pub claim: Option<String>,

    /// With --watch: so many runs pass on average, at least, between two false alarms
    #[arg(long, value_name = "RUNS", default_value_t = 1000, requires = "watch",
          value_parser = clap::value_parser!(u64).range(2..))]
    pub between_alarms: u64,

    #[command(flatten)]
    pub store: Store,
}

/// The explanation of "(run 3)" after a verdict.
const REPEATED: &str = "run n of a claim on the same files: any of n is wrong with probability at \
                        most n times its error\n";

pub fn run(options: &HistoryOptions, io: &mut Io) -> Result<u8, LabError> {
    if options.watch {
        return watch(options, io);
    }
    let limit = (!options.all).then_some(options.limit);
    let runs = history::runs(options.store.path(), limit)?;
    if options.json {
        io.out(&history::json(&runs));
        return Ok(exit::HOLDS);
    }
    let rows: Vec<_> = runs.iter().map(history::row).collect();
    io.out(&table::history(&rows, &io.out_look()));
    if runs.iter().any(|run| run.repetition > 1) {
        io.out(REPEATED);
    }
    Ok(exit::HOLDS)
}

/// Prints claims over all their runs. The exit code says whether the latest run of one raised the
/// alarm.
fn watch(options: &HistoryOptions, io: &mut Io) -> Result<u8, LabError> {
    let (store, claim) = (options.store.path(), options.claim.as_deref());
    let series = watch::watch(store, claim, options.between_alarms as f64)?;
    if options.json {
        io.out(&watch::json(&series));
    } else {
        io.out(&report::watch::page(&series, &io.out_look()));
    }
    Ok(if report::watch::is_alarmed(&series) { exit::REFUTED } else { exit::HOLDS })
}
