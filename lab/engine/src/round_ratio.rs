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
    /// The plan.
    pub plan: &'a Plan,
    /// The contestant's index in the plan.
    pub contestant: usize,
    /// The contestants of the round.
    pub company: &'a [usize],
    /// Its sample; for a unit of several batches, their sums.
    pub sample: &'a Sample,
    /// The wall times of its batches; empty if the sample is one batch of known time.
    pub batches: &'a [BatchTime],
}

/// Returns this contestant's part, if it took part.
pub fn part_of<'a>(plan: &'a Plan, round: &'a Round, contestant: usize) -> Option<Part<'a>> {
    let position = round.coins.order.iter().position(|other| *other == contestant)?;
    let batches = round.batches.get(position).map_or(&[][..], Vec::as_slice);
    let (company, sample) = (&round.coins.order, round.samples.get(position)?);
    Some(Part { plan, contestant, company, sample, batches })
}

/// Returns the log ratio of two parts of a round, and whether the metric's step is coarse for it.
///
/// For functions it is the log ratio for one call, however many of them a batch of each makes. By
/// wall time, [`unit::summarise`] summarises the rounds of a unit; by another metric, the sums are
/// compared. A value that a meter failed to give could have been anything: the round stays in the
/// evidence, and so does a unit in which the clock went backwards.
pub fn log_ratio(metric: Metric, left: Part, right: Part) -> (LogRatio, bool) {
    let resolution = left.plan.resolution;
    if metric == Metric::WallTime && !left.batches.is_empty() {
        let rounds = left.batches.iter().zip(right.batches);
        let (ratios, coarse): (Vec<LogRatio>, Vec<bool>) = rounds
            .map(|(time, other)| between(left.batch(time), right.batch(other), resolution))
            .unzip();
        return (unit::summarise(&ratios), coarse.contains(&true));
    }
    let [left, right] = [left, right].map(|part| part.sum(metric, part.reading(metric)));
    between(left, right, resolution)
}

fn between(left: Sum, right: Sum, resolution: f64) -> (LogRatio, bool) {
    let is_coarse = left.is_coarse(resolution) || right.is_coarse(resolution);
    (LogRatio::between_sums(left, right, resolution), resolution > 0.0 && is_coarse)
}

impl Part<'_> {
    /// Returns the value of a metric; unknown if a meter failed to give it.
    pub fn reading(&self, metric: Metric) -> Reading {
        self.sample.reading(metric).unwrap_or(Reading::UNKNOWN)
    }

    /// Returns the sum of a batch by wall time.
    fn batch(&self, time: &BatchTime) -> Sum {
        let is_whole = self.sample.outcome == Outcome::Finished;
        let reading = if is_whole { Reading::from(*time) } else { Reading::UNKNOWN };
        self.sum(Metric::WallTime, reading)
    }

    /// Returns a reading of a program or, for a function, the sum over the calls of a batch: all
    /// batches of a unit count as one, since both contestants have equally many. Memory is not a
    /// sum. If each call is timed separately, each adds a step of the clock.
    fn sum(&self, metric: Metric, reading: Reading) -> Sum {
        let step = metric.step(self.plan.clock_step_ns);
        let functions = self.plan.functions.as_deref().filter(|_| metric.unit() != Unit::Bytes);
        let Some(functions) = functions else { return Sum { reading, step, parts: 1 } };
        let parts = functions.calls_a_batch.of(self.contestant, self.company);
        let spans = match metric {
            Metric::WallTime if functions.times_each_call => parts as f64,
            _ => 1.0,
        };
        Sum { reading, step: spans * step, parts }
    }
}
