//! Grace periods, one after the other: the steps of a collection, done under a lock that none of
//! those who collect waits for.

use super::collector::Shared;
use crate::garbage::Garbage;
use crate::heavy::Heavy;
use crate::mutation::{self, Mutation};
use std::time::{Duration, Instant};

/// A collection begins once this much waits,
const DUE_WEIGHT: usize = 1024;
/// or once this much time has passed since the last one began and a bag is full.
const DUE_AFTER: Duration = Duration::from_millis(1);

/// Between two values of the epoch, which is odd so that it is never 0.
const EPOCH_STEP: u64 = 2;

/// The state of collecting.
pub(super) struct Cycle {
    grace: Option<Grace>,
    began: Option<Instant>,
    /// The advances that say how old pins are at least: epochs, and when each began.
    advances: Vec<(u64, Instant)>,
}

/// A grace period that is under way.
struct Grace {
    epoch: u64,
    stage: Stage,
    bags: Vec<Vec<Garbage>>,
}

enum Stage {
    /// The heavy side is under way.
    Barrier(Heavy),
    /// The records with a smaller number are still to be seen.
    Scan(usize),
}

impl Cycle {
    pub(super) fn new() -> Cycle {
        Cycle { grace: None, began: None, advances: Vec::new() }
    }

    /// Goes on with the grace period that is under way and begins the next if it is time to. Gives
    /// what may be freed now.
    pub(super) fn step(&mut self, shared: &Shared, is_forced: bool) -> Vec<Vec<Garbage>> {
        let mut ready = self.go_on(shared);
        if self.grace.is_none() && self.is_due(shared, is_forced) {
            self.begin(shared);
            ready.append(&mut self.go_on(shared));
        }
        ready
    }

    fn is_due(&self, shared: &Shared, is_forced: bool) -> bool {
        match shared.waiting_weight() {
            0 => false,
            weight if is_forced || weight >= DUE_WEIGHT => true,
            _ => self.began.is_none_or(|began| began.elapsed() >= DUE_AFTER),
        }
    }

    /// Steps 1 to 3, in this order.
    fn begin(&mut self, shared: &Shared) {
        let early = mutation::is(Mutation::EpochAdvanceFirst).then(|| self.advance(shared));
        let bags = shared.take_waiting();
        let (epoch, now) = early.unwrap_or_else(|| self.advance(shared));
        self.began = Some(now);
        let heavy = Heavy::begin(shared.barrier(), Mutation::EpochWithoutHeavy);
        self.grace = Some(Grace { epoch, stage: Stage::Barrier(heavy), bags });
    }

    /// The next epoch. Done under the lock only, so no two threads advance at once.
    fn advance(&mut self, shared: &Shared) -> (u64, Instant) {
        let epoch = shared.epoch() + EPOCH_STEP;
        shared.set_epoch(epoch);
        // After the store: who reads the epoch before it pinned earlier than this.
        let now = Instant::now();
        self.advances.push((epoch, now));
        (epoch, now)
    }

    /// Step 4, as far as it goes. Gives what was taken if it is complete.
    fn go_on(&mut self, shared: &Shared) -> Vec<Vec<Garbage>> {
        let is_complete = self.grace.as_mut().is_some_and(|grace| grace.is_complete(shared));
        let Some(grace) = self.grace.take_if(|_| is_complete) else { return Vec::new() };
        // Whoever was pinned before this epoch has unpinned. A reader that loaded an older one, and
        // publishes it only now, holds nothing of this period: its age counts from a later advance,
        // which also came after it began to pin.
        self.advances.retain(|&(epoch, _)| epoch > grace.epoch);
        grace.bags
    }

    /// Since when, at least, the oldest pin stands, and whose it is. If that is not known yet,
    /// because the epoch is still the one that was pinned, it advances, and is known from now on.
    pub(super) fn oldest_pin(&mut self, shared: &Shared) -> Option<(usize, Instant)> {
        let pinned = |slot: &crate::registry::Slot<super::record::Record>| {
            Some((slot.pinned_epoch(), slot.number())).filter(|&(epoch, _)| epoch != 0)
        };
        let Some((oldest, number)) = shared.records().filter_map(pinned).min() else {
            self.advances.clear();
            return None;
        };
        self.advances.retain(|&(epoch, _)| epoch > oldest);
        if self.advances.is_empty() {
            self.advance(shared);
        }
        Some((number, self.advances[0].1))
    }

    /// Everything that was taken and is not freed yet.
    pub(super) fn into_garbage(self) -> Vec<Vec<Garbage>> {
        self.grace.map_or(Vec::new(), |grace| grace.bags)
    }
}

impl Grace {
    /// Looks at the records from where it stopped. It stops at the first that is in the way.
    fn is_complete(&mut self, shared: &Shared) -> bool {
        if let Stage::Barrier(heavy) = &mut self.stage {
            if !heavy.poll() {
                return false;
            }
            self.stage = Stage::Scan(usize::MAX);
        }
        let Stage::Scan(below) = &mut self.stage else { return false };
        // A record that is newer than the scan was not pinned before the barrier; see the module.
        let first = if mutation::is(Mutation::EpochOneTooFew) {
            self.epoch - EPOCH_STEP
        } else {
            self.epoch
        };
        let limit = *below;
        for slot in shared.records().filter(|slot| slot.number() < limit) {
            let epoch = slot.pinned_epoch();
            if epoch != 0 && epoch < first {
                *below = slot.number() + 1;
                return false;
            }
        }
        true
    }
}
