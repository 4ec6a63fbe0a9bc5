//! `tiebreak power`: forecasts how many rounds a claim needs, and how often it ends within a
//! budget.

mod pilot;
mod simulate;
#[cfg(test)]
mod tests;
mod truths;

pub use pilot::{PilotRounds, pilot};

use crate::error::LabError;
use simulate::Plan;
use std::sync::atomic::AtomicBool;
use tiebreak_core::claim::{Claim, Property, Relation, Statement};
use tiebreak_core::forecast::{BudgetForecast, ForecastMethod, ForecastResult, NoiseSource, Shape};
use tiebreak_core::plan::{Adjust, Budget, Centre};
use tiebreak_stats::classic::{Driver, DriverOptions};
use tiebreak_stats::observation::log;
use tiebreak_stats::power::{
    ClassicScenario, PILOT_ROUNDS_MIN, RatioScenario, Scenario, ShareScenario, World,
};
use tiebreak_stats::ratio_test::RatioTest;
use tiebreak_stats::share_test::ShareTest;
use truths::{around, rates_around};

/// The length of a simulated run without a verdict, if the budget does not allow more; trials are
/// cheaper than rounds.
const ROUNDS_MAX: u64 = 10_000;
const TRIALS_MAX: u64 = 100_000;
/// The longest simulated run, whatever the budget.
const LONGEST: u64 = 1_000_000;

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

/// Where the noise of ratios comes from.
#[derive(Clone, Debug)]
pub enum Noise {
    /// Stated by the user: the standard deviation of a round's log ratio.
    Stated(f64, Shape),
    /// The rounds of an earlier run.
    Pilot(PilotRounds),
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
    match question.claim.statement {
        Statement::Ratio(_) if question.centre == Centre::Mean => usage(
            "a claim about means cannot be forecast: its rounds depend on the whole distribution; \
             forecast the median with --centre median, or run it with a budget, and go on with \
             'tiebreak resume --more'",
        ),
        Statement::Ratio(relation) => of_ratio(question, relation, budget, stop, watch),
        Statement::Property(
            Property::Succeeds { good, bad } | Property::Quantile { good, bad, .. },
        ) => of_share(question, (good, bad), budget, stop, watch),
        Statement::Property(Property::InShareOfRounds { share, .. }) => {
            of_share(question, (share, share), budget, stop, watch)
        }
        Statement::Property(Property::Mean { .. }) => usage(
            "a claim about a mean cannot be forecast: its rounds depend on the whole distribution; \
             run it with a budget, and go on with 'tiebreak resume --more'",
        ),
    }
}

fn usage<T>(text: impl Into<String>) -> Result<T, LabError> {
    Err(LabError::Usage(text.into()))
}

fn check(question: &Question) -> Result<(), LabError> {
    let inside = |value: f64, most: f64| value > 0.0 && value < most;
    if !inside(question.error, 0.5) {
        return usage("--error must be above 0 and below 0.5, such as 1%");
    }
    if !(0.0..1.0).contains(&question.resolution) {
        return usage("--resolution must be at least 0 and below 1, such as 1%");
    }
    if !inside(question.chance, 1.0) {
        return usage("--chance must be above 0 and below 1, such as 80%");
    }
    match question.noise {
        Some(Noise::Stated(deviation, _)) if !inside(deviation, 10.0) => {
            usage("--noise must be above 0, such as 2%")
        }
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
    if rounds == 0 {
        return usage("not one round fits into the budget");
    }
    Ok(Some(BudgetForecast { rounds, seconds }))
}

fn rounds_max(usual: u64, budget: Option<BudgetForecast>) -> u64 {
    budget.map_or(usual, |budget| budget.rounds.max(usual)).min(LONGEST)
}

fn of_ratio(
    question: &Question,
    relation: Relation,
    budget: Option<BudgetForecast>,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(u64, u64),
) -> Result<ForecastResult, LabError> {
    if question.method == ForecastMethod::Classic {
        return usage("--method classic forecasts success rates only: give --good and --bad");
    }
    let (world, source) = world(question)?;
    let truths = if !question.truths.is_empty() {
        question.truths.clone()
    } else {
        around(relation, &source)
    };
    let error = question.error;
    let test =
        RatioTest::new(relation, question.centre, error, question.resolution, question.adjust);
    let scenario = |truth: &f64| -> Box<dyn Scenario> {
        Box::new(RatioScenario { test: test.clone(), world: &world, effect: log(*truth) })
    };
    let scenarios: Vec<_> = truths.iter().map(scenario).collect();
    let plan = Plan::new(question, budget, rounds_max(ROUNDS_MAX, budget));
    let simulated = simulate::rows(&plan, &truths, &scenarios, stop, watch);
    let contestants = [
        question.claim.left.clone(),
        question.claim.right.clone().unwrap_or_else(|| "the other".to_owned()),
    ];
    Ok(ForecastResult {
        contestants: Some(contestants),
        centre: Some(question.centre),
        ..result(question, source, budget, plan.rounds_max, simulated)
    })
}

fn world(question: &Question) -> Result<(World, NoiseSource), LabError> {
    match &question.noise {
        None => usage(
            "how much the ratio varies from round to round decides how many rounds it takes: say \
             --noise 2%, or give a --pilot run",
        ),
        Some(Noise::Stated(deviation, shape)) => {
            let (deviation, shape) = (*deviation, *shape);
            Ok((World::Stated { deviation, shape }, NoiseSource::Stated { deviation, shape }))
        }
        Some(Noise::Pilot(pilot)) => {
            let Some(noise) = pilot.noise() else {
                return usage(format!(
                    "the pilot {} has {} rounds of {} and {}: it takes {PILOT_ROUNDS_MIN}, of \
                     which most are not timed out; 'tiebreak resume {} --more' makes more",
                    pilot.run,
                    pilot.rounds.len(),
                    question.claim.left,
                    question.claim.right.as_deref().unwrap_or("the other"),
                    pilot.run
                ));
            };
            let source = NoiseSource::Pilot {
                run: pilot.run.clone(),
                rounds: noise.rounds() as u64,
                deviation: noise.deviation(),
                is_evidence: pilot.is_evidence,
            };
            Ok((World::Pilot(noise), source))
        }
    }
}

fn of_share(
    question: &Question,
    (good, bad): (f64, f64),
    budget: Option<BudgetForecast>,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(u64, u64),
) -> Result<ForecastResult, LabError> {
    if !(bad > 0.0 && bad <= good && good < 1.0) {
        return usage("rates must be above 0 and below 100%, and the bad one at most the good one");
    }
    if question.truths.iter().any(|rate| !(0.0..=1.0).contains(rate)) {
        return usage("--rate must be from 0 to 100%");
    }
    let truths =
        if !question.truths.is_empty() { question.truths.clone() } else { rates_around(good, bad) };
    let driver = driver(question, good, bad)?;
    let scenario = |rate: &f64| -> Box<dyn Scenario> {
        let (rate, error) = (*rate, question.error);
        match driver {
            Some(driver) => Box::new(ClassicScenario { driver, rate }),
            None => {
                let test = ShareTest::new(good, bad, question.block, error);
                Box::new(ShareScenario { test, rate })
            }
        }
    };
    let scenarios: Vec<_> = truths.iter().map(scenario).collect();
    let plan = Plan::new(question, budget, rounds_max(TRIALS_MAX, budget));
    let mut simulated = simulate::rows(&plan, &truths, &scenarios, stop, watch);
    if question.method == ForecastMethod::Classic {
        simulate::by_recursion(question, (good, bad), budget, &mut simulated)?;
    }
    let source = NoiseSource::Trials;
    Ok(ForecastResult {
        resolution: 0.0,
        ..result(question, source, budget, plan.rounds_max, simulated)
    })
}

/// Returns the published driver, if the question asks for it.
fn driver(question: &Question, good: f64, bad: f64) -> Result<Option<Driver>, LabError> {
    if question.method == ForecastMethod::Recommended {
        return Ok(None);
    }
    let alpha_hi = (good > bad).then_some(good);
    let options =
        DriverOptions { alpha: bad, alpha_hi, eps: question.error, min_count: 0, max_count: None };
    Driver::new(&options).map(Some).map_err(|error| LabError::Usage(error.to_string()))
}

fn result(
    question: &Question,
    noise: NoiseSource,
    budget: Option<BudgetForecast>,
    rounds_max: u64,
    simulated: simulate::Simulated,
) -> ForecastResult {
    ForecastResult {
        seed: question.seed.clone(),
        claim: question.claim.text.clone(),
        statement: question.claim.statement,
        contestants: None,
        error: question.error,
        resolution: question.resolution,
        centre: None,
        method: question.method,
        noise,
        seconds_a_round: question.seconds_a_round,
        budget,
        chance_wanted: question.chance,
        rounds_max,
        curve_rounds: simulated.curve_rounds,
        rows: simulated.rows,
        interrupted: simulated.interrupted,
    }
}
