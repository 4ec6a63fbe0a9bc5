//! Whether the daemon's virtual time moves on although somebody has asked for it.

use core::sync::atomic::{AtomicU64, Ordering};

use super::errors::Stale;
use super::view::{STALE_NS, View};

/// What a client remembers of its requests for virtual time. Its callers share it: it is about the
/// daemon, not about a ticket.
///
/// A daemon that reads a request begins a round, and more until the oldest of the CPUs' virtual
/// times is past that. So if a number is what it was before a request that was sent [`STALE_NS`]
/// ago, something is in the way, however seldom the client has looked in between.
#[derive(Debug, Default)]
pub(super) struct Progress {
    round: Unchanged,
    oldest: Unchanged,
}

/// The two numbers that move on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ObservedView {
    round: u64,
    oldest: u64,
}

impl ObservedView {
    pub(super) fn in_view(view: View<'_>) -> ObservedView {
        // Acquire: with the older number come the CPUs' words that it was made of.
        let oldest = view.header.oldest_virtual_time.load(Ordering::Acquire);
        ObservedView { round: view.header.virtual_time.load(Ordering::Acquire), oldest }
    }
}

impl Progress {
    /// What is in the way of a barrier that is not complete; nothing at first. Of what was seen
    /// before a request, and when that had been sent.
    pub(super) fn why_pending(
        &self,
        view: View<'_>,
        seen: ObservedView,
        sent_ns: u64,
    ) -> Option<Stale> {
        let unanswered_ns = self.round.for_ns(seen.round, sent_ns);
        let waited_ns = self.oldest.for_ns(seen.oldest, sent_ns);
        if unanswered_ns.max(waited_ns) < STALE_NS || ObservedView::in_view(view) != seen {
            return None;
        }
        if unanswered_ns >= STALE_NS {
            return Some(Stale::Unanswered { waited_ns: unanswered_ns });
        }
        // Acquire: as above.
        let mut times = view.words.iter().map(|words| words.virtual_time.load(Ordering::Acquire));
        let cpu = times.position(|time| time <= seen.oldest)?;
        Some(view.stale(cpu, waited_ns))
    }
}

/// A number, and since when it was seen to be what it is.
#[derive(Debug)]
struct Unchanged {
    value: AtomicU64,
    since_ns: AtomicU64,
}

impl Default for Unchanged {
    fn default() -> Unchanged {
        // No round has this number, so the first look is a change.
        Unchanged { value: AtomicU64::new(u64::MAX), since_ns: AtomicU64::new(0) }
    }
}

impl Unchanged {
    /// For how long, as of now. Of callers that race, some may hear 0 once too often; nobody hears
    /// of more time than has passed since somebody saw this value.
    fn for_ns(&self, value: u64, now_ns: u64) -> u64 {
        // Acquire: the time below is not older than what was stored before this value.
        if self.value.load(Ordering::Acquire) == value {
            // Relaxed: ordered by the load above.
            return now_ns.saturating_sub(self.since_ns.load(Ordering::Relaxed));
        }
        // Relaxed: ordered by the store below.
        self.since_ns.store(now_ns, Ordering::Relaxed);
        // Release: who sees the value sees its time, or a later one.
        self.value.store(value, Ordering::Release);
        0
    }
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::Ordering::Relaxed;

    use super::*;
    use crate::interrupts::layout::{CpuWords, FLAG_TICKLESS, Header, Slot};

    const BEGAN_NS: u64 = 1_000_000_000;

    /// Two CPUs; the round, then the virtual times.
    fn look(progress: &Progress, now_ns: u64, round: u64, times: [u64; 2]) -> Option<Stale> {
        let (header, words) = (Header::default(), [CpuWords::default(), CpuWords::default()]);
        header.virtual_time.store(round, Relaxed);
        header.oldest_virtual_time.store(times[0].min(times[1]), Relaxed);
        words[0].virtual_time.store(times[0], Relaxed);
        words[1].virtual_time.store(times[1], Relaxed);
        words[0].flags.store(FLAG_TICKLESS, Relaxed);
        let slots = [Slot::default(), Slot::default()];
        let view = View { slots: &slots, header: &header, words: &words };
        progress.why_pending(view, ObservedView::in_view(view), now_ns)
    }

    #[test]
    fn a_daemon_that_makes_no_round_does_not_answer() {
        let progress = Progress::default();
        let unanswered = |waited_ns| Some(Stale::Unanswered { waited_ns });
        assert_eq!(look(&progress, BEGAN_NS, 7, [6, 6]), None, "however long nobody had asked");
        assert_eq!(look(&progress, BEGAN_NS + STALE_NS - 1, 7, [6, 6]), None);
        assert_eq!(look(&progress, BEGAN_NS + STALE_NS, 7, [6, 6]), unanswered(STALE_NS));
        let later = BEGAN_NS + 3 * STALE_NS;
        assert_eq!(look(&progress, later, 7, [6, 6]), unanswered(3 * STALE_NS));
        assert_eq!(look(&progress, later, 8, [7, 7]), None, "it goes on");
        assert_eq!(look(&progress, later + STALE_NS, 8, [7, 7]), unanswered(STALE_NS));
    }

    #[test]
    fn a_cpu_that_holds_all_up_is_named() {
        let progress = Progress::default();
        let last = BEGAN_NS + STALE_NS;
        for (now_ns, round) in (BEGAN_NS..last).step_by(10_000_000).zip(7..) {
            assert_eq!(look(&progress, now_ns, round, [round - 1, 5]), None);
        }
        let silent = Stale::Silent { cpu: 1, waited_ns: STALE_NS };
        assert_eq!(look(&progress, last, 17, [16, 5]), Some(silent));
        let tickless = Stale::Tickless { cpu: 0, waited_ns: STALE_NS + 1 };
        assert_eq!(look(&progress, last + 1, 18, [5, 17]), Some(tickless));
        assert_eq!(look(&progress, last + 2, 19, [6, 17]), None, "one step on");
    }
}
