//! The one log ratio that a round gives for two contestants.

use tiebreak_core::journal::Round;
use tiebreak_core::metric::{Metric, Unit};
use tiebreak_core::plan::Plan;
use tiebreak_core::sample::{BatchTime, Outcome, Reading, Sample};
use tiebreak_stats::observation::{LogRatio, Sum};
use tiebreak_stats::unit;

/// A contestant's part of a round.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// The contestant's index in the plan.
    pub contestant: usize,
    /// Its sample; for a unit of several batches, their sums.
    pub sample: &'a Sample,
    /// The wall times of its batches; empty if the sample is one batch of known time.
    pub batches: &'a [BatchTime],
}

/// Returns this contestant's part, if it took part.
pub fn part_of(round: &Round, contestant: usize) -> Option<Part<'_>> {
    let position = round.coins.order.iter().position(|other| *other == contestant)?;
    let batches = round.batches.get(position).map_or(&[][..], Vec::as_slice);
    Some(Part { contestant, sample: round.samples.get(position)?, batches })
}

/// Returns the log ratio of two parts of a round, and whether the metric's step is coarse for it.
///
/// For functions it is the log ratio for one call, however many of them a batch of each makes. By
/// wall time, [`unit::summarise`] summarises the rounds of a unit; by another metric, the sums are
/// compared. A value that a meter failed to give could have been anything: the round stays in the
/// evidence, and so does a unit in which the clock went backwards.
pub fn log_ratio(plan: &Plan, metric: Metric, left: Part, right: Part) -> (LogRatio, bool) {
    let resolution = plan.resolution;
    let ratio = |left, right| LogRatio::between_sums(left, right, resolution);
    let is_coarse = |sum: Sum| resolution > 0.0 && sum.is_coarse(resolution);
    if metric == Metric::WallTime && !left.batches.is_empty() {
        let sums = |part: Part<'_>| -> Vec<Sum> {
            let is_whole = part.sample.outcome == Outcome::Finished;
            let reading =
                |time: &BatchTime| if is_whole { Reading::from(*time) } else { Reading::UNKNOWN };
            part.batches.iter().map(|time| sum(plan, metric, part, reading(time))).collect()
        };
        let (left, right) = (sums(left), sums(right));
        let rounds = || left.iter().copied().zip(right.iter().copied());
        let ratios: Vec<LogRatio> = rounds().map(|(left, right)| ratio(left, right)).collect();
        let coarse = rounds().any(|(left, right)| is_coarse(left) || is_coarse(right));
        return (unit::summarise(&ratios), coarse);
    }
    let of = |part: Part| {
        sum(plan, metric, part, part.sample.reading(metric).unwrap_or(Reading::UNKNOWN))
    };
    let (left, right) = (of(left), of(right));
    (ratio(left, right), is_coarse(left) || is_coarse(right))
}

/// Returns a reading of a program or, for a function, the sum over the calls of a batch: all
/// batches of a unit count as one, since both contestants have equally many. Memory is not a sum.
/// If each call is timed separately, each adds a step of the clock.
fn sum(plan: &Plan, metric: Metric, part: Part, reading: Reading) -> Sum {
    let step = metric.step(plan.clock_step_ns);
    let functions = plan.functions.as_deref().filter(|_| metric.unit() != Unit::Bytes);
    let Some(functions) = functions else { return Sum { reading, step, parts: 1 } };
    let parts = functions.calls_a_batch.of(part.contestant);
    let spans = match metric {
        Metric::WallTime if functions.times_each_call => parts as f64,
        _ => 1.0,
    };
    Sum { reading, step: spans * step, parts }
}
