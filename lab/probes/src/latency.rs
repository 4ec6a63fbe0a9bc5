//! Latency of a load, by the size of the data and by the size of pages.

mod analyse;
pub(crate) mod measure;
pub(crate) mod show;

pub(crate) use analyse::probe;

use crate::figure::{Better, Figure, Spread, Unit};
use serde::{Deserialize, Serialize};

/// What the probe of latency found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// The CPU that it was measured on.
    pub cpu: usize,
    /// A curve a page size: 4 KiB first, then 2 MiB where the kernel gave such pages.
    pub curves: Vec<LatencyCurve>,
    /// The data caches of that CPU, level 1 first, as advertised and as measured. Empty where
    /// neither the kernel nor the curve tells.
    pub caches: Vec<CacheSize>,
    /// Bytes of a page by whose curve the caches are judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged_by_page_bytes: Option<u64>,
    /// Latency of a load that no cache answers, on those pages: the median of the largest sizes;
    /// absent where the data was never clearly larger than what the caches hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_ns: Option<f64>,
    /// From the least first quartile to the greatest third one of those sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_spread_ns: Option<[f64; 2]>,
    /// The same as `memory_ns` of some parts of each size's batches, the earlier first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory_parts_ns: Vec<f64>,
    /// Latency of a load of a line that was flushed just before: of memory, whatever the caches
    /// hold; absent where no program may flush.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flushed_ns: Option<f64>,
    /// What address translation costs, by the number of pages in use; few pages first.
    pub tlb: Vec<TlbPoint>,
    /// What of it is a level of its own, few pages first.
    pub tlb_levels: Vec<TlbLevel>,
    /// How many times as long twice as many loads took: about 2, or something was optimised out.
    pub double_work_ratio: f64,
}

/// Latency by the size of the data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyCurve {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// The share of the data that lay on pages of that size, as the kernel says; absent where it
    /// does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_share: Option<f64>,
    /// Small sizes first.
    pub points: Vec<LatencyPoint>,
    /// Runs of sizes with about the same latency, small sizes first.
    pub levels: Vec<LatencyLevel>,
}

/// Latency of a load from data of one size, in random order, each load waiting for the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyPoint {
    /// Bytes of all data, one load each 64 bytes.
    pub size_bytes: u64,
    /// The median of batches.
    pub latency_ns: f64,
    /// The first quartile of batches.
    pub low_ns: f64,
    /// The third quartile of batches.
    pub high_ns: f64,
}

/// A run of sizes with about the same latency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyLevel {
    /// The smallest size of the run.
    pub from_bytes: u64,
    /// The largest size of the run: the level holds this much. Of the last level it is only where
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
    /// What the machine says that it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advertised_bytes: Option<u64>,
    /// What it holds, by its latency: the largest size measured that still has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_bytes: Option<u64>,
    /// Between which sizes it ends: the largest up to which loads hardly ever go past it, and the
    /// largest of which a good part does not; absent from older prints, and where nothing slower
    /// was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends_within_bytes: Option<[u64; 2]>,
    /// Latency of a load that it answers: the median of its sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<f64>,
    /// From the least first quartile to the greatest third one of its sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread_ns: Option<[f64; 2]>,
    /// The same as `latency_ns` of some parts of each size's batches, the earlier first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts_ns: Vec<f64>,
}

impl CacheSize {
    /// Why its latency is worth less, in words: loads of its own sizes lie so far apart that others
    /// answered some of them.
    pub fn unsteady(&self) -> Option<String> {
        let [low, high] = self.spread_ns.filter(|[low, high]| *high > UNSTEADY * low)?;
        let loads = format!("loads that L{} should answer", self.level);
        Some(format!("{loads} take {low:.1} to {high:.1} ns: others use it too"))
    }
}

/// Quartiles of one cache's sizes lie within so many times each other.
const UNSTEADY: f64 = 2.0;

/// What address translation costs with so many pages in use, of 4 KiB each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TlbPoint {
    /// Pages in use, one line on each.
    pub pages: u64,
    /// Latency of a load with one line on each page: the median of batches.
    pub apart_ns: f64,
    /// The same with as many lines on as few pages as they fit: what the caches alone cost.
    pub packed_ns: f64,
}

/// A run of page counts with about the same cost of translation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TlbLevel {
    /// The most pages of the run: the level translates this many. Of the last level it is only
    /// where the measurement ended.
    pub to_pages: u64,
    /// What a load costs more than with its line on few pages: the geometric mean of the run, less
    /// a load from the first level.
    pub extra_ns: f64,
}

impl Latency {
    /// The curve of a page size.
    pub fn curve(&self, page_bytes: u64) -> Option<&LatencyCurve> {
        self.curves.iter().find(|curve| curve.page_bytes == page_bytes)
    }

    /// The spread in a print that does not hold it: from the least first quartile to the greatest
    /// third one of the sizes of a level, of that latency, of the curve by which caches are judged.
    fn spread(&self, latency_ns: f64) -> Option<Spread> {
        let curve = self.curve(self.judged_by_page_bytes?)?;
        let level = curve.levels.iter().find(|level| level.latency_ns == latency_ns)?;
        let within = level.from_bytes..=level.to_bytes;
        let points = curve.points.iter().filter(|point| within.contains(&point.size_bytes));
        Spread::of(points.flat_map(|point| [point.low_ns, point.high_ns]))
    }

    /// Whether what bears a cache's name is that cache: something slower lies beyond it. A curve
    /// that ends within a level may have ended in memory, as it did in old prints.
    fn is_found(&self, cache: &CacheSize) -> bool {
        cache.effective_bytes.is_some() || self.flushed_ns.is_some()
    }

    /// The numbers by which two machines can be compared.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        let figure = |key: String, words: String, value: Option<f64>, ends: Option<[f64; 2]>| {
            let spread = ends.and_then(Spread::of).or_else(|| self.spread(value?));
            let found = Figure::new(key, words, value?, Unit::Nanoseconds, Better::Lower);
            Some(found.with_spread(spread))
        };
        for cache in self.caches.iter().filter(|cache| self.is_found(cache)) {
            let level = cache.level;
            let key = format!("latency-level-{level}");
            let words = format!("load latency, L{level}");
            let found = figure(key, words, cache.latency_ns, cache.spread_ns);
            let doubt = cache.unsteady();
            figures.extend(found.map(|one| Figure { doubt, ..one.with_parts(&cache.parts_ns) }));
            // The size of a virtual machine's share, and it moves by far from run to run: a fact.
            figures.extend(cache.effective_bytes.map(|bytes| {
                let words = format!("effective size, L{level}");
                let (unit, better) = (Unit::Bytes, Better::Neither);
                let key = format!("cache-level-{level}");
                let ends = cache.ends_within_bytes.map(|ends| ends.map(|bytes| bytes as f64));
                let found = Figure::new(key, words, bytes as f64, unit, better);
                found.with_spread(ends.and_then(Spread::of))
            }));
        }
        let (key, words) = ("latency-memory".to_owned(), "load latency, memory".to_owned());
        let memory = figure(key, words, self.memory_ns, self.memory_spread_ns);
        figures.extend(memory.map(|one| one.with_parts(&self.memory_parts_ns)));
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_spread_over_its_sizes() {
        let point = |size_bytes, latency_ns: f64| LatencyPoint {
            size_bytes,
            latency_ns,
            low_ns: latency_ns - 0.5,
            high_ns: latency_ns + 1.0,
        };
        let curve = LatencyCurve {
            page_bytes: 4096,
            points: vec![point(4, 1.0), point(8, 90.0), point(16, 94.0)],
            levels: vec![LatencyLevel { from_bytes: 8, to_bytes: 16, latency_ns: 92.0 }],
            ..LatencyCurve::default()
        };
        let judged_by_page_bytes = Some(4096);
        let memory_ns = Some(92.0);
        let found =
            Latency { curves: vec![curve], judged_by_page_bytes, memory_ns, ..Latency::default() };
        let spread = |latency: &Latency| latency.figures()[0].spread;
        assert_eq!(spread(&found), Some(Spread { low: 89.5, high: 95.0 }));
        assert_eq!(spread(&Latency { memory_ns: Some(50.0), ..found }), None);
    }

    #[test]
    fn what_is_not_known_is_no_figure() {
        let check = |latency: &Latency, keys: &[&str]| {
            let found: Vec<String> = latency.figures().into_iter().map(|f| f.key).collect();
            assert_eq!(found, keys);
        };
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
        // A level within which the curve ended may be memory, if nobody says how long that takes.
        check(&Latency { flushed_ns: None, ..found.clone() }, &keys[1..]);
        assert_eq!(found.figures()[0].spread, Some(Spread { low: 0.9, high: 1.2 }));
        let mut unsteady = found;
        unsteady.caches[1].spread_ns = Some([9.6, 138.0]);
        let doubts: Vec<bool> = unsteady.figures().iter().map(|f| f.doubt.is_some()).collect();
        assert_eq!(doubts, [false, true, false, false]);
    }
}
