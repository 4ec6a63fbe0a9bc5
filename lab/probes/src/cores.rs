//! Core to core latency: the time that a cache line takes from one CPU to another.

mod analyse;
pub(crate) mod measure;
pub(crate) mod show;

pub(crate) use analyse::probe;

use crate::figure::{Better, Figure, Spread, Unit};
use serde::{Deserialize, Serialize};

/// What the probe of cores found. Each latency is one way: half a round trip, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cores {
    /// The numbers of the CPUs, in the order of the map: the CPUs of a group are adjacent.
    pub cpus: Vec<usize>,
    /// Rounds of visits to the pairs; the last round may have been cut off.
    pub rounds: u64,
    /// Time from the start of the first round to the end of the last one, in nanoseconds.
    pub span_ns: u64,
    /// Whether the rounds cover less than half a minute, so that rare placements were missed.
    pub is_short_look: bool,
    /// Number of pairs of the CPUs.
    pub pairs: u64,
    /// Number of pairs that the probe planned to visit: fewer than `pairs` on a machine with many
    /// CPUs.
    pub pairs_chosen: u64,
    /// Results for each way of passing a line; the first one is the headline.
    pub kernels: Vec<KernelLatency>,
    /// Partitions of the CPUs into groups with low latencies, by the headline, the finest first.
    pub levels: Vec<Level>,
}

/// A way of passing a cache line to and fro.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kernel {
    /// Each CPU stores to a line of its own and loads the other's. The lines are at least 256 bytes
    /// apart, so that no prefetcher treats them as neighbours.
    TwoLines,
    /// Both CPUs load from and store to one line.
    OneLine,
    /// Both CPUs try to change one line by compare-exchange until they succeed: the published
    /// method.
    CompareExchange,
}

impl Kernel {
    /// All of them, the headline first.
    pub const ALL: [Kernel; 3] = [Kernel::TwoLines, Kernel::OneLine, Kernel::CompareExchange];

    /// Returns the name on a screen; with hyphens it is the name in JSON and in keys.
    pub fn words(self) -> &'static str {
        ["two lines", "one line", "compare-exchange"][self as usize]
    }
}

/// Results for one way of passing a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelLatency {
    /// The way of passing.
    pub kernel: Kernel,
    /// The least latency of all pairs.
    pub nearest_ns: f64,
    /// The greatest latency of all pairs.
    pub farthest_ns: f64,
    /// Each pair with enough batches.
    pub pairs: Vec<PairLatency>,
}

impl KernelLatency {
    /// Returns the figure of the nearest or of the farthest pair.
    fn figure(&self, end: &str, value: f64) -> Figure {
        let key = format!("cores-{}-{end}", self.kernel.words().replace(' ', "-"));
        let words = format!("core to core, {}, {end} pair", self.kernel.words());
        let figure = Figure::new(key, words, value, Unit::Nanoseconds, Better::Lower);
        let Some(pair) = self.pair_at(value) else { return figure };
        figure.with_spread(pair.spread()).with_parts(&pair.rounds_ns)
    }

    /// Returns the first pair of this latency.
    fn pair_at(&self, latency_ns: f64) -> Option<&PairLatency> {
        self.pairs.iter().find(|pair| pair.latency_ns == latency_ns)
    }
}

/// Latency between two CPUs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairLatency {
    /// The numbers of the two CPUs, the smaller one first.
    pub cpus: [usize; 2],
    /// The latency of the lowest mode.
    pub latency_ns: f64,
    /// The same, from the rounds that the first and that the second CPU timed, with the lines in
    /// the memory of the CPU that timed; absent if there were too few usable rounds.
    pub timed_by_ns: [Option<f64>; 2],
    /// Values around which the rounds lie, the lowest first. There are several if a hypervisor
    /// moves virtual CPUs; their mean would be a latency that never occurred.
    pub modes: Vec<LatencyMode>,
    /// Latencies of the rounds, in order of time; only for the nearest and the farthest pair.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds_ns: Vec<f64>,
    /// Number of rounds that lie near no mode.
    pub strays: u64,
    /// Number of timed batches of round trips.
    pub batches: u64,
    /// Number of batches that took over 2 us longer than the quick ones, because a thread was off
    /// its CPU: they were not used. With one line there may be many, as a line can be passed in a
    /// quick and in a slow way.
    pub invalid: u64,
    /// How often either thread was preempted while it passed lines.
    pub preemptions: u64,
}

impl PairLatency {
    /// Returns the spread from the least round of the lowest mode to the greatest of the highest: a
    /// machine may show any of them next time.
    fn spread(&self) -> Option<Spread> {
        Spread::of(self.modes.iter().flat_map(|mode| [mode.low_ns, mode.high_ns]))
    }
}

/// A value around which rounds lie.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyMode {
    /// The median of its rounds; a round is the lower quartile of its batches.
    pub latency_ns: f64,
    /// The least of its rounds.
    pub low_ns: f64,
    /// The greatest of its rounds.
    pub high_ns: f64,
    /// Its share of all rounds of the pair.
    pub share: f64,
}

/// A partition of the CPUs into groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// The groups, each sorted, in the order of their first CPU.
    pub groups: Vec<Group>,
    /// The median latency of the pairs that share a group here and in no finer level, in
    /// nanoseconds.
    pub within_ns: f64,
    /// Agreement with the advertised partition that fits best: the adjusted Rand index, 1 for
    /// equal and about 0 for unrelated partitions. Absent if the machine advertises nothing, or if
    /// either partition has all CPUs in one group or each CPU in its own.
    pub agreement: Option<f64>,
}

/// CPUs with low latencies between them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Their numbers.
    pub cpus: Vec<usize>,
    /// What exactly these CPUs share, as advertised; absent if the machine lists no such set.
    pub shares: Option<Shared>,
}

/// What CPUs share, as advertised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shared {
    /// A core: they are its hardware threads.
    Core,
    /// A second-level cache.
    L2,
    /// A third-level cache.
    L3,
    /// A socket.
    Socket,
}

impl Shared {
    /// Returns the name of a group whose CPUs share this.
    pub fn words(self) -> &'static str {
        ["SMT pair", "shared L2", "shared L3", "socket"][self as usize]
    }
}

impl Cores {
    /// Returns the results for the headline's way of passing; `None` if there are none.
    pub fn headline(&self) -> Option<&KernelLatency> {
        self.kernels.first()
    }

    /// Returns the numbers by which two machines can be compared.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let ends = self.kernels.iter().flat_map(|one| {
            [one.figure("nearest", one.nearest_ns), one.figure("farthest", one.farthest_ns)]
        });
        ends.collect()
    }
}

#[cfg(test)]
mod tests;
