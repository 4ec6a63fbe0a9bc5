//! What a run saw of each contestant: columns of values, and counts.

use std::collections::BTreeMap;
use tiebreak_core::metric::Metric;
use tiebreak_core::sample::{Mark, Outcome, Sample};
use tiebreak_core::verdict::Fault;

/// What was seen of one contestant.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The values of each metric that was measured, in order; infinite for runs that timed out.
    pub values: BTreeMap<Metric, Vec<f64>>,
    /// Samples.
    pub samples: u64,
    /// Samples whose numbers are bounds only.
    pub invalid: u64,
    /// Of those, runs that were ended at the time-out.
    pub timed_out: u64,
    /// Runs that failed, which a claim about success counts.
    pub failures: u64,
    /// What the first of them said.
    pub first_failure: Option<Fault>,
    /// Samples by mark.
    pub marks: [u64; Mark::ALL.len()],
    /// Why it is void.
    pub fault: Option<Fault>,
}

impl Seen {
    /// Counts a sample and keeps its values: of a unit of several batches, the wall time of each.
    pub fn take(&mut self, sample: &Sample, batches: &[u64]) {
        self.samples += 1;
        if sample.outcome == Outcome::Failed {
            self.failures += 1;
            return;
        }
        self.invalid += u64::from(sample.outcome != Outcome::Finished);
        self.timed_out += u64::from(sample.outcome == Outcome::TimedOut);
        for (count, mark) in self.marks.iter_mut().zip(Mark::ALL) {
            *count += u64::from(sample.marks.has(mark));
        }
        for metric in Metric::ALL {
            let Some(reading) = sample.reading(metric) else { continue };
            let values = self.values.entry(metric).or_default();
            if values.len() == values.capacity() {
                values.reserve_exact(values.len() / 8 + 16 + batches.len());
            }
            match metric == Metric::WallTime && !batches.is_empty() {
                true => values.extend(batches.iter().map(|wall_ns| *wall_ns as f64)),
                false => values.push(reading.high),
            }
        }
    }

    /// Counts lines of a stream, and keeps the numbers on them.
    pub fn take_lines(&mut self, lines: u64, failures: u64, metric: Metric, numbers: &[f64]) {
        self.samples += lines;
        self.failures += failures;
        if !numbers.is_empty() {
            self.values.entry(metric).or_default().extend_from_slice(numbers);
        }
    }
}
