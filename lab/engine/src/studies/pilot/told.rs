//! The results of a pilot's units: costs, spread, and what is measured.

use tiebreak_core::metric::Metric;
use tiebreak_core::sample::{BatchTime, Sample};
use tiebreak_core::sampler::UnitRan;
use tiebreak_core::study::Pilot;
use tiebreak_stats::observation::log;
use tiebreak_stats::unit;

/// A unit of the pilot.
pub(super) struct Ran {
    /// Its contestants.
    pub(super) order: Vec<usize>,
    /// The unit's results.
    pub(super) unit: UnitRan,
    /// Its duration, with its links.
    pub(super) took_ns: u64,
}

impl Ran {
    /// Returns the wall times of a contestant's batches; none if it took no part.
    pub(super) fn batches(&self, contestant: usize) -> &[BatchTime] {
        let position = self.order.iter().position(|other| *other == contestant);
        position.and_then(|position| self.unit.batches.get(position)).map_or(&[], Vec::as_slice)
    }

    /// Returns the time of a batch of a contestant while no other process uses its CPU: the
    /// shortest one, or the mean without the thread's waits for a CPU, whichever is less. Infinite
    /// if it took no part.
    pub(super) fn quiet_batch_ns(&self, contestant: usize) -> f64 {
        let batches = self.batches(contestant);
        let least = batches.iter().map(|time| time.high_ns).min();
        let least = least.map_or(f64::INFINITY, |least| least as f64);
        let position = self.order.iter().position(|other| *other == contestant);
        let sample = position.and_then(|position| self.unit.samples.get(position));
        let quiet_ns = |sample: &Sample| {
            let wall_ns = sample.wall_ns;
            // It also waits outside the timed span; the time that it ran is at least its own.
            let ran_ns = sample.meters.run_ns?.min(wall_ns);
            Some(wall_ns.saturating_sub(sample.beside.run_delay_ns?).max(ran_ns))
        };
        match sample.and_then(quiet_ns) {
            Some(quiet_ns) => least.min(quiet_ns as f64 / batches.len().max(1) as f64),
            None => least,
        }
    }
}

/// Returns the medians, over the pairs that had two units or more, of the variances of their log
/// ratios. Pairs with a contestant that is not exact count only if there are no others. `None` if
/// no pair has two units.
pub(super) fn variances(all: &[Ran], pairs: &[[usize; 2]], is_exact: &[bool]) -> Option<Pilot> {
    let exact = |pair: &&[usize; 2]| pair.iter().all(|one| is_exact[*one]);
    let of_pair = |[left, right]: &[usize; 2]| {
        let both = all.iter().map(|ran| log_ratios(ran.batches(*left), ran.batches(*right)));
        unit::variances(&both.filter(|ratios| !ratios.is_empty()).collect::<Vec<_>>())
    };
    let (mut within, mut between): (Vec<_>, Vec<_>) =
        pairs.iter().filter(exact).filter_map(of_pair).unzip();
    if within.is_empty() {
        (within, between) = pairs.iter().filter_map(of_pair).unzip();
    }
    let [variance_within, variance_between] = [within, between].map(middle);
    Some(Pilot {
        variance_within: variance_within?,
        variance_between: variance_between?,
        ..Pilot::default()
    })
}

fn log_ratios(left: &[BatchTime], right: &[BatchTime]) -> Vec<f64> {
    let log_of = |time: &BatchTime| log(time.high_ns.max(1) as f64);
    left.iter().zip(right).map(|(left, right)| log_of(right) - log_of(left)).collect()
}

/// Returns the cost of a round: each contestant's batch of this many calls, and the untimed call
/// before it.
pub(super) fn round_cost_ns(ran: &Ran, calls: &[u64]) -> f64 {
    let of_one = |one: &usize| {
        let batches = ran.batches(*one);
        let sum_ns = batches.iter().map(|time| time.high_ns).sum::<u64>();
        let batch = sum_ns as f64 / batches.len().max(1) as f64;
        batch * (1.0 + 1.0 / calls[*one] as f64)
    };
    ran.order.iter().map(of_one).sum()
}

/// Returns the cost of a unit without its rounds.
pub(super) fn unit_cost_ns(ran: &Ran, round_cost_ns: f64) -> f64 {
    let rounds = ran.unit.batches.first().map_or(0, Vec::len) as f64;
    (ran.took_ns as f64 - rounds * round_cost_ns).max(0.0)
}

/// Returns the metrics that every sample has. No process uses 0 bytes of memory, so that value was
/// not measured.
pub(super) fn measured(all: &[Ran]) -> Vec<Metric> {
    let samples = || all.iter().flat_map(|ran| &ran.unit.samples);
    let is_measured = |metric: &Metric| match metric {
        Metric::PeakMemory => samples().all(|sample| sample.peak_memory_bytes > 0),
        _ => samples().all(|sample| sample.value(*metric).is_some()),
    };
    Metric::ALL.into_iter().filter(is_measured).collect()
}

/// Returns the middle value, or the larger of the two middle values of an even number; 0 for none.
pub(super) fn median(values: Vec<f64>) -> f64 {
    middle(values).unwrap_or(0.0)
}

fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
