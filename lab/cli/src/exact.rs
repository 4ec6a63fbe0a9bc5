//! `tiebreak exact`: tests whether two finished sets of numbers differ.

use crate::choice::{Names, one_of};
use crate::exit;
use crate::io::Io;
use crate::options::Reporting;
use crate::quantities::{self, above_0};
use crate::screen::Screen;
use clap::{Args, ValueHint};
use tiebreak_lab::core::journal::StopReason;
use tiebreak_lab::core::verdict::Verdict;
use tiebreak_lab::planning::seed_or_random;
use tiebreak_lab::report::exact as page;
use tiebreak_lab::resampling::{
    Null, Question, ResamplingMethod, ResamplingResult, Sides, Statistic, StatisticOf, answer,
    default_error, default_permutations, numbers, parse_statistic,
};
use tiebreak_lab::{LabError, interrupt};

#[derive(Debug, Args)]
pub struct ExactOptions {
    /// The first set: FILE, FILE:COLUMN or FILE:COLUMN:OTHER=VALUE; - for standard input
    #[arg(value_name = "X", value_hint = ValueHint::FilePath)]
    x: String,

    /// The second set
    #[arg(value_name = "Y", value_hint = ValueHint::FilePath)]
    y: String,

    /// What is computed of each set: mean, median or quantile:SHARE such as quantile:0.9; the
    /// difference is that of Y less that of X
    #[arg(long, value_name = "NAME", default_value = "mean", value_parser = parse_statistic,
          conflicts_with = "statistic_command")]
    statistic: Statistic,

    /// A program that computes a number of both sets
    #[arg(long, value_name = "CMD", value_hint = ValueHint::CommandString)]
    statistic_command: Option<String>,

    /// The numbers at one place of X and Y are a pair: the sign of each difference Y - X is drawn,
    /// and not who is in which set
    #[arg(long)]
    paired: bool,

    /// Take differences as they are, and not by their own spread: sets with equal means and unequal
    /// spreads may then be said to differ
    #[arg(long, conflicts_with_all = ["paired", "statistic_command"])]
    plain: bool,

    /// Which differences are extreme: those as far off either way, as large, or as small
    #[arg(long, value_parser = one_of(SIDES), default_value = "two")]
    sides: Sides,

    /// The null hypothesis that Y is distributed as X plus this
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true, conflicts_with = "ratio")]
    shift: Option<f64>,

    /// The null hypothesis that Y is distributed as X times this
    #[arg(long, value_name = "FACTOR", allow_hyphen_values = true)]
    ratio: Option<f64>,

    /// The level: how often, at most, sets that do not differ are said to
    #[arg(long, value_name = "RATE", default_value = "1%", value_parser = quantities::rate)]
    alpha: f64,

    /// The most that the probability may be that the interval of p is wrong, and that p is said to
    /// be above alpha when it is not [default: 0.1%; of the classic method 1e-9]
    #[arg(long, value_name = "RATE", value_parser = quantities::rate)]
    error: Option<f64>,

    /// The most permutations [default: 100000, or 100 / alpha if that is more]
    #[arg(long, value_name = "N", value_parser = above_0::<u64>())]
    permutations_max: Option<u64>,

    /// How the number of permutations is decided: by bets on each, or by the Confidence Sequence
    /// Method as published, against alpha and half of it
    #[arg(long, value_parser = one_of(METHODS), default_value = "mixture")]
    method: ResamplingMethod,

    #[arg(long)]
    seed: Option<String>,

    #[command(flatten)]
    reporting: Reporting,
}

const SIDES: Names<Sides> = &[
    ("two", "As far from what the null hypothesis says, either way", Sides::Two),
    ("greater", "At least as large", Sides::Greater),
    ("less", "At most as large", Sides::Less),
];

const METHODS: Names<ResamplingMethod> = &[
    ("mixture", "Bets on each permutation", ResamplingMethod::Mixture),
    ("classic", "The Confidence Sequence Method", ResamplingMethod::Classic),
];

pub fn run(options: &ExactOptions, io: &mut Io) -> Result<u8, LabError> {
    let stop = interrupt::flag();
    let question = question(options, io)?;
    let targets = options.reporting.json.open(page::json)?;
    let is_slow = matches!(question.statistic, StatisticOf::Program(_));
    let result = Screen::during(io, options.reporting.quiet, |screen| {
        answer(&question, stop, |permutations, extreme| {
            // Reading the clock costs more than some permutations.
            if permutations.is_multiple_of(64) || is_slow {
                screen.show_as(|_, _| {
                    vec![format!("{permutations} permutations, {extreme} at least as extreme")]
                });
            }
        })
    })?;
    let text = if options.reporting.quiet {
        page::sentence(&result) + "\n"
    } else {
        page::render(&result, &io.out_look())
    };
    targets.deliver(&text, &result, io)?;
    Ok(code(&result))
}

fn code(result: &ResamplingResult) -> u8 {
    match (result.stopped, result.verdict) {
        (StopReason::Interrupted, _) => exit::INTERRUPTED,
        (_, Verdict::Holds) => exit::HOLDS,
        _ => exit::OPEN,
    }
}

fn question(options: &ExactOptions, io: &mut Io) -> Result<Question, LabError> {
    let ExactOptions { method, alpha, .. } = *options;
    let [x, y] = numbers::read_both(&options.x, &options.y, &mut io.take_input())?;
    Ok(Question {
        x,
        y,
        statistic: match &options.statistic_command {
            Some(command) => StatisticOf::Program(command.clone()),
            None => StatisticOf::Each(options.statistic),
        },
        is_plain: options.plain,
        is_paired: options.paired,
        sides: options.sides,
        null: match (options.shift, options.ratio) {
            (Some(by), _) => Null::Shift { by },
            (None, Some(factor)) => Null::Ratio { factor },
            (None, None) => Null::Same,
        },
        alpha,
        error: options.error.unwrap_or(default_error(method)),
        permutations_max: options.permutations_max.unwrap_or(default_permutations(alpha)),
        method,
        seed: seed_or_random(options.seed.as_deref())?,
    })
}
