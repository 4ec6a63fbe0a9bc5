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
    /// The time within which half of the messages of a server's load arrived.
    LatencyP50,
    /// The same of 90% of them.
    LatencyP90,
    /// The same of 99% of them.
    LatencyP99,
    /// The same of 99.9% of them.
    LatencyP999,
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

/// What a value of a study's table is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Per {
    /// An item of the input.
    Item,
    /// A call.
    Call,
    /// Nothing: the value is one of the process.
    Process,
}

/// All that is known of a metric.
struct Row {
    metric: Metric,
    /// The words by which a claim sentence names it.
    name: &'static str,
    key: &'static str,
    unit: Unit,
    /// The words between two contestants that say that the first needs less, before the name.
    verb: &'static str,
    /// Whether a timed batch of calls has it.
    is_of_batches: bool,
    /// Whether only some machines meter it.
    is_metered: bool,
    /// The title of its column in a study's table, if it has one.
    column: Option<(&'static str, Per)>,
}

/// The metrics, in the order of the enumeration; [`Metric::Value`], which no program has, is the
/// last.
const TABLE: [Row; 18] = {
    use Metric::*;
    use Per::{Call, Item, Process};
    use Unit::{Bytes, Count, Nanojoules, Nanoseconds};
    [
        row(WallTime, "wall time", "wall_ns", Nanoseconds, "is faster").of_batches(),
        row(CpuTime, "cpu time", "cpu_ns", Nanoseconds, "uses less")
            .of_batches()
            .column("CPU time", Item),
        row(UserTime, "user time", "user_ns", Nanoseconds, "uses less"),
        row(SystemTime, "system time", "system_ns", Nanoseconds, "uses less"),
        row(RunTime, "run time", "run_ns", Nanoseconds, "uses less"),
        row(PeakMemory, "peak memory", "peak_memory_bytes", Bytes, "uses less")
            .column("memory", Process),
        row(PageFaults, "page faults", "page_faults", Count, "has fewer")
            .of_batches()
            .column("faults", Call),
        row(ContextSwitches, "context switches", "context_switches", Count, "has fewer")
            .of_batches()
            .column("switches", Call),
        row(Cycles, "cycles", "cycles", Count, "needs fewer").metered("cycles"),
        row(Instructions, "instructions", "instructions", Count, "needs fewer")
            .metered("instructions"),
        row(BranchMisses, "branch misses", "branch_misses", Count, "has fewer")
            .metered("branch misses"),
        row(CacheMisses, "cache misses", "cache_misses", Count, "has fewer")
            .metered("cache misses"),
        row(Energy, "energy", "energy_nj", Nanojoules, "uses less").metered("energy"),
        row(LatencyP50, "p50 latency", "p50_latency_ns", Nanoseconds, "has a lower"),
        row(LatencyP90, "p90 latency", "p90_latency_ns", Nanoseconds, "has a lower"),
        row(LatencyP99, "p99 latency", "p99_latency_ns", Nanoseconds, "has a lower"),
        row(LatencyP999, "p99.9 latency", "p999_latency_ns", Nanoseconds, "has a lower"),
        row(Value, "value", "value", Count, "uses less"),
    ]
};

/// Makes the row of a metric that every machine has, of processes only.
const fn row(
    metric: Metric,
    name: &'static str,
    key: &'static str,
    unit: Unit,
    verb: &'static str,
) -> Row {
    let (is_of_batches, is_metered, column) = (false, false, None);
    Row { metric, name, key, unit, verb, is_of_batches, is_metered, column }
}

impl Row {
    const fn of_batches(self) -> Row {
        Row { is_of_batches: true, ..self }
    }

    const fn column(self, title: &'static str, per: Per) -> Row {
        Row { column: Some((title, per)), ..self }
    }

    /// Makes it a metric of batches that only some machines have, with a column by item.
    const fn metered(self, title: &'static str) -> Row {
        Row { is_metered: true, ..self.of_batches().column(title, Per::Item) }
    }
}

impl Metric {
    /// All metrics of a program's sample, in the order in which tables show them.
    pub const ALL: [Metric; TABLE.len() - 1] = {
        let mut all = [Metric::WallTime; TABLE.len() - 1];
        let mut index = 0;
        while index < all.len() {
            all[index] = TABLE[index].metric;
            index += 1;
        }
        all
    };

    /// Returns the words by which a claim sentence names the metric: `by peak memory`.
    pub fn name(self) -> &'static str {
        TABLE[self as usize].name
    }

    /// Returns the key of the metric in JSON and CSV: the name with its unit last.
    pub fn key(self) -> &'static str {
        TABLE[self as usize].key
    }

    /// Returns the metric that a claim sentence or an option names.
    pub fn from_name(name: &str) -> Option<Metric> {
        Metric::ALL.into_iter().find(|metric| metric.name() == name)
    }

    /// Returns the unit of the metric's values.
    pub fn unit(self) -> Unit {
        TABLE[self as usize].unit
    }

    /// Returns the words that say that one contestant needs less than another, such as `is faster`
    /// or `uses less peak memory`.
    pub fn needs_less(self) -> String {
        let Row { verb, name, .. } = &TABLE[self as usize];
        if self == Metric::WallTime { (*verb).to_owned() } else { format!("{verb} {name}") }
    }

    /// Returns whether a timed batch of calls has the metric.
    pub fn is_of_batches(self) -> bool {
        TABLE[self as usize].is_of_batches
    }

    /// Returns whether only some machines meter it.
    pub fn is_metered(self) -> bool {
        TABLE[self as usize].is_metered
    }

    /// Returns the title of its column in a study's table and what its values are divided by.
    pub fn column(self) -> Option<(&'static str, Per)> {
        TABLE[self as usize].column
    }

    /// The latencies of a server's load, each with the share of its messages.
    pub const LATENCIES: [(Metric, f64); 4] = [
        (Metric::LatencyP50, 0.5),
        (Metric::LatencyP90, 0.9),
        (Metric::LatencyP99, 0.99),
        (Metric::LatencyP999, 0.999),
    ];

    /// Returns which of [`Metric::LATENCIES`] it is, which only servers have.
    pub fn latency(self) -> Option<usize> {
        Metric::LATENCIES.iter().position(|(metric, _)| *metric == self)
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
        let found = TABLE.iter().find(|row| row.key == key).map(|row| row.metric);
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
        assert!(TABLE.iter().enumerate().all(|(index, row)| row.metric as usize == index));
    }
}
