//! `tiebreak slo`: how often does a command succeed, and how many of a stream's values are good?

use crate::compare::from_measuring;
use crate::failure::Failure;
use crate::io::Io;
use crate::options::Measuring;
use crate::output::SvgTarget;
use crate::quantities::{self, Bar};
use crate::race;
use clap::{ArgGroup, Args, ValueHint};
use std::path::PathBuf;
use tiebreak_lab::core::claim::{Claim, Property, Statement};
use tiebreak_lab::core::metric::Metric;
use tiebreak_lab::core::plan::{Check, Plan};
use tiebreak_lab::input;
use tiebreak_lab::planning::{self, Request, Subject};

/// The default number of lines in a block: 30 times a burst of some thirty failures.
const BLOCK_LINES: u64 = 1000;
/// The name of the command or the stream.
const NAME: &str = "A";

pub const EXAMPLES: &str = "\
Examples:
  tiebreak slo --at-least 90% --budget 20s -- true
  tiebreak slo --good 99% --bad 90% -- grep -q needle text.txt
  tiebreak slo --at-least 90% --below 50ms --budget 20s -- gzip -1 -c text.txt
  yes 1 | tiebreak slo --stdin --good 98% --bad 96% --independent
  seq 9000 | sed 's/.*[1-9]$/1/; s/.*0$/0/' | tiebreak slo --stdin --at-least 80% --markov
  cut -d' ' -f3 latencies.log | tiebreak slo --stdin --value --below 5ms --at-least 99%

With two rates, holds says that the rate is above the bad one, refuted that it is below the good
one, and between them either is right. With --stdin, a line is 1 for a success and 0 for a failure,
and 1000 lines one after the other are one observation, because requests fail in bursts; if nothing
ties them together, --independent lets each line be one, and --markov lets each depend on the one
before alone, which takes far fewer lines than blocks. A line 'timeout' or 'inf' among numbers is a
value above every bar. Blank lines and lines that begin with # are passed over.";

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("what").required(true).args(["at_least", "good", "claim"])))]
pub struct SloOptions {
    /// The command and its words, after --; a run succeeds if it ends with status 0
    #[arg(value_name = "COMMAND", last = true, value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<String>,

    /// The rate that is claimed: at least this share succeeds
    #[arg(long, value_name = "SHARE", value_parser = quantities::rate,
          conflicts_with_all = ["good", "bad"])]
    pub at_least: Option<f64>,

    /// The rate that is good: below it the claim may be refuted
    #[arg(long, value_name = "SHARE", value_parser = quantities::rate, requires = "bad")]
    pub good: Option<f64>,

    /// The rate that is bad: above it the claim may hold
    #[arg(long, value_name = "SHARE", value_parser = quantities::rate, requires = "good")]
    pub bad: Option<f64>,

    /// A sentence instead, such as 'p99 of A is below 5 ms'
    #[arg(long, value_name = "SENTENCE",
          conflicts_with_all = ["at_least", "good", "bad", "below"])]
    pub claim: Option<String>,

    /// Judge lines of standard input instead of runs of a command
    #[arg(long, conflicts_with = "command")]
    pub stdin: bool,

    /// Lines are numbers
    #[arg(long, requires = "stdin")]
    pub value: bool,

    /// A value is good if it is at most this: a time such as 5ms, or of lines a plain number too;
    /// numbers on lines are in its unit unless they have one of their own
    #[arg(long, value_name = "VALUE", value_parser = quantities::bar, allow_hyphen_values = true)]
    pub below: Option<Bar>,

    /// Each line is an observation of its own: nothing ties it to those before
    #[arg(long, requires = "stdin", conflicts_with = "block")]
    pub independent: bool,

    /// Each line depends on the one before, and on nothing else (a chain of two states): the rate
    /// is the one of the long run, whatever the length of bursts
    #[arg(long, requires = "stdin", conflicts_with_all = ["block", "independent", "value"])]
    pub markov: bool,

    /// How many runs or lines one after the other make one observation [default: 1 run, 1000 lines]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub block: Option<u64>,

    /// Draw the result as SVG
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub svg: Option<PathBuf>,

    #[command(flatten)]
    pub measuring: Measuring,
}

pub fn run(options: SloOptions, typed: Vec<String>, io: &mut Io) -> Result<u8, Failure> {
    check_subject(&options)?;
    let plan = plan(&options)?;
    let svg = SvgTarget::open(options.svg.as_ref())?;
    if options.stdin {
        race::read_stream(plan, &options.measuring, svg, typed, io)
    } else {
        race::start_with(plan, &options.measuring, svg, typed, io)
    }
}

fn check_subject(options: &SloOptions) -> Result<(), Failure> {
    if !options.stdin && options.command.is_empty() {
        return Err(Failure::usage(
            "what is to be judged? a command after --, as in 'tiebreak slo --at-least 98% -- CMD', \
             or lines of 0 and 1 with --stdin",
        ));
    }
    if options.value && options.below.is_none() && options.claim.is_none() {
        return Err(Failure::usage("--value needs to know which values are good: --below 5ms"));
    }
    if options.stdin && options.block == Some(1) {
        return Err(Failure::usage(
            "blocks of one line make each line an observation of its own: if nothing ties it to \
             those before, say so by --independent",
        ));
    }
    if options.stdin && options.below.is_some() && !options.value {
        return Err(Failure::usage("--below is about numbers: say --value too"));
    }
    if let (Some(good), Some(bad)) = (options.good, options.bad)
        && good <= bad
    {
        return Err(Failure::usage(format!(
            "the good rate {good} is not above the bad rate {bad}: swap them, or say --at-least"
        )));
    }
    Ok(())
}

fn plan(options: &SloOptions) -> Result<Plan, Failure> {
    let mut request = from_measuring(&options.measuring)?;
    request.names = vec![NAME.to_owned()];
    request.commands = vec![if options.stdin { "standard input".into() } else { command(options) }];
    let (claim, scale) = claim(options, &request)?;
    let (subject, block) = if options.stdin {
        (Subject::Lines { scale, is_chain: options.markov }, BLOCK_LINES)
    } else {
        (Subject::Runs, 1)
    };
    request.block_runs =
        if options.independent || options.markov { 1 } else { options.block.unwrap_or(block) };
    if !options.stdin && options.measuring.check.is_none() {
        request.program.check = Check::Exit;
    }
    // Only times need a quiet machine.
    request.program.wait_for_quiet &= !claim.statement.is_about_success();
    Ok(planning::about_one(&request, claim, subject)?)
}

/// Returns the command. One word is a whole command, as elsewhere; several are its words.
fn command(options: &SloOptions) -> String {
    match options.command.as_slice() {
        [command] => command.clone(),
        words => tiebreak_lab::report::shell_line(words),
    }
}

/// Returns the claim, and the size of a plain number of the stream in the unit of its metric.
fn claim(options: &SloOptions, request: &Request) -> Result<(Claim, Option<f64>), Failure> {
    if let Some(sentence) = &options.claim {
        let claim =
            input::parse(sentence, &[NAME]).map_err(tiebreak_lab::error::LabError::Claim)?;
        let is_number = matches!(
            claim.statement.property(),
            Some(Property::Quantile { .. } | Property::Mean { .. })
        );
        if options.stdin && is_number != options.value {
            return Err(Failure::usage(if is_number {
                "a claim about values is about lines of numbers: say --value"
            } else {
                "a claim about success is about lines of 0 and 1: leave --value out"
            }));
        }
        // Times without a unit are in milliseconds, other numbers in the unit of the sentence.
        let scale = if claim.metric == Metric::WallTime { 1e6 } else { 1.0 };
        return Ok((claim, options.value.then_some(scale)));
    }
    let rate = options.at_least;
    let (Some(good), Some(bad)) = (rate.or(options.good), rate.or(options.bad)) else {
        return Err(Failure::usage("which rate is claimed? --at-least 98%"));
    };
    let (statement, metric, scale) = match options.below {
        None => (Property::Succeeds { good, bad }, Metric::WallTime, None),
        Some(Bar { value, scale, metric }) => {
            if !options.stdin && metric != Metric::WallTime {
                return Err(Failure::usage("--below of a command is a time, such as 5ms"));
            }
            (Property::Quantile { good, bad, bar: value }, metric, Some(scale))
        }
    };
    let mut claim = Claim {
        text: String::new(),
        left: request.names[0].clone(),
        right: None,
        statement: Statement::Property(statement),
        metric,
        workload: None,
    };
    claim.text = input::display(&claim);
    Ok((claim, scale.filter(|_| options.value)))
}
