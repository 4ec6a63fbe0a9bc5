//! Watching one CPU: a thread reads the clock without end, and whenever two readings are far apart
//! something else has had the CPU.

use super::*;

/// A stretch without a reading is a gap if it is longer than this.
pub const GAP_LEAST_NS: u64 = 2000;
/// Gaps of a watch that are kept one by one; further ones are only counted.
const GAPS_MOST: usize = 40_000;
/// A chain of multiplications is timed so often.
const BETWEEN_CHAINS_NS: u64 = 10_000_000;

/// A stretch in which the watching thread did not have its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// When it began, by the monotonic clock.
    pub begin_ns: u64,
    /// How long it was.
    pub length_ns: u64,
    /// Whether the scheduler had given the CPU to another task.
    pub was_switched: bool,
}

/// Watches the CPU that the calling thread is pinned to until `end_ns`, or until `stop`. Its
/// number, and what the kernel counts, are left to whoever asks.
pub(super) fn watch(end_ns: u64, stop: &AtomicBool) -> CpuWatch {
    let mut log = CpuWatch { gaps: Vec::with_capacity(GAPS_MOST), ..CpuWatch::default() };
    log.chains_ns.reserve(4096);
    // Time in which it times chains or notes a gap and therefore sees nothing.
    let mut unseen_ns = 0;
    let waited_before = waited_ns();
    let mut switches = switches_so_far();
    let mut last = clock::monotonic_ns();
    log.begin_ns = last;
    let mut next_chain = last;
    loop {
        let now = clock::monotonic_ns();
        let length_ns = now - last;
        last = now;
        if length_ns > GAP_LEAST_NS {
            let switches_now = switches_so_far();
            let was_switched = switches_now != switches;
            switches = switches_now;
            log.note(Gap { begin_ns: now - length_ns, length_ns, was_switched });
            last = clock::monotonic_ns();
            unseen_ns += last - now;
        }
        if now < next_chain {
            continue;
        }
        if now >= end_ns || stop.load(Ordering::Relaxed) {
            log.end_ns = last;
            break;
        }
        let begin_ns = last;
        if log.chains_ns.len() < log.chains_ns.capacity() {
            log.chains_ns.push(chain::timed_ns());
        }
        switches = switches_so_far();
        next_chain = (now + BETWEEN_CHAINS_NS).min(end_ns.max(now + 1));
        last = clock::monotonic_ns();
        unseen_ns += last - begin_ns;
    }
    log.seen_ns = (log.end_ns - log.begin_ns).saturating_sub(unseen_ns);
    log.waited_ns = waited_ns().zip(waited_before).map(|(now, before)| now.saturating_sub(before));
    log
}

impl CpuWatch {
    /// Allocates nothing: the list has room for as many as it keeps.
    fn note(&mut self, gap: Gap) {
        if self.gaps.len() < self.gaps.capacity() {
            self.gaps.push(gap);
        } else {
            self.unlisted += 1;
            self.unlisted_ns += gap.length_ns;
        }
    }
}

/// How often this thread has lost its CPU, or given it up.
fn switches_so_far() -> u64 {
    let (lost, given_up) = switches();
    lost + given_up
}

/// How long this thread has waited for a CPU; `None` where the kernel does not count it.
fn waited_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_lie_within_the_watch_and_do_not_overlap() {
        let stop = AtomicBool::new(false);
        let log = watch(clock::monotonic_ns() + 60_000_000, &stop);
        assert!(log.end_ns > log.begin_ns && !log.chains_ns.is_empty());
        let mut end_ns = log.begin_ns;
        for gap in &log.gaps {
            assert!(gap.begin_ns >= end_ns && gap.length_ns > GAP_LEAST_NS, "{gap:?}");
            end_ns = gap.begin_ns + gap.length_ns;
        }
        assert!(end_ns <= log.end_ns && log.seen_ns > 0);
    }

    #[test]
    fn the_flag_ends_it() {
        let stop = AtomicBool::new(true);
        let log = watch(u64::MAX, &stop);
        assert!(log.chains_ns.is_empty() && log.end_ns >= log.begin_ns);
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let gap = |length_ns| Gap { begin_ns: 0, length_ns, was_switched: false };
        let mut log = CpuWatch { gaps: Vec::with_capacity(2), ..CpuWatch::default() };
        let room = log.gaps.capacity() as u64;
        (0..room + 3).for_each(|_| log.note(gap(5)));
        assert_eq!((log.gaps.len() as u64, log.unlisted, log.unlisted_ns), (room, 3, 15));
    }
}
