//! Memory bandwidth, by the number of threads.

mod measure;
pub(crate) mod show;

pub(crate) use measure::probe;

use crate::figure::{Better, Figure, Spread, Unit};
use crate::latency::in_ns;
use serde::{Deserialize, Serialize};

/// What the probe of bandwidth found.
///
/// Bytes are those that a program asks for: a copy counts the bytes that it reads and the bytes
/// that it writes. More bytes move to and from memory where a store first reads its line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bandwidth {
    /// The vectors in use: `AVX-512`.
    pub vectors: String,
    /// The buffer of each thread; a copy goes from its first half to its second.
    pub buffer_bytes: u64,
    /// The share of the buffers that lies in large pages; absent if the kernel does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub large_page_share: Option<f64>,
    /// The advertised size of the last level cache; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_level_bytes: Option<u64>,
    /// The most bytes of data that the caches hold while a program goes through it, as measured;
    /// absent where no line can be flushed, or time ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_bytes: Option<u64>,
    /// Whether the buffers are so small that caches serve a part of them: then the rates are not
    /// those of memory.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_from_caches: bool,
    /// Length of a window of time. A window counts if all threads ran in it.
    pub window_ns: u64,
    /// CPUs in the order in which threads were pinned to them.
    pub cpus: Vec<u32>,
    /// Bandwidth by threads: a curve for each kernel.
    pub curves: Vec<BandwidthCurve>,
    /// Number of memory nodes that hold memory; absent if the machine does not list them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    /// From the CPUs of one node to the memory of another; empty where there is only one node.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub between_nodes: Vec<NodeBandwidth>,
    /// Latency of a load while the other CPUs read, from no load to full load; empty if there is
    /// only one CPU.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loaded_latency: Vec<LoadedLatency>,
}

/// A kernel: how a thread goes through memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Traffic {
    /// Reads and sums one value of each line of 64 bytes, in plain code, as published by Lemire;
    /// counts whole lines, as those move.
    Touch,
    /// Reads and sums whole lines with vectors.
    Read,
    /// Makes ordinary stores, which may read each line before they write it.
    Write,
    /// Makes stores that bypass the caches.
    Fill,
    /// Reads, and makes ordinary stores.
    Copy,
    /// Reads, and makes stores that bypass the caches.
    CopyPast,
}

impl Traffic {
    /// All of them.
    pub const ALL: [Traffic; 6] = {
        use Traffic::*;
        [Touch, Read, Write, Fill, Copy, CopyPast]
    };

    /// Returns the name.
    pub fn name(self) -> &'static str {
        ["touch", "read", "write", "fill", "copy", "copy-past"][self as usize]
    }

    /// Returns whether it reads one half of a buffer and writes the other.
    pub fn is_copy(self) -> bool {
        matches!(self, Traffic::Copy | Traffic::CopyPast)
    }
}

/// Bandwidth by the number of threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BandwidthCurve {
    /// The kernel.
    pub traffic: Traffic,
    /// Whether each thread was pinned to a CPU of its own; false in older prints only.
    pub is_pinned: bool,
    /// By threads, the fewest first.
    pub points: Vec<BandwidthPoint>,
    /// Where additional threads stop helping; absent if nothing was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knee: Option<BandwidthKnee>,
}

/// The bandwidth of a number of threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BandwidthPoint {
    /// Number of threads.
    pub threads: u32,
    /// Undisturbed bandwidth of all threads together: 97% of all windows stay below.
    pub bytes_per_s: f64,
    /// The least part; in older prints the least median of a round.
    pub low_bytes_per_s: f64,
    /// The best part.
    pub high_bytes_per_s: f64,
    /// The same as `bytes_per_s`, of consecutive parts of the windows, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts_bytes_per_s: Vec<f64>,
    /// Number of parts.
    pub rounds: u32,
    /// Number of windows, kept or not.
    pub windows: u64,
    /// Number of windows in which all threads ran.
    pub windows_kept: u64,
}

impl BandwidthCurve {
    /// Returns the point of a number of threads.
    pub fn point(&self, threads: u32) -> Option<&BandwidthPoint> {
        self.points.iter().find(|point| point.threads == threads)
    }

    /// Returns the best point; among equal ones that with the fewest threads.
    pub fn best(&self) -> Option<&BandwidthPoint> {
        self.points.iter().rev().max_by(|a, b| a.bytes_per_s.total_cmp(&b.bytes_per_s))
    }
}

impl BandwidthPoint {
    /// Returns the figure of this point of a curve. Its spread is from the least part to the
    /// bandwidth itself, or to the best part if that is more; unknown for fewer than two parts.
    fn figure(&self, curve: &BandwidthCurve, key: &str, words: &str) -> Figure {
        let name = curve.traffic.name();
        let (key, words) =
            (format!("bandwidth-{name}-{key}"), format!("{name} bandwidth, {words}"));
        let ends = [self.low_bytes_per_s, self.bytes_per_s, self.high_bytes_per_s];
        Figure::new(key, words, self.bytes_per_s, Unit::BytesPerSecond, Better::Higher)
            .with_spread(Spread::of(ends).filter(|_| self.rounds > 1))
            .with_parts(&self.parts_bytes_per_s)
    }
}

/// The smallest number of threads whose median over parts is at least 95% of the best such median.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BandwidthKnee {
    /// That number.
    pub threads: u32,
    /// The least such number of any part.
    pub low_threads: u32,
    /// The greatest such number of any part.
    pub high_threads: u32,
    /// The share of parts with the same number.
    pub agreeing_share: f64,
}

/// Read bandwidth from one node's CPUs to a node's memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeBandwidth {
    /// Where the threads run.
    pub cpu_node: u32,
    /// Where the memory is.
    pub memory_node: u32,
    /// Number of threads.
    pub threads: u32,
    /// Undisturbed bandwidth of all threads together.
    pub bytes_per_s: f64,
}

/// Latency under load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadedLatency {
    /// Number of threads that read, without the one whose loads are timed.
    pub threads: u32,
    /// The same as a share of all other threads; 0 is no load. In older prints the share of what
    /// all of them can read.
    pub asked_share: f64,
    /// The rate at which they read.
    pub bytes_per_s: f64,
    /// Latency of a load from memory that waits for the one before it: the median of windows.
    pub latency_ns: f64,
    /// The first and the third quartile of windows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread_ns: Option<[f64; 2]>,
    /// The medians of parts of the windows, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts_ns: Vec<f64>,
    /// Number of windows in which all threads ran.
    pub windows_kept: u64,
}

impl Bandwidth {
    /// Returns the curves of pinned threads; older prints have others, too.
    pub fn pinned(&self) -> impl Iterator<Item = &BandwidthCurve> + Clone {
        self.curves.iter().filter(|curve| curve.is_pinned && !curve.points.is_empty())
    }

    /// Returns the curve of a kernel.
    pub fn curve(&self, traffic: Traffic) -> Option<&BandwidthCurve> {
        self.pinned().find(|curve| curve.traffic == traffic)
    }

    /// Returns the best point of a pinned curve; `None` if another one has a number of threads that
    /// this one lacks, as that might be better.
    fn best<'a>(&self, curve: &'a BandwidthCurve) -> Option<&'a BandwidthPoint> {
        let mut points = self.pinned().flat_map(|curve| &curve.points);
        let is_whole = points.all(|point| curve.point(point.threads).is_some());
        curve.best().filter(|_| is_whole)
    }

    /// Returns the numbers by which two machines can be compared: for each kernel, pinned, one
    /// thread, and the best of any number. Rates from caches are no numbers of memory.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        if self.is_from_caches {
            return figures;
        }
        for curve in Traffic::ALL.into_iter().filter_map(|traffic| self.curve(traffic)) {
            let one = curve.point(1);
            figures.extend(one.map(|one| one.figure(curve, "1-thread", "one thread")));
            let best = self.best(curve).map(|best| best.figure(curve, "best", "best"));
            // The best of any number of threads is not the same question on both.
            figures.extend(best.map(|best| Figure { better: Better::Neither, ..best }));
        }
        if let Some(knee) = self.curve(Traffic::Read).and_then(|curve| curve.knee.as_ref()) {
            let words = "threads for 95% of the read bandwidth";
            let (threads, unit) = (f64::from(knee.threads), Unit::Count);
            let ends = [knee.low_threads, knee.high_threads].map(f64::from);
            let figure = Figure::new("bandwidth-read-knee", words, threads, unit, Better::Neither);
            figures.push(figure.with_spread(Spread::of(ends)));
        }
        let (idle, loaded) = (self.loaded_latency.first(), self.loaded_latency.last());
        let ends = [("idle", "no load", idle), ("loaded", "all other CPUs reading", loaded)];
        for (key, words, one) in ends {
            let names = [format!("memory-latency-{key}"), format!("memory latency, {words}")];
            let Some(one) = one else { continue };
            figures.extend(in_ns(names, Some(one.latency_ns), one.spread_ns, &one.parts_ns));
        }
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(threads: u32, bytes_per_s: f64) -> BandwidthPoint {
        let (low_bytes_per_s, high_bytes_per_s) = (bytes_per_s, bytes_per_s);
        let (rounds, windows, windows_kept) = (3, 30, 20);
        BandwidthPoint {
            threads,
            bytes_per_s,
            low_bytes_per_s,
            high_bytes_per_s,
            parts_bytes_per_s: Vec::new(),
            rounds,
            windows,
            windows_kept,
        }
    }

    #[test]
    fn rounds_are_a_spread() {
        fn check(rounds: u32, ends: [f64; 2], expected: Option<[f64; 2]>) {
            let [low_bytes_per_s, high_bytes_per_s] = ends;
            let one =
                BandwidthPoint { rounds, low_bytes_per_s, high_bytes_per_s, ..point(1, 30e9) };
            let curve = BandwidthCurve {
                traffic: Traffic::Read,
                is_pinned: true,
                points: Vec::new(),
                knee: None,
            };
            let found = one.figure(&curve, "", "").spread;
            assert_eq!(found, expected.map(|[low, high]| Spread { low, high }));
        }
        check(3, [20e9, 29e9], Some([20e9, 30e9]));
        check(3, [20e9, 31e9], Some([20e9, 31e9]));
        check(1, [20e9, 20e9], None);
        check(3, [30e9, 30e9], None);
    }

    #[test]
    fn figures_are_of_what_was_measured_and_nothing_else() {
        assert_eq!(Bandwidth::default().figures(), []);
        let points = vec![point(1, 40e9), point(2, 70e9), point(4, 60e9)];
        let curve = |is_pinned| BandwidthCurve {
            traffic: Traffic::Read,
            is_pinned,
            points: points.clone(),
            knee: None,
        };
        fn loaded(asked_share: f64, latency_ns: f64) -> LoadedLatency {
            LoadedLatency {
                threads: 1,
                asked_share,
                bytes_per_s: 0.0,
                latency_ns,
                spread_ns: Some([latency_ns - 1.0, latency_ns + 1.0]),
                parts_ns: Vec::new(),
                windows_kept: 9,
            }
        }
        let found = Bandwidth {
            curves: vec![curve(false), curve(true)],
            loaded_latency: vec![loaded(0.0, 90.0), loaded(1.0, 150.0)],
            ..Bandwidth::default()
        };
        let figures = found.figures();
        let values: Vec<(&str, f64)> = figures.iter().map(|f| (f.key.as_str(), f.value)).collect();
        assert_eq!(
            values,
            [
                ("bandwidth-read-1-thread", 40e9),
                ("bandwidth-read-best", 70e9),
                ("memory-latency-idle", 90.0),
                ("memory-latency-loaded", 150.0),
            ]
        );
        assert_eq!(figures[2].spread, Some(Spread { low: 89.0, high: 91.0 }));
        assert_eq!(Bandwidth { is_from_caches: true, ..found.clone() }.figures(), []);
        let text = serde_json::to_string(&found).unwrap();
        assert_eq!(serde_json::from_str::<Bandwidth>(&text).unwrap(), found);
    }

    #[test]
    fn the_best_is_of_one_number_of_threads() {
        fn curve(traffic: Traffic, rates: &[(u32, f64)]) -> BandwidthCurve {
            BandwidthCurve {
                traffic,
                is_pinned: true,
                points: rates.iter().map(|(threads, rate)| point(*threads, *rate)).collect(),
                knee: None,
            }
        }
        fn check(fill: &[(u32, f64)], bests: &[&str]) {
            let curves =
                vec![curve(Traffic::Write, &[(1, 20e9), (2, 40e9)]), curve(Traffic::Fill, fill)];
            let found = Bandwidth { curves, ..Bandwidth::default() };
            let keys: Vec<String> = found.figures().into_iter().map(|figure| figure.key).collect();
            let of_best: Vec<_> = keys.iter().filter(|key| key.ends_with("-best")).collect();
            assert_eq!(of_best, bests, "{fill:?}");
        }
        let both = ["bandwidth-write-best", "bandwidth-fill-best"];
        check(&[(1, 23e9), (2, 48e9)], &both);
        // A point with too few windows is missing, and the best with it.
        check(&[(1, 23e9)], &both[..1]);
        check(&[(3, 23e9)], &[]);
    }
}
