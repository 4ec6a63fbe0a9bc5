//! A unit of the pilot: how long its calls and its rounds took, how noisy they are, and how long it
//! takes until its contestants are warm.

use tiebreak_core::metric::Metric;
use tiebreak_core::sample::BatchTime;
use tiebreak_core::sampler::UnitRan;
use tiebreak_stats::observation::log;
use tiebreak_stats::unit::{self, Noise};

/// A round in which contestants take this much longer than later on, as a natural logarithm, is one
/// of warming up.
const SLOWER: f64 = 0.03;
/// The median over a contestant's units of what a round takes longer is beyond noise if it is more
/// than this number of usual distances, over the root of the number of units.
const NOISE: f64 = 6.0;

/// A unit of the pilot.
pub(super) struct Ran {
    /// Its contestants.
    pub(super) order: Vec<usize>,
    /// The number of calls in a batch of each.
    pub(super) calls: Vec<u64>,
    /// The unit's results.
    pub(super) unit: UnitRan,
    /// The number of its rounds.
    pub(super) rounds: u32,
    /// Its duration, with its links and the wait for quiet.
    pub(super) took_ns: u64,
}

impl Ran {
    fn position(&self, contestant: usize) -> Option<usize> {
        self.order.iter().position(|other| *other == contestant)
    }

    /// Returns the wall times of a contestant's batches; none if it took no part.
    fn batches(&self, contestant: usize) -> &[BatchTime] {
        let batches = self.position(contestant).and_then(|at| self.unit.batches.get(at));
        batches.map_or(&[], Vec::as_slice)
    }

    /// Counts the first rounds as part of the unit's own cost.
    pub(super) fn forget(&mut self, rounds: usize) {
        self.unit.batches.iter_mut().for_each(|of| drop(of.drain(..rounds.min(of.len()))));
    }

    /// Returns the time of a call of a contestant while no other process uses its CPU: in the
    /// shortest batch, or on average without the thread's waits for a CPU, whichever is less.
    /// Infinite if it took no part.
    pub(super) fn quiet_call_ns(&self, contestant: usize) -> f64 {
        let calls = self.position(contestant).map_or(1, |at| self.calls[at]) as f64;
        let batches = self.batches(contestant);
        let walls = batches.iter().map(|time| time.high_ns as f64);
        let shortest_ns = walls.fold(f64::INFINITY, f64::min);
        let quiet_ns = self.quiet_ns(contestant).map(|ns| ns as f64 / batches.len().max(1) as f64);
        quiet_ns.map_or(shortest_ns, |quiet_ns| shortest_ns.min(quiet_ns)) / calls
    }

    /// Returns the time of all batches of a contestant without its thread's waits for a CPU.
    fn quiet_ns(&self, contestant: usize) -> Option<u64> {
        let sample = self.unit.samples.get(self.position(contestant)?)?;
        let wall_ns = sample.wall_ns;
        // It also waits outside the timed span; the time that it ran is at least its own.
        let ran_ns = sample.meters.run_ns?.min(wall_ns);
        Some(wall_ns.saturating_sub(sample.beside.run_delay_ns?).max(ran_ns))
    }

    /// Returns the cost of a round: each contestant's batch, and what lies between batches, which
    /// may be far more: untimed calls, resets, a thread that must be asleep again.
    pub(super) fn round_cost_ns(&self) -> f64 {
        self.unit.rounds_ns as f64 / self.rounds.max(1) as f64
    }

    /// Returns the cost of a unit without its rounds, but with those that were forgotten.
    pub(super) fn unit_cost_ns(&self) -> f64 {
        let rounds = self.unit.batches.first().map_or(0, Vec::len) as f64;
        (self.took_ns as f64 - rounds * self.round_cost_ns()).max(0.0)
    }
}

/// Returns the number of rounds for which units warm up: twice as many as those in which one of the
/// contestants is slower than in the second half of the unit, by more than noise explains, at least
/// in three of four of its units; at most that half.
pub(super) fn warm_rounds(all: &[Ran], contestants: &[usize]) -> usize {
    let rounds = all.iter().flat_map(|ran| ran.unit.batches.first()).map(Vec::len).max();
    let half = rounds.unwrap_or(0) / 2;
    // The log times of each unit of a contestant, from the median of its second half.
    let of = |contestant: usize| {
        let traces = all.iter().map(move |ran| ran.batches(contestant));
        let full = traces.filter(|trace| Some(trace.len()) == rounds);
        full.filter_map(|trace| {
            let later = unit::median(trace[half..].iter().map(log_of))?;
            Some(trace.iter().map(|time| log_of(time) - later).collect::<Vec<f64>>())
        })
    };
    let of: Vec<Vec<Vec<f64>>> = contestants.iter().map(|one| of(*one).collect()).collect();
    let later = of.iter().flatten().flat_map(|trace| &trace[half..]);
    let Some(distance) = unit::median(later.map(|log| log.abs())) else { return 0 };
    let is_slow = |traces: &Vec<Vec<f64>>, round: usize| {
        let slower = traces.iter().filter(|trace| trace[round] > SLOWER).count();
        let usual = unit::median(traces.iter().map(|trace| trace[round])).unwrap_or(0.0);
        let noise = NOISE * distance / (traces.len() as f64).sqrt();
        4 * slower >= 3 * traces.len() && traces.len() > 1 && usual > noise
    };
    let is_cold = |round: &usize| of.iter().any(|traces| is_slow(traces, *round));
    (2 * (0..half).take_while(is_cold).count()).min(half)
}

/// Returns the noise of the log ratios of pairs that had two units or more. Pairs with a contestant
/// that is not exact count only if there are no others. `None` if no pair has two units.
pub(super) fn noise(all: &[Ran], pairs: &[[usize; 2]], is_exact: &[bool]) -> Option<Noise> {
    let of = |pairs: &[[usize; 2]]| {
        unit::noise(&pairs.iter().map(|pair| units_of(all, *pair)).collect::<Vec<_>>())
    };
    let (exact, others): (Vec<_>, Vec<_>) =
        pairs.iter().partition(|pair| pair.iter().all(|one| is_exact[*one]));
    of(&exact).or_else(|| of(&others))
}

/// Returns the log ratios of the rounds of each unit of a pair.
fn units_of(all: &[Ran], [left, right]: [usize; 2]) -> Vec<Vec<f64>> {
    let units = all.iter().map(|ran| {
        let rounds = ran.batches(left).iter().zip(ran.batches(right));
        rounds.map(|(left, right)| log_of(right) - log_of(left)).collect::<Vec<f64>>()
    });
    let mut units: Vec<_> = units.filter(|ratios| !ratios.is_empty()).collect();
    // The first unit may have more rounds than was found to be affordable.
    let fewest = units.iter().map(Vec::len).min().unwrap_or(0);
    units.iter_mut().for_each(|ratios| ratios.truncate(fewest));
    units
}

fn log_of(time: &BatchTime) -> f64 {
    log(time.high_ns.max(1) as f64)
}

/// Returns the metrics that every sample has. No process uses 0 bytes of memory, so that value was
/// not measured.
pub(super) fn measured(all: &[Ran]) -> Vec<Metric> {
    let mut metrics = Metric::ALL.to_vec();
    metrics.retain(|metric| {
        all.iter().flat_map(|ran| &ran.unit.samples).all(|sample| match metric {
            Metric::PeakMemory => sample.peak_memory_bytes > 0,
            _ => sample.value(*metric).is_some(),
        })
    });
    metrics
}
