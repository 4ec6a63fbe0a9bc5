//! What became of each message of a load that runs, for those who judge it meanwhile.
//!
//! Threads report at the end of each turn: what arrived and what was refused, which messages have
//! been sent, and until when all that they heard is in the report. Who [collects](Ledger::collect)
//! the reports therefore also knows what has *not* arrived, and for how long.

use crate::Latency;
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It arrived, once; a message may have to arrive several times.
    Arrived {
        /// Its number among all messages.
        number: u64,
        /// How long it took.
        latency: Latency,
    },
    /// The server said that it would not do it.
    Refused {
        /// Its number among all messages.
        number: u64,
    },
}

/// How far a load has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// All messages with a number below it have been sent.
    pub sent_below: u64,
    /// All that was heard before this time is reported, in nanoseconds since the load's start.
    pub heard_until_ns: u64,
}

/// The reports of the threads of one load.
#[derive(Debug, Default)]
pub struct Ledger(OnceLock<Vec<Mutex<Report>>>);

/// The report of a thread.
#[derive(Debug, Default)]
struct Report {
    outcomes: Vec<Outcome>,
    sends: Sends,
    heard_until_ns: u64,
}

/// What a thread has sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sends {
    /// The number of its next message; `None` if it has sent all.
    pub next: Option<u64>,
    /// Its messages have numbers below this one so far.
    pub below: u64,
}

impl Ledger {
    /// Begins with so many threads.
    pub(crate) fn begin(&self, threads: NonZeroU32) {
        let report = || Report { sends: Sends { next: Some(0), below: 0 }, ..Report::default() };
        self.0.get_or_init(|| (0..threads.get()).map(|_| Mutex::new(report())).collect());
    }

    /// Takes the outcomes that a thread has heard of until this time.
    pub(crate) fn report(
        &self,
        thread: u32,
        outcomes: &mut Vec<Outcome>,
        sends: Sends,
        heard_until_ns: u64,
    ) {
        let report = self.0.get().and_then(|reports| reports.get(thread as usize));
        if let Some(report) = report {
            let mut report = locked(report);
            report.outcomes.append(outcomes);
            (report.sends, report.heard_until_ns) = (sends, heard_until_ns);
        }
    }

    /// Takes all outcomes that were reported and not taken yet, in no order, and returns how far
    /// the load has come; before its start nowhere. `room` is scratch, and is left empty.
    pub fn collect(&self, room: &mut Vec<Outcome>, mut take: impl FnMut(Outcome)) -> Reach {
        let reports = self.0.get().map_or(&[][..], Vec::as_slice);
        let mut reach: Option<Reach> = None;
        let mut is_over = true;
        let mut below = 0;
        for report in reports {
            let mut report = locked(report);
            std::mem::swap(&mut report.outcomes, room);
            let Report { sends, heard_until_ns, .. } = *report;
            drop(report);
            room.drain(..).for_each(&mut take);
            let sent_below = sends.next.unwrap_or(u64::MAX);
            is_over &= sends.next.is_none();
            below = sends.below.max(below);
            let least = reach.get_or_insert(Reach { sent_below, heard_until_ns });
            least.sent_below = least.sent_below.min(sent_below);
            least.heard_until_ns = least.heard_until_ns.min(heard_until_ns);
        }
        let reach = reach.unwrap_or_default();
        if is_over { Reach { sent_below: below, ..reach } } else { reach }
    }
}

/// Locks a report. A thread that panicked has left it whole.
fn locked(report: &Mutex<Report>) -> MutexGuard<'_, Report> {
    report.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(ledger: &Ledger) -> (Vec<Outcome>, Reach) {
        let mut taken = Vec::new();
        let reach = ledger.collect(&mut Vec::new(), |outcome| taken.push(outcome));
        (taken, reach)
    }

    fn reach(sent_below: u64, heard_until_ns: u64) -> Reach {
        Reach { sent_below, heard_until_ns }
    }

    #[test]
    fn the_reach_is_that_of_the_last_thread() {
        let ledger = Ledger::default();
        assert_eq!(collect(&ledger), (Vec::new(), reach(0, 0)));
        ledger.begin(NonZeroU32::new(2).unwrap());
        assert_eq!(collect(&ledger), (Vec::new(), reach(0, 0)));
        let [one, other] = [4, 5].map(|number| Outcome::Refused { number });
        ledger.report(0, &mut vec![one], Sends { next: Some(6), below: 5 }, 70);
        assert_eq!(collect(&ledger), (vec![one], reach(0, 0)));
        ledger.report(1, &mut vec![other], Sends { next: Some(7), below: 6 }, 50);
        assert_eq!(collect(&ledger), (vec![other], reach(6, 50)));
        // Each outcome is taken once.
        assert_eq!(collect(&ledger), (Vec::new(), reach(6, 50)));
        // A thread that has sent all holds nobody up.
        ledger.report(0, &mut Vec::new(), Sends { next: None, below: 9 }, 80);
        assert_eq!(collect(&ledger).1, reach(7, 50));
        // When all have, it is known how many messages there are.
        ledger.report(1, &mut Vec::new(), Sends { next: None, below: 8 }, 90);
        assert_eq!(collect(&ledger).1, reach(9, 80));
    }
}
