//! What the probe of timers found.

pub(crate) mod measure;
pub(crate) mod show;

pub(crate) use measure::probe;

use crate::figure::{Better, Figure, Spread, Unit};
use serde::{Deserialize, Serialize};

/// A call that takes less than this depends on where its code lies, in nanoseconds: of ten runs on
/// one machine one read a coarse clock in 5.3 ns all along, nine in 2.7 to 2.9 ns.
const PLACED_NS: f64 = 8.0;
const PLACED: &str = "a call so short depends on where its code lies, which a run draws once";

/// What the probe of timers found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timers {
    /// The clock source that the kernel uses: `tsc`.
    pub clock_source: Option<String>,
    /// The clock sources that it could use.
    pub clock_sources: Vec<String>,
    /// Each clock that could be read.
    pub clocks: Vec<Clock>,
    /// Clocks that this machine does not have, by name.
    pub missing: Vec<String>,
    /// Whether a clock is read without a system call.
    pub vdso: Option<Vdso>,
    /// The processor's own counter, if it can be read.
    pub counter: Option<TickCounter>,
    /// Whether stamps that are handed from CPU to CPU ever go backwards; a clock each.
    pub order: Vec<ClockOrder>,
    /// How fast clocks run against `MONOTONIC`.
    pub drifts: Vec<Drift>,
}

/// What one clock is like.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    /// `MONOTONIC`, `rdtsc`.
    pub name: String,
    /// What a reading costs: the median of batches, in nanoseconds.
    pub cost_ns: f64,
    /// The same of the fastest twentieth of the batches.
    pub cost_low_ns: f64,
    /// The same of each of some parts of the batches, the earlier first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts_ns: Vec<f64>,
    /// The resolution that the kernel reports, in nanoseconds.
    pub told_resolution_ns: Option<u64>,
    /// Steps between readings, one right after the other, that were not 0; none if no step was
    /// seen in time.
    pub steps: Option<Steps>,
}

/// Steps of a clock in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    /// The smallest one.
    pub least_ns: f64,
    /// The median.
    pub median_ns: f64,
    /// The step that 99 of 100 steps are not larger than.
    pub p99_ns: f64,
    /// Readings that were equal to the one before, as a share of all.
    pub equal_share: f64,
    /// Readings that were smaller than the one before.
    pub backwards: u64,
}

/// The same clock read with and without a system call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Vdso {
    /// By the C library, which asks the kernel's page of code if there is one.
    pub vdso_ns: f64,
    /// By a system call.
    pub system_call_ns: f64,
    /// The same of the fastest twentieth of each of some parts of its batches, the earlier first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts_ns: Vec<f64>,
    /// System call over library.
    pub ratio: f64,
    /// Whether the library needs no system call: the ratio is 2 at least.
    pub works: bool,
}

/// The processor's counter of ticks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TickCounter {
    /// `TSC` or `CNTVCT`.
    pub name: String,
    /// Ticks a second, by `MONOTONIC_RAW`.
    pub hertz: f64,
    /// How far `hertz` may be off, as a share of it in millionths.
    pub uncertainty_ppm: f64,
    /// Whether it ticks at one rate, whatever the core does; none if the machine does not say.
    pub is_invariant: Option<bool>,
    /// What the machine says of it: `constant_tsc`.
    pub flags: Vec<String>,
}

/// Whether a clock goes forward when its stamps are handed from CPU to CPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClockOrder {
    /// The clock.
    pub clock: String,
    /// Each ordered pair of CPUs that was tried.
    pub pairs: Vec<HandOff>,
    /// Ordered pairs for which there was no time.
    pub pairs_left_out: u64,
    /// The smallest difference of all pairs in nanoseconds: the clock goes forward if it is not
    /// negative.
    pub least_ns: f64,
    /// The largest distance of two CPUs' clocks that the hand-offs allow, in nanoseconds.
    pub offset_bound_ns: f64,
    /// Hand-offs in all.
    pub hand_offs: u64,
}

/// Stamps that one CPU handed to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HandOff {
    /// Who stamped first.
    pub from_cpu: usize,
    /// Who stamped as soon as it saw the first stamp.
    pub to_cpu: usize,
    /// The smallest difference, second stamp less the first, in nanoseconds.
    pub least_ns: f64,
    /// The median difference.
    pub median_ns: f64,
    /// Hand-offs.
    pub count: u64,
}

/// How fast a clock runs against another one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// The clock.
    pub clock: String,
    /// What it is held against.
    pub against: String,
    /// By how much it is faster, in millionths.
    pub ppm: f64,
    /// How far that may be off, in millionths.
    pub uncertainty_ppm: f64,
    /// For how long both were watched.
    pub seconds: f64,
}

impl Timers {
    /// Returns the clock of this name.
    pub fn clock(&self, name: &str) -> Option<&Clock> {
        self.clocks.iter().find(|clock| clock.name == name)
    }

    /// Returns the numbers by which two machines can be compared: what a reading costs when nothing
    /// else uses the core, so the fastest twentieth of the batches.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        for clock in &self.clocks {
            let key = format!("clock-{}", clock.name.to_lowercase().replace('_', "-"));
            let words = format!("cost of {}", clock.name);
            let doubt = (clock.cost_low_ns < PLACED_NS).then(|| PLACED.to_owned());
            let figure = cost(&key, &words, clock.cost_low_ns, &clock.parts_ns);
            figures.push(Figure { doubt, ..figure });
        }
        if let Some(vdso) = &self.vdso {
            let words = "cost of MONOTONIC by a system call";
            let mut parts = vdso.parts_ns.clone();
            parts.sort_by(f64::total_cmp);
            let value = parts.get(parts.len() / 2).copied().unwrap_or(vdso.system_call_ns);
            figures.push(cost("clock-system-call", words, value, &vdso.parts_ns));
        }
        if let Some(counter) = &self.counter {
            let words = format!("ticks of the {}", counter.name);
            let (hertz, off) = (counter.hertz, counter.hertz * counter.uncertainty_ppm / 1e6);
            let ticks = Figure::new("ticks", words, hertz, Unit::Hertz, Better::Neither);
            figures.push(ticks.with_spread(Spread::of([hertz - off, hertz + off])));
        }
        figures
    }
}

fn cost(key: &str, words: &str, value: f64, parts: &[f64]) -> Figure {
    Figure::new(key, words, value, Unit::Nanoseconds, Better::Lower).with_parts(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_what_is_known() {
        let clock = |name: &str| Clock { name: name.to_owned(), ..Clock::default() };
        let mut timers = Timers::default();
        assert!(timers.figures().is_empty());
        let slow = Clock { cost_low_ns: 22.0, ..clock("MONOTONIC_RAW") };
        timers.clocks = vec![slow, Clock { cost_low_ns: 5.3, ..clock("rdtsc") }];
        timers.vdso = Some(Vdso::default());
        timers.counter = Some(TickCounter::default());
        let keys: Vec<String> = timers.figures().into_iter().map(|figure| figure.key).collect();
        assert_eq!(keys, ["clock-monotonic-raw", "clock-rdtsc", "clock-system-call", "ticks"]);
        let doubts = timers.figures().into_iter().map(|figure| figure.doubt.is_some());
        assert_eq!(doubts.collect::<Vec<_>>(), [false, true, false, false]);
        assert!(timers.clock("rdtsc").is_some() && timers.clock("rdtscp").is_none());
    }
}
