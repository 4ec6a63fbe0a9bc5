//! Latency: from what the probe saw to what is said of it.

use super::{Wish, unavailable};
use tiebreak_core::machine::{
    CacheSize, Latency, LatencyCurve, LatencyLevel, LatencyPoint, Probed, TlbLevel, TlbPoint,
};
use tiebreak_machine::probes::{Budget, latency};
use tiebreak_stats::capacities::matched;
use tiebreak_stats::change_points::levels;

/// Bytes of a huge page.
const HUGE_PAGE: u64 = 2 << 20;
/// A curve is one of huge pages if at least this share of its data lay on them.
const MOSTLY: f64 = 0.5;
/// What takes longer than this share of a load from memory is on the way there, and no cache: near
/// the end of the last cache some loads hit it and some do not.
const ON_THE_WAY: f64 = 2.0 / 3.0;
/// The last level is memory if the data became this many times as large as the last cache.
const CLEARLY_LARGER: u64 = 2;

/// Probes the machine.
pub(super) fn probe(wish: &Wish, budget: &mut Budget<'_>) -> Probed<Latency> {
    match latency::Latency::new(&wish.cpus) {
        Err(reason) => unavailable(reason),
        Ok(probe) => probe.measure(budget).map(found),
    }
}

fn found(reading: latency::Reading, reasons: &mut Vec<String>) -> Latency {
    let mut curves: Vec<LatencyCurve> = reading.curves.into_iter().map(curve).collect();
    curves.retain(|curve| {
        let is_there = curve.page_bytes != HUGE_PAGE || curve.page_share >= Some(MOSTLY);
        if !is_there {
            reasons.push(match curve.page_share {
                None => "the kernel does not say whether it gave pages of 2 MiB".to_owned(),
                Some(share) => {
                    let percent = share * 100.0;
                    format!("the kernel gave pages of 2 MiB for {percent:.0}% of the data only")
                }
            });
        }
        is_there
    });
    let mut advertised = Vec::new();
    for cache in &reading.advertised {
        advertised.push((cache.level, cache.size_bytes));
    }
    // Translation costs least on large pages, so that curve shows the caches best.
    let judge = curves.last();
    let (caches, memory_ns) = judge.map(|curve| caches_of(curve, &advertised)).unwrap_or_default();
    let tlb: Vec<TlbPoint> = reading
        .pages
        .iter()
        .map(|&latency::PagePoint { pages, apart_ns, packed_ns }| TlbPoint {
            pages,
            apart_ns,
            packed_ns,
        })
        .collect();
    Latency {
        cpu: reading.cpu,
        judged_by_page_bytes: judge.map(|curve| curve.page_bytes),
        caches,
        memory_ns,
        tlb_levels: tlb_levels(&tlb),
        tlb,
        double_work_ratio: reading.double_work_ratio,
        curves,
    }
}

fn curve(curve: latency::Curve) -> LatencyCurve {
    let medians: Vec<f64> = curve.points.iter().map(|point| point.median_ns).collect();
    let size = |index: usize| curve.points[index].size_bytes;
    let level = |level: tiebreak_stats::change_points::Level| LatencyLevel {
        from_bytes: size(level.first),
        to_bytes: size(level.last),
        latency_ns: level.value,
    };
    let point = |point: &latency::Point| LatencyPoint {
        size_bytes: point.size_bytes,
        latency_ns: point.median_ns,
        low_ns: point.low_ns,
        high_ns: point.high_ns,
    };
    LatencyCurve {
        page_bytes: curve.page_bytes,
        page_share: curve.page_share,
        levels: levels(&medians).into_iter().map(level).collect(),
        points: curve.points.iter().map(point).collect(),
    }
}

/// The caches (level and size as advertised) as a curve shows them, and the latency of memory if
/// the curve goes far enough.
fn caches_of(curve: &LatencyCurve, advertised: &[(u32, u64)]) -> (Vec<CacheSize>, Option<f64>) {
    let Some((last, before)) = curve.levels.split_last() else { return Default::default() };
    let end = curve.points.last().map_or(0, |point| point.size_bytes);
    let last_cache = advertised.last().map(|cache| cache.1);
    let is_memory =
        !before.is_empty() && last_cache.is_none_or(|size| end >= CLEARLY_LARGER * size);
    let memory_ns = is_memory.then_some(last.latency_ns);
    let is_cache = |level: &&LatencyLevel| {
        memory_ns.is_none_or(|memory| level.latency_ns <= ON_THE_WAY * memory)
    };
    let seen: Vec<LatencyLevel> = curve.levels.iter().filter(is_cache).copied().collect();
    if advertised.is_empty() {
        let cache = |(level, seen): (u32, &LatencyLevel)| CacheSize {
            level,
            advertised_bytes: None,
            effective_bytes: Some(seen.to_bytes).filter(|bytes| *bytes < end),
            latency_ns: Some(seen.latency_ns),
        };
        return ((1..).zip(&seen).map(cache).collect(), memory_ns);
    }
    let sizes: Vec<f64> = advertised.iter().map(|cache| cache.1 as f64).collect();
    let held: Vec<f64> = seen.iter().map(|level| level.to_bytes as f64).collect();
    let mut below = 0;
    let cache = |(&(level, size), index): (&(u32, u64), Option<usize>)| {
        let all = index.map_or(&[][..], |index| &seen[below.min(index)..=index]);
        below = index.map_or(below, |index| index + 1);
        CacheSize {
            level,
            advertised_bytes: Some(size),
            // Where the measurement ended within a level, its size is not known.
            effective_bytes: all.last().map(|level| level.to_bytes).filter(|bytes| *bytes < end),
            latency_ns: longest(all, curve).map(|level| level.latency_ns),
        }
    };
    let caches = advertised.iter().zip(matched(&sizes, &held)).map(cache).collect();
    (caches, memory_ns)
}

/// A cache that is nearly full answers some loads slowly, so its last sizes can be a level of their
/// own: the cache's latency is that of the level with the most sizes, the first of several.
fn longest<'a>(levels: &'a [LatencyLevel], curve: &LatencyCurve) -> Option<&'a LatencyLevel> {
    let sizes = |level: &&LatencyLevel| {
        let within = level.from_bytes..=level.to_bytes;
        curve.points.iter().filter(|point| within.contains(&point.size_bytes)).count()
    };
    levels.iter().rev().max_by_key(sizes)
}

/// Levels of what a load costs more with its lines apart, as many times a load from the nearest
/// cache, so that a cost of nothing is a level too.
fn tlb_levels(points: &[TlbPoint]) -> Vec<TlbLevel> {
    let nearest = points.iter().map(|point| point.packed_ns).fold(f64::INFINITY, f64::min);
    let times = |point: &TlbPoint| 1.0 + (point.apart_ns - point.packed_ns).max(0.0) / nearest;
    let times: Vec<f64> = points.iter().map(times).collect();
    let level = |level: tiebreak_stats::change_points::Level| TlbLevel {
        to_pages: points[level.last].pages,
        extra_ns: (level.value - 1.0) * nearest,
    };
    levels(&times).into_iter().map(level).collect()
}

#[cfg(test)]
mod tests;
