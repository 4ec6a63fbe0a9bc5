//! The one log ratio that a round says of two contestants.

use tiebreak_core::journal::Round;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::Plan;
use tiebreak_core::sample::{Outcome, Reading, Sample};
use tiebreak_stats::observation::{self, LogRatio};
use tiebreak_stats::unit;

/// What a contestant gave in a round.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Index of the contestant in the plan.
    pub contestant: usize,
    /// Its sample; of a unit of several batches, their sums.
    pub sample: &'a Sample,
    /// The wall times of its batches in nanoseconds; empty if the sample is one batch.
    pub batches: &'a [u64],
}

/// What this contestant gave, if it took part.
pub fn part_of(round: &Round, contestant: usize) -> Option<Part<'_>> {
    let position = round.coins.order.iter().position(|other| *other == contestant)?;
    let batches = round.batches.get(position).map_or(&[][..], Vec::as_slice);
    Some(Part { contestant, sample: round.samples.get(position)?, batches })
}

/// The log ratio of two parts of a round, and whether the metric's step is coarse for it.
///
/// By wall time the rounds of a unit are summarised by [`unit::summarise`]; by another metric its
/// sums are compared. A value that a meter failed to give could have been anything: the round stays
/// in the evidence, and so does a unit in which the clock went backwards. Where each call is timed
/// by itself, each brings a step of the clock of its own.
pub fn log_ratio(plan: &Plan, metric: Metric, left: Part, right: Part) -> (LogRatio, bool) {
    let timed_calls = plan.functions.as_ref().filter(|functions| functions.times_each_call);
    let spans = timed_calls.map_or(1, |functions| functions.calls_a_batch) as f64;
    let step = match metric {
        Metric::WallTime => spans * metric.step(plan.clock_step_ns),
        _ => metric.step(plan.clock_step_ns),
    };
    let resolution = plan.resolution;
    let ratio = |left, right| LogRatio::between(left, right, step, resolution);
    let is_coarse = |reading| resolution > 0.0 && observation::is_coarse(reading, step, resolution);
    if metric == Metric::WallTime && !left.batches.is_empty() {
        let readings = |part: Part<'_>| -> Vec<Reading> {
            let is_whole = part.sample.outcome == Outcome::Finished;
            let reading = |wall_ns: &u64| match is_whole {
                true => Reading::exact(*wall_ns as f64),
                false => Reading::UNKNOWN,
            };
            part.batches.iter().map(reading).collect()
        };
        let (left, right) = (readings(left), readings(right));
        let rounds = || left.iter().copied().zip(right.iter().copied());
        let ratios: Vec<LogRatio> = rounds().map(|(left, right)| ratio(left, right)).collect();
        let coarse = rounds().any(|(left, right)| is_coarse(left) || is_coarse(right));
        return (unit::summarise(&ratios), coarse);
    }
    let reading = |part: Part| part.sample.reading(metric).unwrap_or(Reading::UNKNOWN);
    let (left, right) = (reading(left), reading(right));
    (ratio(left, right), is_coarse(left) || is_coarse(right))
}
