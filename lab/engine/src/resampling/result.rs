//! Assembles the result.

use super::decided::Decided;
use super::drawing::Drawing;
use super::numbers::Numbers;
use super::program::NoAnswer;
use super::{Question, StatisticOf};
use crate::error::LabError;
use tiebreak_core::journal::StopReason;
use tiebreak_core::resampling::{Null, NumberSet, Resampled, ResamplingResult, SetOrder, Shifts};
use tiebreak_stats::exact::{self, Order, Statistic};

/// Bins of the histogram of resampled differences.
const BINS: usize = 60;

/// Returns the result from the drawn permutations and `decided`.
///
/// # Errors
/// Fails if the program of the statistic failed.
pub(super) fn of(
    question: &Question,
    drawing: Drawing,
    decided: &Decided,
    shift: Option<Shifts>,
) -> Result<ResamplingResult, LabError> {
    let stopped = match (drawing.ended, decided.is_settled) {
        (Some(NoAnswer::Failed(error)), _) => return Err(error),
        (Some(NoAnswer::Interrupted), _) => StopReason::Interrupted,
        (None, true) => StopReason::Settled,
        (None, false) => StopReason::Budget,
    };
    let (x, y) = (&question.x, &question.y);
    let of = |set: &Numbers| match &question.statistic {
        StatisticOf::Each(statistic) => Some(statistic.of(&mut set.values.clone())),
        StatisticOf::Program(_) => None,
    };
    let (of_x, of_y) = (of(x), of(y));
    let of_both = of_x.zip(of_y).map(|(x, y)| y - x);
    let difference = match &question.statistic {
        StatisticOf::Each(statistic) if question.is_paired => {
            statistic.of(&mut question.pair_differences())
        }
        _ => of_both.unwrap_or(drawing.observed.value),
    };
    let set = |set: &Numbers, statistic| NumberSet {
        name: set.name.clone(),
        count: set.values.len() as u64,
        statistic,
    };
    Ok(ResamplingResult {
        seed: question.seed.clone(),
        x: set(x, of_x),
        y: set(y, of_y),
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
        p: decided.p,
        evidence: decided.evidence,
        p_least: question.design().least_p(x.values.len() as u64, y.values.len() as u64),
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

/// Returns how the numbers depend on the order in which they were given.
fn order(question: &Question) -> Vec<SetOrder> {
    let of = |of, values: &[f64]| {
        let order = Order::of(values)?;
        Some(SetOrder { of, z: order.z, is_serial: order.is_serial() })
    };
    if question.is_paired {
        of("pairs", &question.pair_differences()).into_iter().collect()
    } else {
        let sets = [("x", &question.x), ("y", &question.y)];
        sets.into_iter().filter_map(|(name, set)| of(name, &set.values)).collect()
    }
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
