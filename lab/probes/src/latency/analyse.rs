//! Latency: from what the probe saw to what is said of it.

use super::measure as latency;
use crate::latency::measure::MEMORY_SHARE;
use crate::tools::*;
use crate::{CacheSize, Latency, LatencyCurve, LatencyLevel, LatencyPoint, TlbLevel, TlbPoint};
use tiebreak_stats::capacities::matched;
use tiebreak_stats::change_points::levels;
use tiebreak_stats::modes::median;

/// Bytes of a huge page.
const HUGE_PAGE: u64 = 2 << 20;
/// A curve is one of huge pages if at least this share of its data lay on them.
const MOSTLY: f64 = 0.5;
/// What takes longer than this share of a load from memory is on the way there, and no cache: near
/// the end of the last cache some loads hit it and some do not.
const ON_THE_WAY: f64 = 2.0 / 3.0;
/// Where nothing can be flushed, the last level is memory if the data became this many times as
/// large as the last cache is said to be.
const CLEARLY_LARGER: u64 = 2;
/// Memory is judged by so many sizes, the largest.
const MEMORY_SIZES: usize = 4;
/// Levels of caches that machines have.
const USUAL_LEVELS: usize = 3;
/// A latency that fewer sizes show may be that of a step between two levels.
const LEAST_SIZES: usize = 3;
/// Of a size that a cache holds, hardly any loads go past it; of one that it clearly does not hold,
/// most do.
const PAST: [f64; 2] = [0.2, 2.0 / 3.0];

/// Probes the machine.
pub(crate) fn probe(options: &Options<'_>, budget: &mut Budget<'_>) -> Probed<Latency> {
    probed(latency::Latency::new(&options.cpus), |probe| probe.measure(budget).map(found))
}

fn found(reading: latency::Reading, reasons: &mut Vec<String>) -> Latency {
    let seen = reading.curves;
    let mut curves: Vec<LatencyCurve> = seen.iter().map(curve).collect();
    curves.retain(|curve| {
        let is_there = curve.page_bytes != HUGE_PAGE || curve.page_share >= Some(MOSTLY);
        if !is_there {
            let unknown = "the kernel does not say whether it gave pages of 2 MiB".to_owned();
            reasons.push(curve.page_share.map_or(unknown, |share| {
                let percent = share * 100.0;
                format!("the kernel gave pages of 2 MiB for {percent:.0}% of the data only")
            }));
        }
        is_there
    });
    // Translation costs least on large pages, so that curve shows the caches best.
    let judge = curves.last();
    let flushed_ns = reading.flushed_ns;
    let (caches, memory) =
        judge.map(|curve| caches_of(curve, &reading.advertised, flushed_ns)).unwrap_or_default();
    reasons.extend(caches.iter().filter_map(|shown| doubt(&shown.cache, shown.sizes)));
    let beyond = memory.map(|memory| memory.latency_ns).or(flushed_ns);
    let ends = |at: usize| ends_within(&caches[at..], beyond, judge?.page_bytes, &seen);
    let ends: Vec<_> = (0..caches.len()).map(ends).collect();
    let of_judge = |one: &&latency::Curve| judge.is_some_and(|it| one.page_bytes == it.page_bytes);
    let parts = |plateau: Option<Plateau>| plateau?.parts(seen.iter().find(of_judge)?);
    let cache = |(shown, ends_within_bytes): (Shown, _)| CacheSize {
        ends_within_bytes,
        // A few sizes may be a step between two levels: they prove nothing of a machine.
        parts_ns: parts(shown.plateau.filter(|_| shown.sizes >= LEAST_SIZES)).unwrap_or_default(),
        ..shown.cache
    };
    let caches = caches.into_iter().zip(ends).map(cache).collect();
    if memory.is_none() {
        reasons.push("the data was too small to see memory".to_owned());
    }
    Latency {
        cpu: reading.cpu,
        judged_by_page_bytes: judge.map(|curve| curve.page_bytes),
        caches,
        memory_ns: memory.map(|memory| memory.latency_ns),
        memory_spread_ns: memory.map(|memory| memory.spread_ns),
        memory_parts_ns: parts(memory).unwrap_or_default(),
        flushed_ns,
        tlb_levels: tlb_levels(&reading.pages),
        tlb: reading.pages,
        double_work_ratio: reading.double_work_ratio,
        curves,
    }
}

fn curve(curve: &latency::Curve) -> LatencyCurve {
    let points: Vec<LatencyPoint> = curve.points.iter().map(|point| point.found).collect();
    let medians: Vec<f64> = points.iter().map(|point| point.latency_ns).collect();
    let level = |level: tiebreak_stats::change_points::Level| LatencyLevel {
        from_bytes: points[level.first].size_bytes,
        to_bytes: points[level.last].size_bytes,
        latency_ns: level.value,
    };
    let levels = levels(&medians).into_iter().map(level).collect();
    LatencyCurve { page_bytes: curve.page_bytes, page_share: curve.page_share, points, levels }
}

/// What speaks against a cache's latency, which so many sizes show.
fn doubt(cache: &CacheSize, sizes: usize) -> Option<String> {
    let level = cache.level;
    match sizes {
        0 => Some(format!("no size of data shows L{level}: others use it, or it is not there")),
        few if few < LEAST_SIZES => {
            Some(format!("only {few} of the sizes show L{level}: others use it too"))
        }
        _ => cache.unsteady(),
    }
}

/// Between which sizes the first of these caches ends. A load of its next level, or of memory if
/// there is none, tells which share of a size's loads went past it. Where the lines of the data lie
/// in it is drawn anew for each mapping, and others may use it for a while: the lower end is the
/// least that the judging curve and its halves show, by third quartiles; the upper one the most
/// that any curve does, by first ones.
fn ends_within(
    caches: &[Shown],
    beyond_ns: Option<f64>,
    judged_by: u64,
    curves: &[latency::Curve],
) -> Option<[u64; 2]> {
    let (Shown { cache, .. }, next) = caches.split_first()?;
    let (effective, hit_ns) = (cache.effective_bytes?, cache.latency_ns?);
    let past_ns = next.iter().find_map(|next| next.cache.latency_ns).or(beyond_ns)?;
    let is_beyond = |ns: f64, share: f64| ns > hit_ns + share * (past_ns - hit_ns);
    let halves = |point: &latency::Point| {
        let (first, later) = point.parts_ns.split_at(point.parts_ns.len() / 2);
        [median(first), median(later)].into_iter().flatten()
    };
    let most = |point: &latency::Point| halves(point).fold(point.found.high_ns, f64::max);
    let least = |point: &latency::Point| halves(point).fold(point.found.low_ns, f64::min);
    let judge = curves.iter().find(|curve| curve.page_bytes == judged_by)?;
    let held = judge.points.iter().take_while(|point| !is_beyond(most(point), PAST[0]));
    let partly = curves.iter().flat_map(|curve| &curve.points);
    let partly = partly.filter(|point| !is_beyond(least(point), PAST[1]));
    let low = held.last().map_or(effective, |point| point.found.size_bytes);
    let high = partly.map(|point| point.found.size_bytes).max().unwrap_or(effective);
    let limit = cache.advertised_bytes.unwrap_or(u64::MAX).max(effective);
    Some([low.min(effective), high.clamp(effective, limit)])
}

/// A cache as a curve shows it.
struct Shown {
    cache: CacheSize,
    /// How many sizes show it.
    sizes: usize,
    /// Those by which its latency is judged.
    plateau: Option<Plateau>,
}

/// The caches (level and size as advertised) as a curve shows them, and the sizes that memory
/// answers, if the curve goes far enough.
fn caches_of(
    curve: &LatencyCurve,
    advertised: &[AdvertisedCache],
    flushed_ns: Option<f64>,
) -> (Vec<Shown>, Option<Plateau>) {
    let end = curve.points.last().map_or(0, |point| point.size_bytes);
    let memory = memory_of(curve, advertised, flushed_ns);
    let memory_ns = memory.map(|memory| memory.latency_ns).or(flushed_ns);
    let is_cache = |level: &&LatencyLevel| {
        memory_ns.is_none_or(|memory| level.latency_ns <= ON_THE_WAY * memory)
    };
    let seen: Vec<LatencyLevel> = curve.levels.iter().filter(is_cache).copied().collect();
    // Where nobody says which caches there are, runs of sizes are named by their order: as many as
    // machines have, those with the most sizes.
    let mut by_order: Vec<usize> = (0..seen.len()).collect();
    by_order.sort_by_key(|index| std::cmp::Reverse(points_of(curve, &seen[*index]).count()));
    by_order.truncate(USUAL_LEVELS);
    by_order.sort_unstable();
    let named: Vec<(u32, Option<u64>, Option<usize>)> = if advertised.is_empty() {
        (1..).zip(by_order).map(|(level, index)| (level, None, Some(index))).collect()
    } else {
        let sizes: Vec<f64> = advertised.iter().map(|cache| cache.size_bytes as f64).collect();
        let span = |level: &LatencyLevel| (level.from_bytes as f64, level.to_bytes as f64);
        let spans: Vec<(f64, f64)> = seen.iter().map(span).collect();
        let found = advertised.iter().zip(matched(&sizes, &spans));
        found.map(|(cache, index)| (cache.level, Some(cache.size_bytes), index)).collect()
    };
    let (mut below, mut least) = (0, 0);
    let cache = |(level, advertised_bytes, index): (u32, Option<u64>, Option<usize>)| {
        let all = index.map_or(&[][..], |index| &seen[below.min(index)..=index]);
        below = index.map_or(below, |index| index + 1);
        // What is smaller than the cache before, or larger than this one, others answer too.
        let own = least + 1..=advertised_bytes.unwrap_or(u64::MAX);
        least = advertised_bytes.unwrap_or(0);
        let points = |level: &LatencyLevel| -> Vec<&LatencyPoint> {
            points_of(curve, level).filter(|point| own.contains(&point.size_bytes)).collect()
        };
        let held = |level| points(level).iter().map(|point| point.size_bytes).max();
        // A cache that is nearly full answers some loads slowly, so its last sizes can be a level
        // of their own: its latency is that of the level with the most sizes, the first of several.
        let longest = all.iter().map(points).rev().max_by_key(Vec::len).unwrap_or_default();
        let plateau = Plateau::of(longest.iter().copied());
        let cache = CacheSize {
            level,
            advertised_bytes,
            // Where the measurement ended within a level, its size is not known.
            effective_bytes: all.last().and_then(held).filter(|bytes| *bytes < end),
            latency_ns: plateau.map(|plateau| plateau.latency_ns),
            spread_ns: plateau.map(|plateau| plateau.spread_ns),
            ..CacheSize::default()
        };
        Shown { cache, sizes: longest.len(), plateau }
    };
    (named.into_iter().map(cache).collect(), memory)
}

/// The sizes that memory answers: the last ones, if a load of each takes about as long as one of a
/// flushed line. Where nothing can be flushed, the last level, if the data became clearly larger
/// than the last cache is said to be.
fn memory_of(
    curve: &LatencyCurve,
    advertised: &[AdvertisedCache],
    flushed_ns: Option<f64>,
) -> Option<Plateau> {
    let points = &curve.points;
    let last = &points[points.len().checked_sub(MEMORY_SIZES)?..];
    let is_memory = match flushed_ns {
        Some(flushed) => last.iter().all(|point| point.latency_ns >= MEMORY_SHARE * flushed),
        None => {
            let end = points.last()?.size_bytes;
            curve.levels.len() > 1
                && advertised.last().is_none_or(|cache| end >= CLEARLY_LARGER * cache.size_bytes)
                && curve.levels.last()?.from_bytes <= last[0].size_bytes
        }
    };
    is_memory.then(|| Plateau::of(last.iter()))?
}

/// Sizes with about the same latency.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Plateau {
    /// The median.
    latency_ns: f64,
    /// From the least first quartile to the greatest third one.
    spread_ns: [f64; 2],
    /// The least and the largest size, in bytes.
    sizes: [u64; 2],
}

impl Plateau {
    fn of<'a>(points: impl Iterator<Item = &'a LatencyPoint>) -> Option<Plateau> {
        let points: Vec<&LatencyPoint> = points.collect();
        let mut medians: Vec<f64> = points.iter().map(|point| point.latency_ns).collect();
        medians.sort_by(f64::total_cmp);
        let least = points.iter().map(|point| point.low_ns).fold(f64::INFINITY, f64::min);
        let greatest = points.iter().map(|point| point.high_ns).fold(0.0, f64::max);
        let latency_ns = *medians.get(medians.len() / 2)?;
        let sizes = [points.first()?.size_bytes, points.last()?.size_bytes];
        Some(Plateau { latency_ns, spread_ns: [least, greatest], sizes })
    }

    /// The median over its sizes, part by part.
    fn parts(self, curve: &latency::Curve) -> Option<Vec<f64>> {
        let within = self.sizes[0]..=self.sizes[1];
        let all = curve.points.iter().filter(|point| within.contains(&point.found.size_bytes));
        let all: Vec<&Vec<f64>> = all.map(|point| &point.parts_ns).collect();
        let count = all.iter().map(|parts| parts.len()).min()?;
        let part = |index: usize| median(&all.iter().map(|size| size[index]).collect::<Vec<_>>());
        (0..count).map(part).collect()
    }
}

fn points_of<'a>(
    curve: &'a LatencyCurve,
    level: &LatencyLevel,
) -> impl Iterator<Item = &'a LatencyPoint> {
    let within = level.from_bytes..=level.to_bytes;
    curve.points.iter().filter(move |point| within.contains(&point.size_bytes))
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
