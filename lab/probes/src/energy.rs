//! Energy: the power of whole packages, idle and under known loads.

mod measure;
pub(crate) mod show;

pub(crate) use measure::probe;

use crate::figure::{Better, Figure, Spread, Unit};
use serde::{Deserialize, Serialize};

/// Power of whole packages, idle and under known loads, other tenants of the machine included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// Source of the numbers: `perf power events`, `powercap`, `hwmon` or `MSR`.
    pub source: String,
    /// Time from one move of the meter to the next.
    pub period_ns: u64,
    /// Power of the idle machine before the loads.
    pub idle_before_watts: f64,
    /// The same after them; absent if the probe was stopped before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_after_watts: Option<f64>,
    /// The mean of the two, or the one that there is: what is subtracted from the loads.
    pub idle_watts: f64,
    /// The loads.
    pub loads: Vec<EnergyLoad>,
    /// The parts that have a gauge of their own.
    pub parts: Vec<EnergyPart>,
}

/// Energy under a known load: sums over an array that a level-1 cache holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnergyLoad {
    /// The kind of load: `integer`, `vector (AVX2)`.
    pub name: String,
    /// Number of CPUs on which it ran.
    pub cpus: u32,
    /// How long it ran.
    pub elapsed_ns: u64,
    /// All energy in that time, the idle machine's share included.
    pub joules: f64,
    /// The same per second.
    pub watts: f64,
    /// Power above that of the idle machine; below 0 if others took less than before.
    pub above_idle_watts: f64,
    /// Energy above idle for each added value, in nanojoules; absent where it is not above 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_nj: Option<f64>,
    /// Share of the time in which the load really ran, all its threads together.
    pub ran_share: f64,
}

/// A part of the machine that has a gauge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnergyPart {
    /// What it is: `package (package-0)`, `memory (package-0 dram)`.
    pub name: String,
    /// Whether it belongs to the parts whose sum is the whole; the others lie within or outside
    /// those.
    pub is_counted: bool,
    /// Its power before the loads; absent where the counter went back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_watts: Option<f64>,
    /// Its power under the last load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_watts: Option<f64>,
}

impl Energy {
    /// Returns the numbers by which two machines can be compared: watts idle, and under each load.
    /// A load on several CPUs has one key for any number of them.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let before_and_after = [Some(self.idle_before_watts), self.idle_after_watts];
        let idle = figure("energy-idle", "power, idle", self.idle_watts)
            .with_spread(Spread::of(before_and_after.into_iter().flatten()));
        let loads = self.loads.iter().map(|load| {
            // The name without the registers of this machine: `vector`.
            let kind = load.name.split(' ').next().unwrap_or_default();
            let (key, words) =
                if load.cpus == 1 { ("one-cpu", "one CPU") } else { ("all-cpus", "all CPUs") };
            let words = format!("power, {kind} load on {words}");
            figure(&format!("energy-{kind}-{key}"), &words, load.watts)
        });
        [idle].into_iter().chain(loads).collect()
    }
}

fn figure(key: &str, words: &str, watts: f64) -> Figure {
    Figure::new(key, words, watts, Unit::Watts, Better::Lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_the_same_keys_on_machines_of_any_size() {
        fn load(name: &str, cpus: u32) -> EnergyLoad {
            EnergyLoad {
                name: name.to_owned(),
                cpus,
                watts: f64::from(cpus),
                ..EnergyLoad::default()
            }
        }
        let energy = Energy {
            idle_watts: 0.5,
            loads: vec![load("integer", 1), load("vector (AVX-512)", 64)],
            ..Energy::default()
        };
        let figures = energy.figures();
        let keys: Vec<_> = figures.iter().map(|one| (one.key.as_str(), one.value)).collect();
        let expected = [
            ("energy-idle", 0.5),
            ("energy-integer-one-cpu", 1.0),
            ("energy-vector-all-cpus", 64.0),
        ];
        assert_eq!(keys, expected);
        assert_eq!(figures[2].words, "power, vector load on all CPUs");
    }
}
