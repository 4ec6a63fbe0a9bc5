//! Latency of a load, by the size of the data and by the size of pages.

mod analyse;
mod measure;
pub(crate) mod show;

pub(crate) use measure::probe;

use crate::figure::{Better, Figure, Spread, Unit};
use serde::{Deserialize, Serialize};

/// What the probe of latency found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// The CPU on which it was measured.
    pub cpu: usize,
    /// A curve for each page size: 4 KiB first, then 2 MiB where the kernel gave such pages.
    pub curves: Vec<LatencyCurve>,
    /// The data caches of that CPU, level 1 first, as advertised and as measured. Empty where
    /// neither the kernel nor the curve shows any.
    pub caches: Vec<CacheSize>,
    /// Page size of the curve by which the caches are judged, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged_by_page_bytes: Option<u64>,
    /// Latency of a load that no cache answers, on those pages: the median of the largest sizes;
    /// absent where the data was never clearly larger than what the caches hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_ns: Option<f64>,
    /// From the least first quartile to the greatest third quartile of those sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_spread_ns: Option<[f64; 2]>,
    /// The same as `memory_ns`, of parts of each size's batches, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory_parts_ns: Vec<f64>,
    /// Latency of a load of a line that was flushed just before: that of memory, whatever the
    /// caches hold; absent where no program may flush.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flushed_ns: Option<f64>,
    /// The cost of address translation by the number of pages in use, few pages first.
    pub tlb: Vec<TlbPoint>,
    /// The levels of that cost, few pages first.
    pub tlb_levels: Vec<TlbLevel>,
    /// Ratio of the times of twice as many loads and of the loads: about 2, unless loads were
    /// optimised out.
    pub double_work_ratio: f64,
}

/// Latency by the size of the data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyCurve {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// The share of the data that lay on pages of that size; absent where the kernel does not
    /// report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_share: Option<f64>,
    /// Whether it ends beyond all caches.
    #[serde(skip)]
    pub is_whole: bool,
    /// Small sizes first.
    pub points: Vec<LatencyPoint>,
    /// Runs of sizes with about the same latency, small sizes first.
    pub levels: Vec<LatencyLevel>,
}

/// Latency of a load from data of one size, in random order, each load waiting for the one before.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyPoint {
    /// Bytes of all data, one load for each 64 bytes.
    pub size_bytes: u64,
    /// The median of batches.
    pub latency_ns: f64,
    /// The first quartile of batches.
    pub low_ns: f64,
    /// The third quartile of batches.
    pub high_ns: f64,
    /// Medians of parts of the batches, in order of time.
    #[serde(skip)]
    pub parts_ns: Vec<f64>,
}

/// A run of sizes with about the same latency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyLevel {
    /// The smallest size of the run.
    pub from_bytes: u64,
    /// The largest size of the run: the level holds this much. For the last level it is only where
    /// the measurement ended.
    pub to_bytes: u64,
    /// The geometric mean of the run's medians.
    pub latency_ns: f64,
}

/// A data cache.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CacheSize {
    /// 1 is the nearest to the core.
    pub level: u32,
    /// The advertised size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advertised_bytes: Option<u64>,
    /// The effective size: the largest measured size that still has its latency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_bytes: Option<u64>,
    /// The sizes between which it ends: the largest up to which hardly any loads miss it, and the
    /// largest of which many loads still hit it; absent from older prints, and where nothing slower
    /// was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends_within_bytes: Option<[u64; 2]>,
    /// Latency of a hit: the median of its sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<f64>,
    /// From the least first quartile to the greatest third quartile of its sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread_ns: Option<[f64; 2]>,
    /// The same as `latency_ns`, of parts of each size's batches, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts_ns: Vec<f64>,
}

impl CacheSize {
    /// Returns the reason against its latency: loads of its own sizes differ so much that other
    /// levels answered some of them.
    pub fn unsteady(&self) -> Option<String> {
        let [low, high] = self.spread_ns.filter(|[low, high]| *high > UNSTEADY * low)?;
        let loads = format!("loads that L{} should answer", self.level);
        Some(format!("{loads} take {low:.1} to {high:.1} ns: others use it too"))
    }
}

/// Greatest plausible ratio of the quartiles of one cache's sizes.
const UNSTEADY: f64 = 2.0;

/// The cost of address translation with a number of pages of 4 KiB in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TlbPoint {
    /// Pages in use, one line on each.
    pub pages: u64,
    /// Latency of a load with one line on each page: the median of batches.
    pub apart_ns: f64,
    /// The same with as many lines on as few pages as possible: the cost of the caches alone.
    pub packed_ns: f64,
}

/// A run of page counts with about the same cost of translation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TlbLevel {
    /// The most pages of the run: the level translates this many. For the last level it is only
    /// where the measurement ended.
    pub to_pages: u64,
    /// Additional time of a load, compared with its line on few pages: the geometric mean of the
    /// run, less a load from the first level.
    pub extra_ns: f64,
}

impl Latency {
    /// Returns the numbers by which two machines can be compared.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        for cache in &self.caches {
            let (level, effective) = (cache.level, cache.effective_bytes);
            // Without something slower beyond it, a level may be memory, as in old prints.
            if effective.is_none() && self.flushed_ns.is_none() {
                continue;
            }
            let names = [format!("latency-level-{level}"), format!("load latency, L{level}")];
            let found = in_ns(names, cache.latency_ns, cache.spread_ns, &cache.parts_ns);
            figures.extend(found.map(|one| Figure { doubt: cache.unsteady(), ..one }));
            // The size is that of a virtual machine's share, and differs much from run to run.
            let (key, words) =
                (format!("cache-level-{level}"), format!("effective size, L{level}"));
            let ends = cache.ends_within_bytes.map(|ends| ends.map(|bytes| bytes as f64));
            figures.extend(effective.map(|bytes| {
                Figure::new(key, words, bytes as f64, Unit::Bytes, Better::Neither)
                    .with_spread(ends.and_then(Spread::of))
            }));
        }
        let names = ["latency-memory", "load latency, memory"].map(str::to_owned);
        figures.extend(in_ns(names, self.memory_ns, self.memory_spread_ns, &self.memory_parts_ns));
        figures
    }
}

/// Returns the figure of a latency, with its key and its words; `None` where it is not known.
pub(crate) fn in_ns(
    [key, words]: [String; 2],
    latency_ns: Option<f64>,
    ends: Option<[f64; 2]>,
    parts: &[f64],
) -> Option<Figure> {
    let found = Figure::new(key, words, latency_ns?, Unit::Nanoseconds, Better::Lower);
    Some(found.with_spread(ends.and_then(Spread::of)).with_parts(parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_no_figure() {
        fn check(latency: &Latency, keys: &[&str]) {
            let found: Vec<String> = latency.figures().into_iter().map(|f| f.key).collect();
            assert_eq!(found, keys);
        }
        check(&Latency::default(), &[]);
        let (advertised_bytes, latency_ns) = (Some(1 << 15), Some(1.0));
        let spread_ns = Some([0.9, 1.2]);
        let first =
            CacheSize { level: 1, advertised_bytes, latency_ns, spread_ns, ..CacheSize::default() };
        let second = CacheSize { level: 2, effective_bytes: Some(1 << 20), ..first.clone() };
        let caches = vec![first, second];
        let keys = ["latency-level-1", "latency-level-2", "cache-level-2", "latency-memory"];
        let flushed_ns = Some(88.0);
        let memory_ns = Some(90.0);
        let found = Latency { caches, memory_ns, flushed_ns, ..Latency::default() };
        check(&found, &keys);
        // A level within which the curve ended may be memory, if it is not known how long that
        // takes.
        check(&Latency { flushed_ns: None, ..found.clone() }, &keys[1..]);
        assert_eq!(found.figures()[0].spread, Some(Spread { low: 0.9, high: 1.2 }));
        let mut unsteady = found;
        unsteady.caches[1].spread_ns = Some([9.6, 138.0]);
        let doubts: Vec<bool> = unsteady.figures().iter().map(|f| f.doubt.is_some()).collect();
        assert_eq!(doubts, [false, true, false, false]);
    }
}
