//! `tiebreak power`: forecasts how many rounds a claim needs, and how often it ends within a
//! budget.

use crate::choice::{Names, one_of};
use crate::exit;
use crate::io::Io;
use crate::options::{CENTRES, Reporting, Store};
use crate::quantities::{self, above_0};
use crate::screen::Screen;
use clap::Args;
use tiebreak_lab::core::plan::{Budget, Centre};
use tiebreak_lab::core::result::ClaimOutcome;
use tiebreak_lab::forecast::{
    self, Claimed, ForecastMethod, ForecastResult, Noise, Question, Shape,
};
use tiebreak_lab::planning::seed_or_random;
use tiebreak_lab::report::power as page;
use tiebreak_lab::{LabError, interrupt, source};

#[derive(Debug, Args)]
pub struct PowerOptions {
    /// The claim, about A and B or the contestants of the pilot [default: the first claim of the
    /// pilot, or the question which of A and B is faster]
    #[arg(long, value_name = "SENTENCE")]
    claim: Option<String>,

    /// The true difference: 3% says that A is 3% faster, -3% that B is, 1.5x a factor; may be
    /// repeated
    #[arg(long = "difference", value_name = "SHARE", allow_hyphen_values = true,
          value_parser = difference)]
    differences: Vec<f64>,

    /// How much the ratio varies from round to round: its standard deviation
    #[arg(long, value_name = "SHARE", value_parser = quantities::fraction,
          conflicts_with = "pilot")]
    noise: Option<f64>,

    /// What the noise looks like
    #[arg(long, value_parser = one_of(SHAPES), default_value = "normal", requires = "noise")]
    shape: Shape,

    /// Take the noise of an earlier run: its ID, a prefix of it, latest, or a file
    #[arg(long, value_name = "RUN|FILE")]
    pilot: Option<String>,

    /// Of a success rate: below this one it is refuted
    #[arg(long, value_name = "RATE", value_parser = quantities::rate, requires = "bad",
          conflicts_with_all = ["claim", "at_least"])]
    good: Option<f64>,

    /// Of a success rate: above this one it holds
    #[arg(long, value_name = "RATE", value_parser = quantities::rate, requires = "good")]
    bad: Option<f64>,

    /// Of a success rate: the good one and the bad one at once
    #[arg(long, value_name = "RATE", value_parser = quantities::rate, conflicts_with = "claim")]
    at_least: Option<f64>,

    /// The true success rate; may be repeated
    #[arg(long = "rate", value_name = "RATE", value_parser = quantities::fraction)]
    rates: Vec<f64>,

    /// Of a success rate: trials that make one observation
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = above_0::<u64>())]
    block: u64,

    /// The budget: 30s, '200 rounds' (of success rates: trials), or both with a comma
    #[arg(long, value_name = "BUDGET", value_parser = quantities::budget)]
    budget: Option<Budget>,

    /// How long a round takes [default: as in the pilot]
    #[arg(long, value_name = "TIME", value_parser = quantities::duration_ns)]
    round_time: Option<u64>,

    /// The chance to end within the budget that is wanted
    #[arg(long, value_name = "RATE", default_value = "80%", value_parser = quantities::rate)]
    chance: f64,

    /// The error of the claim [default: that of the pilot, or 1%]
    #[arg(long, value_name = "RATE", value_parser = quantities::fraction)]
    error: Option<f64>,

    /// How small a difference still matters; 0 for any [default: that of the pilot, or 1%]
    #[arg(long, value_name = "SHARE", value_parser = quantities::fraction)]
    resolution: Option<f64>,

    /// What the ratio is: the median of paired ratios, or one factor for all rounds [default: as
    /// the pilot, or median]
    #[arg(long, value_parser = one_of(CENTRES))]
    centre: Option<Centre>,

    /// Which engine: the one that settles claims, or of success rates the Confidence Sequence
    /// Method with its published recursion
    #[arg(long, value_parser = one_of(METHODS), default_value = "recommended")]
    method: ForecastMethod,

    #[arg(long)]
    seed: Option<String>,

    #[command(flatten)]
    reporting: Reporting,

    #[command(flatten)]
    store: Store,
}

const SHAPES: Names<Shape> = &[
    ("normal", "Normal", Shape::Normal),
    ("spiky", "One run in twenty takes much longer", Shape::Spiky),
    ("bimodal", "Three runs in ten are in a slow mode", Shape::Bimodal),
];

const METHODS: Names<ForecastMethod> = &[
    ("recommended", "The engine that settles claims", ForecastMethod::Recommended),
    ("classic", "The Confidence Sequence Method", ForecastMethod::Classic),
];

/// Parses `3%`, `-3%` or `1.5x` to a factor.
fn difference(text: &str) -> Result<f64, String> {
    let size = text.strip_prefix('-').unwrap_or(text);
    let ratio = match text.strip_suffix('x') {
        Some(factor) => quantities::fraction(factor).ok().filter(|factor| *factor > 0.0),
        None => quantities::fraction(size).ok().map(|fraction| 1.0 + fraction),
    };
    let ratio = ratio.filter(|ratio| *ratio < 1e6);
    let ratio =
        ratio.ok_or_else(|| format!("'{text}' is not a difference such as 3%, -3% or 1.5x"))?;
    Ok(if size.len() < text.len() { 1.0 / ratio } else { ratio })
}

pub fn run(options: &PowerOptions, io: &mut Io) -> Result<u8, LabError> {
    let stop = interrupt::flag();
    let question = question(options)?;
    let targets = options.reporting.json.open(page::json)?;
    let result = Screen::during(io, options.reporting.quiet, |screen| {
        forecast::forecast(&question, stop, &mut |made, all| {
            screen.show_as(|_, _| vec![format!("simulated {made} of {all} runs")]);
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

fn code(result: &ForecastResult) -> u8 {
    if result.interrupted {
        return exit::INTERRUPTED;
    }
    let chances = result.rows.iter().filter_map(|row| row.chance);
    exit::of_worst(chances.map(|chance| match chance.is_enough {
        Some(true) => ClaimOutcome::Passed,
        Some(false) => ClaimOutcome::Failed,
        None => ClaimOutcome::Unproven,
    }))
}

fn question(options: &PowerOptions) -> Result<Question, LabError> {
    let pilot = options.pilot.as_deref();
    let pilot = pilot.map(|run| source::journal(Some(run), options.store.path())).transpose()?;
    let rates = options.good.zip(options.bad).or(options.at_least.map(|rate| (rate, rate)));
    let asked = match (rates, &options.claim) {
        (Some((good, bad)), _) => Claimed::Rates { good, bad },
        (None, Some(sentence)) => Claimed::Sentence(sentence.clone()),
        (None, None) => Claimed::Default,
    };
    let seed = seed_or_random(options.seed.as_deref())?;
    let default = Question::new(&asked, pilot.as_ref(), seed)?;
    let stated = options.noise.map(|deviation| Noise::Stated(deviation, options.shape));
    let round_time = options.round_time.map(|ns| ns as f64 / 1e9);
    let mut question = Question {
        error: options.error.unwrap_or(default.error),
        resolution: options.resolution.unwrap_or(default.resolution),
        centre: options.centre.unwrap_or(default.centre),
        block: options.block.max(default.block),
        noise: stated.or(default.noise),
        seconds_a_round: round_time.or(default.seconds_a_round),
        budget: options.budget,
        chance: options.chance,
        method: options.method,
        ..default
    };
    question.set_truths(&options.differences, &options.rates)?;
    Ok(question)
}
