//! `tiebreak compare`: which of these programs is faster?

use crate::failure::Failure;
use crate::io::Io;
use crate::options::{Judging, Measuring, OutputName};
use crate::quantities::{self, Parameter};
use crate::revisions::RevisionOptions;
use crate::{race, revisions};
use clap::{Args, ValueEnum, ValueHint};
use tiebreak_lab::core::metric::Metric;
use tiebreak_lab::core::plan::{
    Adjust, Budget, Centre, Check, Gate, OutputPlan, ProgramPlan, Success, workload_of,
};
use tiebreak_lab::machine::clock;
use tiebreak_lab::planning::{self, HookRequest, Request};

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
    #[arg(long, value_enum)]
    pub pairs: Option<Pairs>,

    /// Without a claim: the metric that is compared [default: wall time]
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
    pub revisions: RevisionOptions,

    #[command(flatten)]
    pub judging: Judging,

    #[command(flatten)]
    pub measuring: Measuring,
}

/// Which pairs are compared without a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Pairs {
    /// Each with the first
    First,
    /// Every pair
    All,
}

/// The default of the smallest difference that matters.
const RESOLUTION: f64 = 0.01;

pub fn run(options: CompareOptions, typed: Vec<String>, io: &mut Io) -> Result<u8, Failure> {
    let request = request(&options)?;
    if let Some(base) = &options.revisions.base {
        let resolution = options.judging.resolution.unwrap_or(revisions::RESOLUTION);
        let request = Request { resolution, ..request };
        if options.pairs.is_some() {
            let why = "--pairs is for many programs, and --base makes two: leave it";
            return Err(Failure::usage(why));
        }
        let CompareOptions { revisions, measuring, .. } = &options;
        return revisions::run(base, request, revisions, measuring, typed, io);
    }
    if !request.gate.is_none() && request.claims.is_empty() {
        return Err(Failure::usage(
            "--gate needs a --claim to hold or to be refuted, such as 'B is no more than 2% slower \
             than A'",
        ));
    }
    let plan = planning::plan(&request)?;
    race::start(plan, &options.measuring, typed, io)
}

fn request(options: &CompareOptions) -> Result<Request, Failure> {
    let mut request = judged(from_measuring(&options.measuring)?, &options.judging);
    request.commands.clone_from(&options.commands);
    request.names.clone_from(&options.names);
    let pair = |parameter: &Parameter| (parameter.name.clone(), parameter.values.clone());
    request.parameters = options.parameters.iter().map(pair).collect();
    request.claims.clone_from(&options.claims);
    let question_only = options.pairs.is_some() || options.by.is_some();
    if question_only && !options.claims.is_empty() {
        return Err(Failure::usage(
            "--by and --pairs are for a run without --claim: a claim names its pair, and its \
             metric as in 'A is faster than B by cpu time'",
        ));
    }
    request.all_pairs = options.pairs == Some(Pairs::All);
    request.metric = options.by.unwrap_or(request.metric);
    request.gate = revisions::gate(&options.revisions)?;
    request.hooks = HookRequest {
        setup: options.setup.clone(),
        prepare: options.prepare.clone(),
        conclude: options.conclude.clone(),
        cleanup: options.cleanup.clone(),
    };
    Ok(request)
}

/// Returns a request with the options about ratios, shares and means.
pub fn judged(request: Request, options: &Judging) -> Request {
    Request {
        resolution: options.resolution.unwrap_or(request.resolution),
        centre: match options.centre {
            _ if options.mean => Centre::Mean,
            Some(name) => name.into(),
            None => Centre::unless_said(options.adjust),
        },
        adjust: options.adjust,
        block_runs: options.block,
        ..request
    }
}

/// Returns a request from the options of every measuring command.
pub fn from_measuring(options: &Measuring) -> Result<Request, Failure> {
    let budget = match (options.budget, options.runs) {
        (Some(_), Some(_)) => {
            return Err(Failure::usage("--runs is a budget too: give it or --budget, not both"));
        }
        (None, Some(rounds)) => Some(Budget { rounds: Some(rounds), seconds: None }),
        (budget, None) => budget,
    };
    Ok(Request {
        commands: Vec::new(),
        names: Vec::new(),
        parameters: Vec::new(),
        claims: Vec::new(),
        all_pairs: false,
        metric: tiebreak_lab::core::metric::Metric::WallTime,
        error: options.error,
        resolution: RESOLUTION,
        budget,
        centre: Centre::unless_said(Adjust::NONE),
        adjust: Adjust::NONE,
        block_runs: 1,
        gate: Gate::None,
        directories: Vec::new(),
        seed: match &options.seed {
            Some(seed) => seed.clone(),
            None => tiebreak_lab::seed::from_system().map_err(Failure::data)?,
        },
        workload: workload(options),
        hooks: HookRequest::default(),
        program: program(options)?,
        clock_step_ns: clock::step_ns() as f64,
    })
}

/// Returns the workload of the contestants: as given, or the name of the input.
fn workload(options: &Measuring) -> String {
    options.workload.clone().unwrap_or_else(|| workload_of(options.input.as_deref()))
}

fn program(options: &Measuring) -> Result<ProgramPlan, Failure> {
    Ok(ProgramPlan {
        shell: options.shell.as_deref().and_then(ProgramPlan::shell_asked),
        input: options.input.as_deref().and_then(ProgramPlan::input_asked),
        output: match options.output {
            OutputName::Capture => OutputPlan::Capture,
            OutputName::Null => OutputPlan::Null,
        },
        directory: options.directory.clone(),
        timeout_ns: options.timeout,
        check: check(options)?,
        success: if options.ignore_failure {
            Success::Any
        } else {
            Success::Statuses(options.success.clone())
        },
        cpus: options.cpus.clone().unwrap_or_default().0,
        warmup_runs: options.warmup,
        wait_for_quiet: !options.no_wait,
        output_limit_bytes: options.output_limit,
    })
}

fn check(options: &Measuring) -> Result<Check, Failure> {
    let check = match options.check.as_deref() {
        None => Check::Default,
        Some(judge) if judge.trim().is_empty() => {
            return Err(Failure::usage(
                "--check is empty: say same-output, exit, or a program that judges an output",
            ));
        }
        Some(rule) => Check::asked(rule).map_err(|meant| {
            Failure::usage(format!("--check '{rule}': did you mean '{meant}'?"))
        })?,
    };
    if check.needs_output() && options.output == OutputName::Null {
        return Err(Failure::usage(
            "--check looks at outputs, which --output null throws away: leave one out",
        ));
    }
    Ok(check)
}
