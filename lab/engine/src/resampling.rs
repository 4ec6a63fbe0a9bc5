//! `tiebreak exact`: tests whether two finished sets of numbers differ, by resampling.

pub mod numbers;
mod program;
#[cfg(test)]
mod tests;

pub use tiebreak_core::resampling::{Null, ResamplingMethod, ResamplingResult, Sides};
pub use tiebreak_stats::exact::Statistic;

use crate::error::{LabError, data, require};
use numbers::Numbers;
use program::Program;
use std::sync::atomic::{AtomicBool, Ordering};
use tiebreak_core::journal::StopReason;
use tiebreak_core::quantity::parse_fraction;
use tiebreak_core::resampling::{
    NumberSet, PValue, Resampled, ResamplingEvidence, SetOrder, Shifts,
};
use tiebreak_core::verdict::Verdict;
use tiebreak_stats::classic::{Conclusion, Driver, DriverOptions, Progress};
use tiebreak_stats::coins::Seed;
use tiebreak_stats::exact::{
    self, Design, Difference, Ending, ExactTest, Order, Resampler, is_extreme,
};

/// The error of the classic method as published.
const CLASSIC_ERROR: f64 = 1e-9;
/// The default error of statements about p.
const ERROR: f64 = 1e-3;
/// The default number of permutations, unless the level needs more.
const PERMUTATIONS_MAX: u64 = 100_000;
/// The number of differences that are kept for the histogram: the first ones.
const KEPT_MAX: usize = 1 << 16;
/// A shift is tried with this many permutations over alpha, unless the test itself took more. If
/// they do not suffice to reject it, it is not rejected.
const PERMUTATIONS: f64 = 40.0;
/// The most numbers that are drawn for a shift, so that all of them take seconds and not hours.
const NUMBERS_MAX: f64 = 2e7;
/// A rejected shift is searched at distances that double this often.
const DOUBLINGS: i32 = 40;
/// The limit is known to this share of its distance from the observed difference.
const WIDTH: f64 = 1.0 / 128.0;
/// Bins of the histogram of resampled differences.
const BINS: usize = 60;

/// Returns the default error of statements about p.
pub fn default_error(method: ResamplingMethod) -> f64 {
    match method {
        ResamplingMethod::Mixture => ERROR,
        ResamplingMethod::Classic => CLASSIC_ERROR,
    }
}

/// Returns the default of the most permutations.
pub fn default_permutations(alpha: f64) -> u64 {
    PERMUTATIONS_MAX.max((100.0 / alpha) as u64)
}

/// Parses `mean`, `median` or `quantile:SHARE`.
///
/// # Errors
/// Returns what is wrong, for any other text.
pub fn parse_statistic(text: &str) -> Result<Statistic, String> {
    let share = match text {
        "mean" => return Ok(Statistic::Mean),
        "median" => return Ok(Statistic::Median),
        _ => text.strip_prefix("quantile:").and_then(|share| parse_fraction(share).ok()),
    };
    match share {
        Some(share) if share > 0.0 && share <= 1.0 => Ok(Statistic::Quantile(share)),
        _ => Err(format!("'{text}' is none of mean, median and quantile:SHARE, as quantile:0.9")),
    }
}

/// A question about two sets.
#[derive(Clone, Debug)]
pub struct Question {
    /// The first set.
    pub x: Numbers,
    /// The second set.
    pub y: Numbers,
    /// The statistic that is computed.
    pub statistic: StatisticOf,
    /// Whether differences count as they are, and not relative to their spread.
    pub is_plain: bool,
    /// Whether the numbers at the same index of X and Y are a pair.
    pub is_paired: bool,
    /// What counts as extreme.
    pub sides: Sides,
    /// The null hypothesis.
    pub null: Null,
    /// The level.
    pub alpha: f64,
    /// The error of statements about p.
    pub error: f64,
    /// The most permutations.
    pub permutations_max: u64,
    /// The rule by which it stops.
    pub method: ResamplingMethod,
    /// The seed of the permutations.
    pub seed: String,
}

impl Question {
    /// Returns whether differences count relative to their spread. Those of pairs need not: only
    /// their signs are drawn.
    fn is_studentised(&self) -> bool {
        !self.is_plain && !self.is_paired && matches!(self.statistic, StatisticOf::Each(_))
    }

    fn design(&self) -> Design {
        if self.is_paired { Design::Pairs } else { Design::Sets }
    }

    /// Returns what draws permutations under a null hypothesis: the same ones under each.
    fn resampler(&self, null: Null) -> Resampler {
        let seed = Seed::from_text(&self.seed);
        Resampler::new(self.design(), &self.x.values, &self.y.values, null, seed)
    }

    /// Returns, for each pair, the number of Y minus that of X.
    fn pair_differences(&self) -> Vec<f64> {
        self.y.values.iter().zip(&self.x.values).map(|(y, x)| y - x).collect()
    }
}

/// The source of the statistic.
#[derive(Clone, Debug, PartialEq)]
pub enum StatisticOf {
    /// A built-in one, of each set; the difference is Y's minus X's.
    Each(Statistic),
    /// A program, of both sets.
    Program(String),
}

/// Answers the question. Calls `watch` after each permutation with the number of permutations and
/// of extreme ones.
///
/// If `stop` is set, the answer is what is known at that time. Costs, for each permutation, as many
/// coins as the smaller set has numbers and a pass over both.
///
/// # Errors
/// Fails if a number is out of its range, a shift is combined with a two-sided statistic of a
/// program, or the program fails.
pub fn answer(
    question: &Question,
    stop: &AtomicBool,
    mut watch: impl FnMut(u64, u64),
) -> Result<ResamplingResult, LabError> {
    check(question)?;
    let mut drawing = match Drawing::start(question, question.null, stop) {
        Err(LabError::Interrupted) => return Err(LabError::NoPermutation),
        started => started?,
    };
    let value = drawing.observed.value;
    if value.is_nan() || value.is_infinite() && !question.is_studentised() {
        return data(format!(
            "{} and {}: the numbers are too large for their difference to be computed",
            question.x.name, question.y.name
        ));
    }
    let (decided, shift) = match question.method {
        ResamplingMethod::Mixture => {
            let test = drawing.test(question.permutations_max, watch);
            (Decided::by_mixture(&test), shifts(question, test.permutations, stop))
        }
        ResamplingMethod::Classic => {
            let driver = Driver::new(&DriverOptions {
                alpha: question.alpha / 2.0,
                alpha_hi: Some(question.alpha),
                eps: question.error,
                min_count: 0,
                max_count: Some(question.permutations_max),
            });
            let driver = driver.map_err(|error| LabError::Usage(error.to_string()))?;
            let progress = driver.run(&mut drawing, |progress| watch(progress.n, progress.s));
            (Decided::by_classic(&driver, &progress), None)
        }
    };
    result(question, drawing, decided, shift)
}

fn check(question: &Question) -> Result<(), LabError> {
    let are_shares = [question.alpha, question.error].iter().all(|it| *it > 0.0 && *it < 1.0);
    require(are_shares, "--alpha and --error must be above 0 and below 1")?;
    match question.null {
        Null::Same => {}
        Null::Shift { by } => require(by.is_finite(), "--shift must be a finite number")?,
        Null::Ratio { factor } => {
            let is_factor = factor.is_finite() && factor > 0.0;
            require(is_factor, "--ratio must be a finite number above 0")?;
        }
    }
    let by_program = matches!(question.statistic, StatisticOf::Program(_));
    require(
        !by_program || question.sides != Sides::Two || question.null == Null::Same,
        "what a program computes has no known middle under --shift or --ratio: say --sides greater \
         or --sides less",
    )?;
    let [x, y] = [question.x.values.len(), question.y.values.len()];
    require(
        !question.is_paired || x == y,
        format!(
            "--paired takes numbers at one place of X and Y for a pair, and there are {x} and {y}"
        ),
    )?;
    let (most, alpha) = (question.permutations_max, question.alpha);
    let least = exact::least_permutations(alpha);
    require(
        question.method != ResamplingMethod::Mixture || most >= least,
        format!("{most} permutations cannot prove anything at --alpha {alpha}: that takes {least}"),
    )
}

/// The permutations as they are drawn, and what is known about them.
struct Drawing<'a> {
    question: &'a Question,
    resampler: Resampler,
    measure: Measure,
    observed: Difference,
    kept: Vec<f64>,
    stop: &'a AtomicBool,
    /// Why no more can be drawn.
    ended: Option<LabError>,
}

enum Measure {
    Each(Statistic),
    Program(Box<Program>),
}

impl<'a> Drawing<'a> {
    /// Measures the sets as they are.
    fn start(
        question: &'a Question,
        null: Null,
        stop: &'a AtomicBool,
    ) -> Result<Drawing<'a>, LabError> {
        let measure = match &question.statistic {
            StatisticOf::Each(statistic) => Measure::Each(*statistic),
            StatisticOf::Program(command) => Measure::Program(Box::new(Program::start(command)?)),
        };
        let mut drawing = Drawing {
            question,
            resampler: question.resampler(null),
            measure,
            observed: Difference { value: 0.0, size: 0.0 },
            kept: Vec::new(),
            stop,
            ended: None,
        };
        drawing.observed = drawing.measure()?;
        Ok(drawing)
    }

    fn measure(&mut self) -> Result<Difference, LabError> {
        match &mut self.measure {
            Measure::Each(statistic) => {
                Ok(self.resampler.difference(*statistic, self.question.is_studentised()))
            }
            Measure::Program(program) => {
                let (x, y) = self.resampler.as_observed();
                let value = program.ask(x, &y, self.stop)?;
                Ok(Difference { value, size: value.abs() })
            }
        }
    }

    /// Draws until the bets end, or at most this often.
    fn test(&mut self, permutations_max: u64, mut watch: impl FnMut(u64, u64)) -> ExactTest {
        let mut test = ExactTest::new(self.question.alpha, self.question.error);
        while test.ended.is_none() && test.permutations < permutations_max {
            let Some(extreme) = self.next() else { break };
            test.observe(extreme);
            watch(test.permutations, test.extreme);
        }
        test
    }
}

impl Iterator for Drawing<'_> {
    type Item = bool;

    /// Draws the next permutation and returns whether it is extreme; `None` if no more can be
    /// drawn.
    fn next(&mut self) -> Option<bool> {
        if self.stop.load(Ordering::Relaxed) {
            self.ended = Some(LabError::Interrupted);
        }
        if self.ended.is_some() {
            return None;
        }
        self.resampler.draw();
        match self.measure() {
            Ok(difference) => {
                if self.kept.len() < KEPT_MAX {
                    self.kept.push(difference.value);
                }
                Some(is_extreme(self.question.sides, difference, self.observed))
            }
            Err(no_answer) => {
                self.ended = Some(no_answer);
                None
            }
        }
    }
}

/// What the permutations decided.
struct Decided {
    verdict: Verdict,
    is_settled: bool,
    permutations: u64,
    extreme: u64,
    /// The limits of p, and the probability that both are right.
    limits: (f64, f64),
    confidence: f64,
    evidence: Option<ResamplingEvidence>,
}

impl Decided {
    /// Concludes by bets on each permutation.
    fn by_mixture(test: &ExactTest) -> Decided {
        let differs = test.ended == Some(Ending::Differs);
        Decided {
            verdict: if differs { Verdict::Holds } else { Verdict::Undecided },
            is_settled: test.ended.is_some(),
            permutations: test.permutations,
            extreme: test.extreme,
            limits: test.limits(),
            confidence: 1.0 - test.error,
            evidence: Some(ResamplingEvidence {
                for_difference: test.evidence_for(),
                needed_for: 1.0 / test.alpha,
                against: test.evidence_against(),
                needed_against: 1.0 / test.error,
            }),
        }
    }

    /// Concludes by the published driver: its interval has a third of the error.
    fn by_classic(driver: &Driver, progress: &Progress) -> Decided {
        let is_settled = progress.is_decided();
        let conclusion = driver.conclude(progress);
        let is_small = matches!(conclusion, Conclusion::Between | Conclusion::Below(_));
        Decided {
            verdict: if is_settled && is_small { Verdict::Holds } else { Verdict::Undecided },
            is_settled,
            permutations: progress.n,
            extreme: progress.s,
            limits: driver.interval(progress),
            confidence: 1.0 - driver.eps / 3.0,
            evidence: None,
        }
    }

    fn p(&self) -> PValue {
        let (n, extreme) = (self.permutations, self.extreme);
        let estimate = (n > 0).then(|| (extreme + 1) as f64 / (n + 1) as f64);
        PValue { estimate, low: self.limits.0, high: self.limits.1, confidence: self.confidence }
    }
}

/// Returns the interval of the shift. All shifts that are not rejected lie in it, if the rejected
/// ones are those beyond some shift on either side. So the true shift does with probability at
/// least `1 - alpha` if Y is distributed as X plus a shift. If only means or medians are a shift
/// apart, it does so nearly, as the sets grow, if differences count relative to their spread. With
/// one side the interval has one end.
///
/// Returns `None` for a ratio, a program, more numbers than can be tried, and if it was
/// interrupted.
fn shifts(question: &Question, permutations: u64, stop: &AtomicBool) -> Option<Shifts> {
    let StatisticOf::Each(statistic) = question.statistic else { return None };
    let numbers = (question.x.values.len() + question.y.values.len()) as f64;
    let most = (PERMUTATIONS / question.alpha).min(question.permutations_max as f64);
    let most = most.max(permutations as f64);
    if matches!(question.null, Null::Ratio { .. }) || most * numbers > NUMBERS_MAX {
        return None;
    }
    let same = Null::Shift { by: 0.0 };
    let centre = question.resampler(same).difference(statistic, false).value;
    let [low, high] = [(Sides::Less, -1.0), (Sides::Greater, 1.0)].map(|(sides, sign)| {
        let is_rejected = |by: f64| {
            let drawing = Drawing::start(question, Null::Shift { by }, stop);
            drawing.is_ok_and(|mut drawing| {
                drawing.test(most as u64, |_, _| {}).ended == Some(Ending::Differs)
            })
        };
        if question.sides == sides { None } else { limit(question, centre, sign, is_rejected) }
    });
    let is_whole = !stop.load(Ordering::Relaxed);
    is_whole.then_some(Shifts { low, high, confidence: 1.0 - question.alpha })
}

/// Returns the nearest shift on one side of the observed difference that the search finds to be
/// rejected; that difference itself if the distance is within the rounding of the numbers.
fn limit(
    question: &Question,
    centre: f64,
    sign: f64,
    is_rejected: impl Fn(f64) -> bool,
) -> Option<f64> {
    let values = || question.x.values.iter().chain(&question.y.values);
    let least = values().copied().fold(f64::INFINITY, f64::min);
    let most = values().copied().fold(f64::NEG_INFINITY, f64::max);
    let rounding = least.abs().max(most.abs()) * 4.0 * f64::EPSILON;
    let first = ((most - least) / values().count() as f64).max(centre.abs() * f64::EPSILON);
    let mut distances = (0..DOUBLINGS).map(|doubling| first * f64::from(doubling).exp2());
    let mut outside = distances.find(|d| is_rejected(centre + sign * d))?;
    let mut inside = if outside > first { outside / 2.0 } else { 0.0 };
    while outside > rounding && outside - inside > WIDTH * outside {
        let middle = (outside + inside) / 2.0;
        *(if is_rejected(centre + sign * middle) { &mut outside } else { &mut inside }) = middle;
    }
    Some(if outside > rounding { centre + sign * outside } else { centre })
}

/// Returns the result from the drawn permutations and `decided`.
///
/// # Errors
/// Fails if the program of the statistic failed.
fn result(
    question: &Question,
    drawing: Drawing,
    decided: Decided,
    shift: Option<Shifts>,
) -> Result<ResamplingResult, LabError> {
    let stopped = match (drawing.ended, decided.is_settled) {
        (Some(LabError::Interrupted), _) => StopReason::Interrupted,
        (Some(error), _) => return Err(error),
        (None, true) => StopReason::Settled,
        (None, false) => StopReason::Budget,
    };
    let (x, y) = (set(&question.x, &question.statistic), set(&question.y, &question.statistic));
    let difference = match &question.statistic {
        StatisticOf::Each(statistic) if question.is_paired => {
            statistic.of(&mut question.pair_differences())
        }
        _ => match (x.statistic, y.statistic) {
            (Some(x), Some(y)) => y - x,
            _ => drawing.observed.value,
        },
    };
    let p_least = question.design().least_p(x.count, y.count);
    Ok(ResamplingResult {
        seed: question.seed.clone(),
        x,
        y,
        statistic: name(&question.statistic),
        by_program: matches!(question.statistic, StatisticOf::Program(_)),
        is_studentised: question.is_studentised(),
        is_paired: question.is_paired,
        sides: question.sides,
        null: question.null,
        difference,
        method: question.method,
        alpha: question.alpha,
        error: question.error,
        verdict: decided.verdict,
        stopped,
        permutations: decided.permutations,
        permutations_max: question.permutations_max,
        extreme: decided.extreme,
        p: decided.p(),
        evidence: decided.evidence,
        p_least,
        shift,
        order: order(question),
        resampled: resampled(question, drawing.observed.value, &drawing.kept),
    })
}

/// Returns the name of a statistic as `--statistic` takes it.
fn name(statistic: &StatisticOf) -> String {
    match statistic {
        StatisticOf::Each(Statistic::Mean) => "mean".to_owned(),
        StatisticOf::Each(Statistic::Median) => "median".to_owned(),
        StatisticOf::Each(Statistic::Quantile(share)) => format!("quantile:{share}"),
        StatisticOf::Program(command) => command.clone(),
    }
}

/// Returns a set with its statistic, if that is not computed of both by a program.
fn set(set: &Numbers, statistic: &StatisticOf) -> NumberSet {
    NumberSet {
        name: set.name.clone(),
        count: set.values.len() as u64,
        statistic: match statistic {
            StatisticOf::Each(statistic) => Some(statistic.of(&mut set.values.clone())),
            StatisticOf::Program(_) => None,
        },
    }
}

/// Returns how the numbers depend on the order in which they were given.
fn order(question: &Question) -> Vec<SetOrder> {
    if question.is_paired {
        set_order("pairs", &question.pair_differences()).into_iter().collect()
    } else {
        let sets = [("x", &question.x), ("y", &question.y)];
        sets.into_iter().filter_map(|(name, set)| set_order(name, &set.values)).collect()
    }
}

fn set_order(of: &'static str, values: &[f64]) -> Option<SetOrder> {
    let order = Order::of(values)?;
    Some(SetOrder { of, z: order.z, is_serial: order.is_serial() })
}

/// Returns the differences on the scale on which the observed one is reported: a shift that was
/// removed is added again, unless they count relative to their spread; under a ratio they are those
/// of X and Y / ratio.
fn resampled(question: &Question, observed: f64, kept: &[f64]) -> Option<Resampled> {
    let by_program = matches!(question.statistic, StatisticOf::Program(_));
    let shift = match question.null {
        Null::Shift { by } if !by_program && !question.is_studentised() => by,
        _ => 0.0,
    };
    let differences: Vec<f64> = kept.iter().map(|difference| difference + shift).collect();
    let observed = observed + shift;
    Some(Resampled {
        observed,
        expected: (!by_program).then_some(shift),
        permutations: kept.len() as u64,
        histogram: exact::histogram(&differences, observed, BINS)?,
    })
}
