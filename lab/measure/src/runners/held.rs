//! What a runner says of its time, held against the clock outside.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// A difference below this is the pipes' and not the runner's.
const TOLERANCE_NS: u64 = 50_000;
/// A difference below this share of the time is let pass.
const TOLERANCE_SHARE: f64 = 0.01;
/// Clocks that are the same may still be read in another unit: so much more inside is let pass.
const AHEAD_NS: u64 = 1000;
/// The same as a share of the time: clocks of one machine agree better than this.
const AHEAD_SHARE: f64 = 0.001;
/// Exchanges without a run, of which the longest says what the pipes and the protocol may cost
/// here: on a busy machine caches are cold after each wait.
pub(super) const EMPTY_EXCHANGES: u32 = 5;
/// They are not believed to cost more than this.
const EMPTY_NS_MAX: u64 = 200_000;
/// A batch that is off is asked for so often in all before its runner is void: a neighbour may take
/// the CPU just between the clock and the answer. What is asked again is never evidence.
pub(super) const TRIES: u32 = 5;
/// Batches of which at least so many are off, and
const ODD_MIN: u32 = 10;
/// more than one in so many, make a contestant void, although each was right when asked again.
const ODD_ONE_IN: u32 = 5;

/// The times of one exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Held {
    /// What the runner said.
    pub(super) inside_ns: u64,
    /// From just before the request was sent until the answer was there.
    pub(super) outside_ns: u64,
    /// How long the runner and tiebreak waited for a CPU meanwhile, as the scheduler counts it.
    pub(super) waited_ns: u64,
    /// How long the runner's main thread was on a CPU meanwhile; 0 where the kernel does not say.
    pub(super) ran_ns: u64,
    /// What an exchange without a run costs.
    pub(super) empty_ns: u64,
}

impl Held {
    /// Whether the two cannot both be right.
    pub(super) fn is_off(&self) -> bool {
        // Waiting may have been inside too, so it hides a difference; time on a CPU does not.
        let least_ns = self.outside_ns.saturating_sub(self.waited_ns).max(self.ran_ns);
        self.is_ahead() || least_ns > self.most_ns()
    }

    /// Whether no wait can be why the two differ. The clock outside alone also counts how long a
    /// CPU that slept took to wake up, which no file of the kernel tells: where the machine below
    /// is busy, that is long now and then.
    pub(super) fn is_proven_off(&self) -> bool {
        let is_counted = self.ran_ns > 0;
        self.is_ahead() || (if is_counted { self.ran_ns > self.most_ns() } else { self.is_off() })
    }

    /// Whether the runner said more than went by.
    fn is_ahead(&self) -> bool {
        let ahead = AHEAD_NS.max((self.outside_ns as f64 * AHEAD_SHARE) as u64);
        self.inside_ns > self.outside_ns.saturating_add(ahead)
    }

    /// What the clock outside may say at most.
    fn most_ns(&self) -> u64 {
        let tolerance = TOLERANCE_NS.max((self.inside_ns as f64 * TOLERANCE_SHARE) as u64);
        self.inside_ns.saturating_add(tolerance).saturating_add(self.empty_ns)
    }

    /// What this exchange cost beside the run in it and waiting.
    pub(super) fn cost_ns(&self) -> u64 {
        let beside = self.outside_ns.saturating_sub(self.waited_ns);
        beside.saturating_sub(self.inside_ns).min(EMPTY_NS_MAX)
    }

    /// The sentence about a runner whose times are off.
    pub(super) fn describe(&self) -> String {
        format!(
            "said that a batch took {} us, and the clock outside says {} us ({} us of them \
             waiting for a CPU, {} us on one): they must agree to 1% or 50 us",
            self.inside_ns / 1000,
            self.outside_ns / 1000,
            self.waited_ns / 1000,
            self.ran_ns / 1000
        )
    }
}

/// How many batches of a contestant were proven off at first, in all of its processes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    batches: u32,
    odd: u32,
}

impl Tally {
    /// Counts a batch; whether so many are off that it cannot be chance.
    pub(super) fn is_too_odd(&mut self, is_off: bool) -> bool {
        self.batches += 1;
        self.odd += u32::from(is_off);
        self.odd >= ODD_MIN && self.odd * ODD_ONE_IN > self.batches
    }

    /// The end of the sentence about a runner that is off too often.
    pub(super) fn describe(self) -> String {
        format!("; {} of {} batches were off", self.odd, self.batches)
    }
}

/// How long the calling thread has waited for a CPU so far.
#[derive(Debug)]
pub(super) struct OwnWaits(Option<File>);

impl OwnWaits {
    pub(super) fn open() -> OwnWaits {
        OwnWaits(File::open("/proc/thread-self/schedstat").ok())
    }

    /// In nanoseconds; 0 where the kernel does not say.
    pub(super) fn waited_ns(&self) -> u64 {
        self.0.as_ref().and_then(scheduled).map_or(0, |(_, waited_ns)| waited_ns)
    }
}

/// Time on a CPU and time waiting for one, in nanoseconds, from a file `schedstat`.
pub(super) fn scheduled(file: &File) -> Option<(u64, u64)> {
    let mut text = [0; 80];
    let length = file.read_at(&mut text, 0).ok()?;
    let mut numbers = std::str::from_utf8(&text[..length]).ok()?.split_ascii_whitespace();
    let mut next = || numbers.next()?.parse().ok();
    Some((next()?, next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_pipes_and_neighbours_explain_is_let_pass() {
        let check = |inside_us: u64, outside_us: u64, waited_us: u64, is_off: bool| {
            let held = Held {
                inside_ns: inside_us * 1000,
                outside_ns: outside_us * 1000,
                waited_ns: waited_us * 1000,
                ran_ns: 0,
                empty_ns: 0,
            };
            assert_eq!(held.is_off(), is_off, "{held:?}");
            let on_cpu = Held { waited_ns: u64::MAX, ran_ns: held.outside_ns, ..held };
            assert!(waited_us > 0 || on_cpu.is_off() == is_off, "{on_cpu:?}");
            assert_eq!(held.is_proven_off(), is_off, "without a count: {held:?}");
            assert_eq!(on_cpu.is_proven_off(), on_cpu.is_off(), "{on_cpu:?}");
        };
        check(1000, 1050, 0, false);
        check(1000, 1051, 0, true);
        check(1000, 1051, 1, false);
        check(100_000, 101_000, 0, false);
        check(100_000, 101_001, 0, true);
        check(0, 50, 0, false);
        check(1000, 9000, 7950, false);
        check(1000, 999, 0, false);
        check(1000, 998, 0, true);
        check(1_000_000, 999_001, 0, false);
        check(1_000_000, 998_000, 5000, true);
        check(u64::MAX / 1000, 5, 0, true);
        let held = Held { inside_ns: 0, outside_ns: 150_000, waited_ns: 0, ran_ns: 0, empty_ns: 0 };
        assert!(held.is_off() && held.cost_ns() == 150_000);
        assert!(!Held { empty_ns: 100_000, ..held }.is_off());
        assert_eq!(Held { outside_ns: 9_000_000, ..held }.cost_ns(), EMPTY_NS_MAX);
        let woken_late = Held { inside_ns: 5_000_000, outside_ns: 6_000_000, ..held };
        let woken_late = Held { ran_ns: 5_010_000, ..woken_late };
        assert!(woken_late.is_off() && !woken_late.is_proven_off());
    }

    #[test]
    fn chance_may_be_off_now_and_then() {
        let first_too_odd = |every: u32| {
            let mut tally = Tally::default();
            (1..=1000).find(|batch| tally.is_too_odd(batch % every == 0))
        };
        assert_eq!(first_too_odd(1), Some(10));
        assert_eq!(first_too_odd(2), Some(20));
        assert_eq!(first_too_odd(5), None);
    }

    #[test]
    fn our_own_waits_only_grow() {
        let own = OwnWaits::open();
        let before = own.waited_ns();
        std::thread::yield_now();
        assert!(own.waited_ns() >= before);
        assert_eq!(OwnWaits(None).waited_ns(), 0);
    }
}
