//! What the probe of cores found: how long a cache line takes from one CPU to another.

mod analyse;
pub(crate) mod measure;
pub(crate) mod show;

pub(crate) use analyse::probe;

use crate::figure::{Better, Figure, Spread, Unit};
use serde::{Deserialize, Serialize};

/// What the probe of cores found. Every latency is one way: half a round trip, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cores {
    /// The CPUs that were used, by their numbers, in the order of the map: CPUs of one group lie
    /// beside each other.
    pub cpus: Vec<usize>,
    /// How often the pairs were visited; the last round may have been cut off.
    pub rounds: u64,
    /// From the beginning of the first round to the end of the last one, in nanoseconds.
    pub span_ns: u64,
    /// Whether the rounds cover less than half a minute, so that rare placements were missed.
    pub is_short_look: bool,
    /// Pairs of CPUs that there are.
    pub pairs: u64,
    /// Pairs that the probe meant to visit: fewer than there are on a machine with many CPUs.
    pub pairs_chosen: u64,
    /// What each way of passing a line found; the first one is the headline.
    pub kernels: Vec<KernelLatency>,
    /// Groups of CPUs that are near to each other, by the headline, from the finest partition to
    /// the coarsest one.
    pub levels: Vec<Level>,
}

/// A way of passing a cache line to and fro.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kernel {
    /// Each CPU stores to a line of its own and loads the other's; the lines are at least 256 bytes
    /// apart, so that no prefetcher takes them for neighbours.
    TwoLines,
    /// Both load from and store to one line.
    OneLine,
    /// Both try to change one line by compare-exchange until they succeed: the published method.
    CompareExchange,
}

impl Kernel {
    /// All of them, the headline first.
    pub const ALL: [Kernel; 3] = [Kernel::TwoLines, Kernel::OneLine, Kernel::CompareExchange];

    /// What it is called on a screen.
    pub fn words(self) -> &'static str {
        ["two lines", "one line", "compare-exchange"][self as usize]
    }

    /// What it is called in a key.
    pub fn name(self) -> &'static str {
        ["two-lines", "one-line", "compare-exchange"][self as usize]
    }
}

/// What one way of passing a line found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelLatency {
    /// The way.
    pub kernel: Kernel,
    /// The least of the pairs' latencies.
    pub nearest_ns: f64,
    /// The greatest of the pairs' latencies.
    pub farthest_ns: f64,
    /// Every pair of which enough was seen; the numbers of its CPUs ascend.
    pub pairs: Vec<PairLatency>,
}

/// How long a line takes between two CPUs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairLatency {
    /// The numbers of the two CPUs, the smaller one first.
    pub cpus: [usize; 2],
    /// The latency: that of the lowest mode.
    pub latency_ns: f64,
    /// The same from the rounds that the first, and that the second CPU timed, in the memory of
    /// the one that timed; absent if too few of them could be used.
    pub timed_by_ns: [Option<f64>; 2],
    /// The values around which the rounds lie, from the lowest. A hypervisor that moves virtual
    /// CPUs makes several of them; their mean would be a latency that never was.
    pub modes: Vec<LatencyMode>,
    /// Its rounds, the earlier first; told of the nearest and of the farthest pair only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds_ns: Vec<f64>,
    /// Rounds that lie near no mode.
    pub strays: u64,
    /// Batches of round trips that were timed.
    pub batches: u64,
    /// Of these, batches that took over 2 us longer than the quick ones, because a side was away:
    /// they were not used. Passing one line has a quick and a slow way of its own, so there they
    /// may be many.
    pub invalid: u64,
    /// How often either thread was taken off its CPU while it passed lines.
    pub preemptions: u64,
}

impl PairLatency {
    /// From the least round of the lowest mode to the greatest of the highest: a machine may show
    /// any of them next time.
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
    /// The median latency of the pairs that are together here and in no finer level, in
    /// nanoseconds.
    pub within_ns: f64,
    /// How well the groups agree with those that the machine advertises and that fit best: the
    /// adjusted Rand index, 1 for equal and about 0 for unrelated partitions. Absent where the
    /// machine advertises nothing, and where either has all CPUs in one group or each in its own.
    pub agreement: Option<f64>,
}

/// CPUs that are near to each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Their numbers.
    pub cpus: Vec<usize>,
    /// What the machine says that exactly these CPUs share; absent if it names no such set.
    pub shares: Option<Shared>,
}

/// What CPUs share, as the machine says.
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
    /// What a group is called whose CPUs share this.
    pub fn words(self) -> &'static str {
        ["SMT pair", "shared L2", "shared L3", "socket"][self as usize]
    }
}

impl Cores {
    /// What was found by the headline's way of passing a line; absent if nothing was.
    pub fn headline(&self) -> Option<&KernelLatency> {
        self.kernels.first()
    }

    /// The numbers by which two machines can be compared.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        for found in &self.kernels {
            let mut add = |end: &str, value: f64| {
                let has_it = |pair: &&PairLatency| pair.latency_ns == value;
                let pair = found.pairs.iter().find(has_it);
                let key = format!("cores-{}-{end}", found.kernel.name());
                let words = format!("core to core, {}, {end} pair", found.kernel.words());
                let parts = pair.map_or(&[][..], |pair| &pair.rounds_ns);
                let figure = Figure::new(key, words, value, Unit::Nanoseconds, Better::Lower);
                let spread = pair.and_then(PairLatency::spread);
                figures.push(figure.with_spread(spread).with_parts(parts));
            };
            add("nearest", found.nearest_ns);
            add("farthest", found.farthest_ns);
        }
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_stable_keys() {
        let kernels = Kernel::ALL.map(|kernel| KernelLatency {
            kernel,
            nearest_ns: 20.0,
            farthest_ns: 90.0,
            pairs: Vec::new(),
        });
        let cores = Cores { kernels: kernels.to_vec(), ..Cores::default() };
        let figures = cores.figures();
        let keys: Vec<_> = figures.iter().map(|figure| figure.key.as_str()).collect();
        let expected = [
            "cores-two-lines-nearest",
            "cores-two-lines-farthest",
            "cores-one-line-nearest",
            "cores-one-line-farthest",
            "cores-compare-exchange-nearest",
            "cores-compare-exchange-farthest",
        ];
        assert_eq!(keys, expected);
        assert_eq!(figures[1].words, "core to core, two lines, farthest pair");
        assert_eq!(cores.headline().map(|found| found.kernel), Some(Kernel::TwoLines));
        assert!(Cores::default().figures().is_empty());
    }

    #[test]
    fn a_pair_is_spread_over_all_its_modes() {
        let mode = |latency_ns: f64| LatencyMode {
            latency_ns,
            low_ns: latency_ns - 2.0,
            high_ns: latency_ns + 2.0,
            share: 0.5,
        };
        let pair = |latency_ns, modes: &[f64]| PairLatency {
            cpus: [0, 1],
            latency_ns,
            timed_by_ns: [None; 2],
            modes: modes.iter().copied().map(mode).collect(),
            rounds_ns: Vec::new(),
            strays: 0,
            batches: 9,
            invalid: 0,
            preemptions: 0,
        };
        let found = KernelLatency {
            kernel: Kernel::TwoLines,
            nearest_ns: 20.0,
            farthest_ns: 90.0,
            pairs: vec![pair(20.0, &[20.0, 60.0]), pair(90.0, &[])],
        };
        let figures = Cores { kernels: vec![found], ..Cores::default() }.figures();
        let spreads: Vec<_> = figures.iter().map(|figure| figure.spread).collect();
        assert_eq!(spreads, [Some(Spread { low: 18.0, high: 62.0 }), None]);
    }

    #[test]
    fn names_in_json_are_the_names_in_keys() {
        for kernel in Kernel::ALL {
            let text = serde_json::to_string(&kernel).unwrap();
            assert_eq!(text.trim_matches('"'), kernel.name());
        }
    }
}
