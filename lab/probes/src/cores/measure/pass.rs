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

/// Visits a pair; returns what each side timed, for each way of passing. Ends with the budget;
/// threads that cannot run until then have seen nothing.
///
/// # Errors
/// There is no memory, or a thread cannot be started or pinned.
pub(super) fn visit(
    plan: &Plan,
    cpus: [usize; 2],
    clock_ns: u64,
    budget: &Budget<'_>,
) -> io::Result<Vec<[Observation; 2]>> {
    let kernels = plan.kernels.len();
    let job = Job {
        plan,
        // The lines of either side lie in the memory of its own CPU.
        boards: [Board::new(kernels)?, Board::new(kernels)?],
        interrupted: budget.interrupted(),
        end_ns: monotonic_ns() + budget.left().as_nanos() as u64,
        clock_ns,
    };
    let sides = together(&cpus, |place| job.run(place))?;
    Ok((0..kernels).map(|at| [sides[0][at], sides[1][at]]).collect())
}

struct Job<'a> {
    plan: &'a Plan,
    boards: [Board; 2],
    interrupted: &'a AtomicBool,
    end_ns: u64,
    clock_ns: u64,
}

impl Job<'_> {
    /// Does the work of one of the two threads; returns its observation of each way of passing.
    fn run(&self, place: &Place<'_>) -> Vec<Observation> {
        self.boards[place.index].touch(self.plan.kernels.len());
        let mut all = vec![Observation::default(); self.plan.kernels.len()];
        for side in 0..2 {
            for (at, seen) in all.iter_mut().enumerate() {
                // Both threads wake up here, and so run at about the same time.
                place.meet();
                let before = switches().0;
                if let Some(timed) = self.segment(side, at, place.index) {
                    *seen = Observation { preemptions: seen.preemptions, ..timed };
                }
                seen.preemptions += switches().0.saturating_sub(before);
            }
        }
        all
    }

    fn segment(&self, timing: usize, at: usize, own: usize) -> Option<Observation> {
        let lines = self.boards[timing].lines(at);
        let limit_ns = monotonic_ns() + self.plan.segment_limit_ns;
        let patience = Patience {
            done: &lines.done.0,
            interrupted: self.interrupted,
            deadline_ns: limit_ns.min(self.end_ns),
        };
        let (time, reply) = sides(self.plan.kernels[at]);
        if timing != own {
            reply(lines, &patience);
            return None;
        }
        let seen = time(lines, self.plan.batches, self.clock_ns, &patience);
        lines.done.0.store(true, Ordering::Release);
        Some(seen)
    }
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

/// Lines for several segments, in pages of their own, all zero. The kernel allocates the memory
/// near the CPU that first touches it.
struct Board(Mapped);

impl Board {
    /// Maps lines for a number of segments, at least one.
    fn new(count: usize) -> io::Result<Board> {
        Mapped::new(count * size_of::<Lines>(), Pages::Small).map(Board)
    }

    /// Returns the lines of a segment.
    ///
    /// # Panics
    /// There is no room for this segment.
    fn lines(&self, segment: usize) -> &Lines {
        let at = segment * size_of::<Lines>();
        assert!(at + size_of::<Lines>() <= self.0.bytes(), "no room for segment {segment}");
        // SAFETY: the lines lie within the mapping, which begins at a page, is zero, a valid value
        // of atomics, and lives as long as `self`.
        unsafe { &*self.0.at(at).cast() }
    }

    /// Touches the lines of the first segments, so that they lie in the memory of the CPU that
    /// this thread runs on.
    fn touch(&self, count: usize) {
        for segment in 0..count {
            let lines = self.lines(segment);
            lines.first.0.store(0, Ordering::Relaxed);
            lines.second.0.store(0, Ordering::Relaxed);
            lines.done.0.store(false, Ordering::Relaxed);
        }
    }
}

/// The ways of passing, as the compiler tells them apart: [`Kernel`] as a number. Trips are counted
/// from 1. The side that times sends a trip and looks for the reply; the other side looks for the
/// trip and sends the reply.
const ONE_LINE: u8 = Kernel::OneLine as u8;
const TWO_LINES: u8 = Kernel::TwoLines as u8;
const COMPARE_EXCHANGE: u8 = Kernel::CompareExchange as u8;

/// Returns the word to which a trip or its reply is stored, and the value: each side has a line of
/// its own, or both use one, on which trips are odd numbers and replies even ones.
#[inline(always)]
fn place<const KERNEL: u8>(lines: &Lines, trip: u64, is_reply: bool) -> (&AtomicU64, u64) {
    match (KERNEL, is_reply) {
        (ONE_LINE, _) => (&lines.first.0, 2 * trip - u64::from(!is_reply)),
        (_, false) => (&lines.first.0, trip),
        (_, true) => (&lines.second.0, trip),
    }
}

/// Sends a trip or its reply. By compare-exchange, the other side's success is the message.
#[inline(always)]
fn send<const KERNEL: u8>(lines: &Lines, trip: u64, is_reply: bool) {
    if KERNEL != COMPARE_EXCHANGE {
        let (word, value) = place::<KERNEL>(lines, trip, is_reply);
        word.store(value, Ordering::Release);
    }
}

/// Whether a trip or its reply has arrived. By compare-exchange, both sides try to change one line
/// until they succeed, from 0 to 1 and back to 0.
#[inline(always)]
fn has_come<const KERNEL: u8>(lines: &Lines, trip: u64, is_reply: bool) -> bool {
    if KERNEL == COMPARE_EXCHANGE {
        let [from, to] = if is_reply { [1, 0] } else { [0, 1] };
        let line = &lines.first.0;
        return line.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok();
    }
    let (word, value) = place::<KERNEL>(lines, trip, is_reply);
    word.load(Ordering::Acquire) == value
}

/// Limits of how long a side waits for the other one.
struct Patience<'a> {
    /// The side that times has finished.
    done: &'a AtomicBool,
    /// The user wants to stop.
    interrupted: &'a AtomicBool,
    /// The moment at which it gives up, on the monotonic clock.
    deadline_ns: u64,
}

impl Patience<'_> {
    /// Returns whether the wait should end.
    fn is_over(&self) -> bool {
        self.done.load(Ordering::Relaxed)
            || self.interrupted.load(Ordering::Relaxed)
            || monotonic_ns() >= self.deadline_ns
    }

    /// Polls until ready; `false` if patience ended first. Yields the CPU now and then, as a
    /// partner that is not on a CPU may wait for this one.
    #[inline(always)]
    fn wait(&self, mut is_ready: impl FnMut() -> bool) -> bool {
        loop {
            for _ in 0..LOOKS {
                if is_ready() {
                    return true;
                }
            }
            if self.is_over() {
                return false;
            }
            std::thread::yield_now();
        }
    }
}

/// The side of a kernel that times: makes a number of batches, or as many as patience allows, with
/// the cost of a reading of the clock, which is in every batch once.
type Time = fn(&Lines, usize, u64, &Patience<'_>) -> Observation;
/// The side of a kernel that answers, until the other one has finished or patience ends.
type Reply = fn(&Lines, &Patience<'_>);

/// Returns the two sides of a way of passing.
fn sides(kernel: Kernel) -> (Time, Reply) {
    match kernel {
        Kernel::TwoLines => (time::<TWO_LINES>, answer::<TWO_LINES>),
        Kernel::OneLine => (time::<ONE_LINE>, answer::<ONE_LINE>),
        Kernel::CompareExchange => (time::<COMPARE_EXCHANGE>, answer::<COMPARE_EXCHANGE>),
    }
}

fn time<const KERNEL: u8>(
    lines: &Lines,
    batches: usize,
    clock_ns: u64,
    patience: &Patience<'_>,
) -> Observation {
    let mut next = 1;
    let mut quickest_ns = u64::MAX;
    for _ in 0..TRIALS {
        let Some(trial_ns) = batch_ns::<KERNEL>(lines, &mut next, TRIAL_TRIPS, patience) else {
            return Observation::default();
        };
        quickest_ns = quickest_ns.min(trial_ns.saturating_sub(clock_ns));
    }
    let count = (BATCH_NS * TRIAL_TRIPS / quickest_ns.max(1)).clamp(TRIPS_LEAST, TRIPS_MOST);
    let mut times_ns: Vec<u64> = Vec::with_capacity(batches);
    let mut cut_off = 0;
    while times_ns.len() < batches && cut_off == 0 {
        match batch_ns::<KERNEL>(lines, &mut next, count, patience) {
            Some(time_ns) if !patience.is_over() => {
                times_ns.push(time_ns.saturating_sub(clock_ns));
            }
            _ => cut_off = 1,
        }
    }
    summary(&mut times_ns, cut_off, count)
}

/// Times a number of round trips, from trip `next` on; `None` if patience ended before.
#[inline(always)]
fn batch_ns<const KERNEL: u8>(
    lines: &Lines,
    next: &mut u64,
    count: u64,
    patience: &Patience<'_>,
) -> Option<u64> {
    let begin_ns = monotonic_ns();
    for trip in *next..*next + count {
        send::<KERNEL>(lines, trip, false);
        if !patience.wait(|| has_come::<KERNEL>(lines, trip, true)) {
            return None;
        }
    }
    let end_ns = monotonic_ns();
    *next += count;
    Some(end_ns.saturating_sub(begin_ns))
}

/// Answers every trip until patience ends.
fn answer<const KERNEL: u8>(lines: &Lines, patience: &Patience<'_>) {
    let mut trip = 1;
    while patience.wait(|| has_come::<KERNEL>(lines, trip, false)) {
        send::<KERNEL>(lines, trip, true);
        trip += 1;
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
