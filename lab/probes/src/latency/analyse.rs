//! Latency: what the curves show of caches, memory and translation.

use crate::tools::{chase::MEMORY_SHARE, *};
use crate::topology::data_caches::AdvertisedCache;
use crate::{
    CacheSize, Latency, LatencyCurve, LatencyLevel, LatencyPoint, Spread, TlbLevel, TlbPoint,
};
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
const USUAL_LEVELS: u32 = 3;
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
    found.curves.retain(|curve| {
        let why = wrong_pages(curve);
        let is_right = why.is_none();
        reasons.extend(why);
        is_right
    });
    // Translation costs least on large pages, so that curve shows the caches best.
    let Some(judge) = found.curves.last() else { return };
    found.judged_by_page_bytes = Some(judge.page_bytes);
    let memory = memory_of(judge, advertised, found.flushed_ns);
    let beyond_ns = memory.as_ref().and_then(|memory| memory.latency_ns).or(found.flushed_ns);
    let mut caches = caches_of(judge, advertised, beyond_ns, reasons);
    for at in 0..caches.len() {
        caches[at].ends_within_bytes = ends_within(&caches[at..], beyond_ns, judge, &found.curves);
    }
    found.caches = caches;
    if memory.is_none() {
        reasons.push("the data was too small to see memory".to_owned());
    }
    let memory = memory.unwrap_or_default();
    (found.memory_ns, found.memory_spread_ns) = (memory.latency_ns, memory.spread_ns);
    found.memory_parts_ns = memory.parts_ns;
}

/// Returns the reason why a curve is not one of its pages, if there is one.
fn wrong_pages(curve: &LatencyCurve) -> Option<String> {
    let is_wrong = curve.page_bytes == HUGE_PAGE as u64 && curve.page_share < Some(MOSTLY);
    let share = curve.page_share;
    let share = share.map_or("an unknown part".to_owned(), |one| format!("{:.0}%", one * 100.0));
    is_wrong.then(|| format!("the kernel gave pages of 2 MiB for {share} of the data only"))
}

/// Returns the sizes between which the first of these caches ends. A load of its next level, or of
/// memory if there is none, shows which share of a size's loads went past it. Which lines of the
/// data lie in it is drawn anew for each mapping, and others may use it for a while: the lower end
/// is the least that the judging curve shows, by third quartiles; the upper one the most that any
/// curve does, by first ones.
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
    let held = judge.points.iter().take_while(|point| point.high_ns <= held_ns).last();
    let all = curves.iter().flat_map(|curve| &curve.points);
    let partly = all.filter(|point| point.low_ns <= lost_ns).map(|point| point.size_bytes).max();
    let low = held.map_or(effective, |point| point.size_bytes);
    let limit = cache.advertised_bytes.unwrap_or(u64::MAX).max(effective);
    Some([low.min(effective), partly.unwrap_or(effective).clamp(effective, limit)])
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
    for (level, advertised_bytes, index) in named(&seen, advertised) {
        let levels = index.map_or(&[][..], |index| &seen[below.min(index)..=index]);
        below = index.map_or(below, |index| index + 1);
        // Sizes below the cache before, or above this one, are answered by others too.
        let most = advertised_bytes.unwrap_or(u64::MAX);
        let levels = levels.iter().map(|one| {
            let own = one.from_bytes.max(least + 1)..=one.to_bytes.min(most);
            curve.points.iter().filter(|point| own.contains(&point.size_bytes)).collect()
        });
        let levels: Vec<Vec<&LatencyPoint>> = levels.collect();
        least = advertised_bytes.unwrap_or(0);
        let held = levels.last().and_then(|last| last.iter().map(|point| point.size_bytes).max());
        // A cache that is nearly full answers some loads slowly, so its last sizes can be a level
        // of their own: its latency is that of the level with the most sizes, the first of several.
        let longest = levels.into_iter().rev().max_by_key(Vec::len).unwrap_or_default();
        // Where the measurement ended within a level, its size is not known.
        let effective_bytes = held.filter(|bytes| *bytes < end);
        let mut cache = plateau(&longest);
        cache = CacheSize { level, advertised_bytes, effective_bytes, ..cache };
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

/// Returns the level of each cache, its advertised size, and the index of its last level among
/// those that were seen. Where no caches are advertised, the first ones are numbered in their
/// order, as many as machines have.
fn named(
    seen: &[LatencyLevel],
    advertised: &[AdvertisedCache],
) -> Vec<(u32, Option<u64>, Option<usize>)> {
    if advertised.is_empty() {
        return (1..=USUAL_LEVELS).zip(0..seen.len()).map(|(n, at)| (n, None, Some(at))).collect();
    }
    let sizes: Vec<f64> = advertised.iter().map(|cache| cache.size_bytes as f64).collect();
    let spans: Vec<(f64, f64)> =
        seen.iter().map(|level| (level.from_bytes as f64, level.to_bytes as f64)).collect();
    let found = advertised.iter().zip(matched(&sizes, &spans));
    found.map(|(cache, index)| (cache.level, Some(cache.size_bytes), index)).collect()
}

/// Returns what memory answers, as if it were a cache: the last sizes, if a load of each takes
/// about as long as one of a flushed line. Where nothing can be flushed, the last level, if the
/// data became clearly larger than the last cache is advertised.
fn memory_of(
    curve: &LatencyCurve,
    advertised: &[AdvertisedCache],
    flushed_ns: Option<f64>,
) -> Option<CacheSize> {
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
    is_memory.then(|| plateau(&last))
}

/// Returns the latency of sizes that have about the same: the median, also part by part, and from
/// the least first quartile to the greatest third one. Nothing of no sizes.
fn plateau(points: &[&LatencyPoint]) -> CacheSize {
    let mut medians: Vec<f64> = points.iter().map(|point| point.latency_ns).collect();
    medians.sort_by(f64::total_cmp);
    let ends = points.iter().flat_map(|point| [point.low_ns, point.high_ns]);
    let count = points.iter().map(|point| point.parts_ns.len()).min().unwrap_or(0);
    let parts = (0..count)
        .map(|part| median(&points.iter().map(|point| point.parts_ns[part]).collect::<Vec<_>>()));
    CacheSize {
        latency_ns: medians.get(medians.len() / 2).copied(),
        spread_ns: Spread::of(ends).map(|all| [all.low, all.high]),
        parts_ns: parts.collect::<Option<_>>().unwrap_or_default(),
        ..CacheSize::default()
    }
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
