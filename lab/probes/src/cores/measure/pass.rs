//! A visit to a pair: each way of passing a line to and fro, timed by either side in turn.

use super::*;

/// A side that lost more than this within a batch was off its CPU, in nanoseconds.
const GAP_NS: u64 = 2000;
/// Batches from which the number of round trips in a batch is computed, and the trips in each.
const TRIALS: usize = 8;
const TRIAL_TRIPS: u64 = 32;
/// The fewest and the most round trips in a batch.
const TRIPS_LEAST: u64 = 8;
const TRIPS_MOST: u64 = 4096;
/// With fewer batches than this, a lower quartile is too uncertain.
const BATCHES_LEAST: usize = 10;
/// How often a waiting side looks at its line before it looks at anything else: some microseconds
/// of loads, more than a line takes on any machine.
const LOOKS: u32 = 1 << 13;

/// What one side saw of a way of passing in a visit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Observation {
    /// Half a round trip in nanoseconds, the lower quartile of the usable batches; `None` if there
    /// were too few.
    pub latency_ns: Option<f64>,
    /// Batches that were begun.
    pub batches: u64,
    /// Batches in which a side was off its CPU.
    pub invalid: u64,
    /// How often this side's thread was preempted, while it timed and while it answered.
    pub preemptions: u64,
}

/// What each side timed, for each way of passing.
pub(super) type Visit = [[Observation; 2]; 3];

/// Visits a pair; a reading of the clock takes `clock_ns`. Ends with the budget; threads that
/// cannot run until then have seen nothing.
///
/// # Errors
/// There is no memory, or a thread cannot be started or pinned.
pub(super) fn visit(
    plan: &Plan,
    cpus: [usize; 2],
    clock_ns: u64,
    budget: &Budget<'_>,
) -> io::Result<Visit> {
    // The lines of either side lie in the memory of its own CPU.
    let boards = [Board::new()?, Board::new()?];
    let interrupted = budget.interrupted();
    let end_ns = monotonic_ns() + budget.left().as_nanos() as u64;
    let sides = together(&cpus, |place| {
        // Touches all of its pages, as a segment is shorter than a page.
        for lines in boards[place.index].lines() {
            lines.first.0.store(0, Ordering::Relaxed);
            lines.done.0.store(false, Ordering::Relaxed);
        }
        let mut all = [Observation::default(); 3];
        for (timing, board) in boards.iter().enumerate() {
            for ((kernel, lines), seen) in Kernel::ALL.iter().zip(board.lines()).zip(&mut all) {
                // Both threads wake up here, and so run at about the same time.
                place.meet();
                let (before, is_timing) = (switches().0, timing == place.index);
                let deadline_ns = end_ns.min(monotonic_ns() + plan.segment_limit_ns);
                let side = Side { lines, interrupted, deadline_ns, clock_ns };
                let timed = match kernel {
                    Kernel::TwoLines => side.segment::<{ Kernel::TwoLines as u8 }>(is_timing),
                    Kernel::OneLine => side.segment::<{ Kernel::OneLine as u8 }>(is_timing),
                    Kernel::CompareExchange => {
                        side.segment::<{ Kernel::CompareExchange as u8 }>(is_timing)
                    }
                };
                let preemptions = seen.preemptions + switches().0.saturating_sub(before);
                *seen = Observation { preemptions, ..timed.unwrap_or(*seen) };
            }
        }
        all
    })?;
    Ok(std::array::from_fn(|at| [sides[0][at], sides[1][at]]))
}

/// A value that is at least 512 bytes away from its neighbours: more than the reach of prefetchers
/// that fetch lines in pairs, and than the widest line of any CPU.
#[repr(C, align(512))]
struct Apart<T>(T);

/// The lines of one segment of a visit, all zero at its beginning.
#[repr(C)]
struct Lines {
    /// The line of the side that times, or the only one.
    first: Apart<AtomicU64>,
    /// The line of the side that answers.
    second: Apart<AtomicU64>,
    /// Set when the side that times needs no more answers.
    done: Apart<AtomicBool>,
}

/// The lines of a segment for each way of passing, in pages of their own, all zero. The kernel
/// allocates the memory near the CPU that first touches it.
struct Board(Mapped);

impl Board {
    fn new() -> io::Result<Board> {
        Mapped::new(size_of::<[Lines; 3]>(), Pages::Small).map(Board)
    }

    fn lines(&self) -> &[Lines; 3] {
        // SAFETY: the mapping has room for the lines, begins at a page, is zero, a valid value of
        // atomics, and lives as long as `self`.
        unsafe { &*self.0.at(0).cast() }
    }
}

/// One side of the ways of passing, which are compiled each for itself: `KERNEL` is [`Kernel`] as a
/// number. Trips are counted from 1. The side that times sends a trip and looks for the reply; the
/// other side looks for the trip and sends the reply.
struct Side<'a> {
    lines: &'a Lines,
    /// The user wants to stop.
    interrupted: &'a AtomicBool,
    /// The moment at which it gives up, on the monotonic clock.
    deadline_ns: u64,
    /// The cost of a reading of the clock, which is in every batch once.
    clock_ns: u64,
}

impl Side<'_> {
    /// Times the way of passing, or answers the side that does.
    fn segment<const KERNEL: u8>(&self, is_timing: bool) -> Option<Observation> {
        if !is_timing {
            self.answer::<KERNEL>();
            return None;
        }
        let seen = self.time::<KERNEL>();
        self.lines.done.0.store(true, Ordering::Release);
        Some(seen)
    }

    /// Returns the word for trips or for replies: each has a line of its own, or both use one.
    #[inline(always)]
    fn word<const KERNEL: u8>(&self, is_reply: bool) -> &AtomicU64 {
        let has_own = KERNEL == Kernel::TwoLines as u8 && is_reply;
        if has_own { &self.lines.second.0 } else { &self.lines.first.0 }
    }

    /// Sends a trip, as an odd number, or its reply, as an even one. By compare-exchange, the other
    /// side's success is the message.
    #[inline(always)]
    fn send<const KERNEL: u8>(&self, trip: u64, is_reply: bool) {
        if KERNEL != Kernel::CompareExchange as u8 {
            self.word::<KERNEL>(is_reply).store(2 * trip - u64::from(!is_reply), Ordering::Release);
        }
    }

    /// Whether a trip or its reply has arrived. By compare-exchange, both sides try to change one
    /// line until they succeed, from 0 to 1 and back to 0.
    #[inline(always)]
    fn has_come<const KERNEL: u8>(&self, trip: u64, is_reply: bool) -> bool {
        let word = self.word::<KERNEL>(is_reply);
        if KERNEL == Kernel::CompareExchange as u8 {
            let [from, to] = if is_reply { [1, 0] } else { [0, 1] };
            return word.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        }
        word.load(Ordering::Acquire) == 2 * trip - u64::from(!is_reply)
    }

    /// Whether a wait should end: the side that times has finished, or there is no time.
    fn is_over(&self) -> bool {
        self.lines.done.0.load(Ordering::Relaxed)
            || self.interrupted.load(Ordering::Relaxed)
            || monotonic_ns() >= self.deadline_ns
    }

    /// Polls until a trip or its reply has arrived; `false` if the wait should end before. Yields
    /// the CPU now and then, as a partner that is not on a CPU may wait for this one.
    #[inline(always)]
    fn wait<const KERNEL: u8>(&self, trip: u64, is_reply: bool) -> bool {
        loop {
            for _ in 0..LOOKS {
                if self.has_come::<KERNEL>(trip, is_reply) {
                    return true;
                }
            }
            if self.is_over() {
                return false;
            }
            std::thread::yield_now();
        }
    }

    /// Makes the batches, or as many as there is time for.
    fn time<const KERNEL: u8>(&self) -> Observation {
        let mut next = 1;
        let trials = (0..TRIALS).map(|_| self.batch_ns::<KERNEL>(&mut next, TRIAL_TRIPS));
        let trials: Option<Vec<u64>> = trials.collect();
        let Some(quickest_ns) = trials.and_then(|trials| trials.into_iter().min()) else {
            return Observation::default();
        };
        let count = (BATCH_NS * TRIAL_TRIPS / quickest_ns.max(1)).clamp(TRIPS_LEAST, TRIPS_MOST);
        let mut times_ns: Vec<u64> = Vec::with_capacity(BATCHES as usize);
        for _ in 0..BATCHES {
            match self.batch_ns::<KERNEL>(&mut next, count) {
                Some(time_ns) if !self.is_over() => times_ns.push(time_ns),
                _ => return summary(&mut times_ns, 1, count),
            }
        }
        summary(&mut times_ns, 0, count)
    }

    /// Times a number of round trips, from trip `next` on; `None` if the time ended before.
    #[inline(always)]
    fn batch_ns<const KERNEL: u8>(&self, next: &mut u64, count: u64) -> Option<u64> {
        let begin_ns = monotonic_ns();
        for trip in *next..*next + count {
            self.send::<KERNEL>(trip, false);
            if !self.wait::<KERNEL>(trip, true) {
                return None;
            }
        }
        let end_ns = monotonic_ns();
        *next += count;
        Some(end_ns.saturating_sub(begin_ns + self.clock_ns))
    }

    /// Answers every trip until the side that times has finished, or there is no time.
    fn answer<const KERNEL: u8>(&self) {
        for trip in 1.. {
            if !self.wait::<KERNEL>(trip, false) {
                return;
            }
            self.send::<KERNEL>(trip, true);
        }
    }
}

/// Computes the lower quartile of the batches without a gap. If one side is off its CPU, the other
/// one waits: the batch takes longer by the lost time. So a batch that takes 2 us longer than the
/// quick ones (the 5% point: at least a twentieth must be usable) had a gap.
fn summary(times_ns: &mut Vec<u64>, cut_off: u64, trips: u64) -> Observation {
    let batches = times_ns.len() as u64 + cut_off;
    let quick_ns = quantile(times_ns, 0.05).unwrap_or(0);
    times_ns.retain(|time_ns| *time_ns <= quick_ns + GAP_NS);
    let invalid = batches - times_ns.len() as u64;
    let quartile_ns = quantile(times_ns, 0.25).filter(|_| times_ns.len() >= BATCHES_LEAST);
    let latency_ns = quartile_ns.map(|time_ns| time_ns as f64 / (2 * trips) as f64);
    Observation { latency_ns, batches, invalid, preemptions: 0 }
}

#[cfg(test)]
mod tests;
