//! What the two mappings say. Nothing here calls the system, so tests make their own pages.

use super::errors::Stale;
use super::layout::{CpuWords, Header, NO_COMMON_CLOCK, ONLINE, Slot};
use super::ticket::{Mark, Ticket};

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
        let margin_ns = self.header.margin_ns.load(core::sync::atomic::Ordering::Acquire);
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
        self.words[cpu].offline_state.load(core::sync::atomic::Ordering::Acquire)
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

#[cfg(test)]
mod tests;
