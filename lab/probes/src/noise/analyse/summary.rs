//! Summarises watched CPUs: causes of gaps, shares of time, time lines, frequencies.

use super::*;
use crate::{CauseShare, CpuNoise, Frequency, InterruptShare, LongGap, Piece, Rate};

/// Pieces of a time line, if no length is given.
const PIECES: u64 = 60;
/// A part of fewer chains gives no frequency.
const CHAINS_A_PART: usize = 5;
/// The longest gaps that are listed one by one.
const LONGEST: usize = 400;

/// By cause, what was lost in nanoseconds, and how many gaps.
type Lost = [(u64, u64); Cause::ALL.len()];

/// All watches of one CPU, with what its gaps were.
struct OneCpu<'a> {
    cpu: usize,
    watches: Vec<&'a CpuWatch>,
    gaps: Vec<(Gap, Cause)>,
    seen_ns: u64,
    lost: Lost,
}

/// Says what was seen. A piece of the time lines is `piece_ns` long, or a sixtieth of the whole.
pub(super) fn summarise(
    watches: &[Watch],
    cpus_at_once: usize,
    chain: Chain,
    piece_ns: Option<u64>,
) -> Noise {
    let (Some(first), Some(last)) = (watches.first(), watches.last()) else {
        return Noise { gap_least_ns: GAP_LEAST_NS, ..Noise::default() };
    };
    let throttled = throttled(watches);
    let cpus = cpus(watches, throttled.map_or(0, |one| one.held_back_ns));
    let (begin_ns, span_ns) = (first.begin_ns, last.end_ns - first.begin_ns);
    let piece_ns = piece_ns.unwrap_or(span_ns.div_ceil(PIECES)).max(1);
    let line = (begin_ns, piece_ns, span_ns.div_ceil(piece_ns));
    let seen_ns: u64 = cpus.iter().map(|cpu| cpu.seen_ns).sum();
    let mut lost = Lost::default();
    for cpu in &cpus {
        lost.iter_mut().zip(cpu.lost).for_each(|(sum, one)| *sum = (sum.0 + one.0, sum.1 + one.1));
    }
    let causes = shares(&lost, seen_ns);
    Noise {
        gap_least_ns: GAP_LEAST_NS,
        watched_ns: seen_ns / cpus.len().max(1) as u64,
        cpus_at_once,
        lost_share: causes.iter().map(|share| share.share).sum(),
        all_at_once_share: all_at_once_share(watches),
        interrupts: interrupts(watches, seen_ns, causes[Cause::Interrupt as usize].share),
        causes,
        softirqs: softirqs(watches, seen_ns),
        throttled,
        longest: longest(&cpus, begin_ns),
        frequency: frequency(watches.iter().flat_map(|watch| &watch.cpus), chain),
        cpus: cpus.iter().map(|cpu| cpu.found(chain, line)).collect(),
        floors: Vec::new(),
    }
}

fn throttled(watches: &[Watch]) -> Option<Throttled> {
    let periods: Option<u64> = watches.iter().map(|one| Some(one.throttled?.periods)).sum();
    let held_back_ns: Option<u64> =
        watches.iter().map(|one| Some(one.throttled?.held_back_ns)).sum();
    Some(Throttled { periods: periods?, held_back_ns: held_back_ns? })
}

/// Returns the watches CPU by CPU, with the causes of their gaps. What a limit held back is shared
/// equally.
fn cpus(watches: &[Watch], held_back_ns: u64) -> Vec<OneCpu<'_>> {
    let mut by_cpu: BTreeMap<usize, Vec<&CpuWatch>> = BTreeMap::new();
    for watch in watches.iter().flat_map(|watch| &watch.cpus) {
        by_cpu.entry(watch.cpu).or_default().push(watch);
    }
    let held_back_ns = held_back_ns / by_cpu.len().max(1) as u64;
    by_cpu.into_iter().map(|(cpu, watches)| OneCpu::new(cpu, watches, held_back_ns)).collect()
}

impl<'a> OneCpu<'a> {
    fn new(cpu: usize, watches: Vec<&'a CpuWatch>, held_back_ns: u64) -> OneCpu<'a> {
        let gaps: Vec<&[Gap]> = watches.iter().map(|watch| &watch.gaps[..]).collect();
        let steal_ns = watches.iter().filter_map(|watch| watch.steal_ns).sum();
        let came = watches.iter().map(|watch| watch.interrupts.iter().map(|one| one.count).sum());
        let causes = causes(&gaps, &came.collect::<Vec<_>>(), steal_ns, held_back_ns);
        let gaps: Vec<(Gap, Cause)> = gaps.concat().into_iter().zip(causes).collect();
        let mut lost = Lost::default();
        for (gap, cause) in &gaps {
            lost[*cause as usize].0 += gap.length_ns;
            lost[*cause as usize].1 += 1;
        }
        // Gaps that were too many to be kept have no cause that is known.
        for watch in &watches {
            lost[Cause::Unexplained as usize].0 += watch.unlisted_ns;
            lost[Cause::Unexplained as usize].1 += watch.unlisted;
        }
        let seen_ns = watches.iter().map(|watch| watch.seen_ns).sum();
        OneCpu { cpu, watches, gaps, seen_ns, lost }
    }

    fn found(&self, chain: Chain, line: (u64, u64, u64)) -> CpuNoise {
        let causes = shares(&self.lost, self.seen_ns);
        let mut lengths: Vec<u64> = self.gaps.iter().map(|(gap, _)| gap.length_ns).collect();
        let [median_ns, p99_ns] =
            [0.5, 0.99].map(|share| quantile(&mut lengths, share).map(|ns| ns as f64));
        let waited_ns: Option<u64> = self.watches.iter().map(|watch| watch.waited_ns).sum();
        CpuNoise {
            cpu: self.cpu,
            watched_ns: self.seen_ns,
            lost_share: causes.iter().map(|share| share.share).sum(),
            gaps: causes.iter().map(|share| share.gaps).sum(),
            causes,
            median_ns,
            p99_ns,
            longest_ns: lengths.into_iter().max(),
            waited_share: waited_ns.map(|waited_ns| share(waited_ns, self.seen_ns)),
            frequency: frequency(self.watches.iter().copied(), chain)
                .map(|all| Frequency { parts_hertz: Vec::new(), ..all }),
            strip: self.strip(line),
        }
    }

    /// Returns the time line from a moment on: pieces of a length, so many of them.
    fn strip(&self, (begin_ns, length_ns, count): (u64, u64, u64)) -> Vec<Piece> {
        let pieces = pieces(&self.gaps, begin_ns, length_ns, count as usize);
        let strip = (0_u64..).zip(pieces).map(|(index, (lost_ns, cause))| {
            let from_ns = begin_ns + index * length_ns;
            let watched = self.watches.iter().map(|watch| {
                let end_ns = watch.end_ns.min(from_ns + length_ns);
                end_ns.saturating_sub(watch.begin_ns.max(from_ns))
            });
            let watched_ns: u64 = watched.sum();
            let lost_share = (watched_ns > 0).then(|| share(lost_ns, watched_ns).min(1.0));
            Piece { begin_ns: index * length_ns, length_ns, lost_share, cause }
        });
        strip.collect()
    }
}

fn share(part_ns: u64, of_ns: u64) -> f64 {
    part_ns as f64 / of_ns.max(1) as f64
}

fn shares(lost: &Lost, seen_ns: u64) -> Vec<CauseShare> {
    let all = Cause::ALL.into_iter().zip(lost);
    all.map(|(cause, (ns, gaps))| CauseShare { cause, share: share(*ns, seen_ns), gaps: *gaps })
        .collect()
}

/// Returns the share of time in which all CPUs of a watch were lost; `None` where each watch is of
/// one.
fn all_at_once_share(watches: &[Watch]) -> Option<f64> {
    let (mut lost_ns, mut of_ns) = (0, 0);
    for watch in watches.iter().filter(|watch| watch.cpus.len() > 1) {
        let gaps: Vec<&[Gap]> = watch.cpus.iter().map(|cpu| &cpu.gaps[..]).collect();
        lost_ns += all_at_once_ns(&gaps);
        of_ns += watch.cpus.iter().map(|cpu| cpu.end_ns - cpu.begin_ns).min().unwrap_or(0);
    }
    (of_ns > 0).then(|| share(lost_ns, of_ns))
}

/// Returns what came, by name and words, with how often a second and CPU, the most frequent first.
/// Nothing if nothing was seen.
fn rates<'a>(
    came: impl Iterator<Item = &'a Interrupts>,
    seen_ns: u64,
) -> Vec<(&'a str, &'a str, f64)> {
    let mut by_kind: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for one in came.filter(|_| seen_ns > 0) {
        *by_kind.entry((&one.name, &one.words)).or_default() += one.count;
    }
    let rates = by_kind.into_iter();
    let rates = rates.map(|((name, words), count)| (name, words, share(count, seen_ns) * 1e9));
    let mut rates: Vec<_> = rates.collect();
    rates.sort_by(|a, b| b.2.total_cmp(&a.2));
    rates
}

/// Returns the kinds of interrupts; the share of time that was lost to all is shared out in
/// proportion to the counts.
fn interrupts(watches: &[Watch], seen_ns: u64, lost: f64) -> Vec<InterruptShare> {
    let came = watches.iter().flat_map(|watch| &watch.cpus).flat_map(|cpu| &cpu.interrupts);
    let rates = rates(came, seen_ns);
    let all: f64 = rates.iter().map(|rate| rate.2).sum();
    let shares = rates.iter().map(|(name, words, per_second)| InterruptShare {
        name: (*name).to_owned(),
        words: (*words).to_owned(),
        per_second: *per_second,
        share: if all > 0.0 { lost * per_second / all } else { 0.0 },
    });
    shares.collect()
}

fn softirqs(watches: &[Watch], seen_ns: u64) -> Vec<Rate> {
    let rates = rates(watches.iter().flat_map(|watch| &watch.softirqs), seen_ns).into_iter();
    rates.map(|(name, _, per_second)| Rate { name: name.to_owned(), per_second }).collect()
}

fn longest(cpus: &[OneCpu<'_>], begin_ns: u64) -> Vec<LongGap> {
    let mut all: Vec<LongGap> = Vec::new();
    for OneCpu { cpu, gaps, .. } in cpus {
        all.extend(gaps.iter().map(|(gap, cause)| LongGap {
            cpu: *cpu,
            begin_ns: gap.begin_ns.saturating_sub(begin_ns),
            length_ns: gap.length_ns,
            cause: *cause,
        }));
    }
    all.sort_by_key(|gap| (std::cmp::Reverse(gap.length_ns), gap.begin_ns, gap.cpu));
    all.truncate(LONGEST);
    all
}

/// Returns the frequency by the times of all chains; `None` if none was timed.
fn frequency<'a>(watches: impl Iterator<Item = &'a CpuWatch>, chain: Chain) -> Option<Frequency> {
    let mut chains_ns: Vec<u64> =
        watches.flat_map(|watch| &watch.chains_ns).copied().filter(|ns| *ns > 0).collect();
    let parts = parts(&chains_ns, 0.5, CHAINS_A_PART).into_iter();
    let parts_hertz = parts.map(|ns| chain.hertz(ns)).collect();
    let [slow, median, quick] = [0.99, 0.5, 0.0].map(|share| quantile(&mut chains_ns, share));
    Some(Frequency {
        low_hertz: chain.hertz(slow?),
        median_hertz: chain.hertz(median?),
        most_hertz: chain.hertz(quick?),
        chains: chains_ns.len() as u64,
        cycles_a_step: chain.cycles_a_step,
        is_counted: chain.is_counted,
        is_known: chain.is_known,
        parts_hertz,
    })
}

/// An interrupt with all that is done at its end is not longer than this.
const INTERRUPT_MOST_NS: u64 = 200_000;
/// What a limit on CPU time holds back is not shorter than this.
const LIMIT_LEAST_NS: u64 = 1_000_000;
/// What a hypervisor takes is not shorter than this.
const STEAL_LEAST_NS: u64 = 20_000;

/// Returns the causes of all gaps of one CPU, which are given watch by watch, in their order, with
/// the interrupts that came to the CPU in each watch.
///
/// 1. A gap in which the thread was switched is another task's. Of these the longest, of 1 ms at
///    least, are those of the limit on CPU time, for as long as the time lasts in which it held us
///    back (a gap is taken if at least half of it is left).
/// 2. Of the others the longest, of 20 us at least, are the hypervisor's, for as long as the stolen
///    time lasts that the kernel tells of all watches together: it counts in steps that are longer
///    than most gaps.
/// 3. Of those that are left, the shortest of each watch are interrupts, one for each that the
///    kernel counted, if they are not longer than 200 us.
/// 4. The rest is unexplained. It may be less than it should, since an interrupt may have been too
///    short to be a gap; it is never more.
///
/// Cost: that of sorting the gaps.
fn causes(watches: &[&[Gap]], interrupts: &[u64], steal_ns: u64, held_back_ns: u64) -> Vec<Cause> {
    let gaps = watches.concat();
    let switched = gaps.iter().map(|gap| gap.was_switched);
    let mut causes: Vec<Cause> =
        switched.map(|is| if is { Cause::Task } else { Cause::Unexplained }).collect();
    let mut by_length: Vec<usize> = (0..gaps.len()).collect();
    by_length.sort_by_key(|index| std::cmp::Reverse(gaps[*index].length_ns));
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
    let mut begin = 0;
    for (watch, interrupts) in watches.iter().zip(interrupts) {
        let end = begin + watch.len();
        let shortest = by_length.iter().rev().filter(|index| (begin..end).contains(index));
        let open = shortest.filter(|index| gaps[**index].length_ns <= INTERRUPT_MOST_NS);
        let open: Vec<usize> =
            open.filter(|index| causes[**index] == Cause::Unexplained).copied().collect();
        open.into_iter().take(*interrupts as usize).for_each(|at| causes[at] = Cause::Interrupt);
        begin = end;
    }
    causes
}

/// For how long all CPUs were in a gap at once; the gaps of each do not overlap. Nothing of no
/// CPUs.
fn all_at_once_ns(cpus: &[&[Gap]]) -> u64 {
    // Where a gap begins one more CPU is lost, and where it ends one fewer.
    let mut turns: Vec<(u64, isize)> = Vec::new();
    for gap in cpus.iter().copied().flatten() {
        turns.extend([(gap.begin_ns, 1), (gap.begin_ns + gap.length_ns, -1)]);
    }
    turns.sort_unstable();
    let (mut lost, mut all_ns) = (0, 0);
    for pair in turns.windows(2) {
        lost += pair[0].1;
        all_ns += if lost == cpus.len() as isize { pair[1].0 - pair[0].0 } else { 0 };
    }
    all_ns
}

/// Returns what of the gaps falls into each of equal pieces of a time line, and the cause of most
/// of it. `gaps` need no order. Cost: linear in gaps and pieces.
fn pieces(
    gaps: &[(Gap, Cause)],
    begin_ns: u64,
    piece_ns: u64,
    count: usize,
) -> Vec<(u64, Option<Cause>)> {
    let piece_ns = piece_ns.max(1);
    let mut lost = vec![[0_u64; Cause::ALL.len()]; count];
    for (gap, cause) in gaps {
        let (mut at, end) = (gap.begin_ns.max(begin_ns), gap.begin_ns + gap.length_ns);
        while at < end {
            let index = (at - begin_ns) / piece_ns;
            let Some(piece) = lost.get_mut(index as usize) else { break };
            let until = (begin_ns + (index + 1) * piece_ns).min(end);
            piece[*cause as usize] += until - at;
            at = until;
        }
    }
    let pieces = lost.iter().map(|piece| {
        let by_cause = Cause::ALL.into_iter().zip(piece).rev();
        let most = by_cause.max_by_key(|(_, ns)| **ns).filter(|(_, ns)| **ns > 0);
        (piece.iter().sum(), most.map(|(cause, _)| cause))
    });
    pieces.collect()
}

#[cfg(test)]
mod tests;
