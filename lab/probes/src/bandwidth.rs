//! What the probe of bandwidth found.

mod analyse;
pub(crate) mod measure;
pub(crate) mod show;

pub(crate) use analyse::probe;

use crate::figure::{Better, Figure, Spread, Unit};
use serde::{Deserialize, Serialize};

/// What the probe of bandwidth found.
///
/// Bytes are those that a program asks for: a copy counts what it reads and what it writes, once
/// each. What moves to and from memory is more where a store first reads its line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bandwidth {
    /// The vectors that were used: `AVX-512`.
    pub vectors: String,
    /// The buffer of each thread; a copy goes from its first half to its second.
    pub buffer_bytes: u64,
    /// How much of the buffers lies in large pages, of which 1 is all; absent if nobody says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub large_page_share: Option<f64>,
    /// The last level cache, as advertised; absent if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_level_bytes: Option<u64>,
    /// What the caches hold of data that is gone through, at most, as measured; absent where no
    /// line can be flushed, or time ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_bytes: Option<u64>,
    /// Whether the buffers are so small that caches serve a part of them: the rates are then not
    /// those of memory.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_from_caches: bool,
    /// The windows of time, of which those count in which all threads ran.
    pub window_ns: u64,
    /// CPUs in the order in which threads were pinned to them.
    pub cpus: Vec<u32>,
    /// Bandwidth by threads: a curve a kernel, pinned or not.
    pub curves: Vec<BandwidthCurve>,
    /// Memory nodes of this machine that hold memory; absent if it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    /// From the CPUs of one node to the memory of another; empty where there is one node only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub between_nodes: Vec<NodeBandwidth>,
    /// Latency of a load while the other CPUs read, from no load to all they can; empty if there is
    /// only one CPU.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loaded_latency: Vec<LoadedLatency>,
}

/// What goes through memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Traffic {
    /// One value of each line of 64 bytes is read and summed, in plain code, as published by
    /// Lemire; whole lines are counted, as those are what moves.
    Touch,
    /// Whole lines are read and summed with vectors.
    Read,
    /// Ordinary stores, which may read each line before they write it.
    Write,
    /// Stores that go past the caches.
    Fill,
    /// Reads and ordinary stores.
    Copy,
    /// Reads, and stores that go past the caches.
    CopyPast,
}

impl Traffic {
    /// All of them.
    pub const ALL: [Traffic; 6] = [
        Traffic::Touch,
        Traffic::Read,
        Traffic::Write,
        Traffic::Fill,
        Traffic::Copy,
        Traffic::CopyPast,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        ["touch", "read", "write", "fill", "copy", "copy-past"][self as usize]
    }

    /// Whether it reads one half of a buffer and writes the other.
    pub fn is_copy(self) -> bool {
        matches!(self, Traffic::Copy | Traffic::CopyPast)
    }

    /// How many bytes may move to and from memory for each byte that is counted, if every ordinary
    /// store first reads its line.
    pub fn most_moved(self) -> f64 {
        match self {
            Traffic::Touch | Traffic::Read | Traffic::Fill | Traffic::CopyPast => 1.0,
            Traffic::Write => 2.0,
            Traffic::Copy => 1.5,
        }
    }
}

/// Bandwidth by the number of threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BandwidthCurve {
    /// What the threads did.
    pub traffic: Traffic,
    /// Whether each thread was pinned to a CPU of its own.
    pub is_pinned: bool,
    /// By threads, the fewest first.
    pub points: Vec<BandwidthPoint>,
    /// Where more threads stop paying; absent if nothing was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knee: Option<BandwidthKnee>,
}

/// The bandwidth of so many threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BandwidthPoint {
    /// How many.
    pub threads: u32,
    /// Of all threads together when nobody disturbs them: 97% of all windows stay below.
    pub bytes_per_s: f64,
    /// The least round; a round is the median of its windows.
    pub low_bytes_per_s: f64,
    /// The best round.
    pub high_bytes_per_s: f64,
    /// The same as `bytes_per_s` of rounds, the earlier first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts_bytes_per_s: Vec<f64>,
    /// Rounds in which enough windows were kept.
    pub rounds: u32,
    /// Windows in all rounds.
    pub windows: u64,
    /// Those of them in which all threads ran.
    pub windows_kept: u64,
}

impl BandwidthCurve {
    /// The point of so many threads.
    pub fn point(&self, threads: u32) -> Option<&BandwidthPoint> {
        self.points.iter().find(|point| point.threads == threads)
    }
}

impl BandwidthPoint {
    /// From the least round to the bandwidth itself, or to the best round if that is more; `None`
    /// of fewer than two rounds.
    fn spread(&self) -> Option<Spread> {
        let ends = [self.low_bytes_per_s, self.bytes_per_s, self.high_bytes_per_s];
        Spread::of(ends).filter(|_| self.rounds > 1)
    }
}

/// The smallest number of threads whose median over rounds is at least 95% of the best such median.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BandwidthKnee {
    /// It.
    pub threads: u32,
    /// The least that any round would say.
    pub low_threads: u32,
    /// The most that any round would say.
    pub high_threads: u32,
    /// The share of rounds that say the same.
    pub agreeing_share: f64,
}

/// Read bandwidth from one node's CPUs to a node's memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeBandwidth {
    /// Where the threads run.
    pub cpu_node: u32,
    /// Where the memory is.
    pub memory_node: u32,
    /// How many threads.
    pub threads: u32,
    /// Of all threads together when nobody disturbs them.
    pub bytes_per_s: f64,
}

/// Latency beside bandwidth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadedLatency {
    /// Threads that read, beside the one whose loads are timed.
    pub threads: u32,
    /// What they were to read, of what they can; 0 is no load, 1 is without a brake.
    pub asked_share: f64,
    /// What they did read.
    pub bytes_per_s: f64,
    /// A load from memory that waits for the one before it: the median of windows.
    pub latency_ns: f64,
    /// Their first and their third quartile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread_ns: Option<[f64; 2]>,
    /// The medians of some parts of them, the earlier first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts_ns: Vec<f64>,
    /// Windows in which all threads ran.
    pub windows_kept: u64,
}

impl Bandwidth {
    /// The curve of a kernel.
    pub fn curve(&self, traffic: Traffic, is_pinned: bool) -> Option<&BandwidthCurve> {
        let wanted = |one: &&BandwidthCurve| (one.traffic, one.is_pinned) == (traffic, is_pinned);
        self.curves.iter().filter(wanted).find(|curve| !curve.points.is_empty())
    }

    /// The number of threads at which these pinned curves have the most bandwidth together, among
    /// those that all of them have; `None` if there is none.
    pub fn shared_best(&self, of: &[Traffic]) -> Option<u32> {
        let curves: Vec<_> = of.iter().filter_map(|traffic| self.curve(*traffic, true)).collect();
        let sum = |threads: u32| -> Option<f64> {
            let at = |curve: &&BandwidthCurve| curve.point(threads).map(|point| point.bytes_per_s);
            curves.iter().map(at).sum()
        };
        let counts = curves.first()?.points.iter().map(|point| point.threads);
        let known = counts.filter_map(|threads| Some((threads, sum(threads)?)));
        known.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))).map(|known| known.0)
    }

    /// The best point of a pinned curve; `None` if another one has a number of threads that this
    /// one lacks, as that might be better.
    fn best(&self, curve: &BandwidthCurve) -> Option<&BandwidthPoint> {
        let pinned = self.curves.iter().filter(|curve| curve.is_pinned);
        let mut counts = pinned.flat_map(|curve| &curve.points).map(|point| point.threads);
        let is_whole = counts.all(|threads| curve.point(threads).is_some());
        let curve = self.curve(curve.traffic, true).filter(|_| is_whole)?;
        curve.points.iter().max_by(|a, b| a.bytes_per_s.total_cmp(&b.bytes_per_s))
    }

    fn latency_figures(&self) -> impl Iterator<Item = Figure> {
        let ends = [
            ("idle", "no load", self.loaded_latency.first()),
            ("loaded", "all other CPUs reading", self.loaded_latency.last()),
        ];
        ends.into_iter().filter_map(|(key, words, one)| {
            let key = format!("memory-latency-{key}");
            let words = format!("memory latency, {words}");
            let figure = Figure::new(key, words, one?.latency_ns, Unit::Nanoseconds, Better::Lower);
            Some(figure.with_spread(one?.spread_ns.and_then(Spread::of)).with_parts(&one?.parts_ns))
        })
    }

    /// The numbers by which two machines can be compared: of each kernel, pinned, one thread, and
    /// the best of any number. What caches served is no number of memory.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        if self.is_from_caches {
            return figures;
        }
        for traffic in Traffic::ALL {
            let Some(curve) = self.curve(traffic, true) else { continue };
            let name = traffic.name();
            let mut add = |key: &str, words: &str, point: &BandwidthPoint| {
                // The best of any number of threads is not the same question on both.
                let better = if key == "best" { Better::Neither } else { Better::Higher };
                let key = format!("bandwidth-{name}-{key}");
                let words = format!("{name} bandwidth, {words}");
                let figure =
                    Figure::new(key, words, point.bytes_per_s, Unit::BytesPerSecond, better);
                figures
                    .push(figure.with_spread(point.spread()).with_parts(&point.parts_bytes_per_s));
            };
            if let Some(one) = curve.point(1) {
                add("1-thread", "one thread", one);
            }
            if let Some(best) = self.best(curve) {
                add("best", "best", best);
            }
        }
        if let Some(knee) = self.curve(Traffic::Read, true).and_then(|curve| curve.knee.as_ref()) {
            let words = "threads for 95% of the read bandwidth";
            let (threads, unit) = (f64::from(knee.threads), Unit::Count);
            let ends = [knee.low_threads, knee.high_threads].map(f64::from);
            let figure = Figure::new("bandwidth-read-knee", words, threads, unit, Better::Neither);
            figures.push(figure.with_spread(Spread::of(ends)));
        }
        figures.extend(self.latency_figures());
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
        let check = |rounds, ends: [f64; 2], expected: Option<[f64; 2]>| {
            let [low_bytes_per_s, high_bytes_per_s] = ends;
            let one =
                BandwidthPoint { rounds, low_bytes_per_s, high_bytes_per_s, ..point(1, 30e9) };
            let found = Figure::new("", "", 1.0, Unit::Count, Better::Higher);
            let found = found.with_spread(one.spread()).spread;
            assert_eq!(found, expected.map(|[low, high]| Spread { low, high }));
        };
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
        let loaded = |asked_share, latency_ns| LoadedLatency {
            threads: 1,
            asked_share,
            bytes_per_s: 0.0,
            latency_ns,
            spread_ns: Some([latency_ns - 1.0, latency_ns + 1.0]),
            parts_ns: Vec::new(),
            windows_kept: 9,
        };
        let found = Bandwidth {
            curves: vec![curve(false), curve(true)],
            loaded_latency: vec![loaded(0.0, 90.0), loaded(1.0, 150.0)],
            ..Bandwidth::default()
        };
        let figures = found.figures();
        let said: Vec<(&str, f64)> = figures.iter().map(|f| (f.key.as_str(), f.value)).collect();
        assert_eq!(
            said,
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
        let curve = |traffic, rates: &[(u32, f64)]| BandwidthCurve {
            traffic,
            is_pinned: true,
            points: rates.iter().map(|(threads, rate)| point(*threads, *rate)).collect(),
            knee: None,
        };
        let check = |fill: &[(u32, f64)], shared: Option<u32>, bests: &[&str]| {
            let curves =
                vec![curve(Traffic::Write, &[(1, 20e9), (2, 40e9)]), curve(Traffic::Fill, fill)];
            let found = Bandwidth { curves, ..Bandwidth::default() };
            assert_eq!(found.shared_best(&[Traffic::Write, Traffic::Fill]), shared);
            let keys: Vec<String> = found.figures().into_iter().map(|figure| figure.key).collect();
            let of_best: Vec<_> = keys.iter().filter(|key| key.ends_with("-best")).collect();
            assert_eq!(of_best, bests, "{fill:?}");
        };
        let both = ["bandwidth-write-best", "bandwidth-fill-best"];
        check(&[(1, 23e9), (2, 48e9)], Some(2), &both);
        // A point with too few windows is missing, and the best with it.
        check(&[(1, 23e9)], Some(1), &both[..1]);
        check(&[(3, 23e9)], None, &[]);
    }
}
