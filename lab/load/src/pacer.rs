//! Follows a schedule in time: which sends are due, and how late each went out.

use crate::schedule::{Intended, Sends};
use crate::stamp::Stamp;
use std::iter::Peekable;

/// The tolerance for drivers that know nothing better: what a sleeping thread may oversleep on an
/// ordinary kernel, and the error that a latency of milliseconds can bear.
pub const TOLERANCE_NS: u64 = 1_000_000;

/// At most one send in so many may be late: above that, the quantile at 99.9% may be one of the
/// generator.
const SENDS_A_LATE_ONE: u64 = 1000;

/// Says which sends of a schedule are due, and records when each went out.
///
/// Time is an argument and must not fall from call to call. No send is early, skipped or moved: one
/// that is missed stays due until it is taken. So a generator that stood still sends what it missed
/// at once, each with the time at which it was intended.
///
/// A pacer takes as much memory however long the backlog is: it follows the schedule with two
/// cursors, one at what is due next and one at what is sent next.
#[derive(Clone, Debug)]
pub struct Pacer {
    /// From the first send that is not due yet.
    coming: Peekable<Sends>,
    /// From the first send that was not taken yet.
    unsent: Peekable<Sends>,
    /// The sends between the two.
    due: u64,
    tolerance_ns: u64,
    sent: u64,
    late: u64,
}

/// A send that went out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// What the schedule says.
    pub intended: Intended,
    /// When the generator turned to it. If the connection does not take the bytes then, that is the
    /// server's doing, and the wait belongs to the latency.
    pub actual_ns: u64,
}

impl Sent {
    /// Returns by how much the generator was late.
    pub fn lag_ns(&self) -> u64 {
        self.actual_ns.saturating_sub(self.intended.at_ns)
    }

    /// Returns what the message carries.
    pub fn stamp(&self) -> Stamp {
        let Intended { index, at_ns, .. } = self.intended;
        Stamp { number: index, intended_ns: at_ns, actual_ns: self.actual_ns }
    }
}

/// How well a schedule was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Punctuality {
    /// The sends that went out.
    pub sent: u64,
    /// The sends that were due and did not go out.
    pub unsent: u64,
    /// The sends of both kinds that were late by more than the tolerance.
    pub late: u64,
}

impl Punctuality {
    /// Returns whether the load was behind schedule: more than one send in 1000 was late by more
    /// than the tolerance. Its latencies may then be those of the generator, and its throughput is
    /// at least what was measured.
    ///
    /// Otherwise, if all were answered, the quantile at `q` from the intended sends is at most that
    /// at `q + 0.001` from the actual sends, plus the tolerance. For at most a share of 0.001 of
    /// the upper bounds is more than the tolerance above its lower bound.
    pub fn is_behind_schedule(&self) -> bool {
        self.late > (self.sent + self.unsent) / SENDS_A_LATE_ONE
    }
}

impl Pacer {
    /// Starts at the first of these sends. A send is late if it goes out more than the tolerance
    /// after its intended time.
    pub fn new(sends: Sends, tolerance_ns: u64) -> Pacer {
        Pacer {
            coming: sends.clone().peekable(),
            unsent: sends.peekable(),
            due: 0,
            tolerance_ns,
            sent: 0,
            late: 0,
        }
    }

    /// Returns how many sends are due: intended for now or before, and not taken yet. Cost: that of
    /// making the sends that became due since the last call.
    pub fn due(&mut self, now_ns: u64) -> u64 {
        while self.coming.next_if(|send| send.at_ns <= now_ns).is_some() {
            self.due += 1;
        }
        self.due
    }

    /// Returns the intended time of the next send that was not taken yet; it may have passed.
    /// `None` after the last.
    pub fn next_at(&mut self) -> Option<u64> {
        self.unsent.peek().map(|send| send.at_ns)
    }

    /// Returns the number of the next send that was not taken yet; `None` after the last.
    pub fn next_index(&mut self) -> Option<u64> {
        self.unsent.peek().map(|send| send.index)
    }

    /// Takes the next send, which goes out now; `None` if none is due.
    pub fn take(&mut self, now_ns: u64) -> Option<Sent> {
        if self.due(now_ns) == 0 {
            return None;
        }
        self.due -= 1;
        let sent = Sent { intended: self.unsent.next()?, actual_ns: now_ns };
        self.sent += 1;
        self.late += u64::from(sent.lag_ns() > self.tolerance_ns);
        Some(sent)
    }

    /// Returns how well the schedule was kept until now. Cost: that of making what is due once
    /// more.
    pub fn punctuality(&mut self, now_ns: u64) -> Punctuality {
        let unsent = self.due(now_ns);
        let is_late = |send: &Intended| now_ns.saturating_sub(send.at_ns) > self.tolerance_ns;
        let overdue = self.unsent.clone().take_while(is_late).count() as u64;
        Punctuality { sent: self.sent, unsent, late: self.late + overdue }
    }
}
