//! `tiebreak slo`: how often does a command succeed, and how many of a stream's values are good?

use crate::compare::from_measuring;
use crate::io::Io;
use crate::options::Measuring;
use crate::quantities::{self, above_0};
use crate::race;
use clap::{ArgGroup, Args, ValueHint};
use std::path::PathBuf;
use tiebreak_lab::LabError;
use tiebreak_lab::slo::{self, Bar, Judged, RateClaim, SloRequest, Ties};

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

    /// Judge lines of standard input instead of runs of a command; without --budget, all of them
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
    #[arg(long, value_name = "N", value_parser = above_0::<u64>())]
    pub block: Option<u64>,

    /// Draw the result as SVG
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,

    #[command(flatten)]
    pub measuring: Measuring,
}

pub fn run(options: SloOptions, io: &mut Io) -> Result<u8, LabError> {
    let SloOptions { command, at_least, good, bad, claim, below, block, measuring, .. } = options;
    let ties = match (options.independent, options.markov) {
        (true, _) => Ties::None,
        (_, true) => Ties::Chain,
        _ => Ties::Blocks,
    };
    let plan = slo::plan(SloRequest {
        run: from_measuring(&measuring)?,
        judged: if options.stdin {
            Judged::Stream { is_value: options.value, ties }
        } else {
            Judged::Command(command)
        },
        claim: match (claim, at_least.or(good)) {
            (Some(sentence), _) => RateClaim::Sentence(sentence),
            (None, Some(good)) => RateClaim::Rate { good, bad, below },
            (None, None) => {
                let why = "which rate is claimed? --at-least 98%";
                return Err(LabError::Usage(why.to_owned()));
            }
        },
        block,
        by_exit: measuring.check.is_none(),
    })?;
    race::start(plan, &measuring, options.svg.as_deref(), io)
}
