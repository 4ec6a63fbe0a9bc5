//! `tiebreak suite`: the benchmarks that a project has, base against head, under one error.

use crate::choice::{Names, one_of};
use crate::io::Io;
use crate::options::{CiFiles, Reporting, Store};
use crate::screen::Screen;
use crate::{compare, exit, github, quantities};
use clap::Args;
use std::time::Duration;
use tiebreak_lab::core::plan::Budget;
use tiebreak_lab::core::result::{Family, SuiteResult};
use tiebreak_lab::report::ci::junit;
use tiebreak_lab::report::{check, json, number, suite as page};
use tiebreak_lab::revisions::RevisionRequest;
use tiebreak_lab::studies::Book;
use tiebreak_lab::suite::{self, SLICE, Step, SuiteRequest};
use tiebreak_lab::{LabError, interrupt, source};

#[derive(Debug, Args)]
pub struct SuiteOptions {
    /// The revision that is compared with: a branch, a tag, a commit
    #[arg(long, value_name = "REVISION", allow_hyphen_values = true)]
    pub base: String,

    #[arg(long, allow_hyphen_values = true)]
    pub head: Option<String>,

    /// The harness, where the project does not show which it is: criterion, go, google-benchmark,
    /// pytest-benchmark, or custom
    #[arg(long, value_name = "NAME")]
    pub harness: Option<String>,

    #[arg(long)]
    pub build: Option<String>,

    /// Only benchmarks with this in their names
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,

    /// About how long a benchmark is timed in a process [default: 20ms]
    #[arg(long, value_name = "TIME", value_parser = quantities::duration_ns)]
    pub slice: Option<u64>,

    #[arg(long, allow_hyphen_values = true, value_parser = quantities::fraction)]
    pub max_slowdown: f64,

    #[arg(long, allow_hyphen_values = true, value_parser = quantities::fraction)]
    pub error: f64,

    /// How the error is kept over all benchmarks [default: e-bonferroni, above 20 benchmarks e-bh]
    #[arg(long, value_parser = one_of(FAMILIES))]
    pub family: Option<Family>,

    /// The most that the races may use, such as 300s or '50 rounds' [default: 5min]
    #[arg(long, value_name = "BUDGET", value_parser = quantities::budget)]
    pub budget: Option<Budget>,

    #[arg(long)]
    pub seed: Option<String>,

    /// Leave the worktrees where they are
    #[arg(long)]
    pub keep: bool,

    #[command(flatten)]
    pub ci_files: CiFiles,

    #[command(flatten)]
    pub reporting: Reporting,

    #[command(flatten)]
    pub store: Store,

    /// What is said to the harness: further words of its build, of 'custom' the command
    #[arg(last = true, value_name = "ARGS")]
    pub words: Vec<String>,
}

const FAMILIES: Names<Family> = &[
    ("e-bonferroni", "The probability of any wrong verdict", Family::EBonferroni),
    ("e-bh", "The share of wrong verdicts among those that prove something", Family::EBh),
];

pub fn run(options: SuiteOptions, io: &mut Io) -> Result<u8, LabError> {
    let (quiet, keeps) = (options.reporting.quiet, options.keep);
    let asked = SuiteRequest {
        revisions: RevisionRequest {
            base: options.base,
            head: options.head.unwrap_or_else(|| "HEAD".to_owned()),
            build: options.build,
            directory: crate::here()?,
            builds_at_once: false,
            keeps: options.keep,
        },
        harness: options.harness,
        words: options.words,
        filter: options.filter,
        slice: options.slice.map_or(SLICE, Duration::from_nanos),
        max_slowdown: options.max_slowdown,
        error: options.error,
        family: options.family,
        budget: options.budget,
        seed: options.seed,
    };
    let json = options.reporting.json.open(json::text::<SuiteResult>)?;
    let junit = |suite: &SuiteResult| junit::text(&suite.check);
    let targets = options.ci_files.open(json, junit, page::markdown)?;
    let book = Book::here(source::store_path(options.store.path())?, io.typed.clone());
    let stop = interrupt::flag();
    let mut line_up = suite::line_up(&asked, &book, stop, |step| say(&step, quiet, io))?;
    if !quiet {
        let seconds = number::seconds(line_up.round_seconds);
        let benchmarks = number::count(line_up.count() as u64, "benchmark");
        io.err(&format!("{benchmarks}; a round of all takes about {seconds}\n"));
    }
    let result = Screen::during(io, quiet, |screen| {
        line_up.race(stop, |standing| {
            screen.show_as(|look, is_frame| check::progress(&standing(), look, is_frame));
        })
    })?;
    let text = if quiet {
        format!("{}\n", page::sentence(&result))
    } else {
        page::page(&result, &io.out_look())
    };
    targets.print(&text, io);
    github::tell(&result.check, io);
    targets.write(&result, io)?;
    if keeps {
        compare::say_kept(line_up.root(), io);
    }
    if result.check.interrupted {
        io.err("interrupted: the benchmarks that were settled keep their words\n");
    }
    let runs = result.check.contests.iter().map(|contest| &contest.run);
    Ok(exit::of_runs(result.check.interrupted, runs))
}

fn say(step: &Step<'_>, quiet: bool, io: &mut Io) {
    let line = match step {
        Step::Revision(step) => return compare::say(step, quiet, io),
        Step::Failed(name, failure) => {
            format!("warning: {name}: what could be timed is raced, but {failure}\n")
        }
        _ if quiet => return,
        Step::Harness(name, Some(file)) => {
            let file = file.file_name().unwrap_or_default().to_string_lossy();
            format!("harness: {name}, as {file} shows\n")
        }
        Step::Harness(name, None) => format!("harness: {name}\n"),
        Step::Building(name) => format!("{name}: building its benchmarks\n"),
        Step::Looking(name) => format!("{name}: running each benchmark once\n"),
    };
    io.err(&line);
}
