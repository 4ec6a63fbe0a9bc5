//! A segment of a visit: one way of passing, timed by one of the two sides.

use super::*;

/// A side that lost more than this within a batch was away, in nanoseconds.
const GAP_NS: u64 = 2000;
/// Batches by which the number of round trips in a batch is found, and the trips in each.
const TRIALS: usize = 8;
const TRIAL_TRIPS: u64 = 32;
/// The fewest and the most round trips in a batch.
const TRIPS_LEAST: u64 = 8;
const TRIPS_MOST: u64 = 4096;
/// Fewer batches than this have no lower quartile worth the name.
const BATCHES_LEAST: usize = 10;

/// What the side that times saw.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Observation {
    /// Half a round trip in nanoseconds, the lower quartile of the batches that could be used.
    pub(super) latency_ns: Option<f64>,
    /// Batches that were begun.
    pub(super) batches: u64,
    /// Batches in which a side was away.
    pub(super) invalid: u64,
}

/// How a kernel's side that times works: so many batches, or as many as patience allows, and what a
/// reading of the clock takes, which is in every batch once.
type Time = fn(&Lines, usize, u64, &Patience<'_>) -> Observation;
/// How the other one does: it answers until that has finished or patience ends.
type Reply = fn(&Lines, &Patience<'_>);

/// How the two sides of a way of passing work.
pub(super) fn sides(kernel: Kernel) -> (Time, Reply) {
    match kernel {
        Kernel::TwoLines => (time::<Stores<false>>, answer::<Stores<false>>),
        Kernel::OneLine => (time::<Stores<true>>, answer::<Stores<true>>),
        Kernel::CompareExchange => (time::<CompareExchange>, answer::<CompareExchange>),
    }
}

fn time<P: Pass>(
    lines: &Lines,
    batches: usize,
    clock_ns: u64,
    patience: &Patience<'_>,
) -> Observation {
    let mut next = 1;
    let mut batch = |count: u64| {
        let begin_ns = monotonic_ns();
        let is_whole = trips::<P>(lines, next..next + count, patience);
        let end_ns = monotonic_ns();
        next += count;
        is_whole.then(|| end_ns.saturating_sub(begin_ns).saturating_sub(clock_ns))
    };
    let mut quickest_ns = u64::MAX;
    for _ in 0..TRIALS {
        let Some(trial_ns) = batch(TRIAL_TRIPS) else { return Observation::default() };
        quickest_ns = quickest_ns.min(trial_ns);
    }
    let count = (BATCH_NS * TRIAL_TRIPS / quickest_ns.max(1)).clamp(TRIPS_LEAST, TRIPS_MOST);
    let mut times_ns: Vec<u64> = Vec::with_capacity(batches);
    let mut cut_off = 0;
    while times_ns.len() < batches && cut_off == 0 {
        match batch(count) {
            Some(time_ns) if !patience.is_over() => times_ns.push(time_ns),
            _ => cut_off = 1,
        }
    }
    summary(&mut times_ns, cut_off, count)
}

/// The lower quartile of the batches in which nobody was away. If one of a batch's sides is away,
/// the other one waits: the batch takes longer by what was lost. So a batch that takes 2 us longer
/// than the quick ones (the 5% point: at least a twentieth must be usable) had a gap.
fn summary(times_ns: &mut Vec<u64>, cut_off: u64, trips: u64) -> Observation {
    let batches = times_ns.len() as u64 + cut_off;
    let quick_ns = quantile(times_ns, 0.05).unwrap_or(0);
    times_ns.retain(|time_ns| *time_ns <= quick_ns + GAP_NS);
    let invalid = batches - times_ns.len() as u64;
    let quartile_ns = quantile(times_ns, 0.25).filter(|_| times_ns.len() >= BATCHES_LEAST);
    let latency_ns = quartile_ns.map(|time_ns| time_ns as f64 / (2 * trips) as f64);
    Observation { latency_ns, batches, invalid }
}

#[cfg(test)]
mod tests {
    use super::super::board::Board;
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn a_batch_with_a_gap_is_counted_and_not_used() {
        let check = |times: &[u64], cut_off: u64, expected: (Option<f64>, u64, u64)| {
            let seen = summary(&mut times.to_vec(), cut_off, 50);
            assert_eq!((seen.latency_ns, seen.batches, seen.invalid), expected);
        };
        check(&[], 0, (None, 0, 0));
        check(&[], 1, (None, 1, 1));
        check(&[8000; 9], 0, (None, 9, 0));
        check(&[8000; 10], 1, (Some(80.0), 11, 1));
        let mut times = vec![8000; 30];
        times.extend([10_000; 10]);
        times.extend([10_001, 12_000, 4_000_000]);
        check(&times, 0, (Some(80.0), 43, 3));
        // The quartile is of those that are left.
        let mut times = vec![40_000; 100];
        times.extend([8000, 8000, 8000, 8000, 8000, 8000, 8100, 8100, 8100, 8100, 8100, 8100]);
        check(&times, 0, (Some(80.0), 112, 100));
    }

    #[test]
    fn a_side_without_a_partner_gives_up() {
        let board = Board::new(3).unwrap();
        let [done, interrupted] = [AtomicBool::new(false), AtomicBool::new(false)];
        let patience = |wait_ns| Patience {
            done: &done,
            interrupted: &interrupted,
            deadline_ns: monotonic_ns() + wait_ns,
        };
        for (at, kernel) in Kernel::ALL.into_iter().enumerate() {
            assert_eq!(
                sides(kernel).0(board.lines(at), 5, 0, &patience(1_000_000)),
                Observation::default()
            );
            // What the first side left is answered, and then nothing comes.
            sides(kernel).1(board.lines(at), &patience(1_000_000));
        }
        interrupted.store(true, Ordering::Relaxed);
        sides(Kernel::TwoLines).1(board.lines(0), &patience(u64::MAX / 2));
    }
}
