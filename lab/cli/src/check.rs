//! `tiebreak check`: settles every claim of a file, under one error.

use crate::io::Io;
use crate::options::{CiFiles, Reporting, Store};
use crate::screen::Screen;
use crate::{compare, exit, github, load, quantities};
use clap::Args;
use std::path::PathBuf;
use tiebreak_lab::claims_file::{self, FileRequest, Step};
use tiebreak_lab::core::plan::Budget;
use tiebreak_lab::report::check::{page, progress, verdicts};
use tiebreak_lab::report::ci::{junit, markdown};
use tiebreak_lab::report::{json, store_option};
use tiebreak_lab::studies::Book;
use tiebreak_lab::{LabError, input, interrupt, source};

/// The default file.
const FILE: &str = "claims.toml";
/// The schema that editors use to check files of claims.
const SCHEMA: &str = include_str!("../../../docs/schema/claims-1.schema.json");

#[derive(Debug, Args)]
pub struct CheckOptions {
    /// The file of claims
    #[arg(value_name = "FILE", default_value = FILE)]
    pub file: PathBuf,

    /// Print a file with every field, each explained, that runs as it is
    #[arg(long)]
    pub example: bool,

    /// Print the schema of such files, for editors
    #[arg(long, conflicts_with = "example")]
    pub schema: bool,

    /// Go on with what is there: contests that were settled keep their verdicts, and those that
    /// were interrupted or ran out of budget go on, if the file still says the same of them
    #[arg(long)]
    pub resume: bool,

    /// Race this contest only; the error of its claims stays what the whole file gives them
    #[arg(long, value_name = "CONTEST")]
    pub only: Vec<String>,

    /// Of contests of two revisions, the revision that is compared with, whatever the file says
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,

    /// Of contests of two revisions, the revision that is compared, whatever the file says
    #[arg(long, value_name = "REV")]
    pub head: Option<String>,

    #[arg(long, value_parser = quantities::budget)]
    pub budget: Option<Budget>,

    #[arg(long)]
    pub seed: Option<String>,

    #[command(flatten)]
    pub ci_files: CiFiles,

    #[command(flatten)]
    pub reporting: Reporting,

    #[command(flatten)]
    pub store: Store,

    /// Say what would be raced, and run nothing
    #[arg(long)]
    pub dry_run: bool,
}

pub fn run(options: CheckOptions, io: &mut Io) -> Result<u8, LabError> {
    if options.example || options.schema {
        io.out(if options.example { input::EXAMPLE } else { SCHEMA });
        return Ok(exit::HOLDS);
    }
    let CheckOptions { file, only, base, head, budget, seed, .. } = &options;
    let quiet = options.reporting.quiet;
    let planned = claims_file::plan(&FileRequest {
        path: file.clone(),
        only: only.clone(),
        base: base.clone(),
        head: head.clone(),
        budget: *budget,
        seed: seed.clone(),
        read_load: Some(load::of_servers),
    })?;
    if seed.is_none() {
        // So that a repeated race of the file has the same coins, whatever their source.
        io.typed.extend(["--seed".to_owned(), planned.seed.clone()]);
    }
    if options.dry_run {
        io.out(&planned.describe());
        return Ok(exit::HOLDS);
    }
    let json = options.reporting.json.open(json::text)?;
    let targets = options.ci_files.open(json, junit::text, markdown::text)?;
    let book = Book::here(source::store_path(options.store.path())?, io.typed.clone());
    let stop = interrupt::flag();
    let mut line_up = planned.line_up(&book, options.resume, stop, |step| say(&step, quiet, io))?;
    let result = Screen::during(io, quiet, |screen| {
        line_up.contests.race(stop, |standing| {
            screen.show_as(|look, is_frame| progress(&standing(), look, is_frame));
        })
    })?;
    targets.print(&if quiet { verdicts(&result) } else { page(&result, &io.out_look()) }, io);
    github::tell(&result, io);
    targets.write(&result, io)?;
    if result.interrupted {
        let (file, store) = (file.display(), store_option(&io.typed));
        io.err(&format!(
            "interrupted: everything is kept; 'tiebreak check {file} --resume{store}' goes on \
             (contests of revisions from their beginning, as their worktrees are gone)\n"
        ));
    }
    let runs = result.contests.iter().map(|contest| &contest.run);
    Ok(exit::of_runs(result.interrupted, runs))
}

fn say(step: &Step<'_>, quiet: bool, io: &mut Io) {
    match step {
        Step::Revision(step) => compare::say(step, quiet, io),
        Step::Changed(contest) => {
            io.err(&format!("{contest}: the file says otherwise now, so it begins anew\n"));
        }
    }
}
