//! What the probe of energy found.

mod analyse;
pub(crate) mod measure;
pub(crate) mod show;

pub(crate) use analyse::probe;

use crate::figure::{Better, Figure, Spread, Unit};
use serde::{Deserialize, Serialize};

/// What whole packages take, idle and under a known load. Other tenants of the machine are in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// Where the numbers come from: `perf power events`, `powercap`, `hwmon` or `MSR`.
    pub source: String,
    /// The time from one move of the meter to the next.
    pub period_ns: u64,
    /// What was taken while nothing was asked of the machine, before the loads.
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

/// What was taken under a known load: sums over an array that a level-1 cache holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnergyLoad {
    /// What ran: `integer`, `vector (AVX2)`.
    pub name: String,
    /// On how many CPUs.
    pub cpus: u32,
    /// For how long.
    pub elapsed_ns: u64,
    /// Everything that was taken meanwhile, the idle machine's share included.
    pub joules: f64,
    /// The same a second.
    pub watts: f64,
    /// Of it, what the idle machine does not take. Below 0 if others took less than before.
    pub above_idle_watts: f64,
    /// Energy above idle for one value that was added up, in nanojoules; absent where it is not
    /// above 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_nj: Option<f64>,
    /// The share of the time in which the load really ran, all its threads together.
    pub ran_share: f64,
}

/// A part of the machine that has a gauge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnergyPart {
    /// What it is: `package (package-0)`, `memory (package-0 dram)`.
    pub name: String,
    /// Whether it is one of those whose sum is what the whole takes; the others lie within those,
    /// or beside them.
    pub is_counted: bool,
    /// What it took before the loads; absent where the counter went back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_watts: Option<f64>,
    /// What it took under the last of the loads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_watts: Option<f64>,
}

impl EnergyLoad {
    /// The name without what the machine brings to it: `vector`.
    fn kind(&self) -> &str {
        self.name.split(' ').next().unwrap_or_default()
    }

    fn place(&self) -> (&'static str, &'static str) {
        if self.cpus == 1 { ("one-cpu", "one CPU") } else { ("all-cpus", "all CPUs") }
    }
}

impl Energy {
    /// The numbers by which two machines can be compared: watts idle, and under each load. A load
    /// on several CPUs has one key for any number of them.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let figure = |key: String, words: String, value: f64| {
            Figure::new(key, words, value, Unit::Watts, Better::Lower)
        };
        let before_and_after = [Some(self.idle_before_watts), self.idle_after_watts];
        let idle = figure("energy-idle".into(), "power, idle".into(), self.idle_watts)
            .with_spread(Spread::of(before_and_after.into_iter().flatten()));
        let loads = self.loads.iter().map(|load| {
            let (kind, (key, words)) = (load.kind(), load.place());
            let words = format!("power, {kind} load on {words}");
            figure(format!("energy-{kind}-{key}"), words, load.watts)
        });
        [idle].into_iter().chain(loads).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_the_same_keys_on_machines_of_any_size() {
        let load = |name: &str, cpus| EnergyLoad {
            name: name.to_owned(),
            cpus,
            watts: f64::from(cpus),
            ..EnergyLoad::default()
        };
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
