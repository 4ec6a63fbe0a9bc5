//! `tiebreak study verify`: compares every answer with the oracle's.

use super::{Place, clear, environment, find, say};
use crate::exit;
use crate::failure::Failure;
use crate::io::Io;
use clap::{Args, ValueHint};
use tiebreak_lab::core::plan::Budget;
use tiebreak_lab::core::result::VerifyRow;
use tiebreak_lab::core::study::Placements;
use tiebreak_lab::report;
use tiebreak_lab::studies::{self, Pinning, Progress, StudyRequest};

#[derive(Debug, Args)]
pub struct VerifyOptions {
    /// The study: its folder or its name
    #[arg(value_name = "NAME", value_hint = ValueHint::DirPath)]
    pub name: String,

    /// What takes long, too
    #[arg(long)]
    pub full: bool,

    /// These workloads only, and none of what is only verified
    #[arg(long, value_name = "WORKLOAD")]
    pub only: Vec<String>,

    /// These contestants only
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub contestants: Vec<String>,

    /// Seed of the inputs that are drawn: any text [default: from the system]
    #[arg(long, value_name = "TEXT")]
    pub seed: Option<String>,

    #[command(flatten)]
    pub place: Place,

    /// No progress
    #[arg(long, short = 'q')]
    pub quiet: bool,
}

pub fn run(options: VerifyOptions, io: &mut Io) -> Result<u8, Failure> {
    let study = find(&options.name, options.place.studies.as_deref(), io)?;
    let seed = match options.seed {
        Some(seed) => seed,
        None => tiebreak_lab::seed::from_system().map_err(Failure::data)?,
    };
    let asked = StudyRequest {
        study,
        only: options.only,
        contestants: options.contestants,
        claims: Vec::new(),
        asks_order: false,
        scope: None,
        centre: None,
        precision: None,
        error: 0.01,
        resolution: 0.01,
        budget: Some(Budget { rounds: Some(1), seconds: None }),
        seed,
        pinning: Pinning::Any,
        wait_for_quiet: false,
        placements: Placements::Fresh,
    };
    let quiet = options.quiet;
    let environment = environment()?;
    let shared = std::cell::RefCell::new(&mut *io);
    let rows = studies::verify(
        &asked,
        options.full,
        &environment,
        &mut |step| say(&step, quiet, &mut shared.borrow_mut()),
        &mut |progress| tell(&progress, quiet, &mut shared.borrow_mut()),
    );
    clear(io);
    let rows = rows?;
    io.out(&report::study::verify(&rows, &io.out_look()));
    io.out(&report::study::looked_for(&asked.study, &io.out_look()));
    Ok(code(&rows))
}

/// Prints a line for each workload, and for many parts a line from time to time.
fn tell(progress: &Progress<'_>, quiet: bool, io: &mut Io) {
    let Progress { workload, part, parts } = progress;
    let redraws = io.err_redraws();
    let is_told = redraws || *part == 1 || (parts / 8 > 0 && part % (parts / 8) == 0);
    if quiet || !is_told {
        return;
    }
    clear(io);
    let end = if redraws { "" } else { "\n" };
    match parts {
        1 => io.err(&format!("{workload}{end}")),
        _ => io.err(&format!("{workload}: part {part} of {parts}{end}")),
    }
}

/// Returns the exit code: a wrong answer is `void`.
fn code(rows: &[VerifyRow]) -> u8 {
    if rows.iter().any(|row| row.fault.is_some()) { exit::VOID } else { exit::HOLDS }
}
