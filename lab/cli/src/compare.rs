//! `tiebreak compare`: which of these programs, or of two revisions of one, is faster?

use crate::choice::{Names, one_of};
use crate::io::Io;
use crate::options::{Judging, Measuring};
use crate::quantities::{self, Parameter};
use crate::{exit, load, race};
use clap::{Args, ValueHint};
use std::path::Path;
use tiebreak_lab::core::metric::Metric;
use tiebreak_lab::core::plan::{Budget, Centre, Gate, ProgramPlan, Success, workload_of};
use tiebreak_lab::core::server::ServerPlan;
use tiebreak_lab::planning::{self, HookRequest, Request, check_rule, seed_or_random};
use tiebreak_lab::report::{contents, shell_quote};
use tiebreak_lab::revisions::{self, RevisionRequest, Revisions, Step};
use tiebreak_lab::{LabError, interrupt};

#[derive(Debug, Args)]
pub struct CompareOptions {
    /// The programs: two or more, called A, B, ... or by --name; after --base one
    #[arg(value_name = "COMMAND", required = true, value_hint = ValueHint::CommandString)]
    pub commands: Vec<String>,

    /// Name of a program, in the order of the commands; one with spaces stands in quotes in a claim
    #[arg(long = "name", short = 'n', value_name = "NAME")]
    pub names: Vec<String>,

    /// A claim to settle, such as 'A is at least 1.5x faster than B'; may be repeated
    #[arg(long = "claim", value_name = "SENTENCE")]
    pub claims: Vec<String>,

    /// Without a claim: compare each with the first, or all pairs [default: first]
    #[arg(long, value_parser = one_of(PAIRS))]
    pub pairs: Option<bool>,

    /// Without a claim: the metric that is compared [default: wall time; of servers at a --rate p99
    /// latency]
    #[arg(long, value_name = "METRIC", value_parser = quantities::metric)]
    pub by: Option<Metric>,

    /// Values for {name} in commands, hooks and names: level=1,6,9 or threads=1..8 or n=10..90..20;
    /// may be repeated
    #[arg(long = "parameter", short = 'L', visible_alias = "parameter-list",
          value_name = "NAME=VALUES", value_parser = quantities::parameter)]
    pub parameters: Vec<Parameter>,

    #[arg(long, short = 's')]
    pub setup: Vec<String>,

    #[arg(long, short = 'p')]
    pub prepare: Vec<String>,

    #[arg(long, short = 'C')]
    pub conclude: Vec<String>,

    #[arg(long, short = 'c')]
    pub cleanup: Vec<String>,

    #[command(flatten)]
    pub servers: ServerOptions,

    #[command(flatten)]
    pub revisions: RevisionOptions,

    #[command(flatten)]
    pub judging: Judging,

    #[command(flatten)]
    pub measuring: Measuring,
}

/// Which pairs are compared without a claim: whether all.
const PAIRS: Names<bool> = &[("first", "Each with the first", false), ("all", "Every pair", true)];

/// Options that make the commands of a comparison servers.
#[derive(Debug, Args)]
#[command(next_help_heading = "Servers")]
pub struct ServerOptions {
    #[arg(long, value_parser = load::of_servers)]
    pub load: Option<ServerPlan>,

    #[arg(long, requires = "load", value_parser = quantities::duration_ns)]
    pub ready_within: Option<u64>,
}

impl ServerOptions {
    /// Returns how the commands are loaded, if they are servers.
    pub fn plan(&self) -> Option<Box<ServerPlan>> {
        let mut plan = self.load.clone()?;
        self.ready_within.iter().for_each(|ns| plan.ready_within_ns = *ns);
        Some(Box::new(plan))
    }
}

/// Options that make a race one of two revisions, and a claim a gate.
#[derive(Debug, Args)]
#[command(next_help_heading = "Two revisions, and gates")]
pub struct RevisionOptions {
    /// Race this revision of the repository, called base, against --head: a branch, a tag, a commit
    #[arg(long, value_name = "REVISION", allow_hyphen_values = true)]
    pub base: Option<String>,

    #[arg(long, requires = "base", allow_hyphen_values = true)]
    pub head: Option<String>,

    #[arg(long, requires = "base")]
    pub build: Option<String>,

    #[arg(long, requires = "base", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub build_jobs: u8,

    #[arg(long, requires = "base", allow_hyphen_values = true,
          value_parser = quantities::fraction)]
    pub max_slowdown: f64,

    /// Leave the worktrees where they are, so that the run can be resumed
    #[arg(long, requires = "base")]
    pub keep: bool,

    #[arg(long)]
    pub gate: bool,

    #[arg(long)]
    pub strict: bool,
}

pub fn run(options: CompareOptions, io: &mut Io) -> Result<u8, LabError> {
    let request = request(&options)?;
    let CompareOptions { pairs, revisions, judging, measuring, .. } = &options;
    if let Some(base) = &revisions.base {
        let resolution = judging.resolution.unwrap_or(revisions::RESOLUTION);
        if pairs.is_some() {
            return usage("--pairs is for many programs, and --base makes two: leave it");
        }
        let request = Request { resolution, ..request };
        return race_revisions(base, request, revisions, measuring, io);
    }
    if !request.gate.is_none() && request.claims.is_empty() {
        return usage(
            "--gate needs a --claim to hold or to be refuted, such as 'B is no more than 2% slower \
             than A'",
        );
    }
    race::start(planning::plan(&request)?, measuring, None, io)
}

fn usage<T>(text: &str) -> Result<T, LabError> {
    Err(LabError::Usage(text.to_owned()))
}

fn request(options: &CompareOptions) -> Result<Request, LabError> {
    let request = judged(from_measuring(&options.measuring)?, &options.judging);
    let request = loaded(request, &options.servers);
    let CompareOptions { commands, names, parameters, claims, pairs, by, .. } = options;
    if (pairs.is_some() || by.is_some()) && !claims.is_empty() {
        return usage(
            "--by and --pairs are for a run without --claim: a claim names its pair, and its \
             metric as in 'A is faster than B by cpu time'",
        );
    }
    Ok(Request {
        commands: commands.clone(),
        names: names.clone(),
        parameters: parameters.clone(),
        claims: claims.clone(),
        all_pairs: pairs.unwrap_or(false),
        metric: by.unwrap_or(request.metric),
        gate: gate(&options.revisions)?,
        hooks: HookRequest {
            setup: options.setup.clone(),
            prepare: options.prepare.clone(),
            conclude: options.conclude.clone(),
            cleanup: options.cleanup.clone(),
        },
        ..request
    })
}

/// Returns a request about servers, if there are options about them.
pub fn loaded(request: Request, options: &ServerOptions) -> Request {
    let servers = options.plan();
    let metric = servers.as_ref().map_or(request.metric, |plan| plan.usual_metric());
    Request { servers, metric, ..request }
}

/// Returns a request with the options about ratios, shares and means.
pub fn judged(request: Request, options: &Judging) -> Request {
    let primer = options.primer.unwrap_or(request.program.primer);
    Request {
        program: ProgramPlan { primer, ..request.program },
        resolution: options.resolution.unwrap_or(request.resolution),
        centre: match options.centre {
            _ if options.mean => Centre::Mean,
            Some(centre) => centre,
            None => Centre::unless_said(options.adjust),
        },
        adjust: options.adjust,
        block_runs: options.block,
        ..request
    }
}

/// Returns a request from the options of every measuring command.
pub fn from_measuring(options: &Measuring) -> Result<Request, LabError> {
    let budget = match (options.budget, options.runs) {
        (Some(_), Some(_)) => {
            return usage("--runs is a budget too: give it or --budget, not both");
        }
        (None, Some(rounds)) => Some(Budget { rounds: Some(rounds), seconds: None }),
        (budget, None) => budget,
    };
    let workload = options.workload.clone();
    let request = Request::new(Vec::new(), seed_or_random(options.seed.as_deref())?);
    Ok(Request {
        error: options.error,
        budget,
        workload: workload.unwrap_or_else(|| workload_of(options.input.as_deref())),
        program: program(options)?,
        ..request
    })
}

fn program(options: &Measuring) -> Result<ProgramPlan, LabError> {
    Ok(ProgramPlan {
        shell: options.shell.as_deref().and_then(ProgramPlan::shell_asked),
        input: options.input.as_deref().and_then(ProgramPlan::input_asked),
        output: options.output,
        directory: options.directory.clone(),
        timeout_ns: options.timeout,
        check: check_rule(options.check.as_deref(), options.output)?,
        success: if options.ignore_failure {
            Success::Any
        } else {
            Success::Statuses(options.success.clone())
        },
        cpus: options.cpus.clone().unwrap_or_default(),
        warmup_runs: options.warmup,
        wait_for_quiet: !options.no_wait,
        output_limit_bytes: options.output_limit,
        ..ProgramPlan::default()
    })
}

/// Returns the gate of the options; two revisions are one by default.
fn gate(options: &RevisionOptions) -> Result<Gate, LabError> {
    let is_gate = options.gate || options.base.is_some();
    if options.strict && !is_gate {
        return usage("--strict is for gates: give --gate or --base too");
    }
    Ok(Gate::of(is_gate, options.strict))
}

/// Builds and races the requested revisions, of which `base` is one.
fn race_revisions(
    base: &str,
    request: Request,
    options: &RevisionOptions,
    measuring: &Measuring,
    io: &mut Io,
) -> Result<u8, LabError> {
    let asked = RevisionRequest {
        base: base.to_owned(),
        head: options.head.clone().unwrap_or_else(|| "HEAD".to_owned()),
        build: options.build.clone(),
        directory: crate::here()?,
        builds_at_once: options.build_jobs > 1,
        keeps: options.keep,
    };
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
        io.out(&contents::planned(&plan));
        return Ok(exit::HOLDS);
    }
    let quiet = measuring.reporting.quiet;
    let made = Revisions::prepare(&asked, interrupt::flag(), |step| say(&step, quiet, io))?;
    made.place(&mut plan)?;
    let code = race::start(plan, measuring, None, io);
    if asked.keeps {
        say_kept(made.root(), io);
    } else if matches!(code, Ok(exit::INTERRUPTED)) {
        io.err("but not this run: its worktrees are gone, and --keep would have kept them\n");
    }
    code
}

/// Says where the worktrees stay.
pub fn say_kept(root: &Path, io: &mut Io) {
    let root = root.display().to_string();
    let quoted = shell_quote(&root);
    io.err(&format!("kept: {root}; to remove it: rm -rf {quoted} && git worktree prune\n"));
}

/// Prints a line on standard error for each step; notes, which are warnings, are always printed.
pub fn say(step: &Step<'_>, quiet: bool, io: &mut Io) {
    let line = match step {
        Step::Noted(note) => format!("warning: {note}\n"),
        _ if quiet => return,
        Step::CheckingOut(revision) => {
            format!("{}: checking {} out ({})\n", revision.name, revision.asked, revision.short())
        }
        Step::Building(revision, command) => format!("{}: {command}\n", revision.name),
    };
    io.err(&line);
}
