//! Latency: what the curves show of caches, memory and translation.

use crate::tools::flushed::MEMORY_SHARE;
use crate::tools::*;
use crate::{CacheSize, Latency, LatencyCurve, LatencyLevel, LatencyPoint, TlbLevel, TlbPoint};
use tiebreak_stats::capacities::matched;
use tiebreak_stats::change_points::levels;
use tiebreak_stats::modes::median;

/// A curve is one of huge pages if at least this share of its data lay on them.
const MOSTLY: f64 = 0.5;
/// A level that takes longer than this share of a load from memory is a step on the way there, and
/// no cache: near the end of the last cache some loads hit it and some do not.
const ON_THE_WAY: f64 = 2.0 / 3.0;
/// Where nothing can be flushed, the last level is memory if the data became this many times as
/// large as the last cache is advertised.
const CLEARLY_LARGER: u64 = 2;
/// Memory is judged by this many sizes, the largest.
const MEMORY_SIZES: usize = 4;
/// Levels of caches that machines have.
const USUAL_LEVELS: usize = 3;
/// A latency that fewer sizes show may be that of a step between two levels.
const LEAST_SIZES: usize = 3;
/// Share of the loads that miss a cache: at most the first for a size that it holds, at least the
/// second for a size that it clearly does not hold.
const PAST: [f64; 2] = [0.2, 2.0 / 3.0];

/// Fills in the levels, the caches and memory, and adds the reasons against them.
pub(super) fn analyse(
    found: &mut Latency,
    advertised: &[AdvertisedCache],
    reasons: &mut Vec<String>,
) {
    found.tlb_levels = tlb_levels(&found.tlb);
    for curve in &mut found.curves {
        let medians: Vec<f64> = curve.points.iter().map(|point| point.latency_ns).collect();
        let levels = levels(&medians).into_iter().map(|level| LatencyLevel {
            from_bytes: curve.points[level.first].size_bytes,
            to_bytes: curve.points[level.last].size_bytes,
            latency_ns: level.value,
        });
        curve.levels = levels.collect();
    }
    reasons.extend(found.curves.iter().filter_map(wrong_pages));
    found.curves.retain(|curve| wrong_pages(curve).is_none());
    // Translation costs least on large pages, so that curve shows the caches best.
    let Some(judge) = found.curves.last() else { return };
    found.judged_by_page_bytes = Some(judge.page_bytes);
    let memory = memory_of(judge, advertised, found.flushed_ns);
    let beyond_ns = memory.as_ref().map(|memory| memory.latency_ns).or(found.flushed_ns);
    let mut caches = caches_of(judge, advertised, beyond_ns, reasons);
    for at in 0..caches.len() {
        caches[at].ends_within_bytes = ends_within(&caches[at..], beyond_ns, judge, &found.curves);
    }
    found.caches = caches;
    match memory {
        None => reasons.push("the data was too small to see memory".to_owned()),
        Some(memory) => {
            found.memory_ns = Some(memory.latency_ns);
            found.memory_spread_ns = Some(memory.spread_ns);
            found.memory_parts_ns = memory.parts_ns;
        }
    }
}

/// Returns the reason why a curve is not one of its pages, if there is one.
fn wrong_pages(curve: &LatencyCurve) -> Option<String> {
    if curve.page_bytes != HUGE_PAGE as u64 || curve.page_share >= Some(MOSTLY) {
        return None;
    }
    let Some(share) = curve.page_share else {
        return Some("the kernel does not say whether it gave pages of 2 MiB".to_owned());
    };
    let percent = share * 100.0;
    Some(format!("the kernel gave pages of 2 MiB for {percent:.0}% of the data only"))
}

/// Returns the sizes between which the first of these caches ends. A load of its next level, or of
/// memory if there is none, shows which share of a size's loads went past it. Which lines of the
/// data lie in it is drawn anew for each mapping, and others may use it for a while: the lower end
/// is the least that the judging curve and its halves show, by third quartiles; the upper one the
/// most that any curve does, by first ones.
fn ends_within(
    caches: &[CacheSize],
    beyond_ns: Option<f64>,
    judge: &LatencyCurve,
    curves: &[LatencyCurve],
) -> Option<[u64; 2]> {
    let (cache, next) = caches.split_first()?;
    let (effective, hit_ns) = (cache.effective_bytes?, cache.latency_ns?);
    let past_ns = next.iter().find_map(|next| next.latency_ns).or(beyond_ns)?;
    let [held_ns, lost_ns] = PAST.map(|share| hit_ns + share * (past_ns - hit_ns));
    let held = judge
        .points
        .iter()
        .take_while(|point| halves(point).fold(point.high_ns, f64::max) <= held_ns);
    let partly = curves
        .iter()
        .flat_map(|curve| &curve.points)
        .filter(|point| halves(point).fold(point.low_ns, f64::min) <= lost_ns);
    let low = held.last().map_or(effective, |point| point.size_bytes);
    let high = partly.map(|point| point.size_bytes).max().unwrap_or(effective);
    let limit = cache.advertised_bytes.unwrap_or(u64::MAX).max(effective);
    Some([low.min(effective), high.clamp(effective, limit)])
}

/// Returns the medians of the first and of the second half of the parts.
fn halves(point: &LatencyPoint) -> impl Iterator<Item = f64> {
    let (first, later) = point.parts_ns.split_at(point.parts_ns.len() / 2);
    [median(first), median(later)].into_iter().flatten()
}

/// Returns the caches (level and size as advertised) as a curve shows them, where something beyond
/// them is known to take this long.
fn caches_of(
    curve: &LatencyCurve,
    advertised: &[AdvertisedCache],
    beyond_ns: Option<f64>,
    reasons: &mut Vec<String>,
) -> Vec<CacheSize> {
    let end = curve.points.last().map_or(0, |point| point.size_bytes);
    let mut seen = curve.levels.clone();
    seen.retain(|level| beyond_ns.is_none_or(|beyond| level.latency_ns <= ON_THE_WAY * beyond));
    let (mut below, mut least) = (0, 0);
    let mut caches = Vec::new();
    for (level, advertised_bytes, index) in named(curve, &seen, advertised) {
        let levels = index.map_or(&[][..], |index| &seen[below.min(index)..=index]);
        below = index.map_or(below, |index| index + 1);
        // Sizes below the cache before, or above this one, are answered by others too.
        let own = least + 1..=advertised_bytes.unwrap_or(u64::MAX);
        least = advertised_bytes.unwrap_or(0);
        let levels = levels.iter().map(|one| points_of(curve, one));
        let levels: Vec<Vec<&LatencyPoint>> =
            levels.map(|all| all.filter(|p| own.contains(&p.size_bytes)).collect()).collect();
        let held = levels.last().and_then(|last| last.iter().map(|point| point.size_bytes).max());
        // A cache that is nearly full answers some loads slowly, so its last sizes can be a level
        // of their own: its latency is that of the level with the most sizes, the first of several.
        let longest = levels.into_iter().rev().max_by_key(Vec::len).unwrap_or_default();
        let mut cache = CacheSize { level, advertised_bytes, ..CacheSize::default() };
        // Where the measurement ended within a level, its size is not known.
        cache.effective_bytes = held.filter(|bytes| *bytes < end);
        if let Some(plateau) = Plateau::of(&longest) {
            cache.latency_ns = Some(plateau.latency_ns);
            cache.spread_ns = Some(plateau.spread_ns);
            cache.parts_ns = plateau.parts_ns;
        }
        reasons.extend(match longest.len() {
            0 => Some(format!("no size of data shows L{level}: others use it, or it is not there")),
            few if few < LEAST_SIZES => {
                // They may be a step between two levels, and prove nothing about a machine.
                cache.parts_ns.clear();
                Some(format!("only {few} of the sizes show L{level}: others use it too"))
            }
            _ => cache.unsteady(),
        });
        caches.push(cache);
    }
    caches
}

/// Returns the level of each cache, its advertised size, and the index of its last level in the
/// curve. Where no caches are advertised, levels of the curve are numbered in their order: as many
/// as machines have, those with the most sizes.
fn named(
    curve: &LatencyCurve,
    seen: &[LatencyLevel],
    advertised: &[AdvertisedCache],
) -> Vec<(u32, Option<u64>, Option<usize>)> {
    if advertised.is_empty() {
        let mut by_order: Vec<usize> = (0..seen.len()).collect();
        by_order.sort_by_key(|index| std::cmp::Reverse(points_of(curve, &seen[*index]).count()));
        by_order.truncate(USUAL_LEVELS);
        by_order.sort_unstable();
        return (1..).zip(by_order).map(|(level, index)| (level, None, Some(index))).collect();
    }
    let sizes: Vec<f64> = advertised.iter().map(|cache| cache.size_bytes as f64).collect();
    let spans: Vec<(f64, f64)> =
        seen.iter().map(|level| (level.from_bytes as f64, level.to_bytes as f64)).collect();
    let found = advertised.iter().zip(matched(&sizes, &spans));
    found.map(|(cache, index)| (cache.level, Some(cache.size_bytes), index)).collect()
}

/// Returns the sizes that memory answers: the last ones, if a load of each takes about as long as
/// one of a flushed line. Where nothing can be flushed, the last level, if the data became clearly
/// larger than the last cache is advertised.
fn memory_of(
    curve: &LatencyCurve,
    advertised: &[AdvertisedCache],
    flushed_ns: Option<f64>,
) -> Option<Plateau> {
    let points = &curve.points;
    let last: Vec<_> = points[points.len().checked_sub(MEMORY_SIZES)?..].iter().collect();
    let is_memory = match flushed_ns {
        Some(flushed) => last.iter().all(|point| point.latency_ns >= MEMORY_SHARE * flushed),
        None => {
            let end = points.last()?.size_bytes;
            curve.levels.len() > 1
                && advertised.last().is_none_or(|cache| end >= CLEARLY_LARGER * cache.size_bytes)
                && curve.levels.last()?.from_bytes <= last[0].size_bytes
        }
    };
    Plateau::of(&last).filter(|_| is_memory)
}

/// Sizes with about the same latency.
struct Plateau {
    /// The median.
    latency_ns: f64,
    /// From the least first quartile to the greatest third one.
    spread_ns: [f64; 2],
    /// The same as `latency_ns`, part by part.
    parts_ns: Vec<f64>,
}

impl Plateau {
    fn of(points: &[&LatencyPoint]) -> Option<Plateau> {
        let mut medians: Vec<f64> = points.iter().map(|point| point.latency_ns).collect();
        medians.sort_by(f64::total_cmp);
        let least = points.iter().map(|point| point.low_ns).fold(f64::INFINITY, f64::min);
        let greatest = points.iter().map(|point| point.high_ns).fold(0.0, f64::max);
        let count = points.iter().map(|point| point.parts_ns.len()).min().unwrap_or(0);
        let parts = (0..count).map(|part| {
            median(&points.iter().map(|point| point.parts_ns[part]).collect::<Vec<_>>())
        });
        Some(Plateau {
            latency_ns: *medians.get(medians.len() / 2)?,
            spread_ns: [least, greatest],
            parts_ns: parts.collect::<Option<_>>().unwrap_or_default(),
        })
    }
}

fn points_of<'a>(
    curve: &'a LatencyCurve,
    level: &LatencyLevel,
) -> impl Iterator<Item = &'a LatencyPoint> {
    let within = level.from_bytes..=level.to_bytes;
    curve.points.iter().filter(move |point| within.contains(&point.size_bytes))
}

/// Returns the levels of the additional cost of a load with its lines apart, computed as multiples
/// of a load from the nearest cache, so that a cost of zero is a level too.
fn tlb_levels(points: &[TlbPoint]) -> Vec<TlbLevel> {
    let nearest = points.iter().map(|point| point.packed_ns).fold(f64::INFINITY, f64::min);
    let times: Vec<f64> = points
        .iter()
        .map(|point| 1.0 + (point.apart_ns - point.packed_ns).max(0.0) / nearest)
        .collect();
    let levels = levels(&times).into_iter().map(|level| TlbLevel {
        to_pages: points[level.last].pages,
        extra_ns: (level.value - 1.0) * nearest,
    });
    levels.collect()
}

#[cfg(test)]
mod tests;
