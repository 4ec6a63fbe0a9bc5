//! A barrier that was begun.

use super::{CheckIns, CpuSet};

/// What was true when a barrier began.
#[derive(Clone, Debug)]
pub(super) enum Mark {
    /// The time after the fence.
    Time(u64),
    /// The counts of all slots after the fence.
    Counts(Box<[u64]>),
}

/// A barrier that was begun by a [`Client`](super::Client), and is polled there.
///
/// It may go to other threads, wait in a list, and be polled by several. With the clock it is a
/// number; without, it has one number a CPU on the heap.
#[derive(Clone, Debug)]
#[must_use = "a barrier that nobody polls has no effect"]
pub struct Ticket {
    pub(super) mark: Mark,
    /// On this process's clock. What it is compared with is read there too.
    pub(super) began_ns: u64,
    /// Nothing stands for all CPUs.
    pub(super) set: Option<CpuSet>,
    pub(super) check_ins: Option<(CheckIns, Box<[u64]>)>,
}

impl Ticket {
    /// When it began, on this process's `CLOCK_MONOTONIC`.
    pub fn began_ns(&self) -> u64 {
        self.began_ns
    }

    /// Whether its end is told by clocks; if not, by counts.
    pub fn is_by_clock(&self) -> bool {
        matches!(self.mark, Mark::Time(_))
    }
}

/// A barrier that was begun in the daemon's virtual time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[must_use = "a barrier that nobody polls has no effect"]
pub struct VirtualTicket {
    pub(super) round: u64,
}
