//! `tiebreak compare --base`: builds and races two revisions of a repository.

use crate::failure::Failure;
use crate::io::Io;
use crate::options::Measuring;
use crate::quantities;
use crate::{dry_run, exit, race};
use clap::Args;
use std::path::PathBuf;
use tiebreak_lab::core::plan::Gate;
use tiebreak_lab::measure::interrupt;
use tiebreak_lab::planning::Request;
use tiebreak_lab::report::shell_quote;
use tiebreak_lab::revisions::{self, RevisionRequest, Revisions, Step};

/// Options that make a race one of two revisions, and a claim a gate.
#[derive(Debug, Args)]
#[command(next_help_heading = "Two revisions, and gates")]
pub struct RevisionOptions {
    /// Race this revision of the repository, called base, against --head: a branch, a tag, a commit
    #[arg(long, value_name = "REVISION", allow_hyphen_values = true)]
    pub base: Option<String>,

    /// The revision that is judged, called head; '.' is the working tree as it is [default: HEAD]
    #[arg(long, value_name = "REVISION", requires = "base", allow_hyphen_values = true)]
    pub head: Option<String>,

    /// Build each revision by this, through sh -c, in its own worktree; not timed
    #[arg(long, value_name = "CMD", requires = "base")]
    pub build: Option<String>,

    /// How many builds run at the same time: 1 or 2
    #[arg(long, value_name = "N", requires = "base", default_value_t = 1,
          value_parser = clap::value_parser!(u8).range(1..=2))]
    pub build_jobs: u8,

    /// Without a claim: how much slower head may be (by --by, how much more it may need)
    #[arg(long, value_name = "SHARE", requires = "base", default_value = "2%",
          allow_hyphen_values = true, value_parser = quantities::fraction)]
    pub max_slowdown: f64,

    /// Leave the worktrees where they are, so that the run can be resumed
    #[arg(long, requires = "base")]
    pub keep: bool,

    /// Only 'refuted' fails: 'too close' and 'undecided' pass with a warning; --base implies it
    #[arg(long)]
    pub gate: bool,

    /// Of a gate: only 'holds' passes
    #[arg(long)]
    pub strict: bool,
}

pub use tiebreak_lab::revisions::RESOLUTION;

/// Returns the gate of the options; two revisions are one by default.
pub fn gate(options: &RevisionOptions) -> Result<Gate, Failure> {
    match options {
        RevisionOptions { strict: true, base: None, gate: false, .. } => {
            Err(Failure::usage("--strict is for gates: give --gate or --base too"))
        }
        RevisionOptions { strict: true, .. } => Ok(Gate::ClosedUnlessHolds),
        RevisionOptions { base: Some(_), .. } | RevisionOptions { gate: true, .. } => {
            Ok(Gate::OpenUnlessRefuted)
        }
        _ => Ok(Gate::None),
    }
}

/// Races the requested revisions, of which `base` is one.
pub fn run(
    base: &str,
    request: Request,
    options: &RevisionOptions,
    measuring: &Measuring,
    typed: Vec<String>,
    io: &mut Io,
) -> Result<u8, Failure> {
    let asked = asked(base, options)?;
    let mut plan = revisions::plan(request, options.max_slowdown)?;
    if measuring.dry_run {
        let found = revisions::find(&asked)?;
        found.notes.iter().for_each(|note| io.err(&format!("warning: {note}\n")));
        let lines = found.revisions.iter().map(|revision| {
            format!("  {}: {} ({})\n", revision.name, revision.asked, revision.short())
        });
        io.out(&("revisions\n".to_owned() + &lines.collect::<String>()));
        if let Some(command) = &asked.build {
            io.out(&format!("build\n  {command}\n"));
        }
        io.out(&dry_run::describe(&plan));
        return Ok(exit::HOLDS);
    }
    let quiet = measuring.quiet;
    let made = Revisions::prepare(&asked, interrupt::flag(), |step| say(&step, quiet, io))?;
    made.place(&mut plan)?;
    let code = race::start(plan, measuring, typed, io);
    if asked.keeps {
        let root = made.root().display().to_string();
        let quoted = shell_quote(&root);
        io.err(&format!("kept: {root}; to remove it: rm -rf {quoted} && git worktree prune\n"));
    } else if matches!(code, Ok(exit::INTERRUPTED)) {
        io.err("but not this run: its worktrees are gone, and --keep would have kept them\n");
    }
    code
}

fn asked(base: &str, options: &RevisionOptions) -> Result<RevisionRequest, Failure> {
    let directory: PathBuf = std::env::current_dir()
        .map_err(|error| Failure::data(format!("the current folder is not known: {error}")))?;
    Ok(RevisionRequest {
        base: base.to_owned(),
        head: options.head.clone().unwrap_or_else(|| "HEAD".to_owned()),
        build: options.build.clone(),
        directory,
        builds_at_once: options.build_jobs > 1,
        keeps: options.keep,
    })
}

/// Prints a line on standard error for each step; notes, which are warnings, are always printed.
pub fn say(step: &Step<'_>, quiet: bool, io: &mut Io) {
    let line = match step {
        Step::Noted(note) => format!("warning: {note}\n"),
        _ if quiet => return,
        Step::CheckingOut { revision } => {
            format!("{}: checking {} out ({})\n", revision.name, revision.asked, revision.short())
        }
        Step::Building { revision, command } => format!("{}: {command}\n", revision.name),
    };
    io.err(&line);
}
