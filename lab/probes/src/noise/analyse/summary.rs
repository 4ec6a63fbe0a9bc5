//! Summarises watched CPUs: causes of gaps, shares of time, time lines, frequencies.

use super::*;
use crate::tools::chain::STEPS;
use crate::{CauseShare, CpuNoise, Frequency, InterruptShare, LongGap, Piece, Rate};
use std::cmp::Reverse;

/// Pieces of a time line, if no length is given.
const PIECES: u64 = 60;
/// A part of fewer chains gives no frequency.
const CHAINS_A_PART: usize = 5;
/// The longest gaps that are listed one by one.
const LONGEST: usize = 400;

/// Says what was seen. A piece of the time lines is `piece_ns` long, or a sixtieth of the whole.
pub(super) fn summarise(watches: &[Watch], chain: &Frequency, piece_ns: Option<u64>) -> Noise {
    let mut found = Noise { gap_least_ns: GAP_LEAST_NS, ..Noise::default() };
    let (Some(first), Some(last)) = (watches.first(), watches.last()) else { return found };
    let (begin_ns, span_ns) = (first.begin_ns, last.end_ns - first.begin_ns);
    let piece_ns = piece_ns.unwrap_or(span_ns.div_ceil(PIECES)).max(1);
    let mut by_cpu: BTreeMap<usize, Vec<&CpuWatch>> = BTreeMap::new();
    for watch in watches.iter().flat_map(|watch| &watch.cpus) {
        by_cpu.entry(watch.cpu).or_default().push(watch);
    }
    found.throttled = throttled(watches);
    // What a limit held back is shared equally.
    let held_back_ns = found.throttled.map_or(0, |one| one.held_back_ns);
    let held_back_ns = held_back_ns / by_cpu.len().max(1) as u64;
    let mut all_gaps = Vec::new();
    for watches in by_cpu.values() {
        let gaps = explained(watches, begin_ns, held_back_ns);
        let strip = strip(watches, &gaps, begin_ns, piece_ns, span_ns.div_ceil(piece_ns));
        found.cpus.push(CpuNoise { strip, ..one_cpu(watches, &gaps, chain) });
        all_gaps.extend(gaps);
    }
    let seen_ns: u64 = found.cpus.iter().map(|cpu| cpu.watched_ns).sum();
    let all: Vec<&CpuWatch> = by_cpu.values().flatten().copied().collect();
    found.watched_ns = seen_ns / by_cpu.len().max(1) as u64;
    found.cpus_at_once = watches.iter().map(|watch| watch.cpus.len()).max().unwrap_or(0);
    found.causes = shares(&all, &all_gaps, seen_ns);
    found.lost_share = found.causes.iter().map(|share| share.share).sum();
    found.all_at_once_share = all_at_once_share(watches);
    found.frequency = frequency(&all, chain);
    found.interrupts = rates(all.iter().flat_map(|cpu| &cpu.interrupts), seen_ns);
    let lost = found.causes[Cause::Interrupt as usize].share;
    found.interrupts.iter_mut().for_each(|one| one.share *= lost);
    let put_off = rates(watches.iter().flat_map(|watch| &watch.softirqs), seen_ns).into_iter();
    let put_off = put_off.map(|one| Rate { name: one.name, per_second: one.per_second });
    found.softirqs = put_off.collect();
    all_gaps.sort_by_key(|gap| (Reverse(gap.length_ns), gap.begin_ns, gap.cpu));
    all_gaps.truncate(LONGEST);
    Noise { longest: all_gaps, ..found }
}

fn throttled(watches: &[Watch]) -> Option<Throttled> {
    let mut sum = Throttled::default();
    for watch in watches {
        let Throttled { periods, held_back_ns } = watch.throttled?;
        sum.periods += periods;
        sum.held_back_ns += held_back_ns;
    }
    Some(sum)
}

/// Returns the gaps of one CPU, in their order, with their causes.
fn explained(watches: &[&CpuWatch], begin_ns: u64, held_back_ns: u64) -> Vec<LongGap> {
    let gaps: Vec<&[Gap]> = watches.iter().map(|watch| &watch.gaps[..]).collect();
    let steal_ns = watches.iter().filter_map(|watch| watch.steal_ns).sum();
    let came = watches.iter().map(|watch| watch.interrupts.iter().map(|one| one.count).sum());
    let causes = causes(&gaps, came.collect(), steal_ns, held_back_ns);
    let gaps = gaps.concat().into_iter().zip(causes).map(|(gap, cause)| LongGap {
        cpu: watches[0].cpu,
        begin_ns: gap.begin_ns.saturating_sub(begin_ns),
        length_ns: gap.length_ns,
        cause,
    });
    gaps.collect()
}

/// Returns what was seen of one CPU, without its time line.
fn one_cpu(watches: &[&CpuWatch], gaps: &[LongGap], chain: &Frequency) -> CpuNoise {
    let watched_ns = watches.iter().map(|watch| watch.seen_ns).sum();
    let causes = shares(watches, gaps, watched_ns);
    let mut lengths: Vec<u64> = gaps.iter().map(|gap| gap.length_ns).collect();
    let [median_ns, p99_ns] =
        [0.5, 0.99].map(|share| quantile(&mut lengths, share).map(|ns| ns as f64));
    let waited_ns: Option<u64> = watches.iter().map(|watch| watch.waited_ns).sum();
    CpuNoise {
        cpu: watches[0].cpu,
        watched_ns,
        lost_share: causes.iter().map(|share| share.share).sum(),
        gaps: causes.iter().map(|share| share.gaps).sum(),
        causes,
        median_ns,
        p99_ns,
        longest_ns: lengths.into_iter().max(),
        waited_share: waited_ns.map(|waited_ns| share(waited_ns, watched_ns)),
        frequency: frequency(watches, chain)
            .map(|all| Frequency { parts_hertz: Vec::new(), ..all }),
        strip: Vec::new(),
    }
}

/// Returns the time line of a CPU from a moment on: `count` pieces of a length, each with what of
/// the gaps falls into it. The gaps are in their order. Cost: linear in gaps, and in pieces and
/// watches.
fn strip(
    watches: &[&CpuWatch],
    gaps: &[LongGap],
    begin_ns: u64,
    length_ns: u64,
    count: u64,
) -> Vec<Piece> {
    let strip = (0..count).map(|index| {
        let piece = [index * length_ns, (index + 1) * length_ns];
        let watched = watches.iter().map(|watch| {
            overlap_ns(piece, [watch.begin_ns, watch.end_ns].map(|ns| ns.saturating_sub(begin_ns)))
        });
        let watched_ns: u64 = watched.sum();
        let mut lost_ns = [0; Cause::ALL.len()];
        let first = gaps.partition_point(|gap| gap.begin_ns + gap.length_ns <= piece[0]);
        for gap in gaps[first..].iter().take_while(|gap| gap.begin_ns < piece[1]) {
            lost_ns[gap.cause as usize] +=
                overlap_ns(piece, [gap.begin_ns, gap.begin_ns + gap.length_ns]);
        }
        let most = Cause::ALL.into_iter().rev().max_by_key(|cause| lost_ns[*cause as usize]);
        let all_ns = lost_ns.iter().sum();
        Piece {
            begin_ns: piece[0],
            length_ns,
            lost_share: (watched_ns > 0).then(|| share(all_ns, watched_ns).min(1.0)),
            cause: most.filter(|_| all_ns > 0),
        }
    });
    strip.collect()
}

/// Returns how long two stretches of time, of a begin and an end each, overlap.
fn overlap_ns([begin_ns, end_ns]: [u64; 2], other: [u64; 2]) -> u64 {
    end_ns.min(other[1]).saturating_sub(begin_ns.max(other[0]))
}

fn share(part: u64, of: u64) -> f64 {
    part as f64 / of.max(1) as f64
}

/// Returns what was lost for each cause. Gaps that were too many to be kept are unexplained.
fn shares(watches: &[&CpuWatch], gaps: &[LongGap], seen_ns: u64) -> Vec<CauseShare> {
    let mut lost = [(0, 0); Cause::ALL.len()];
    let kept = gaps.iter().map(|gap| (gap.cause, gap.length_ns, 1));
    let unkept = watches.iter().map(|one| (Cause::Unexplained, one.unkept_ns, one.unkept));
    for (cause, lost_ns, count) in kept.chain(unkept) {
        lost[cause as usize].0 += lost_ns;
        lost[cause as usize].1 += count;
    }
    let causes = Cause::ALL.into_iter().zip(lost);
    let causes =
        causes.map(|(cause, (ns, gaps))| CauseShare { cause, share: share(ns, seen_ns), gaps });
    causes.collect()
}

/// Returns the share of time in which all CPUs of a watch were lost; `None` where each watch is of
/// one.
fn all_at_once_share(watches: &[Watch]) -> Option<f64> {
    let of_several = watches.iter().map(|watch| &watch.cpus).filter(|cpus| cpus.len() > 1);
    let lost_ns = of_several.clone().map(|cpus| all_at_once_ns(cpus)).sum();
    let lengths = of_several.map(|cpus| cpus.iter().map(|cpu| cpu.end_ns - cpu.begin_ns).min());
    let of_ns = lengths.flatten().sum();
    (of_ns > 0).then(|| share(lost_ns, of_ns))
}

/// For how long all CPUs were in a gap at once; the gaps of each do not overlap. Nothing of no
/// CPUs.
fn all_at_once_ns(cpus: &[CpuWatch]) -> u64 {
    // Where a gap begins one more CPU is lost, and where it ends one fewer.
    let ends = cpus.iter().flat_map(|cpu| &cpu.gaps);
    let ends = ends.flat_map(|gap| [(gap.begin_ns, 1), (gap.begin_ns + gap.length_ns, -1)]);
    let mut ends: Vec<(u64, isize)> = ends.collect();
    ends.sort_unstable();
    let (mut lost, mut all_ns) = (0, 0);
    for pair in ends.windows(2) {
        lost += pair[0].1;
        all_ns += if lost == cpus.len() as isize { pair[1].0 - pair[0].0 } else { 0 };
    }
    all_ns
}

/// Returns what came, with how often a second and CPU, the most frequent first, and its share of
/// all counts. Nothing if nothing was seen.
fn rates<'a>(came: impl Iterator<Item = &'a Interrupts>, seen_ns: u64) -> Vec<InterruptShare> {
    let mut by_kind: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for one in came.filter(|_| seen_ns > 0) {
        *by_kind.entry((&one.name, &one.words)).or_default() += one.count;
    }
    let all = by_kind.values().sum();
    let rates = by_kind.into_iter().map(|((name, words), count)| InterruptShare {
        name: name.to_owned(),
        words: words.to_owned(),
        per_second: share(count, seen_ns) * 1e9,
        share: share(count, all),
    });
    let mut rates: Vec<InterruptShare> = rates.collect();
    rates.sort_by(|a, b| b.per_second.total_cmp(&a.per_second));
    rates
}

/// Returns the frequency by the times of all chains, `steps x cycles a step / time`; `None` if none
/// was timed.
fn frequency(watches: &[&CpuWatch], chain: &Frequency) -> Option<Frequency> {
    let cycles = STEPS as f64 * chain.cycles_a_step;
    let mut chains_ns: Vec<u64> =
        watches.iter().flat_map(|watch| &watch.chains_ns).copied().collect();
    let parts = parts(&chains_ns, 0.5, CHAINS_A_PART).into_iter();
    let parts_hertz = parts.map(|ns| cycles / ns as f64 * 1e9).collect();
    let [slow, median, quick] = [0.99, 0.5, 0.0]
        .map(|share| quantile(&mut chains_ns, share).map(|ns| cycles / ns as f64 * 1e9));
    Some(Frequency {
        low_hertz: slow?,
        median_hertz: median?,
        most_hertz: quick?,
        chains: chains_ns.len() as u64,
        parts_hertz,
        ..*chain
    })
}

/// An interrupt with all that is done at its end is not longer than this.
const INTERRUPT_MOST_NS: u64 = 200_000;
/// What a limit on CPU time holds back is not shorter than this.
const LIMIT_LEAST_NS: u64 = 1_000_000;
/// What a hypervisor takes is not shorter than this.
const STEAL_LEAST_NS: u64 = 20_000;

/// Returns the causes of all gaps of one CPU. `interrupts` came in each of the watches.
///
/// 1. A gap in which the thread was switched is another task's. Of these the longest, of 1 ms at
///    least, are those of the limit on CPU time, for as long as the time lasts in which it held us
///    back (a gap is taken if at least half of it is left).
/// 2. Of the others the longest, of 20 us at least, are the hypervisor's, for as long as the stolen
///    time lasts that the kernel tells of: it counts in steps that are longer than most gaps.
/// 3. Of those that are left, the shortest of each watch are interrupts, one for each that the
///    kernel counted in that watch, if they are not longer than 200 us.
/// 4. The rest is unexplained. It may be less than it should, since an interrupt may have been too
///    short to be a gap; it is never more.
///
/// Cost: that of sorting the gaps.
fn causes(
    watches: &[&[Gap]],
    mut interrupts: Vec<u64>,
    steal_ns: u64,
    held_back_ns: u64,
) -> Vec<Cause> {
    let gaps = watches.concat();
    let watch_of =
        watches.iter().enumerate().flat_map(|(watch, gaps)| gaps.iter().map(move |_| watch));
    let watch_of: Vec<usize> = watch_of.collect();
    let switched = gaps.iter().map(|gap| gap.was_switched);
    let mut causes: Vec<Cause> =
        switched.map(|is| if is { Cause::Task } else { Cause::Unexplained }).collect();
    let mut by_length: Vec<usize> = (0..gaps.len()).collect();
    by_length.sort_by_key(|index| Reverse(gaps[*index].length_ns));
    for (from, to, least_ns, mut left_ns) in [
        (Cause::Task, Cause::Limit, LIMIT_LEAST_NS, held_back_ns),
        (Cause::Unexplained, Cause::Steal, STEAL_LEAST_NS, steal_ns),
    ] {
        for &index in &by_length {
            let length_ns = gaps[index].length_ns;
            let is_open = causes[index] == from && length_ns >= least_ns;
            if is_open && left_ns > 0 && left_ns >= length_ns / 2 {
                causes[index] = to;
                left_ns = left_ns.saturating_sub(length_ns);
            }
        }
    }
    for &index in by_length.iter().rev() {
        let is_short = gaps[index].length_ns <= INTERRUPT_MOST_NS;
        let left = &mut interrupts[watch_of[index]];
        if is_short && causes[index] == Cause::Unexplained && *left > 0 {
            causes[index] = Cause::Interrupt;
            *left -= 1;
        }
    }
    causes
}

#[cfg(test)]
mod tests;
