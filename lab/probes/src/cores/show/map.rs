//! The map of the pairs: which latency stands where, and in which of five steps it lies.

use crate::{Cores, PairLatency};
use std::collections::BTreeMap;

/// Steps of a map.
pub(crate) const STEPS: usize = 5;
/// What differs by less than this has no steps.
const FLAT: f64 = 1.25;

/// The map of the headline.
pub(crate) struct Map<'a> {
    /// The CPUs in the order of rows and columns.
    pub cpus: &'a [usize],
    pairs: BTreeMap<[usize; 2], &'a PairLatency>,
    nearest_ns: f64,
    farthest_ns: f64,
}

/// A pair's place on the map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cell {
    /// The latency in nanoseconds that the CPU of the row timed, or of both together.
    pub latency_ns: f64,
    /// Its step, from the nearest; `None` on a map that is flat.
    pub step: Option<usize>,
    /// Whether it is one of several modes.
    pub has_modes: bool,
}

impl<'a> Map<'a> {
    /// The map; `None` if nothing was found.
    pub(crate) fn of(found: &'a Cores) -> Option<Map<'a>> {
        let headline = found.headline()?;
        let pairs = headline.pairs.iter().map(|pair| (pair.cpus, pair)).collect();
        let [nearest_ns, farthest_ns] = [headline.nearest_ns, headline.farthest_ns];
        Some(Map { cpus: &found.cpus, pairs, nearest_ns, farthest_ns })
    }

    /// The cell of a row and a column, counted along `cpus`; `None` if the pair was not measured.
    pub(crate) fn cell(&self, row: usize, column: usize) -> Option<Cell> {
        let [timing, other] = [self.cpus[row], self.cpus[column]];
        let pair = self.pairs.get(&[timing.min(other), timing.max(other)])?;
        let timed = pair.timed_by_ns[usize::from(timing > other)];
        let latency_ns = timed.unwrap_or(pair.latency_ns);
        let has_modes = pair.modes.len() > 1;
        Some(Cell { latency_ns, step: self.step(pair.latency_ns), has_modes })
    }

    /// The step of a latency: equal ratios are equal steps.
    fn step(&self, latency_ns: f64) -> Option<usize> {
        let range = (self.farthest_ns / self.nearest_ns).ln();
        let place = (latency_ns / self.nearest_ns).ln() / range * STEPS as f64;
        self.has_steps().then(|| (place.max(0.0) as usize).min(STEPS - 1))
    }

    /// Whether latencies differ enough for steps.
    pub(crate) fn has_steps(&self) -> bool {
        self.farthest_ns >= self.nearest_ns * FLAT
    }

    /// Whether any cell is one of several modes.
    pub(crate) fn has_modes(&self) -> bool {
        self.pairs.values().any(|pair| pair.modes.len() > 1)
    }

    /// Where a step begins and ends, in nanoseconds.
    pub(crate) fn ends_ns(&self, step: usize) -> [f64; 2] {
        let range = (self.farthest_ns / self.nearest_ns).ln();
        [step, step + 1].map(|at| self.nearest_ns * (range * at as f64 / STEPS as f64).exp())
    }
}

/// A latency in nanoseconds, with a decimal below 100.
pub(crate) fn ns(latency_ns: f64) -> String {
    let decimals = usize::from(latency_ns < 99.95);
    format!("{latency_ns:.decimals$}")
}
