//! The result of a forecast: how many rounds a claim will need, by simulation.

use crate::claim::Statement;
use crate::plan::Centre;
use serde::Serialize;

/// The version of the JSON form.
pub const FORECAST_SCHEMA: &str = "tiebreak/power/1";

/// How stated noise is distributed. Each contestant's run is hit by its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// Normal.
    Normal,
    /// Normal, and one run in twenty takes longer by an exponential time of 20 standard deviations
    /// of a run on average.
    Spiky,
    /// Normal, and three runs in ten are slower by 7 standard deviations of a run.
    Bimodal,
}

/// Where the noise of a forecast comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "from")]
pub enum NoiseSource {
    /// It was stated.
    Stated {
        /// The standard deviation of a round's log ratio, without spikes and modes.
        deviation: f64,
        /// Its shape.
        shape: Shape,
    },
    /// The rounds of an earlier run.
    Pilot {
        /// The run's name.
        run: String,
        /// Rounds in which both contestants ran.
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

/// Which engine is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ForecastMethod {
    /// The one that settles claims.
    Recommended,
    /// The Confidence Sequence Method as published, of success rates.
    Classic,
}

/// A budget as rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BudgetForecast {
    /// Rounds (of success rates: trials) that fit.
    pub rounds: u64,
    /// Seconds, if it was given in seconds.
    pub seconds: Option<f64>,
}

/// What a forecast found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ForecastResult {
    /// The seed of the simulations.
    pub seed: String,
    /// The claim, or the question that stands for it.
    pub claim: String,
    /// What it says.
    #[serde(rename = "relation")]
    pub statement: Statement,
    /// The name of the contestant that `difference` says is faster, and the other one's; `None` for
    /// success rates.
    pub contestants: Option<[String; 2]>,
    /// The error of the claim.
    pub error: f64,
    /// Its resolution; of success rates 0.
    pub resolution: f64,
    /// What the ratio is; `None` for success rates.
    pub centre: Option<Centre>,
    /// Which engine was simulated.
    pub method: ForecastMethod,
    /// Where the noise comes from.
    pub noise: NoiseSource,
    /// How long a round takes, if that is known.
    pub seconds_a_round: Option<f64>,
    /// The budget, if there is one.
    pub budget: Option<BudgetForecast>,
    /// The chance that is asked for.
    pub chance_wanted: f64,
    /// No simulated run is longer than this.
    pub rounds_max: u64,
    /// The rounds at which the curves of the rows are read.
    pub curve_rounds: Vec<u64>,
    /// One entry a truth that was simulated.
    pub rows: Vec<ForecastRow>,
    /// Whether it was interrupted.
    pub interrupted: bool,
}

/// What becomes of a claim if something is the truth.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ForecastRow {
    /// The ratio right / left that was simulated, or the rate at which trials succeed.
    pub truth: f64,
    /// Runs simulated.
    pub runs: u64,
    /// A tenth of the runs had ended after so many rounds; `None` if fewer did.
    pub rounds_q10: Option<u64>,
    /// Half of them had.
    pub rounds_median: Option<u64>,
    /// Nine tenths of them had.
    pub rounds_q90: Option<u64>,
    /// The chance to end within the budget.
    pub chance: Option<Chance>,
    /// What runs say, within the budget or else within the longest run that was simulated.
    pub says: Says,
    /// The share of runs that had ended, at each of the forecast's `curve_rounds`.
    pub curve: Vec<f64>,
}

/// The chance that a run ends within its budget.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Chance {
    /// Runs simulated.
    pub runs: u64,
    /// Of those, runs that ended within the budget.
    pub ended: u64,
    /// One over the other.
    pub estimate: f64,
    /// Lower limit.
    pub low: f64,
    /// Upper limit.
    pub high: f64,
    /// The probability that both limits are right.
    pub confidence: f64,
    /// Whether it is proven to be at least the wanted chance, or below it.
    pub is_enough: Option<bool>,
    /// After how many of the runs that was proven.
    pub proven_after: Option<u64>,
}

/// Shares of runs by what they say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Says {
    /// Of a question: an order is proven.
    pub holds: f64,
    /// The opposite is proven.
    pub refuted: f64,
    /// Proven to lie within the resolution.
    pub too_close: f64,
    /// Nothing is proven when the budget, or the simulation, ends.
    pub undecided: f64,
}
