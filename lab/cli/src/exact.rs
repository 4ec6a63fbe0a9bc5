//! `tiebreak exact`: tests whether two finished sets of numbers differ.

use crate::exit;
use crate::failure::Failure;
use crate::io::Io;
use crate::output::JsonTarget;
use crate::quantities;
use crate::screen::Screen;
use clap::{Args, ValueEnum, ValueHint};
use std::path::PathBuf;
use tiebreak_lab::core::journal::StopReason;
use tiebreak_lab::core::quantity::parse_fraction;
use tiebreak_lab::core::resampling::{Null, ResamplingMethod, ResamplingResult, Sides};
use tiebreak_lab::core::verdict::Verdict;
use tiebreak_lab::error::LabError;
use tiebreak_lab::measure::interrupt;
use tiebreak_lab::report::exact as page;
use tiebreak_lab::resampling::{CLASSIC_ERROR, ERROR, Question, StatisticOf, answer, numbers};
use tiebreak_lab::stats::exact::Statistic;

pub const EXAMPLES: &str = "\
Examples:
  tiebreak exact x.txt y.txt
  tiebreak exact x.txt y.txt --statistic quantile:0.9 --sides greater --shift 5
  tiebreak exact x.txt y.txt --paired --statistic median
  tiebreak exact x.txt y.txt --sides greater --statistic-command \"sed -u 's/.*y.:.//; s/[],].*//'\"

X and Y are files of numbers, one a line (blank lines and lines that begin with # are skipped), or
columns of CSV files as FILE:COLUMN, of which FILE:COLUMN:OTHER=VALUE takes the lines in which OTHER
is VALUE, such as samples.csv:wall_ns:contestant=A of 'tiebreak export --csv'. - is standard input
(a column of it: -- -:COLUMN).

The numbers of both are split again and again at random, as if there were no difference; p is the
share of splits whose difference is at least as extreme as the one of X and Y. The test stops as
soon as that tells whether X and Y differ at the level of --alpha, or that p is above it. That is
exact for sets of one distribution. Differences count by their own spread, so that sets with equal
means, or medians, and unequal spreads are hardly said to differ either.

A program of --statistic-command is kept running. It gets a line such as {\"x\":[1.5,2],\"y\":[3]}
for each split, the numbers of each set in ascending order, the sets as they are in the first line,
and answers each with one number on a line of its own, flushed (the sed above: the smallest of Y).

This is for finished sets of independent numbers; the page warns where each is like the one before
it in the file. Looking again while they grow is not covered: for that are 'tiebreak compare' and
'tiebreak slo'.

Exit codes: 0 the sets differ, 2 that is not proven.";

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
    #[arg(long, value_name = "NAME", default_value = "mean", value_parser = statistic,
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
    #[arg(long, value_enum, default_value_t = SidesName::Two)]
    sides: SidesName,

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
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    permutations_max: Option<u64>,

    /// How the number of permutations is decided: by bets on each, or by the Confidence Sequence
    /// Method as published, against alpha and half of it
    #[arg(long, value_enum, default_value_t = MethodName::Mixture)]
    method: MethodName,

    /// Seed of the permutations: any text [default: from the system, and printed]
    #[arg(long, value_name = "TEXT")]
    seed: Option<String>,

    /// Write the result as JSON; - for standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    json: Option<PathBuf>,

    /// No progress, and of the report the verdict only
    #[arg(long, short = 'q')]
    quiet: bool,
}

/// `--sides` by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SidesName {
    /// As far from what the null hypothesis says, either way
    Two,
    /// At least as large
    Greater,
    /// At most as large
    Less,
}

/// `--method` by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MethodName {
    /// Bets on each permutation
    Mixture,
    /// The Confidence Sequence Method
    Classic,
}

fn statistic(text: &str) -> Result<Statistic, String> {
    let wrong = || format!("'{text}' is none of mean, median and quantile:SHARE, as quantile:0.9");
    match text {
        "mean" => Ok(Statistic::Mean),
        "median" => Ok(Statistic::Median),
        _ => {
            let share = text.strip_prefix("quantile:").ok_or_else(wrong)?;
            let share = parse_fraction(share).map_err(|_| wrong())?;
            let is_share = share > 0.0 && share <= 1.0;
            if is_share { Ok(Statistic::Quantile(share)) } else { Err(wrong()) }
        }
    }
}

pub fn run(options: &ExactOptions, io: &mut Io) -> Result<u8, Failure> {
    let stop = interrupt::flag();
    let question = question(options, io)?;
    let json = JsonTarget::open(options.json.as_ref())?;
    let mut screen = Screen::new(io, options.quiet);
    let result = answer(&question, stop, |permutations, extreme| {
        // Reading the clock costs more than some permutations.
        if permutations.is_multiple_of(64) || matches!(question.statistic, StatisticOf::Program(_))
        {
            screen.show_as(|_, _| {
                vec![format!("{permutations} permutations, {extreme} at least as extreme")]
            });
        }
    });
    screen.clear();
    let result = match result {
        Err(LabError::Interrupted) => {
            let text = "interrupted before the first permutation was drawn".to_owned();
            return Err(Failure { text, code: exit::INTERRUPTED });
        }
        result => result?,
    };
    let text = if options.quiet {
        page::sentence(&result) + "\n"
    } else {
        page::render(&result, &io.out_look())
    };
    json.write_beside(&text, || page::json(&result), io)?;
    Ok(code(&result))
}

fn code(result: &ResamplingResult) -> u8 {
    match (result.stopped, result.verdict) {
        (StopReason::Interrupted, _) => exit::INTERRUPTED,
        (_, Verdict::Holds) => exit::HOLDS,
        _ => exit::OPEN,
    }
}

fn question(options: &ExactOptions, io: &mut Io) -> Result<Question, Failure> {
    if numbers::is_input(&options.x) && numbers::is_input(&options.y) {
        return Err(Failure::usage("only one of X and Y can come from standard input"));
    }
    let mut input = io.take_input();
    let x = numbers::read(&options.x, &mut input)?;
    let y = numbers::read(&options.y, &mut input)?;
    let (method, error) = match options.method {
        MethodName::Mixture => (ResamplingMethod::Mixture, ERROR),
        MethodName::Classic => (ResamplingMethod::Classic, CLASSIC_ERROR),
    };
    Ok(Question {
        x,
        y,
        statistic: match &options.statistic_command {
            Some(command) => StatisticOf::Program(command.clone()),
            None => StatisticOf::Each(options.statistic),
        },
        is_plain: options.plain,
        is_paired: options.paired,
        sides: match options.sides {
            SidesName::Two => Sides::Two,
            SidesName::Greater => Sides::Greater,
            SidesName::Less => Sides::Less,
        },
        null: match (options.shift, options.ratio) {
            (Some(by), _) => Null::Shift { by },
            (None, Some(factor)) => Null::Ratio { factor },
            (None, None) => Null::Same,
        },
        alpha: options.alpha,
        error: options.error.unwrap_or(error),
        permutations_max: options
            .permutations_max
            .unwrap_or_else(|| 100_000.max((100.0 / options.alpha) as u64)),
        method,
        seed: match &options.seed {
            Some(seed) => seed.clone(),
            None => tiebreak_lab::seed::from_system().map_err(Failure::data)?,
        },
    })
}
