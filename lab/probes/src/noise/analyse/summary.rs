//! Summarises watched CPUs: causes of gaps, shares of time, time lines, frequencies.

use super::*;
use crate::{CauseShare, CpuNoise, Frequency, InterruptShare, LongGap, PARTS, Piece, Rate};

/// Pieces of a time line, if no length is given.
const PIECES: u64 = 60;
/// A part of fewer chains gives no frequency.
const CHAINS_A_PART: usize = 5;
/// The longest gaps that are listed one by one.
const LONGEST: usize = 400;

/// All watches of one CPU, with what its gaps were.
struct OneCpu<'a> {
    cpu: usize,
    watches: Vec<&'a CpuWatch>,
    gaps: Vec<(Gap, Cause)>,
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
    let cpus = cpus(watches, throttled);
    let span_ns = last.end_ns - first.begin_ns;
    let piece_ns = piece_ns.unwrap_or(span_ns.div_ceil(PIECES)).max(1);
    let line = Line { begin_ns: first.begin_ns, piece_ns, count: span_ns.div_ceil(piece_ns) };
    let seen_ns: u64 = cpus.iter().map(OneCpu::seen_ns).sum();
    let all: Vec<&CpuWatch> = watches.iter().flat_map(|watch| &watch.cpus).collect();
    let gaps: Vec<&(Gap, Cause)> = cpus.iter().flat_map(|cpu| &cpu.gaps).collect();
    let causes = shares(&gaps, &all, seen_ns);
    Noise {
        gap_least_ns: GAP_LEAST_NS,
        watched_ns: seen_ns / cpus.len().max(1) as u64,
        cpus_at_once,
        lost_share: causes.iter().map(|share| share.share).sum(),
        causes,
        all_at_once_share: all_at_once_share(watches),
        interrupts: interrupts(&cpus, seen_ns),
        softirqs: softirqs(watches, seen_ns),
        throttled,
        longest: longest(&cpus, first.begin_ns),
        frequency: frequency(&all, chain),
        cpus: cpus.iter().map(|cpu| cpu.found(chain, &line)).collect(),
        floors: Vec::new(),
    }
}

/// The time line that all CPUs share.
struct Line {
    begin_ns: u64,
    piece_ns: u64,
    count: u64,
}

fn throttled(watches: &[Watch]) -> Option<Throttled> {
    let mut sum = Throttled::default();
    for watch in watches {
        let throttled = watch.throttled?;
        sum.periods += throttled.periods;
        sum.held_back_ns += throttled.held_back_ns;
    }
    Some(sum)
}

/// Returns the watches CPU by CPU, with the causes of their gaps.
fn cpus(watches: &[Watch], throttled: Option<Throttled>) -> Vec<OneCpu<'_>> {
    let mut by_cpu: BTreeMap<usize, Vec<&CpuWatch>> = BTreeMap::new();
    for watch in watches.iter().flat_map(|watch| &watch.cpus) {
        by_cpu.entry(watch.cpu).or_default().push(watch);
    }
    let held_back_ns = throttled.map_or(0, |one| one.held_back_ns) / by_cpu.len().max(1) as u64;
    by_cpu.into_iter().map(|(cpu, watches)| OneCpu::new(cpu, watches, held_back_ns)).collect()
}

impl<'a> OneCpu<'a> {
    fn new(cpu: usize, watches: Vec<&'a CpuWatch>, held_back_ns: u64) -> OneCpu<'a> {
        let watched = watches.iter().map(|watch| Watched {
            gaps: &watch.gaps,
            interrupts: watch.interrupts.iter().map(|one| one.count).sum(),
        });
        let steal_ns = watches.iter().filter_map(|watch| watch.steal_ns).sum();
        let causes = causes(&watched.collect::<Vec<_>>(), steal_ns, held_back_ns);
        let gaps = watches.iter().flat_map(|watch| watch.gaps.iter().copied());
        let gaps = gaps.zip(causes.into_iter().flatten()).collect();
        OneCpu { cpu, watches, gaps }
    }

    fn seen_ns(&self) -> u64 {
        self.watches.iter().map(|watch| watch.seen_ns).sum()
    }

    fn found(&self, chain: Chain, line: &Line) -> CpuNoise {
        let seen_ns = self.seen_ns();
        let gaps: Vec<&(Gap, Cause)> = self.gaps.iter().collect();
        let causes = shares(&gaps, &self.watches, seen_ns);
        let mut lengths: Vec<u64> = self.gaps.iter().map(|(gap, _)| gap.length_ns).collect();
        lengths.sort_unstable();
        let [median_ns, p99_ns] =
            [0.5, 0.99].map(|share| sorted_quantile(&lengths, share).map(|ns| ns as f64));
        let waited_ns: Option<u64> = self.watches.iter().map(|watch| watch.waited_ns).sum();
        CpuNoise {
            cpu: self.cpu,
            watched_ns: seen_ns,
            lost_share: causes.iter().map(|share| share.share).sum(),
            gaps: causes.iter().map(|share| share.gaps).sum(),
            causes,
            median_ns,
            p99_ns,
            longest_ns: lengths.last().copied(),
            waited_share: waited_ns.map(|waited_ns| share(waited_ns, seen_ns)),
            frequency: frequency(&self.watches, chain)
                .map(|all| Frequency { parts_hertz: Vec::new(), ..all }),
            strip: self.strip(line),
        }
    }

    fn strip(&self, line: &Line) -> Vec<Piece> {
        let length_ns = line.piece_ns;
        let pieces = pieces(&self.gaps, line.begin_ns, length_ns, line.count as usize);
        (0_u64..)
            .zip(pieces)
            .map(|(index, (lost_ns, cause))| {
                let begin_ns = index * length_ns;
                let from_ns = line.begin_ns + begin_ns;
                let watched = self.watches.iter().map(|watch| common(watch, from_ns, length_ns));
                let watched_ns: u64 = watched.sum();
                let lost_share = (watched_ns > 0).then(|| share(lost_ns, watched_ns).min(1.0));
                Piece { begin_ns, length_ns, lost_share, cause }
            })
            .collect()
    }
}

/// Returns how much of a piece of the time line a watch covers.
fn common(watch: &CpuWatch, from_ns: u64, piece_ns: u64) -> u64 {
    let end_ns = watch.end_ns.min(from_ns + piece_ns);
    end_ns.saturating_sub(watch.begin_ns.max(from_ns))
}

fn share(part_ns: u64, of_ns: u64) -> f64 {
    part_ns as f64 / of_ns.max(1) as f64
}

/// Seconds by which rates are divided; `None` if nothing was seen.
fn seconds(seen_ns: u64) -> Option<f64> {
    (seen_ns > 0).then_some(seen_ns as f64 / 1e9)
}

/// Returns what each cause took. Gaps that were too many to be kept have none that is known.
fn shares(gaps: &[&(Gap, Cause)], watches: &[&CpuWatch], seen_ns: u64) -> Vec<CauseShare> {
    let shares = Cause::ALL.map(|cause| {
        let lengths = gaps.iter().filter(|gap| gap.1 == cause).map(|(gap, _)| gap.length_ns);
        let (mut lost_ns, mut count) = (lengths.clone().sum::<u64>(), lengths.count() as u64);
        if cause == Cause::Unexplained {
            lost_ns += watches.iter().map(|watch| watch.unlisted_ns).sum::<u64>();
            count += watches.iter().map(|watch| watch.unlisted).sum::<u64>();
        }
        CauseShare { cause, share: share(lost_ns, seen_ns), gaps: count }
    });
    shares.into()
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

/// Returns the time of gaps that were interrupts, shared out in proportion to the kernel's counts,
/// CPU by CPU.
fn interrupts(cpus: &[OneCpu<'_>], seen_ns: u64) -> Vec<InterruptShare> {
    let Some(seconds) = seconds(seen_ns) else { return Vec::new() };
    let mut by_kind: BTreeMap<(&str, &str), (u64, f64)> = BTreeMap::new();
    for cpu in cpus {
        let gaps = cpu.gaps.iter().filter(|(_, cause)| *cause == Cause::Interrupt);
        let lost_ns: u64 = gaps.map(|(gap, _)| gap.length_ns).sum();
        let came: Vec<&Interrupts> = cpu.watches.iter().flat_map(|one| &one.interrupts).collect();
        let all: u64 = came.iter().map(|one| one.count).sum();
        for one in came {
            let kind = by_kind.entry((&one.name, &one.words)).or_default();
            kind.0 += one.count;
            kind.1 += lost_ns as f64 * share(one.count, all);
        }
    }
    let mut shares: Vec<InterruptShare> = by_kind
        .into_iter()
        .map(|((name, words), (count, lost_ns))| InterruptShare {
            name: name.to_owned(),
            words: words.to_owned(),
            per_second: count as f64 / seconds,
            share: lost_ns / seen_ns.max(1) as f64,
        })
        .collect();
    shares.sort_by(|a, b| b.per_second.total_cmp(&a.per_second));
    shares
}

fn softirqs(watches: &[Watch], seen_ns: u64) -> Vec<Rate> {
    let Some(seconds) = seconds(seen_ns) else { return Vec::new() };
    let mut by_name: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, count) in watches.iter().flat_map(|watch| &watch.softirqs) {
        *by_name.entry(name).or_default() += count;
    }
    let rates = by_name.into_iter();
    let mut rates: Vec<Rate> = rates
        .map(|(name, count)| Rate { name: name.to_owned(), per_second: count as f64 / seconds })
        .collect();
    rates.sort_by(|a, b| b.per_second.total_cmp(&a.per_second));
    rates
}

fn longest(cpus: &[OneCpu<'_>], begin_ns: u64) -> Vec<LongGap> {
    let mut all: Vec<LongGap> = Vec::new();
    for OneCpu { cpu, gaps, .. } in cpus {
        all.extend(gaps.iter().map(|(Gap { begin_ns: from_ns, length_ns, .. }, cause)| LongGap {
            cpu: *cpu,
            begin_ns: from_ns.saturating_sub(begin_ns),
            length_ns: *length_ns,
            cause: *cause,
        }));
    }
    all.sort_by_key(|gap| (std::cmp::Reverse(gap.length_ns), gap.begin_ns, gap.cpu));
    all.truncate(LONGEST);
    all
}

impl Chain {
    /// Returns `steps x cycles a step / time` of a quantile of sorted times.
    fn hertz(self, sorted_ns: &[u64], share: f64) -> Option<f64> {
        let cycles = self.steps as f64 * self.cycles_a_step;
        Some(cycles / sorted_quantile(sorted_ns, share)? as f64 * 1e9)
    }
}

/// Returns the frequency by the times of all chains; `None` if none was timed.
fn frequency(watches: &[&CpuWatch], chain: Chain) -> Option<Frequency> {
    let mut chains_ns: Vec<u64> =
        watches.iter().flat_map(|watch| &watch.chains_ns).copied().filter(|ns| *ns > 0).collect();
    let parts = chains_ns.chunks_exact((chains_ns.len() / PARTS).max(CHAINS_A_PART)).take(PARTS);
    let parts = parts.map(|part| {
        let mut part = part.to_vec();
        part.sort_unstable();
        part
    });
    let parts_hertz = parts.filter_map(|part| chain.hertz(&part, 0.5)).collect();
    chains_ns.sort_unstable();
    Some(Frequency {
        low_hertz: chain.hertz(&chains_ns, 0.99)?,
        median_hertz: chain.hertz(&chains_ns, 0.5)?,
        most_hertz: chain.hertz(&chains_ns, 0.0)?,
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

/// A watch of one CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watched<'a> {
    /// Its gaps.
    pub gaps: &'a [Gap],
    /// Interrupts that came to the CPU meanwhile.
    pub interrupts: u64,
}

/// Returns the causes of all gaps of one CPU, watch by watch, in the order of the gaps.
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
pub fn causes(watches: &[Watched<'_>], steal_ns: u64, held_back_ns: u64) -> Vec<Vec<Cause>> {
    let first = watches.iter().map(|watch| {
        let switched = watch.gaps.iter().map(|gap| gap.was_switched);
        switched.map(|is| if is { Cause::Task } else { Cause::Unexplained }).collect()
    });
    let mut causes: Vec<Vec<Cause>> = first.collect();
    spend(watches, &mut causes, held_back_ns, (Cause::Task, Cause::Limit), LIMIT_LEAST_NS);
    spend(watches, &mut causes, steal_ns, (Cause::Unexplained, Cause::Steal), STEAL_LEAST_NS);
    for (watch, causes) in watches.iter().zip(&mut causes) {
        let mut open: Vec<usize> = (0..causes.len())
            .filter(|index| causes[*index] == Cause::Unexplained)
            .filter(|index| watch.gaps[*index].length_ns <= INTERRUPT_MOST_NS)
            .collect();
        open.sort_by_key(|index| watch.gaps[*index].length_ns);
        let interrupts = usize::try_from(watch.interrupts).unwrap_or(usize::MAX);
        open.into_iter().take(interrupts).for_each(|index| causes[index] = Cause::Interrupt);
    }
    causes
}

/// Gives the longest gaps of one cause to another one for as long as its time lasts.
fn spend(
    watches: &[Watched<'_>],
    causes: &mut [Vec<Cause>],
    mut left_ns: u64,
    (from, to): (Cause, Cause),
    least_ns: u64,
) {
    if left_ns == 0 {
        return;
    }
    let mut open: Vec<(u64, usize, usize)> = Vec::new();
    for (at, (watch, causes)) in watches.iter().zip(causes.iter()).enumerate() {
        for (index, gap) in watch.gaps.iter().enumerate() {
            if causes[index] == from && gap.length_ns >= least_ns {
                open.push((gap.length_ns, at, index));
            }
        }
    }
    open.sort_by_key(|(length_ns, ..)| std::cmp::Reverse(*length_ns));
    for (length_ns, at, index) in open {
        if left_ns >= length_ns / 2 && left_ns > 0 {
            causes[at][index] = to;
            left_ns = left_ns.saturating_sub(length_ns);
        }
    }
}

/// For how long all CPUs were in a gap at once; each has its gaps in their order, and they do not
/// overlap. Nothing of no CPUs.
pub fn all_at_once_ns(cpus: &[&[Gap]]) -> u64 {
    let Some((first, others)) = cpus.split_first() else { return 0 };
    let mut common: Vec<(u64, u64)> = first.iter().map(span).collect();
    for gaps in others {
        common = intersection(&common, gaps);
    }
    common.into_iter().map(|(begin, end)| end - begin).sum()
}

fn span(gap: &Gap) -> (u64, u64) {
    (gap.begin_ns, gap.begin_ns + gap.length_ns)
}

fn intersection(spans: &[(u64, u64)], gaps: &[Gap]) -> Vec<(u64, u64)> {
    let mut common = Vec::new();
    let mut gaps = gaps.iter().map(span).peekable();
    for (begin, end) in spans {
        while let Some((other_begin, other_end)) = gaps.peek().copied() {
            let (from, to) = (other_begin.max(*begin), other_end.min(*end));
            if from < to {
                common.push((from, to));
            }
            // The other one may reach into the next span.
            if other_end > *end {
                break;
            }
            gaps.next();
        }
    }
    common
}

/// Returns what of the gaps falls into each of equal pieces of a time line, and the cause of most
/// of it. `gaps` need no order. Cost: linear in gaps and pieces.
pub fn pieces(
    gaps: &[(Gap, Cause)],
    begin_ns: u64,
    piece_ns: u64,
    count: usize,
) -> Vec<(u64, Option<Cause>)> {
    let mut lost = vec![[0_u64; Cause::ALL.len()]; count];
    for (gap, cause) in gaps {
        let (mut at, end) = (gap.begin_ns.max(begin_ns), gap.begin_ns + gap.length_ns);
        while at < end {
            let index = ((at - begin_ns) / piece_ns.max(1)) as usize;
            let Some(piece) = lost.get_mut(index) else { break };
            let until = (begin_ns + (index as u64 + 1) * piece_ns.max(1)).min(end);
            piece[*cause as usize] += until - at;
            at = until;
        }
    }
    lost.iter()
        .map(|piece| {
            let by_cause = Cause::ALL.into_iter().zip(piece).rev();
            let most = by_cause.max_by_key(|(_, ns)| **ns).filter(|(_, ns)| **ns > 0);
            (piece.iter().sum(), most.map(|(cause, _)| cause))
        })
        .collect()
}

/// Returns the value that a share of sorted values is not larger than, by the nearest rank; `None`
/// of nothing.
pub fn sorted_quantile(sorted: &[u64], share: f64) -> Option<u64> {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

#[cfg(test)]
mod tests;
