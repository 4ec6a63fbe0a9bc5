//! What is said of watched CPUs: causes of gaps, shares of time, time lines, frequencies.

use super::*;
use crate::{CauseShare, CpuNoise, Frequency, InterruptShare, LongGap, PARTS, Piece, Rate};

#[cfg(test)]
mod tests;

/// Pieces of a time line, if nobody says how long one is.
const PIECES: u64 = 60;
/// A part of fewer chains tells no frequency.
const CHAINS_A_PART: usize = 5;
/// The longest gaps that are told one by one.
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

/// The watches CPU by CPU, with the causes of their gaps.
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
        let causes = gaps::causes(&watched.collect::<Vec<_>>(), steal_ns, held_back_ns);
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
        let quantile = |share| gaps::quantile(&lengths, share).map(|ns| ns as f64);
        let waited: Option<Vec<u64>> = self.watches.iter().map(|watch| watch.waited_ns).collect();
        CpuNoise {
            cpu: self.cpu,
            watched_ns: seen_ns,
            lost_share: causes.iter().map(|share| share.share).sum(),
            gaps: causes.iter().map(|share| share.gaps).sum(),
            causes,
            median_ns: quantile(0.5),
            p99_ns: quantile(0.99),
            longest_ns: lengths.last().copied(),
            waited_share: waited.map(|all| share(all.iter().sum(), seen_ns)),
            frequency: frequency(&self.watches, chain)
                .map(|all| Frequency { parts_hertz: Vec::new(), ..all }),
            strip: self.strip(line),
        }
    }

    fn strip(&self, line: &Line) -> Vec<Piece> {
        let pieces = gaps::pieces(&self.gaps, line.begin_ns, line.piece_ns, line.count as usize);
        let at = |(index, (lost_ns, cause)): (usize, (u64, Option<Cause>))| {
            let begin_ns = index as u64 * line.piece_ns;
            let from_ns = line.begin_ns + begin_ns;
            let watched_ns: u64 =
                self.watches.iter().map(|watch| common(watch, from_ns, line.piece_ns)).sum();
            let lost_share = (watched_ns > 0).then(|| share(lost_ns, watched_ns).min(1.0));
            Piece { begin_ns, length_ns: line.piece_ns, lost_share, cause }
        };
        pieces.into_iter().enumerate().map(at).collect()
    }
}

/// How much of a piece of the time line a watch covers.
fn common(watch: &CpuWatch, from_ns: u64, piece_ns: u64) -> u64 {
    let end_ns = watch.end_ns.min(from_ns + piece_ns);
    end_ns.saturating_sub(watch.begin_ns.max(from_ns))
}

fn share(part_ns: u64, of_ns: u64) -> f64 {
    part_ns as f64 / of_ns.max(1) as f64
}

/// What rates are told by; `None` if nothing was seen.
fn seconds(seen_ns: u64) -> Option<f64> {
    (seen_ns > 0).then_some(seen_ns as f64 / 1e9)
}

/// What each cause took. Gaps that were too many to be kept have none that is known.
fn shares(gaps: &[&(Gap, Cause)], watches: &[&CpuWatch], seen_ns: u64) -> Vec<CauseShare> {
    let of_cause = |cause: Cause| {
        let lengths = gaps.iter().filter(|gap| gap.1 == cause).map(|(gap, _)| gap.length_ns);
        let (mut lost_ns, mut count) = (lengths.clone().sum::<u64>(), lengths.count() as u64);
        if cause == Cause::Unexplained {
            lost_ns += watches.iter().map(|watch| watch.unlisted_ns).sum::<u64>();
            count += watches.iter().map(|watch| watch.unlisted).sum::<u64>();
        }
        CauseShare { cause, share: share(lost_ns, seen_ns), gaps: count }
    };
    Cause::ALL.into_iter().map(of_cause).collect()
}

/// The share of time in which all CPUs of a watch were lost; `None` where each watch is of one.
fn all_at_once_share(watches: &[Watch]) -> Option<f64> {
    let (mut lost_ns, mut of_ns) = (0, 0);
    for watch in watches.iter().filter(|watch| watch.cpus.len() > 1) {
        let gaps: Vec<&[Gap]> = watch.cpus.iter().map(|cpu| &cpu.gaps[..]).collect();
        lost_ns += gaps::all_at_once_ns(&gaps);
        of_ns += watch.cpus.iter().map(|cpu| cpu.end_ns - cpu.begin_ns).min().unwrap_or(0);
    }
    (of_ns > 0).then(|| share(lost_ns, of_ns))
}

/// The time of gaps that were interrupts, shared out in proportion to the kernel's counts, CPU by
/// CPU.
fn interrupts(cpus: &[OneCpu<'_>], seen_ns: u64) -> Vec<InterruptShare> {
    let Some(seconds) = seconds(seen_ns) else { return Vec::new() };
    let mut by_kind: BTreeMap<(&str, &str), (u64, f64)> = BTreeMap::new();
    for cpu in cpus {
        let is_interrupt = |(_, cause): &&(Gap, Cause)| *cause == Cause::Interrupt;
        let lost_ns: u64 = cpu.gaps.iter().filter(is_interrupt).map(|(gap, _)| gap.length_ns).sum();
        let came: Vec<&Interrupts> = cpu.watches.iter().flat_map(|one| &one.interrupts).collect();
        let all: u64 = came.iter().map(|one| one.count).sum();
        for one in came {
            let kind = by_kind.entry((&one.name, &one.words)).or_default();
            kind.0 += one.count;
            kind.1 += lost_ns as f64 * share(one.count, all);
        }
    }
    let told = |((name, words), (count, lost_ns)): ((&str, &str), (u64, f64))| InterruptShare {
        name: name.to_owned(),
        words: words.to_owned(),
        per_second: count as f64 / seconds,
        share: lost_ns / seen_ns.max(1) as f64,
    };
    let mut told: Vec<InterruptShare> = by_kind.into_iter().map(told).collect();
    told.sort_by(|a, b| b.per_second.total_cmp(&a.per_second));
    told
}

fn softirqs(watches: &[Watch], seen_ns: u64) -> Vec<Rate> {
    let Some(seconds) = seconds(seen_ns) else { return Vec::new() };
    let mut by_name: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, count) in watches.iter().flat_map(|watch| &watch.softirqs) {
        *by_name.entry(name).or_default() += count;
    }
    let rate = |(name, count): (&str, u64)| Rate {
        name: name.to_owned(),
        per_second: count as f64 / seconds,
    };
    let mut rates: Vec<Rate> = by_name.into_iter().map(rate).collect();
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

/// `f = steps x cycles a step / time`, chain by chain.
fn frequency(watches: &[&CpuWatch], chain: Chain) -> Option<Frequency> {
    let mut chains_ns: Vec<u64> =
        watches.iter().flat_map(|watch| &watch.chains_ns).copied().filter(|ns| *ns > 0).collect();
    let cycles = chain.steps as f64 * chain.cycles_a_step;
    let at = |sorted: &[u64], share| Some(cycles / gaps::quantile(sorted, share)? as f64 * 1e9);
    let part = |part: &[u64]| {
        let mut part = part.to_vec();
        part.sort_unstable();
        at(&part, 0.5)
    };
    let parts = chains_ns.chunks_exact((chains_ns.len() / PARTS).max(CHAINS_A_PART)).take(PARTS);
    let parts_hertz = parts.filter_map(part).collect();
    chains_ns.sort_unstable();
    let hertz = |share| at(&chains_ns, share);
    Some(Frequency {
        low_hertz: hertz(0.99)?,
        median_hertz: hertz(0.5)?,
        most_hertz: hertz(0.0)?,
        chains: chains_ns.len() as u64,
        cycles_a_step: chain.cycles_a_step,
        is_counted: chain.is_counted,
        is_known: chain.is_known,
        parts_hertz,
    })
}
