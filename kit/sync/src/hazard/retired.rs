//! What a handle has retired, and how it comes to be freed.

use super::domain::Shared;
use crate::garbage::Garbage;
use crate::heavy::Heavy;
use crate::mutation::Mutation;

/// This much is looked at together.
pub(super) const BATCH_WEIGHT: usize = 1024;
/// This much may come together while a heavy side is under way; then it is waited for.
const WAIT_WEIGHT: usize = 8 * BATCH_WEIGHT;
/// The most of a handle that was not looked at: what waits for a barrier, and what came since.
pub(super) const SLOW_WEIGHT_MAX: usize = 2 * WAIT_WEIGHT;
/// While a heavy side is under way, it is asked whether it is done each time that this much came.
const POLL_WEIGHT: usize = 64;

/// The list of a handle.
pub(super) struct Retired {
    /// Those that have not been looked at, and those that were protected when they were.
    items: Vec<Garbage>,
    /// The weight of those that have not been looked at.
    fresh: usize,
    /// At which weight there is something to do.
    next: usize,
    /// Those whose heavy side is under way.
    waiting: Option<Waiting>,
}

struct Waiting {
    heavy: Heavy,
    items: Vec<Garbage>,
}

impl Retired {
    pub(super) fn new() -> Retired {
        Retired { items: Vec::new(), fresh: 0, next: BATCH_WEIGHT, waiting: None }
    }

    /// Adds an object.
    #[inline]
    pub(super) fn push(&mut self, garbage: Garbage, weight: usize) {
        self.items.push(garbage);
        self.fresh += weight;
    }

    /// Begins the heavy side for what is there and goes on with one that is under way. Gives what
    /// may be freed. It waits if asked to, or if otherwise more than the bound would come together.
    pub(super) fn reclaim(&mut self, shared: &Shared, does_wait: bool) -> Vec<Garbage> {
        let mut free = self.finish(shared, does_wait || self.fresh >= WAIT_WEIGHT);
        if self.waiting.is_none() {
            self.begin(shared);
            free.append(&mut self.finish(shared, does_wait));
        }
        self.next = if self.waiting.is_some() { self.fresh + POLL_WEIGHT } else { BATCH_WEIGHT };
        free
    }

    /// Steps 1 and 2. It takes along what handles that are gone have left.
    fn begin(&mut self, shared: &Shared) {
        let mut items = core::mem::take(&mut self.items);
        items.extend(shared.left.take().into_iter().flatten());
        self.fresh = 0;
        if !items.is_empty() {
            let heavy = Heavy::begin(shared.barrier, Mutation::HazardWithoutHeavy);
            self.waiting = Some(Waiting { heavy, items });
        }
    }

    /// Steps 3 and 4, if the heavy side is done.
    fn finish(&mut self, shared: &Shared, does_wait: bool) -> Vec<Garbage> {
        let Some(mut waiting) = self.waiting.take() else { return Vec::new() };
        if !waiting.heavy.poll() {
            if !does_wait {
                self.waiting = Some(waiting);
                return Vec::new();
            }
            waiting.heavy.wait();
        }
        let protected = shared.protected();
        let is_protected = |item: &Garbage| protected.binary_search(&item.address()).is_ok();
        let (stay, free): (Vec<_>, Vec<_>) = waiting.items.into_iter().partition(is_protected);
        self.items.extend(stay);
        free
    }

    /// Whether there is something to do.
    pub(super) fn is_due(&self) -> bool {
        self.fresh >= self.next
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.items.len() + self.waiting.as_ref().map_or(0, |waiting| waiting.items.len())
    }

    /// All that is left, of a handle that goes. What waited for a barrier will wait for another.
    pub(super) fn into_items(self) -> Vec<Garbage> {
        let mut items = self.items;
        items.extend(self.waiting.into_iter().flat_map(|waiting| waiting.items));
        items
    }
}
