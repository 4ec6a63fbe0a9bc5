//! The result of a forecast: how many rounds a claim will need, by simulation.

use crate::claim::Statement;
use crate::plan::Centre;
use serde::Serialize;

/// The version of the JSON form.
pub const FORECAST_SCHEMA: &str = "tiebreak/power/1";

/// The distribution of stated noise. Each contestant's run draws its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// Normal.
    Normal,
    /// Normal, and one run in twenty takes longer by an exponential time with a mean of 20 standard
    /// deviations of a run.
    Spiky,
    /// Normal, and three runs in ten are slower by 7 standard deviations of a run.
    Bimodal,
}

/// The source of a forecast's noise.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "from")]
pub enum NoiseSource {
    /// The user stated it.
    Stated {
        /// The standard deviation of a round's log ratio, without spikes and modes.
        deviation: f64,
        /// The shape of the noise.
        shape: Shape,
    },
    /// The rounds of an earlier run.
    Pilot {
        /// The run's name.
        run: String,
        /// The number of rounds in which both contestants ran.
        rounds: u64,
        /// The interquartile range of their log ratios, in standard deviations of a normal
        /// distribution; `None` if it is not a number.
        deviation: Option<f64>,
        /// Whether the run is about this very claim, so that its rounds are evidence.
        is_evidence: bool,
    },
    /// Trials succeed or fail, independently of each other.
    Trials,
}

/// The engine that is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ForecastMethod {
    /// The engine that settles claims.
    Recommended,
    /// The Confidence Sequence Method as published, for success rates.
    Classic,
}

/// A budget as rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BudgetForecast {
    /// The number of rounds that fit (trials for success rates).
    pub rounds: u64,
    /// The budget in seconds, if it was given in seconds.
    pub seconds: Option<f64>,
}

/// The result of a forecast.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ForecastResult {
    /// The seed of the simulations.
    pub seed: String,
    /// The claim, or the question that stands for it.
    pub claim: String,
    /// The statement of the claim.
    #[serde(rename = "relation")]
    pub statement: Statement,
    /// The name of the contestant that `difference` says is faster, and the name of the other;
    /// `None` for success rates.
    pub contestants: Option<[String; 2]>,
    /// The error of the claim.
    pub error: f64,
    /// The resolution of the claim; 0 for success rates.
    pub resolution: f64,
    /// The meaning of the ratio; `None` for success rates.
    pub centre: Option<Centre>,
    /// The engine that was simulated.
    pub method: ForecastMethod,
    /// The source of the noise.
    pub noise: NoiseSource,
    /// The duration of a round in seconds, if known.
    pub seconds_a_round: Option<f64>,
    /// The budget, if there is one.
    pub budget: Option<BudgetForecast>,
    /// The chance to end within the budget that was asked for.
    pub chance_wanted: f64,
    /// The length of the longest simulated run, in rounds.
    pub rounds_max: u64,
    /// The rounds at which the curves of the rows are read.
    pub curve_rounds: Vec<u64>,
    /// One entry per truth that was simulated.
    pub rows: Vec<ForecastRow>,
    /// Whether it was interrupted.
    pub interrupted: bool,
}

/// The forecast for a claim under one truth.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ForecastRow {
    /// The ratio right / left that was simulated, or the rate at which trials succeed.
    pub truth: f64,
    /// The number of runs simulated.
    pub runs: u64,
    /// The rounds after which a tenth of the runs had ended; `None` if fewer ended.
    pub rounds_q10: Option<u64>,
    /// The rounds after which half of the runs had ended.
    pub rounds_median: Option<u64>,
    /// The rounds after which nine tenths of the runs had ended.
    pub rounds_q90: Option<u64>,
    /// The chance to end within the budget.
    pub chance: Option<Chance>,
    /// The verdicts of the runs within the budget, or else within the longest simulated run.
    pub says: Says,
    /// The share of runs that had ended, at each of the forecast's `curve_rounds`.
    pub curve: Vec<f64>,
}

/// The chance that a run ends within its budget.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Chance {
    /// The number of runs simulated.
    pub runs: u64,
    /// The number of those runs that ended within the budget.
    pub ended: u64,
    /// The ratio `ended / runs`.
    pub estimate: f64,
    /// The lower limit.
    pub low: f64,
    /// The upper limit.
    pub high: f64,
    /// The probability that both limits are right.
    pub confidence: f64,
    /// Whether the chance is proven to be at least the wanted chance, or below it.
    pub is_enough: Option<bool>,
    /// The number of runs after which that was proven.
    pub proven_after: Option<u64>,
}

/// The shares of runs by their verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Says {
    /// Proven; for a question, an order is proven.
    pub holds: f64,
    /// The opposite is proven.
    pub refuted: f64,
    /// Proven to lie within the resolution.
    pub too_close: f64,
    /// Nothing is proven when the budget, or the simulation, ends.
    pub undecided: f64,
}
