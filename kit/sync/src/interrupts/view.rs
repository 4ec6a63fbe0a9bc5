//! What the two mappings say, and whether it moves on. Nothing here calls the system, so tests make
//! their own pages.

use core::sync::atomic::{AtomicU64, Ordering};

use super::layout::{CpuWords, Header, NO_COMMON_CLOCK, ONLINE, Slot};
use super::{Mark, Stale, Ticket};

/// After so long without a fence, a CPU counts as silent: 10 ticks of the slowest common clock.
pub(super) const STALE_NS: u64 = 100_000_000;

/// The slots and the page, of the same number of CPUs.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) slots: &'a [Slot],
    pub(super) header: &'a Header,
    pub(super) words: &'a [CpuWords],
}

/// What is known of one CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Age {
    /// It runs something, and passed a fence so many nanoseconds ago.
    Busy(u64),
    /// It is idle: it counts as having passed one right now.
    Idle,
    /// It is offline: likewise.
    Offline,
    /// It was not heard of since the daemon began.
    Unknown,
}

impl View<'_> {
    /// How many CPUs there are.
    pub(super) fn cpus(&self) -> usize {
        self.slots.len()
    }

    /// By how much clocks may differ; nothing if they cannot be compared.
    pub(super) fn margin_ns(&self) -> Option<u64> {
        // Acquire: a margin that is withdrawn must not be used after the withdrawal was seen.
        let margin_ns = self.header.margin_ns.load(Ordering::Acquire);
        (margin_ns != NO_COMMON_CLOCK).then_some(margin_ns)
    }

    /// The first CPU of the ticket's set, at or after `from`, that may not have passed a fence.
    pub(super) fn pending_from(&self, from: usize, ticket: &Ticket) -> Option<usize> {
        let margin_ns = self.margin_ns();
        (from..self.cpus()).find(|cpu| {
            ticket.set.as_ref().is_none_or(|set| set.contains(*cpu))
                && !self.has_passed(*cpu, ticket, margin_ns)
        })
    }

    /// Whether a CPU has passed a fence since the ticket's, or runs nothing: steps 4 to 7 of the
    /// module's argument. Called after the ticket's fence, as there is no ticket before it.
    fn has_passed(&self, cpu: usize, ticket: &Ticket, margin_ns: Option<u64>) -> bool {
        let slot = &self.slots[cpu];
        let state = slot.state();
        state.is_idle()
            || self.offline_state(cpu) == state.0
            || match &ticket.mark {
                // Later, and not at the same time: a clock's step is longer than an instruction.
                Mark::Time(ns) => {
                    self.words[cpu].is_surveyed()
                        && margin_ns
                            .is_some_and(|margin| state.stamp_ns() > ns.saturating_add(margin))
                }
                Mark::Counts(counts) => counts.get(cpu).is_some_and(|seen| slot.count() != *seen),
            }
            || ticket.check_ins.as_ref().is_some_and(|(all, seen)| all.has_checked_in(cpu, seen))
    }

    fn offline_state(&self, cpu: usize) -> u64 {
        // Acquire: with the state comes that the CPU was seen to be offline.
        self.words[cpu].offline_state.load(Ordering::Acquire)
    }

    /// The counts of all slots. Called after a full fence.
    pub(super) fn counts(&self) -> Box<[u64]> {
        self.slots.iter().map(Slot::count).collect()
    }

    /// What is wrong if `cpu` is pending although the ticket is `age_ns` old; nothing at first.
    pub(super) fn why_pending(&self, cpu: usize, ticket: &Ticket, age_ns: u64) -> Option<Stale> {
        if matches!(ticket.mark, Mark::Time(_)) && self.margin_ns().is_none() {
            return Some(Stale::Clock);
        }
        (age_ns >= STALE_NS).then(|| self.stale(cpu, age_ns))
    }

    /// That a CPU was not interrupted for so long.
    pub(super) fn stale(&self, cpu: usize, waited_ns: u64) -> Stale {
        if self.words[cpu].is_tickless() {
            Stale::Tickless { cpu, waited_ns }
        } else {
            Stale::Silent { cpu, waited_ns }
        }
    }

    /// What is known of each CPU at `now_ns`.
    pub(super) fn ages(&self, now_ns: u64) -> Vec<Age> {
        (0..self.cpus()).map(|cpu| self.age(cpu, now_ns)).collect()
    }

    fn age(&self, cpu: usize, now_ns: u64) -> Age {
        let state = self.slots[cpu].state();
        match self.offline_state(cpu) {
            ONLINE if state.0 == 0 => Age::Unknown,
            ONLINE if state.is_idle() => Age::Idle,
            offline if offline == state.0 => Age::Offline,
            _ => Age::Busy(now_ns.saturating_sub(state.stamp_ns())),
        }
    }
}

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
    /// For how long, as of now. Of callers that race, some may hear 0 once too often; none hears
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
mod tests;
