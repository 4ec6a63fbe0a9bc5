//! What a runner says of its time, held against the clock outside.

use std::fs::File;
use std::os::unix::fs::FileExt;
use tiebreak_core::sample::BatchTime;

/// A difference below this is the pipes' and not the runner's.
const TOLERANCE_NS: u64 = 50_000;
/// A difference below this share of the time is let pass.
const TOLERANCE_SHARE: f64 = 0.01;
/// Clocks that are the same may still be read in another unit: so much more inside is let pass.
const AHEAD_NS: u64 = 1000;
/// The same as a share of the time: clocks of one machine agree better than this.
const AHEAD_SHARE: f64 = 0.001;
/// Two times are far apart if they differ by half and by more than this.
const FAR_NS: u64 = 1_000_000;
/// Exchanges without a run, of which the longest says what the pipes and the protocol may cost
/// here: on a busy machine caches are cold after each wait.
pub(super) const EMPTY_EXCHANGES: u32 = 5;
/// They are not believed to cost more than this.
const EMPTY_NS_MAX: u64 = 200_000;

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
    /// What is known of the time: what the runner said, if the clock outside says the same but for
    /// waits and what an exchange costs, and else no more than that it lies between the two.
    ///
    /// A wait may have been inside of the runner's clock too, so it hides a difference; time on a
    /// CPU does not.
    pub(super) fn time(&self) -> BatchTime {
        let least_ns = self.outside_ns.saturating_sub(self.waited_ns).max(self.ran_ns);
        let differs = self.is_ahead() || least_ns > self.most_ns();
        BatchTime::between(self.inside_ns, if differs { self.outside_ns } else { self.inside_ns })
    }

    /// Whether the two differ by half and more, and no wait can be why: so much more was said than
    /// went by, or the runner's main thread was on a CPU for that much longer than was said.
    ///
    /// The clock outside alone also counts how long a CPU that slept took to wake up, which no file
    /// of the kernel tells: it proves nothing. Nor do small differences: a runtime may collect or
    /// compile outside of its clock, and caches are cold beside neighbours.
    pub(super) fn is_false(&self) -> bool {
        let far = |ns: u64| ns.saturating_add(ns / 2).saturating_add(FAR_NS);
        self.inside_ns > far(self.outside_ns)
            || self.ran_ns > far(self.inside_ns).saturating_add(self.empty_ns)
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

    /// The sentence about a runner whose times are false.
    pub(super) fn describe(&self) -> String {
        format!(
            "said that a batch took {} us, and the clock outside says {} us ({} us of them \
             waiting for a CPU, {} us on one): a runner must say how long its work took",
            self.inside_ns / 1000,
            self.outside_ns / 1000,
            self.waited_ns / 1000,
            self.ran_ns / 1000
        )
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
    fn what_neither_pipes_nor_waits_explain_is_not_known() {
        let check = |[inside_us, outside_us, waited_us, ran_us]: [u64; 4], is_known: bool| {
            let held = Held {
                inside_ns: inside_us * 1000,
                outside_ns: outside_us * 1000,
                waited_ns: waited_us * 1000,
                ran_ns: ran_us * 1000,
                empty_ns: 0,
            };
            let between = BatchTime::between(held.inside_ns, held.outside_ns);
            let expected = if is_known { held.inside_ns.into() } else { between };
            assert_eq!(held.time(), expected, "{held:?}");
        };
        check([1000, 1050, 0, 1050], true);
        check([1000, 1051, 0, 0], false);
        check([1000, 1051, 1, 0], true);
        check([1000, 1051, 9000, 1051], false);
        check([100_000, 101_000, 0, 0], true);
        check([100_000, 101_001, 0, 0], false);
        check([0, 50, 0, 50], true);
        check([1000, 9000, 7950, 1000], true);
        check([1000, 999, 0, 0], true);
        check([1000, 998, 0, 0], false);
        check([1_000_000, 999_001, 0, 0], true);
        check([1_000_000, 998_000, 5000, 0], false);
    }

    #[test]
    fn only_what_no_wait_explains_by_far_is_false() {
        let check = |[inside_us, outside_us, ran_us]: [u64; 3], is_false: bool| {
            let held = Held {
                inside_ns: inside_us * 1000,
                outside_ns: outside_us * 1000,
                waited_ns: 0,
                ran_ns: ran_us * 1000,
                empty_ns: 0,
            };
            assert_eq!(held.is_false(), is_false, "{held:?}");
        };
        check([5000, 5000, 5000], false);
        check([5000, 90_000, 5000], false);
        check([5000, 90_000, 0], false);
        check([5000, 9000, 8500], false);
        check([5000, 9000, 8501], true);
        check([0, 5000, 1001], true);
        check([0, 5000, 1000], false);
        check([8500, 5000, 5000], false);
        check([8501, 5000, 5000], true);
        check([u64::MAX / 1000, 5, 5], true);
        // Python beside sixteen others in bursts, waiting for nearly all of the time: two of
        // sixteen comparisons of honest runners were void for such a batch.
        check([281, 15_959, 365], false);
        check([306, 11_405, 368], false);
    }

    #[test]
    fn an_exchange_may_cost_what_one_without_a_run_does() {
        let held = Held { inside_ns: 0, outside_ns: 150_000, waited_ns: 0, ran_ns: 0, empty_ns: 0 };
        assert_eq!((held.time(), held.cost_ns()), (BatchTime::between(0, 150_000), 150_000));
        assert_eq!(Held { empty_ns: 100_000, ..held }.time(), 0.into());
        assert_eq!(Held { waited_ns: 100_000, ..held }.cost_ns(), 50_000);
        assert_eq!(Held { outside_ns: 9_000_000, ..held }.cost_ns(), EMPTY_NS_MAX);
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
