//! What the threads of a load share: when it starts, whether it is over, and what all have counted.

use super::{Hold, Load, LoadError, Watch};
use crate::conversation::Scenario;
use crate::schedule::End;
use crate::stamp::LOAD_NS_MAX;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::time::{Duration, Instant};

/// From the moment at which the last connection is open to the start, so that all threads begin
/// together.
const LEAD: Duration = Duration::from_millis(5);

/// Why a load is over.
#[derive(Debug)]
pub(super) enum Over {
    /// All has arrived.
    Complete,
    /// Something has not, and the wait for it is over.
    Waited,
    /// The user asked to stop.
    Interrupted,
    /// A connection of this number ended or said nonsense.
    Broken(u32, String),
    /// It could not begin, or the system failed.
    Failed(LoadError),
}

/// What threads share. Counters only grow, and are added to once a turn.
pub(super) struct Shared<'a> {
    /// What the caller sees; its counters are those of the load.
    pub(super) watch: &'a Watch,
    arrivals_a_message: u64,
    /// How long is waited for the next arrival of what is under way.
    pub(super) patience_ns: u64,
    /// How long at most, whatever arrives.
    drain_ns_max: u64,
    start: OnceLock<Instant>,
    over: OnceLock<Over>,
    /// The threads that still wait for a connection to be open.
    opening: AtomicU32,
    /// The threads that still send.
    sending: AtomicU32,
    /// The threads of whose messages some may not be acknowledged, where messages are.
    acknowledging: AtomicU32,
    /// Whether a thread no longer waits for the answers that would let it send more.
    has_given_up: AtomicBool,
    refused: AtomicU64,
    /// All messages that were sent have a number below it.
    numbers: AtomicU64,
    last_send_ns: AtomicU64,
    /// The last time at which something arrived, or was refused.
    heard_ns: AtomicU64,
    /// The end of the schedule; `u64::MAX` until it is known.
    end_ns: AtomicU64,
}

impl<'a> Shared<'a> {
    /// Begins with nothing open and nothing sent.
    pub(super) fn new<S: Scenario>(load: &Load, scenario: &S, watch: &'a Watch) -> Shared<'a> {
        let disorder = [&watch.duplicated, &watch.reordered];
        for counter in [&watch.open, &watch.sent, &watch.arrived].into_iter().chain(disorder) {
            counter.store(0, Relaxed);
        }
        let patience_ns = u64::try_from(load.patience.as_nanos()).unwrap_or(LOAD_NS_MAX);
        let (end_ns, drain_ns_max) = match load.end {
            End::Ns(end_ns) => (end_ns, end_ns.max(patience_ns)),
            End::Sends(_) => (u64::MAX, u64::MAX),
        };
        let acknowledging = if scenario.is_acknowledged() { load.threads.get() } else { 0 };
        Shared {
            watch,
            arrivals_a_message: scenario.arrivals_a_message().into(),
            patience_ns,
            drain_ns_max,
            start: OnceLock::new(),
            over: OnceLock::new(),
            opening: AtomicU32::new(load.threads.get()),
            sending: AtomicU32::new(load.threads.get()),
            acknowledging: AtomicU32::new(acknowledging),
            has_given_up: AtomicBool::new(false),
            refused: AtomicU64::new(0),
            numbers: AtomicU64::new(0),
            last_send_ns: AtomicU64::new(0),
            heard_ns: AtomicU64::new(0),
            end_ns: AtomicU64::new(end_ns),
        }
    }

    /// Says that a thread has all of its connections open. The last one sets the start, unless the
    /// load is held back.
    pub(super) fn opened(&self) {
        if self.opening.fetch_sub(1, AcqRel) > 1 {
            return;
        }
        match &self.watch.hold {
            Some(hold) => hold.reach(),
            None => _ = self.set_start(),
        }
    }

    fn set_start(&self) -> Instant {
        *self.start.get_or_init(|| Instant::now() + LEAD)
    }

    /// Returns the start, once it is known.
    pub(super) fn start(&self) -> Option<Instant> {
        let is_released = self.watch.hold.as_ref().is_some_and(Hold::is_released);
        if is_released { Some(self.set_start()) } else { self.start.get().copied() }
    }

    /// Ends the load. Of several reasons the first counts.
    pub(super) fn end(&self, over: Over) {
        // A reason that came second is not needed.
        let _ = self.over.set(over);
    }

    /// Returns whether it has ended.
    pub(super) fn is_over(&self) -> bool {
        self.over.get().is_some()
    }

    /// Returns why it has ended.
    pub(super) fn into_over(self) -> Over {
        self.over.into_inner().unwrap_or(Over::Waited)
    }

    /// Says that messages below this number may have been sent. It comes before their bytes do.
    pub(super) fn announce(&self, numbers: u64) {
        self.numbers.fetch_max(numbers, AcqRel);
    }

    /// Returns the number below which all messages are that may have been sent.
    pub(super) fn numbers(&self) -> u64 {
        self.numbers.load(Acquire)
    }

    /// Adds what a thread has counted in a turn that ends now.
    pub(super) fn add(&self, sent: u64, arrived: u64, refused: u64, now_ns: u64) {
        if arrived + refused > 0 {
            self.heard_ns.fetch_max(now_ns, AcqRel);
        }
        for (counter, more) in
            [(&self.watch.sent, sent), (&self.watch.arrived, arrived), (&self.refused, refused)]
        {
            if more > 0 {
                counter.fetch_add(more, AcqRel);
            }
        }
    }

    /// Says that a thread has sent its last message, at this time. Where the schedule ends after so
    /// many messages, the last thread's last message is its end.
    pub(super) fn sent_all(&self, last_ns: u64) {
        self.last_send_ns.fetch_max(last_ns, AcqRel);
        if self.sending.fetch_sub(1, AcqRel) == 1 {
            let last_ns = self.last_send_ns.load(Acquire);
            // Where the end is a time, it stays.
            let _ = self.end_ns.compare_exchange(u64::MAX, last_ns, AcqRel, Acquire);
        }
    }

    /// Returns the end of the schedule; `u64::MAX` until it is known.
    pub(super) fn end_ns(&self) -> u64 {
        self.end_ns.load(Acquire)
    }

    /// Says that a thread sends no more because the answers that would let it do not come.
    pub(super) fn give_up(&self) {
        self.has_given_up.store(true, Release);
    }

    /// Returns how many arrivals there are still to be of what was sent.
    pub(super) fn to_come(&self) -> u64 {
        let accepted = self.watch.sent.load(Acquire).saturating_sub(self.refused.load(Acquire));
        let expected = accepted.saturating_mul(self.arrivals_a_message);
        expected.saturating_sub(self.watch.arrived.load(Acquire))
    }

    /// Returns whether all was sent and has arrived. Then it stays so.
    pub(super) fn has_arrived(&self) -> bool {
        self.sending.load(Acquire) == 0 && self.to_come() == 0
    }

    /// Says that all messages of a thread are acknowledged, once all have arrived.
    pub(super) fn acknowledged(&self) {
        self.acknowledging.fetch_sub(1, AcqRel);
    }

    /// Ends the load if all was sent, has arrived and is acknowledged, or nothing arrived for long
    /// enough.
    pub(super) fn end_if_done(&self, now_ns: u64) {
        if self.sending.load(Acquire) > 0 {
            return;
        }
        let latest_ns = self.end_ns().max(self.heard_ns.load(Acquire));
        let is_too_late = now_ns >= latest_ns.saturating_add(self.patience_ns)
            || now_ns >= self.end_ns().saturating_add(self.drain_ns_max);
        let has_arrived = self.to_come() == 0;
        if has_arrived && (is_too_late || self.acknowledging.load(Acquire) == 0) {
            let has_given_up = self.has_given_up.load(Acquire);
            self.end(if has_given_up { Over::Waited } else { Over::Complete });
        } else if is_too_late {
            self.end(Over::Waited);
        }
    }
}

/// Ends the load when a thread panics, so that the others do not wait for it for ever.
pub(super) struct EndOnPanic<'a, 'b>(pub(super) &'a Shared<'b>);

impl Drop for EndOnPanic<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end(Over::Interrupted);
        }
    }
}
