//! The observations of each contestant in a run: columns of values, and counts.

use std::collections::BTreeMap;
use tiebreak_core::load::MessageCounts;
use tiebreak_core::metric::{Metric, Unit};
use tiebreak_core::plan::Plan;
use tiebreak_core::result::{MetricSummary, ServedResult};
use tiebreak_core::sample::{BatchTime, Mark, Outcome, Sample, Served};
use tiebreak_core::verdict::Fault;
use tiebreak_stats::summary;

/// The observations of one contestant.
#[derive(Clone, Debug, Default)]
pub struct Observation {
    /// The values of each measured metric, in order, for one run of a program or one call of a
    /// function; infinite for runs that timed out.
    pub values: BTreeMap<Metric, Vec<f64>>,
    /// The fewest calls in a value of each of these metrics.
    calls: BTreeMap<Metric, f64>,
    /// The number of samples.
    pub samples: u64,
    /// The number of runs of a program, with the untimed runs of finished rounds.
    pub ran: u64,
    /// The number of samples whose numbers are only bounds.
    pub invalid: u64,
    /// The number of those that were ended at the time-out.
    pub timed_out: u64,
    /// What became of the messages of a server's loads.
    pub served: Option<Messages>,
    /// The number of failed runs, which a claim about success counts.
    pub failures: u64,
    /// The first of these failures.
    pub first_failure: Option<Fault>,
    /// The number of samples by mark.
    pub marks: [u64; Mark::ALL.len()],
    /// Why the contestant is void.
    pub fault: Option<Fault>,
}

/// What became of the messages of a server's loads, all together.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    /// The counts.
    pub counts: MessageCounts,
    /// The sends that were late.
    pub late: u64,
    /// The number of loads in which messages were lost.
    pub lossy: u64,
    /// The CPU time of the generator.
    generator_cpu_ns: u64,
    /// The arrivals a second of each load that has a time.
    rates: Vec<f64>,
}

impl Messages {
    fn take(&mut self, served: &Served, wall_ns: u64) {
        self.counts += served.counts;
        self.late += served.late;
        self.lossy += u64::from(served.counts.lost > 0);
        self.generator_cpu_ns += served.generator_cpu_ns;
        if wall_ns > 0 {
            self.rates.push(served.counts.arrived as f64 * 1e9 / wall_ns as f64);
        }
    }

    /// Returns them as a result. Costs a copy and a sort of all rates.
    pub fn result(&self) -> ServedResult {
        let sent = self.counts.sent.max(1) as f64;
        ServedResult {
            arrived_per_second: summary::summarise(&mut self.rates.clone(), 0.0).median,
            generator_cpu_a_message_ns: self.generator_cpu_ns as f64 / sent,
            late: self.late,
            counts: self.counts,
        }
    }
}

/// The values of a metric as reported: for one run of a program, for one call of a function.
#[derive(Clone, Debug)]
pub struct Column {
    /// The metric.
    pub metric: Metric,
    /// The summary of the values.
    pub summary: MetricSummary,
    /// The values in ascending order.
    pub sorted: Vec<f64>,
}

impl Observation {
    /// Returns one column for each metric, in the order of the metrics, of this contestant of the
    /// plan; with the values only of wall time and of the metric whose distribution is `shown`.
    /// Costs a copy and a sort of all values.
    pub fn columns(&self, plan: &Plan, shown: Metric) -> impl Iterator<Item = Column> {
        self.values.iter().filter_map(move |(metric, values)| {
            // In a process that functions share, the memory of each is unknown.
            let is_unknown = *metric == Metric::PeakMemory && plan.functions.is_some();
            if is_unknown && values.iter().all(|bytes| *bytes == 0.0) {
                return None;
            }
            let mut sorted = values.clone();
            let calls = self.calls.get(metric).copied().unwrap_or(1.0);
            let step = metric.step(plan.clock_step_ns) / calls;
            let summary = summary::summarise(&mut sorted, step);
            if ![shown, Metric::WallTime].contains(metric) {
                sorted = Vec::new();
            }
            Some(Column { metric: *metric, summary, sorted })
        })
    }

    /// Counts a sample and, if it is `shown`, keeps its values: for a unit of several batches at
    /// most the wall time of each. `calls` returns the number of calls in a value of a metric.
    pub fn take(
        &mut self,
        sample: &Sample,
        batches: &[BatchTime],
        shown: bool,
        calls: impl Fn(Metric) -> f64,
    ) {
        self.samples += 1;
        if sample.outcome == Outcome::Failed {
            self.failures += 1;
            return;
        }
        self.invalid += u64::from(sample.outcome != Outcome::Finished);
        self.timed_out += u64::from(sample.outcome == Outcome::TimedOut);
        if let Some(served) = &sample.served {
            self.served.get_or_insert_default().take(served, sample.wall_ns);
        }
        for (count, mark) in self.marks.iter_mut().zip(Mark::ALL) {
            *count += u64::from(sample.marks.has(mark));
        }
        for metric in Metric::ALL.into_iter().filter(|_| shown) {
            let Some(reading) = sample.reading(metric) else { continue };
            let calls = calls(metric);
            let fewest = self.calls.entry(metric).or_insert(calls);
            *fewest = fewest.min(calls);
            let values = self.values.entry(metric).or_default();
            if values.len() == values.capacity() {
                values.reserve_exact(values.len() / 8 + 16 + batches.len());
            }
            if metric == Metric::WallTime && !batches.is_empty() {
                values.extend(batches.iter().map(|time| time.high_ns as f64 / calls))
            } else {
                values.push(reading.high / calls)
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

/// Returns the number of calls of a function in a value. Wall times are those of batches, other
/// metrics are sums over the batches of a unit; memory is not divided.
pub fn calls_a_value(metric: Metric, plan: &Plan, contestant: usize, company: &[usize]) -> f64 {
    let Some(functions) = plan.functions.as_deref() else { return 1.0 };
    let calls = functions.calls_a_batch.of(contestant, company) as f64;
    match metric {
        Metric::WallTime => calls,
        metric if metric.unit() == Unit::Bytes => 1.0,
        _ => calls * f64::from(functions.rounds_a_unit.max(1)),
    }
}
