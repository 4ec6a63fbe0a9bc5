//! Which messages a thread sends, and when: by a schedule, or by the answers.

use super::arrivals::{Arrival, Window};
use super::{Load, Pace};
use crate::conversation::Scenario;
use crate::ledger::Sends;
use crate::pacer::{Pacer, Punctuality, TOLERANCE_NS};
use crate::schedule::{End, Schedule};
use crate::stamp::{LOAD_NS_MAX, Stamp};
use std::num::NonZeroU32;

/// For so long a thread goes on with what was due before the end of the schedule.
const OVERTIME_NS: u64 = 10_000_000;

/// The sends of a thread.
pub(super) struct Sending {
    /// The schedule; `None` in a closed loop.
    pacer: Option<Pacer>,
    /// The senders of this thread, in order.
    senders: Vec<Sender>,
    /// The senders of all threads.
    all_senders: u64,
    /// The messages that a sender may have under way.
    in_flight: u64,
    /// The load has messages below this number, and before this time.
    numbers: u64,
    end_ns: u64,
    /// The messages of the schedule that were sent here have numbers below this one.
    below: u64,
    /// In a closed loop, the senders that still have a message to send.
    left: usize,
    is_over: bool,
    threads: NonZeroU32,
}

/// A sender.
struct Sender {
    connection: usize,
    /// The number of its next message.
    next: u64,
    under_way: u64,
    /// Which of its messages were answered: each frees it once.
    answered: Window,
}

impl Sending {
    /// Prepares the sends of a thread. `place_of` says where the thread has a connection.
    pub(super) fn new<S: Scenario>(
        load: &Load,
        scenario: &S,
        thread: u32,
        place_of: impl Fn(u32) -> usize,
    ) -> Sending {
        let all = NonZeroU32::new(scenario.senders()).unwrap_or(NonZeroU32::MIN);
        let numbers = if let End::Sends(sends) = load.end { sends } else { u64::MAX };
        let end_ns = if let End::Ns(end_ns) = load.end { end_ns } else { LOAD_NS_MAX };
        let mine = (thread..all.get()).step_by(load.threads.get() as usize);
        let senders: Vec<Sender> = mine
            .map(|sender| Sender {
                connection: place_of(scenario.connection_of(sender)),
                next: sender.into(),
                under_way: 0,
                answered: Window::default(),
            })
            .collect();
        let (pacer, in_flight) = match load.pace {
            Pace::Open { rate, spacing } => {
                let (seed, end) = (load.seed, load.end);
                let schedule = Schedule { seed, spacing, rate, connections: all, end };
                let sends = schedule.sends_of(thread, load.threads);
                (Some(Pacer::new(sends, TOLERANCE_NS)), u64::MAX)
            }
            Pace::Closed { in_flight } => {
                (None, in_flight.map_or(u64::MAX, |in_flight| in_flight.get().into()))
            }
        };
        let left = senders.iter().filter(|sender| sender.next < numbers).count();
        Sending {
            pacer,
            senders,
            all_senders: all.get().into(),
            in_flight,
            numbers,
            end_ns,
            below: 0,
            left,
            is_over: false,
            threads: load.threads,
        }
    }

    /// Returns the connections of the senders, in order.
    pub(super) fn connections(&self) -> impl Iterator<Item = usize> + '_ {
        self.senders.iter().map(|sender| sender.connection)
    }

    /// Returns the sender of a message among those of all threads, and the number of the message
    /// among those of the sender.
    pub(super) fn sender_of(&self, stamp: Stamp) -> (u32, u64) {
        ((stamp.number % self.all_senders) as u32, stamp.number / self.all_senders)
    }

    /// Takes the next message of the schedule, if one is due, and the connection that it is for.
    pub(super) fn take_due(&mut self, now_ns: u64) -> Option<(usize, Stamp)> {
        let sent = self.pacer.as_mut().filter(|_| !self.is_over)?.take(now_ns)?;
        self.below = sent.intended.index + 1;
        let sender = sent.intended.connection / self.threads;
        Some((self.senders[sender as usize].connection, sent.stamp()))
    }

    /// Returns whether the answers decide when a message is sent.
    pub(super) fn is_closed(&self) -> bool {
        self.pacer.is_none()
    }

    /// Returns whether as many messages are sent as sockets take, whatever is answered.
    pub(super) fn is_flood(&self) -> bool {
        self.is_closed() && self.in_flight == u64::MAX
    }

    /// Takes the next message that a sender of this thread may send now in a closed loop.
    pub(super) fn take_free(&mut self, sender: usize, now_ns: u64) -> Option<Stamp> {
        if now_ns >= self.end_ns || !self.is_free(sender) {
            return None;
        }
        let sender = &mut self.senders[sender];
        let stamp = Stamp { number: sender.next, intended_ns: now_ns, actual_ns: now_ns };
        sender.under_way += 1;
        sender.next += self.all_senders;
        self.left -= usize::from(sender.next >= self.numbers);
        Some(stamp)
    }

    /// Takes the answer to a message of a sender of this thread. Returns its connection if that may
    /// send more.
    pub(super) fn answered(&mut self, sender: u32, number: u64) -> Option<usize> {
        let sender = &mut self.senders[(sender / self.threads) as usize];
        if self.pacer.is_some() || sender.answered.take(number) == Arrival::Duplicated {
            return None;
        }
        sender.under_way = sender.under_way.saturating_sub(1);
        Some(sender.connection)
    }

    /// Returns whether a sender of this thread waits for no answer, in a closed loop.
    pub(super) fn is_free(&self, sender: usize) -> bool {
        let sender = &self.senders[sender];
        let is_under = sender.under_way < self.in_flight && sender.next < self.numbers;
        self.is_closed() && !self.is_over && is_under
    }

    /// Returns whether this thread has sent its last message. It is asked once what was due now has
    /// been taken, or as much of it as a turn may. If a schedule ends at a time, what is due then
    /// is still sent for a moment, and what is left stays unsent: a generator that is far behind
    /// does not send for ever.
    pub(super) fn is_over(&mut self, now_ns: u64) -> bool {
        self.is_over |= match &mut self.pacer {
            Some(pacer) => pacer.next_at().is_none() || now_ns >= self.end_ns + OVERTIME_NS,
            None => self.left == 0 || now_ns >= self.end_ns,
        };
        self.is_over
    }

    /// Sends no more: the answers that would let it do not come.
    pub(super) fn give_up(&mut self) {
        self.is_over = true;
    }

    /// Returns which messages of the schedule this thread has sent; in a closed loop, none.
    pub(super) fn sends(&mut self) -> Sends {
        let below = self.below;
        let next = self.pacer.as_mut().map_or(Some(0), Pacer::next_index);
        Sends { next, below }
    }

    /// Returns the time of the next message of the schedule, if there is one.
    pub(super) fn next_at(&mut self) -> Option<u64> {
        self.pacer.as_mut().filter(|_| !self.is_over)?.next_at()
    }

    /// Returns how well the schedule was kept until now, if so many messages were sent.
    pub(super) fn punctuality(&mut self, now_ns: u64, sent: u64) -> Punctuality {
        match &mut self.pacer {
            Some(pacer) => pacer.punctuality(now_ns),
            None => {
                let left = |sender: &Sender| self.numbers.saturating_sub(sender.next);
                let all = self.all_senders;
                let unsent = self.senders.iter().map(|sender| left(sender).div_ceil(all)).sum();
                let is_counted = self.numbers < u64::MAX;
                Punctuality { sent, unsent: if is_counted { unsent } else { 0 }, late: 0 }
            }
        }
    }
}
