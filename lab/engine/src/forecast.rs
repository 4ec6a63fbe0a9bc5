//! `tiebreak power`: forecasts how many rounds a claim needs, and how often it ends within a
//! budget.

mod simulate;
#[cfg(test)]
mod tests;

pub use tiebreak_core::forecast::{ForecastMethod, ForecastResult, Shape};

use crate::claim_test;
use crate::error::{LabError, require, usage};
use crate::request::{ERROR, RESOLUTION};
use crate::round_ratio;
use crate::slo::of_property;
use simulate::Simulation;
use std::sync::atomic::{AtomicBool, Ordering};
use tiebreak_core::claim::{Claim, Property, Relation, Statement};
use tiebreak_core::forecast::{BudgetForecast, NoiseSource};
use tiebreak_core::journal::Journal;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Adjust, Budget, Centre, Kind, Plan};
use tiebreak_input as input;
use tiebreak_stats::blocks::Block;
use tiebreak_stats::classic::{Driver, DriverOptions};
use tiebreak_stats::conditions::Conditions;
use tiebreak_stats::observation::LogRatio;
use tiebreak_stats::power::{PILOT_ROUNDS_MIN, Pilot, Scenario, World};
use tiebreak_stats::ratio_test::RatioTest;
use tiebreak_stats::share_test::ShareTest;

/// The length of a simulated run without a verdict, if the budget does not allow more; trials are
/// cheaper than rounds.
const ROUNDS_MAX: u64 = 10_000;
const TRIALS_MAX: u64 = 100_000;
/// The longest simulated run, whatever the budget.
const LONGEST: u64 = 1_000_000;

/// The name of a contestant that the claim does not name.
const OTHER: &str = "the other";
/// The default of the desired probability of a verdict.
const CHANCE: f64 = 0.8;
/// The truths that are simulated by default, as distances from the bar of the claim.
const STEPS: [f64; 7] = [-0.02, -0.01, 0.005, 0.01, 0.02, 0.05, 0.1];
/// With more noise than this, the distances are ten times as large.
const MUCH_NOISE: f64 = 0.15;
/// From this factor on, differences are shares of it, not of the right contestant.
const FACTOR_FROM: f64 = 1.2;

/// What is claimed.
#[derive(Clone, Debug)]
pub enum Claimed {
    /// The first claim of the pilot, or the question which of A and B is faster.
    Default,
    /// A sentence about A and B, or about the contestants of the pilot.
    Sentence(String),
    /// The claim that a success rate is above `bad`, refuted if it is below `good`.
    Rates {
        /// The good rate.
        good: f64,
        /// The bad rate, at most the good one.
        bad: f64,
    },
}

/// A request for a forecast.
#[derive(Clone, Debug)]
pub struct Question {
    /// The claim, or the question in its place.
    pub claim: Claim,
    /// The error of the claim.
    pub error: f64,
    /// The resolution, for ratio claims.
    pub resolution: f64,
    /// How a ratio is defined.
    pub centre: Centre,
    /// What is removed from the noise of ratios.
    pub adjust: Adjust,
    /// How many trials make an observation of a share.
    pub block: u64,
    /// The noise of ratios.
    pub noise: Option<Noise>,
    /// The true ratios right / left, or the true rates. If empty, several around the bar are
    /// simulated.
    pub truths: Vec<f64>,
    /// The seconds of a round.
    pub seconds_a_round: Option<f64>,
    /// The budget.
    pub budget: Option<Budget>,
    /// The desired probability of a verdict.
    pub chance: f64,
    /// The method of the forecast.
    pub method: ForecastMethod,
    /// The seed of the simulations.
    pub seed: String,
}

impl Question {
    /// Returns the question with the settings and the noise of the pilot, or with the default ones.
    ///
    /// # Errors
    /// Fails for an invalid sentence, or if the bad rate is above the good one.
    pub fn new(
        claimed: &Claimed,
        pilot: Option<&Journal>,
        seed: String,
    ) -> Result<Question, LabError> {
        let plan = pilot.map(|journal| &journal.header.plan);
        let claim = claim(claimed, plan)?;
        let rounds = pilot.map(|journal| self::pilot(journal, &claim));
        Ok(Question {
            claim,
            error: plan.map_or(ERROR, |plan| plan.error),
            resolution: plan.map_or(RESOLUTION, |plan| plan.resolution),
            centre: plan.map_or(Centre::unless_said(Adjust::NONE), |plan| plan.centre),
            adjust: plan.map_or(Adjust::NONE, |plan| plan.adjust),
            block: plan.map_or(1, |plan| plan.block_runs),
            seconds_a_round: rounds.as_ref().and_then(|rounds| rounds.seconds_a_round),
            noise: rounds.map(Noise::Pilot),
            truths: Vec::new(),
            budget: None,
            chance: CHANCE,
            method: ForecastMethod::Recommended,
            seed,
        })
    }

    /// Sets the truths: the differences for a claim about a ratio, the rates for one about a share.
    ///
    /// # Errors
    /// Fails for truths or noise of the other kind of claim.
    pub fn set_truths(&mut self, differences: &[f64], rates: &[f64]) -> Result<(), LabError> {
        let is_ratio = self.claim.statement.relation().is_some();
        let has_noise = matches!(self.noise, Some(Noise::Stated(..)));
        require(
            !is_ratio || rates.is_empty(),
            "--rate is for success rates: this claim needs --difference",
        )?;
        require(
            is_ratio || differences.is_empty() && !has_noise,
            "--difference and --noise are for ratios: a claim about a share needs --rate",
        )?;
        self.truths = if is_ratio { differences.to_vec() } else { rates.to_vec() };
        Ok(())
    }

    fn truths_or(&self, otherwise: impl FnOnce() -> Vec<f64>) -> Vec<f64> {
        if self.truths.is_empty() { otherwise() } else { self.truths.clone() }
    }
}

fn claim(claimed: &Claimed, pilot: Option<&Plan>) -> Result<Claim, LabError> {
    // The two contestants of a self-check stand for any two.
    let plan = pilot.filter(|plan| !matches!(plan.kind, Kind::SelfCheck { .. }));
    match claimed {
        Claimed::Rates { good, bad } if bad > good => {
            usage("--bad is above --good: the good rate is the higher one")
        }
        Claimed::Rates { good, bad } => {
            Ok(of_property(Property::Succeeds { good: *good, bad: *bad }, Metric::WallTime))
        }
        Claimed::Sentence(sentence) => {
            let names: Vec<&str> = match plan {
                Some(plan) => plan.contestants.iter().map(|c| c.name.as_str()).collect(),
                None => vec!["A", "B"],
            };
            input::parse(sentence, &names).map_err(LabError::Claim)
        }
        Claimed::Default => Ok(match plan.and_then(|plan| plan.claims.first()) {
            Some(planned) => planned.claim.clone(),
            None => input::question("A", "B", Metric::WallTime),
        }),
    }
}

/// Where the noise of ratios comes from.
#[derive(Clone, Debug)]
pub enum Noise {
    /// Stated by the user: the standard deviation of a round's log ratio.
    Stated(f64, Shape),
    /// The rounds of an earlier run.
    Pilot(PilotRounds),
}

/// The rounds of a run in which both contestants of a claim ran.
#[derive(Clone, Debug)]
pub struct PilotRounds {
    /// The run's name.
    pub run: String,
    /// Log ratios, with the conditions of their rounds.
    pub rounds: Vec<(LogRatio, Conditions)>,
    /// The run's own time over all its rounds; `None` if it has no rounds.
    pub seconds_a_round: Option<f64>,
    /// Whether the run is about this claim, so that its rounds are evidence.
    pub is_evidence: bool,
}

/// Simulates until the forecast is complete, or `stop` is set. Calls `watch` after each simulated
/// run with the number of runs so far and the least number in total.
///
/// # Errors
/// Fails if a number is out of its range, the claim is of a kind that cannot be simulated, there is
/// no noise or too short a pilot, or the budget is in seconds and the time of a round is unknown.
pub fn forecast(
    question: &Question,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(u64, u64),
) -> Result<ForecastResult, LabError> {
    check(question)?;
    let budget = budget_rounds(question)?;
    let model = match question.claim.statement {
        Statement::Ratio(_) if question.centre == Centre::Mean => usage(
            "a claim about means cannot be forecast: its rounds depend on the whole distribution; \
             forecast the median with --centre median, or run it with a budget, and go on with \
             'tiebreak resume --more'",
        ),
        Statement::Ratio(relation) => of_ratio(question, relation),
        Statement::Property(
            Property::Succeeds { good, bad } | Property::Quantile { good, bad, .. },
        ) => of_share(question, good, bad),
        Statement::Property(Property::InShareOfRounds { share, .. }) => {
            of_share(question, share, share)
        }
        Statement::Property(Property::Mean { .. }) => usage(
            "a claim about a mean cannot be forecast: its rounds depend on the whole distribution; \
             run it with a budget, and go on with 'tiebreak resume --more'",
        ),
    }?;
    let is_ratio = matches!(model.scenario, Scenario::Ratio(..));
    let usual = if is_ratio { ROUNDS_MAX } else { TRIALS_MAX };
    let rounds_max = budget.map_or(usual, |budget| budget.rounds.max(usual)).min(LONGEST);
    let simulation = Simulation { question, model: &model, budget, rounds_max, stop };
    let (mut rows, curve_rounds) = simulation.rows(watch);
    let interrupted = stop.load(Ordering::Relaxed);
    if let (Scenario::Classic(driver), Some(budget)) = (&model.scenario, budget) {
        simulate::by_recursion(question, driver, budget.rounds, &mut rows)?;
    }
    let Claim { left, right, .. } = &question.claim;
    let right = right.as_deref().unwrap_or(OTHER);
    Ok(ForecastResult {
        seed: question.seed.clone(),
        claim: question.claim.text.clone(),
        statement: question.claim.statement,
        contestants: is_ratio.then(|| [left.clone(), right.to_owned()]),
        error: question.error,
        resolution: if is_ratio { question.resolution } else { 0.0 },
        centre: is_ratio.then_some(question.centre),
        method: question.method,
        noise: model.noise,
        seconds_a_round: question.seconds_a_round,
        budget,
        chance_wanted: question.chance,
        rounds_max,
        curve_rounds,
        rows,
        interrupted,
    })
}

/// What is simulated.
struct Model {
    scenario: Scenario,
    noise: NoiseSource,
    /// True ratios or rates.
    truths: Vec<f64>,
}

fn check(question: &Question) -> Result<(), LabError> {
    let Question { error, resolution, chance, .. } = *question;
    let is_error = error > 0.0 && error < 0.5;
    require(is_error, "--error must be above 0 and below 0.5, such as 1%")?;
    let is_resolution = (0.0..1.0).contains(&resolution);
    require(is_resolution, "--resolution must be at least 0 and below 1, such as 1%")?;
    let is_chance = chance > 0.0 && chance < 1.0;
    require(is_chance, "--chance must be above 0 and below 1, such as 80%")?;
    match question.noise {
        Some(Noise::Stated(deviation, _)) => require(
            deviation > 0.0 && deviation < 10.0,
            "--noise must be above 0 and below 1000%, such as 2%",
        ),
        _ => Ok(()),
    }
}

/// Returns the budget in rounds.
fn budget_rounds(question: &Question) -> Result<Option<BudgetForecast>, LabError> {
    let Some(Budget { rounds, seconds }) = question.budget else {
        return Ok(None);
    };
    let fitting = match (seconds, question.seconds_a_round) {
        (None, _) => u64::MAX,
        (Some(seconds), Some(a_round)) if a_round > 0.0 => (seconds / a_round) as u64,
        (Some(_), _) => {
            return usage(
                "a budget in seconds needs to know how long a round takes: give --round-time, a \
                 --pilot, or a budget such as '200 rounds'",
            );
        }
    };
    let rounds = fitting.min(rounds.unwrap_or(u64::MAX));
    require(rounds > 0, "not one round fits into the budget")?;
    Ok(Some(BudgetForecast { rounds, seconds }))
}

fn of_ratio(question: &Question, relation: Relation) -> Result<Model, LabError> {
    require(
        question.method != ForecastMethod::Classic,
        "--method classic forecasts success rates only: give --good and --bad",
    )?;
    let (world, noise) = world(question)?;
    let truths = question.truths_or(|| around(relation, &noise));
    let Question { centre, error, resolution, adjust, .. } = *question;
    let test = RatioTest::new(relation, centre, error, resolution, adjust);
    Ok(Model { scenario: Scenario::Ratio(Box::new(test), world), noise, truths })
}

fn world(question: &Question) -> Result<(World, NoiseSource), LabError> {
    match &question.noise {
        None => usage(
            "how much the ratio varies from round to round decides how many rounds it takes: say \
             --noise 2%, or give a --pilot run",
        ),
        Some(Noise::Stated(deviation, shape)) => {
            let (deviation, shape) = (*deviation, *shape);
            let noise = NoiseSource::Stated { deviation, shape };
            Ok((World::Stated { deviation, shape }, noise))
        }
        Some(Noise::Pilot(PilotRounds { run, rounds, is_evidence, .. })) => {
            let Some(noise) = Pilot::new(rounds) else {
                let Claim { left, right, .. } = &question.claim;
                return usage(format!(
                    "the pilot {run} has {} rounds of {left} and {}: it takes {PILOT_ROUNDS_MIN}, \
                     of which most are not timed out; 'tiebreak resume {run} --more' makes more",
                    rounds.len(),
                    right.as_deref().unwrap_or(OTHER)
                ));
            };
            let (rounds, deviation) = (noise.rounds() as u64, noise.deviation);
            let (run, is_evidence) = (run.clone(), *is_evidence);
            let source = NoiseSource::Pilot { run, rounds, deviation, is_evidence };
            Ok((World::Pilot(noise), source))
        }
    }
}

fn of_share(question: &Question, good: f64, bad: f64) -> Result<Model, LabError> {
    require(
        bad > 0.0 && bad <= good && good < 1.0,
        "rates must be above 0 and below 100%, and the bad one at most the good one",
    )?;
    let are_rates = question.truths.iter().all(|rate| (0.0..=1.0).contains(rate));
    require(are_rates, "--rate must be from 0 to 100%")?;
    let truths = question.truths_or(|| rates_around(good, bad));
    let (error, block) = (question.error, question.block);
    let scenario = match question.method {
        ForecastMethod::Recommended => {
            Scenario::Share(Box::new(ShareTest::new(good, bad, block, error)))
        }
        ForecastMethod::Classic => {
            let alpha_hi = (good > bad).then_some(good);
            let options =
                DriverOptions { alpha: bad, alpha_hi, eps: error, min_count: 0, max_count: None };
            let driver = Driver::new(&options);
            Scenario::Classic(driver.map_err(|error| LabError::Usage(error.to_string()))?)
        }
    };
    Ok(Model { scenario, noise: NoiseSource::Trials, truths })
}

/// Returns the rounds of a run that show the noise of a claim. In a run of a program against
/// itself, any two names stand for its two contestants.
pub fn pilot(journal: &Journal, claim: &Claim) -> PilotRounds {
    let plan = &journal.header.plan;
    let left = index_of(plan, &claim.left, 0);
    let right = claim.right.as_ref().and_then(|right| index_of(plan, right, 1));
    let rounds = journal.rounds.iter().filter_map(|round| {
        let left = round_ratio::part_of(plan, round, left?)?;
        let right = round_ratio::part_of(plan, round, right?)?;
        let (d, _) = round_ratio::log_ratio(claim.metric, left, right);
        // Rounds are drawn from here one by one, outside of any block of primers.
        let block = Block::default();
        Some((d, claim_test::conditions(&round.coins, &block, left, right)))
    });
    let seconds = journal.rounds.last().map(|last| last.elapsed_ns as f64 / 1e9);
    let seconds_a_round = seconds.map(|seconds| seconds / journal.rounds.len() as f64);
    PilotRounds {
        run: journal.id.clone(),
        rounds: rounds.collect(),
        seconds_a_round: seconds_a_round.filter(|seconds| *seconds > 0.0),
        is_evidence: plan.kind == Kind::Compare
            && plan.claims.iter().any(|planned| is_same(&planned.claim, claim)),
    }
}

fn index_of(plan: &Plan, name: &str, place: usize) -> Option<usize> {
    match plan.kind {
        Kind::SelfCheck { .. } => Some(place),
        _ => plan.contestants.iter().position(|contestant| contestant.name == name),
    }
}

/// Returns whether two claims are the same, whatever their words and workload.
fn is_same(one: &Claim, other: &Claim) -> bool {
    (&one.left, &one.right, &one.statement, &one.metric)
        == (&other.left, &other.right, &other.statement, &other.metric)
}

/// Returns ratios around the bar of a claim, with the bar.
fn around(relation: Relation, noise: &NoiseSource) -> Vec<f64> {
    let deviation = match noise {
        NoiseSource::Stated { deviation, .. } => Some(*deviation),
        NoiseSource::Pilot { deviation, .. } => *deviation,
        NoiseSource::Trials => None,
    };
    let scale = if deviation.is_some_and(|sd| sd > MUCH_NOISE) { 10.0 } else { 1.0 };
    let steps = std::iter::once(0.0).chain(STEPS).map(|step| step * scale);
    let mut truths: Vec<f64> = match relation {
        Relation::Order | Relation::Measure { .. } => {
            steps.filter(|step| *step >= 0.0).map(ratio).collect()
        }
        Relation::AtLeast { factor } if factor >= FACTOR_FROM => {
            steps.map(|step| factor * ratio(step)).collect()
        }
        Relation::AtLeast { factor } => {
            let ahead = if factor < 1.0 { 1.0 - 1.0 / factor } else { factor - 1.0 };
            steps.map(|step| ratio(ahead + step)).collect()
        }
        Relation::NoMoreThan { fraction } => steps.map(|step| ratio(step - fraction)).collect(),
        Relation::Within { fraction } => {
            [0.0, 0.5, 1.0, 1.5, 2.0, 4.0].iter().map(|times| 1.0 + times * fraction).collect()
        }
    };
    truths.sort_by(f64::total_cmp);
    truths
}

/// Returns the ratio at which the left contestant is ahead by a fraction, or the right one by as
/// much if it is below 0.
fn ratio(ahead: f64) -> f64 {
    if ahead < 0.0 { 1.0 / (1.0 - ahead) } else { 1.0 + ahead }
}

/// Returns rates from well below the bad one to well above the good one.
fn rates_around(good: f64, bad: f64) -> Vec<f64> {
    let step = if good > bad { good - bad } else { ((1.0 - good) / 2.0).min(good / 2.0) };
    let middle = (good + bad) / 2.0;
    let mut rates = vec![bad - 2.0 * step, bad - step, bad, middle, good, good + step / 2.0, 1.0];
    rates.iter_mut().for_each(|rate| *rate = rate.clamp(0.0, 1.0));
    rates.dedup();
    rates
}
