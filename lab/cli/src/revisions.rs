//! `tiebreak compare --base`: two revisions of a repository, built and raced.

use crate::args::{CompareOptions, RevisionOptions};
use crate::failure::Failure;
use crate::io::Io;
use crate::{dry_run, exit, race};
use std::path::PathBuf;
use tiebreak_lab::core::plan::Gate;
use tiebreak_lab::measure::interrupt;
use tiebreak_lab::planning::Request;
use tiebreak_lab::report::shell_quote;
use tiebreak_lab::revisions::{self, RevisionRequest, Revisions, Step};

pub use tiebreak_lab::revisions::RESOLUTION;

/// What the options say of gates; two revisions are one unless nothing else is said.
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

/// Races the revisions that were asked for, of which `base` is one.
pub fn run(
    base: &str,
    request: Request,
    options: &CompareOptions,
    typed: Vec<String>,
    io: &mut Io,
) -> Result<u8, Failure> {
    let asked = asked(base, &options.revisions)?;
    if options.pairs.is_some() {
        return Err(Failure::usage("--pairs is for many programs, and --base makes two: leave it"));
    }
    let mut plan = revisions::plan(request, options.revisions.max_slowdown)?;
    if options.measuring.dry_run {
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
    let quiet = options.measuring.quiet;
    let made = Revisions::prepare(&asked, interrupt::flag(), |step| say(&step, quiet, io))?;
    made.place(&mut plan)?;
    let code = race::start(plan, &options.measuring, typed, io);
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

/// A line on standard error for each step; of notes, which are warnings, always.
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
