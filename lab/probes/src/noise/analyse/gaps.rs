//! Gaps in what a watching thread saw of its CPU: what caused them, and what of them fell together.

use super::*;

#[cfg(test)]
mod tests;

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

/// The causes of all gaps of one CPU, watch by watch, in the order of the gaps.
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
    let mut causes: Vec<Vec<Cause>> = watches
        .iter()
        .map(|watch| {
            let cause = |gap: &Gap| if gap.was_switched { Cause::Task } else { Cause::Unexplained };
            watch.gaps.iter().map(cause).collect()
        })
        .collect();
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

/// What of the gaps falls into each of equal pieces of a time line, and the cause of most of it.
/// `gaps` need no order. Cost: linear in gaps and pieces.
pub fn pieces(
    gaps: &[(Gap, Cause)],
    begin_ns: u64,
    piece_ns: u64,
    count: usize,
) -> Vec<(u64, Option<Cause>)> {
    let mut lost = vec![[0_u64; Cause::ALL.len()]; count];
    for (gap, cause) in gaps {
        let place = Cause::ALL.iter().position(|other| other == cause).unwrap_or(0);
        let (mut at, end) = (gap.begin_ns.max(begin_ns), gap.begin_ns + gap.length_ns);
        while at < end {
            let index = ((at - begin_ns) / piece_ns.max(1)) as usize;
            let Some(piece) = lost.get_mut(index) else { break };
            let until = (begin_ns + (index as u64 + 1) * piece_ns.max(1)).min(end);
            piece[place] += until - at;
            at = until;
        }
    }
    let most = |piece: &[u64; Cause::ALL.len()]| {
        let (place, most) = piece.iter().enumerate().rev().max_by_key(|(_, ns)| **ns)?;
        (*most > 0).then_some(Cause::ALL[place])
    };
    lost.iter().map(|piece| (piece.iter().sum(), most(piece))).collect()
}

/// The value that a share of sorted values is not larger than, by the nearest rank; `None` of
/// nothing.
pub fn quantile(sorted: &[u64], share: f64) -> Option<u64> {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}
