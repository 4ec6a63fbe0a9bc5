//! `tiebreak slo`: one claim about how often a command succeeds, or how many values of a stream are
//! good.

use crate::error::{LabError, usage};
use crate::planning::{self, Request};
use tiebreak_core::claim::{Claim, Property, Statement};
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Check, Kind, Plan};
use tiebreak_input as input;
use tiebreak_report::shell_line;

/// The default number of lines in a block: 30 times a burst of some thirty failures.
const BLOCK_LINES: u64 = 1000;
/// The name of the command or the stream.
const NAME: &str = "A";

/// A request about one command or one stream.
#[derive(Clone, Debug)]
pub struct SloRequest {
    /// The settings of the run. Its commands, names and claims do not count.
    pub run: Request,
    /// What is judged.
    pub judged: Judged,
    /// The claim.
    pub claim: RateClaim,
    /// The number of runs or lines, one after the other, that make one observation. By default it
    /// is 1 for runs and 1000 for lines.
    pub block: Option<u64>,
    /// Whether a run must only end with success, whatever it writes.
    pub by_exit: bool,
}

/// What is judged.
#[derive(Clone, Debug)]
pub enum Judged {
    /// Runs of a command: one whole command, or its words.
    Command(Vec<String>),
    /// Lines of standard input.
    Stream {
        /// Whether lines are numbers, and not 0 and 1.
        is_value: bool,
        /// How lines depend on each other.
        ties: Ties,
    },
}

/// How the lines of a stream depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// In an unknown way within a block.
    Blocks,
    /// Not at all.
    None,
    /// Each on the one before, and on nothing else.
    Chain,
}

/// A claim about a rate.
#[derive(Clone, Debug)]
pub enum RateClaim {
    /// A sentence.
    Sentence(String),
    /// At least a share of the runs or lines is good.
    Rate {
        /// Below this rate it may be refuted.
        good: f64,
        /// Above this rate it may hold; `None` if it is the same rate.
        bad: Option<f64>,
        /// The value up to which a run or line is good; `None` if success is what counts.
        below: Option<Bar>,
    },
}

/// A value, in the unit of its metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// The value.
    pub value: f64,
    /// The size of a plain number of a line, in the unit of the metric.
    pub scale: f64,
    /// Wall time for times, otherwise a plain value.
    pub metric: Metric,
}

/// Makes the plan of the request.
///
/// # Errors
/// Fails if the command is missing, or if the options do not fit the claim or what is judged.
pub fn plan(asked: SloRequest) -> Result<Plan, LabError> {
    check(&asked)?;
    let (claim, scale) = claim(&asked)?;
    let SloRequest { run: mut request, judged, block, by_exit, .. } = asked;
    request.names = vec![NAME.to_owned()];
    let (command, kind, block) = match judged {
        Judged::Command(words) => {
            let command = if let [command] = &words[..] { command } else { &shell_line(&words) };
            (command.clone(), Kind::Compare, block.unwrap_or(1))
        }
        Judged::Stream { ties, .. } => {
            let block = if ties == Ties::Blocks { block.unwrap_or(BLOCK_LINES) } else { 1 };
            let kind = Kind::Stream { scale, is_chain: ties == Ties::Chain };
            ("standard input".to_owned(), kind, block)
        }
    };
    request.commands = vec![command];
    request.block_runs = block;
    if by_exit && kind == Kind::Compare {
        request.program.check = Check::Exit;
    }
    // Only times need a quiet machine.
    request.program.wait_for_quiet &= !claim.statement.is_about_success();
    planning::about_one(&request, claim, kind)
}

fn check(asked: &SloRequest) -> Result<(), LabError> {
    let has_bar = matches!(asked.claim, RateClaim::Rate { below: Some(_), .. });
    let is_sentence = matches!(asked.claim, RateClaim::Sentence(_));
    let why = match &asked.judged {
        Judged::Command(words) if words.is_empty() => {
            "what is to be judged? a command after --, as in 'tiebreak slo --at-least 98% -- CMD', \
             or lines of 0 and 1 with --stdin"
        }
        Judged::Stream { is_value: true, .. } if !has_bar && !is_sentence => {
            "--value needs to know which values are good: --below 5ms"
        }
        Judged::Stream { .. } if asked.block == Some(1) => {
            "blocks of one line make each line an observation of its own: if nothing ties it to \
             those before, say so by --independent"
        }
        Judged::Stream { is_value: false, .. } if has_bar => {
            "--below is about numbers: say --value too"
        }
        _ => match asked.claim {
            RateClaim::Rate { good, bad: Some(bad), .. } if good <= bad => {
                return usage(format!(
                    "the good rate {good} is not above the bad rate {bad}: swap them, or say \
                     --at-least"
                ));
            }
            _ => return Ok(()),
        },
    };
    usage(why.to_owned())
}

/// Returns the claim, and for a stream of numbers the size of a plain number in the unit of the
/// claim's metric.
fn claim(asked: &SloRequest) -> Result<(Claim, Option<f64>), LabError> {
    let is_value = matches!(asked.judged, Judged::Stream { is_value: true, .. });
    let (claim, scale) = match &asked.claim {
        RateClaim::Sentence(sentence) => of_sentence(sentence, &asked.judged)?,
        RateClaim::Rate { good, bad, below } => {
            let (good, bad) = (*good, bad.unwrap_or(*good));
            match *below {
                None => (of_property(Property::Succeeds { good, bad }, Metric::WallTime), 1.0),
                Some(Bar { value, scale, metric }) => {
                    if matches!(asked.judged, Judged::Command(_)) && metric != Metric::WallTime {
                        return usage("--below of a command is a time, such as 5ms");
                    }
                    (of_property(Property::Quantile { good, bad, bar: value }, metric), scale)
                }
            }
        }
    };
    Ok((claim, is_value.then_some(scale)))
}

fn of_sentence(sentence: &str, judged: &Judged) -> Result<(Claim, f64), LabError> {
    let claim = input::parse(sentence, &[NAME]).map_err(LabError::Claim)?;
    let property = claim.statement.property();
    let is_number = matches!(property, Some(Property::Quantile { .. } | Property::Mean { .. }));
    match judged {
        Judged::Stream { is_value: false, .. } if is_number => {
            usage("a claim about values is about lines of numbers: say --value")
        }
        Judged::Stream { is_value: true, .. } if !is_number => {
            usage("a claim about success is about lines of 0 and 1: leave --value out")
        }
        _ => {
            // Times without a unit are in milliseconds, other numbers in the unit of the sentence.
            let scale = if claim.metric == Metric::WallTime { 1e6 } else { 1.0 };
            Ok((claim, scale))
        }
    }
}

/// Returns a claim about the one contestant.
pub(crate) fn of_property(property: Property, metric: Metric) -> Claim {
    let mut claim = Claim {
        text: String::new(),
        left: NAME.to_owned(),
        right: None,
        statement: Statement::Property(property),
        metric,
        workload: None,
    };
    claim.text = input::display(&claim);
    claim
}
