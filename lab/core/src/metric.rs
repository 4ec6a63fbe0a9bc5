//! The metrics of a measurement, with their units.

use serde::{Deserialize, Serialize};

/// A quantity that samples carry. Smaller is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// The time from just before the start until the process is reaped, by the monotonic clock.
    WallTime,
    /// The user and system time together.
    CpuTime,
    /// The time on a CPU in user mode.
    UserTime,
    /// The time on a CPU in the kernel, on behalf of the contestant.
    SystemTime,
    /// The time on a CPU as the scheduler counts it, to the nanosecond, for the contestant's main
    /// thread. The time that it waited for a CPU does not count. Other threads and children do not
    /// count either, so it says little about a program that works in them; CPU time counts them.
    RunTime,
    /// The largest resident set of the contestant's largest process.
    PeakMemory,
    /// Page faults, minor and major.
    PageFaults,
    /// Context switches, voluntary and involuntary.
    ContextSwitches,
    /// CPU cycles, where the machine counts them.
    Cycles,
    /// Instructions retired, where the machine counts them.
    Instructions,
    /// Mispredicted branches, where the machine counts them.
    BranchMisses,
    /// Misses of the last cache level, where the machine counts them.
    CacheMisses,
    /// Energy, where the machine measures it.
    Energy,
    /// The plain number on a line of a stream. No sample of a program has it.
    Value,
}

/// The unit of a metric's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// 1e-9 seconds.
    Nanoseconds,
    /// 8 bits.
    Bytes,
    /// 1e-9 joules.
    Nanojoules,
    /// A plain number of events.
    Count,
}

/// Each metric with the words by which a claim sentence names it, its key and its unit, in the
/// order of the enumeration.
const TABLE: [(Metric, &str, &str, Unit); 14] = [
    (Metric::WallTime, "wall time", "wall_ns", Unit::Nanoseconds),
    (Metric::CpuTime, "cpu time", "cpu_ns", Unit::Nanoseconds),
    (Metric::UserTime, "user time", "user_ns", Unit::Nanoseconds),
    (Metric::SystemTime, "system time", "system_ns", Unit::Nanoseconds),
    (Metric::RunTime, "run time", "run_ns", Unit::Nanoseconds),
    (Metric::PeakMemory, "peak memory", "peak_memory_bytes", Unit::Bytes),
    (Metric::PageFaults, "page faults", "page_faults", Unit::Count),
    (Metric::ContextSwitches, "context switches", "context_switches", Unit::Count),
    (Metric::Cycles, "cycles", "cycles", Unit::Count),
    (Metric::Instructions, "instructions", "instructions", Unit::Count),
    (Metric::BranchMisses, "branch misses", "branch_misses", Unit::Count),
    (Metric::CacheMisses, "cache misses", "cache_misses", Unit::Count),
    (Metric::Energy, "energy", "energy_nj", Unit::Nanojoules),
    (Metric::Value, "value", "value", Unit::Count),
];

impl Metric {
    /// All metrics of a program's sample, in the order in which tables show them.
    pub const ALL: [Metric; 13] = {
        let mut all = [Metric::WallTime; 13];
        let mut index = 0;
        while index < all.len() {
            all[index] = TABLE[index].0;
            index += 1;
        }
        all
    };

    /// Returns the words by which a claim sentence names the metric: `by peak memory`.
    pub fn name(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// Returns the key of the metric in JSON and CSV: the name with its unit last.
    pub fn key(self) -> &'static str {
        TABLE[self as usize].2
    }

    /// Returns the metric that a claim sentence or an option names.
    pub fn from_name(name: &str) -> Option<Metric> {
        Metric::ALL.into_iter().find(|metric| metric.name() == name)
    }

    /// Returns the unit of the metric's values.
    pub fn unit(self) -> Unit {
        TABLE[self as usize].3
    }

    /// Returns the comparative by which people say that less of this metric is better.
    pub fn comparative(self) -> (&'static str, &'static str) {
        match self {
            Metric::WallTime => ("faster", "slower"),
            _ => ("smaller", "larger"),
        }
    }

    /// Returns the step of the metric's values. Half of it is their error.
    ///
    /// The wall clock's step depends on the machine; the caller passes it in nanoseconds. The
    /// kernel sets the others: `getrusage` gives CPU time in microseconds and memory in pages of
    /// 4096 bytes, and most kernels split CPU time into user and system by sampling at ticks of up
    /// to 10 ms.
    pub fn step(self, clock_step_ns: f64) -> f64 {
        match self {
            Metric::WallTime => clock_step_ns,
            Metric::CpuTime => 1e3,
            Metric::UserTime | Metric::SystemTime => 1e7,
            Metric::PeakMemory => 4096.0,
            Metric::Value => 0.0,
            _ => 1.0,
        }
    }
}

/// The form in results, where a metric is written as its [`Metric::key`], with the unit. The
/// journal uses other names.
pub mod key {
    use super::{Metric, TABLE};
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;
    use std::collections::BTreeMap;

    /// Writes a metric.
    ///
    /// # Errors
    /// Fails if the serializer fails.
    pub fn serialize<S: Serializer>(metric: &Metric, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(metric.key())
    }

    /// Reads a metric.
    ///
    /// # Errors
    /// Fails if it is not the key of a metric.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Metric, D::Error> {
        read(&String::deserialize(deserializer)?)
    }

    fn read<E: Error>(key: &str) -> Result<Metric, E> {
        let found = TABLE.iter().find(|row| row.2 == key).map(|row| row.0);
        found.ok_or_else(|| E::custom(format_args!("no metric is '{key}'")))
    }

    /// The same form for a list of pairs of a metric and a value, which is an object in JSON.
    pub mod map {
        use super::{BTreeMap, Deserialize, Deserializer, Metric, Serializer, read};
        use serde::Serialize;

        /// Writes the value of each metric.
        ///
        /// # Errors
        /// Fails if the serializer fails.
        pub fn serialize<T: Serialize, S: Serializer>(
            list: &[(Metric, T)],
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            serializer.collect_map(list.iter().map(|(metric, value)| (metric.key(), value)))
        }

        /// Reads the value of each metric, in the order of [`Metric::ALL`].
        ///
        /// # Errors
        /// Fails if a key is not a metric's, or if a value is wrong.
        pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Vec<(Metric, T)>, D::Error> {
            let object = BTreeMap::<String, T>::deserialize(deserializer)?;
            let pairs = object.into_iter().map(|(key, value)| Ok((read(&key)?, value)));
            let mut list = pairs.collect::<Result<Vec<_>, D::Error>>()?;
            list.sort_by_key(|(metric, _)| *metric);
            Ok(list)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_keys_are_unique_and_readable_back() {
        for metric in Metric::ALL {
            assert_eq!(Metric::from_name(metric.name()), Some(metric));
            assert_eq!(Metric::ALL.iter().filter(|m| m.key() == metric.key()).count(), 1);
        }
        assert_eq!(Metric::from_name("speed"), None);
        assert!(TABLE.iter().enumerate().all(|(index, row)| row.0 as usize == index));
    }
}
