//! A chain of loads that each wait for the one before.

use super::*;

/// Bytes of a slot: a line on most machines. Where a line is longer, two slots share it.
pub(crate) const SLOT: usize = 64;
/// Loads between two looks at the clock are a multiple of this.
const UNROLLED: u64 = 16;
/// Wanted duration of a batch.
const BATCH_NS: u64 = 10_000;
/// Number of slots that are added between two looks at the budget.
const STEP: usize = 1 << 15;
/// The most batches of a sample.
const MOST_BATCHES: usize = 4000;
/// Number of lines that are flushed at a time: a multiple of [`UNROLLED`].
const FLUSHED: u64 = 512;

/// A cycle through slots of a mapping in random order, which grows.
///
/// A new slot is inserted after one of the present slots, each with the same probability: every
/// cycle of n slots is then equally likely, as with the algorithm of Sattolo (1986), and a larger
/// cycle is made from a smaller one. Cost: a random access for each new slot.
pub(crate) struct Cycle<'a> {
    mapped: &'a Mapped,
    place: fn(usize) -> usize,
    slots: usize,
    random: Random,
    at: *const u8,
}

// SAFETY: `at` points into the mapping, which may be used from any thread.
unsafe impl Send for Cycle<'_> {}

impl<'a> Cycle<'a> {
    /// Makes a cycle of one slot. `place` returns the offset of a slot in the mapping, a multiple
    /// of 8.
    pub(crate) fn new(mapped: &'a Mapped, place: fn(usize) -> usize, seed: u64) -> Cycle<'a> {
        let at = mapped.at(place(0));
        // SAFETY: the offset of a slot is a multiple of 8 within the mapping.
        unsafe { at.cast::<*const u8>().write(at) };
        Cycle { mapped, place, slots: 1, random: Random::new(seed), at }
    }

    /// Grows the cycle to this size, unless the budget is spent before; returns whether it has it.
    pub(crate) fn grow(&mut self, slots: usize, budget: &Budget<'_>) -> bool {
        while self.slots < slots {
            let end = slots.min(self.slots + STEP);
            for new in self.slots..end {
                let old = self.random.below(new);
                let [old, new] = [old, new].map(|slot| self.mapped.at((self.place)(slot)));
                // SAFETY: both are slots: aligned, within the mapping, and not in use elsewhere.
                unsafe {
                    let next = old.cast::<*const u8>().replace(new);
                    new.cast::<*const u8>().write(next);
                }
            }
            self.slots = end;
            if budget.is_spent() {
                break;
            }
        }
        self.slots == slots
    }

    /// Returns how many slots it has.
    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// Times a number of loads, a multiple of 16.
    pub(crate) fn batch_ns(&mut self, loads: u64) -> u64 {
        let begin = monotonic_ns();
        // SAFETY: `at` is a slot of a cycle, so that every load gives the address of a slot.
        self.at = unsafe { follow(self.at, loads / UNROLLED) };
        monotonic_ns() - begin
    }

    /// Returns the time of a load of lines that were flushed just before, in picoseconds; `None`
    /// where no program may flush, and for a cycle of fewer slots than are flushed at a time.
    pub(crate) fn flushed_ps(&mut self) -> Option<u64> {
        let mut at = self.at;
        for _ in 0..FLUSHED.min(self.slots as u64 / FLUSHED * FLUSHED) {
            // SAFETY: every load gives the address of a slot.
            unsafe {
                let next = at.cast::<*const u8>().read_volatile();
                if !flushed::line(at) {
                    return None;
                }
                at = next;
            }
        }
        flushed::wait();
        (at != self.at).then(|| self.batch_ns(FLUSHED) * 1000 / FLUSHED)
    }

    /// Goes round once, for at most half of the time until `end_ns`, then times batches until
    /// `end_ns`; adds the time of a load in each, in picoseconds.
    pub(crate) fn sample(&mut self, end_ns: u64, budget: &Budget<'_>, loads_ps: &mut Vec<u64>) {
        let begin = monotonic_ns();
        let warm_end = begin + end_ns.saturating_sub(begin) / 2;
        let mut walked = 0;
        let mut batch = (BATCH_NS / 10) / UNROLLED * UNROLLED;
        while walked < self.slots as u64 && monotonic_ns() < warm_end && !budget.is_spent() {
            let ns = self.batch_ns(batch).max(1);
            walked += batch;
            // The pace of the last batch, but no jump: that batch may have waited for the CPU.
            let wanted = (batch * BATCH_NS / ns).clamp(batch / 2, batch * 2).clamp(64, 16_384);
            batch = wanted / UNROLLED * UNROLLED;
        }
        let before = loads_ps.len();
        while !budget.is_interrupted() {
            let ns = self.batch_ns(batch);
            loads_ps.push(ns * 1000 / batch);
            let taken = loads_ps.len() - before;
            if taken >= MOST_BATCHES || (taken >= 16 && monotonic_ns() >= end_ns) {
                break;
            }
        }
    }
}

/// Follows the chain for `rounds` times 16 loads; returns where it ends.
///
/// # Safety
/// `at` holds the address of a slot that holds such an address again, for all of these loads.
#[inline(never)]
unsafe fn follow(at: *const u8, rounds: u64) -> *const u8 {
    if rounds == 0 {
        return at;
    }
    // SAFETY: the caller's.
    unsafe { follow_some(at, rounds) }
}

/// 16 loads, and the end of the loop.
#[cfg(target_arch = "x86_64")]
macro_rules! loads {
    () => {
        ".rept 16\nmov {at}, [{at}]\n.endr\ndec {rounds}\njnz 2b"
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! loads {
    () => {
        ".rept 16\nldr {at}, [{at}]\n.endr\nsubs {rounds}, {rounds}, #1\nb.ne 2b"
    };
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
unsafe fn follow_some(mut at: *const u8, rounds: u64) -> *const u8 {
    // SAFETY: the loads read what the caller guarantees, and nothing is written.
    unsafe {
        std::arch::asm!(
            "2:", loads!(),
            at = inout(reg) at, rounds = inout(reg) rounds => _, options(nostack, readonly),
        );
    }
    at
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
unsafe fn follow_some(mut at: *const u8, rounds: u64) -> *const u8 {
    for _ in 0..rounds * UNROLLED {
        // SAFETY: the caller's. A volatile load is never left out.
        at = unsafe { at.cast::<*const u8>().read_volatile() };
    }
    at
}

/// Returns the offset of a line beside the one before it.
pub(crate) fn place_packed(slot: usize) -> usize {
    slot * SLOT
}

/// Returns the offset of a line on a page of its own, at a place that differs from page to page: 64
/// pages in a row use all 64 lines of a page once.
pub(crate) fn place_apart(page: usize) -> usize {
    page * SMALL_PAGE + (page * 37 + page / 64 * 11) % 64 * SLOT
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::mapped::Pages;
    use std::collections::HashSet;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    #[test]
    fn a_cycle_visits_every_slot_once() {
        let mapped = Mapped::new(1 << 20, Pages::Small).unwrap();
        let flag = AtomicBool::new(false);
        let mut quiet = drop::<f64>;
        let budget = Budget::new(Duration::from_secs(3600), &flag, &mut quiet);
        let mut cycle = Cycle::new(&mapped, place_packed, 7);
        for slots in [1, 2, 3, 64, 1000, 16_384] {
            assert!(cycle.grow(slots, &budget));
            let start = mapped.at(0).cast_const();
            let mut seen = HashSet::new();
            let mut at = start;
            for _ in 0..slots {
                assert_eq!((at as usize - start as usize) % SLOT, 0);
                assert!(seen.insert(at as usize));
                // SAFETY: a slot holds the address of a slot.
                at = unsafe { at.cast::<*const u8>().read() };
            }
            assert_eq!((at, seen.len()), (start, slots));
        }
        let mut orders = HashSet::new();
        for seed in 0..40 {
            let mut cycle = Cycle::new(&mapped, place_packed, seed);
            cycle.grow(4, &budget);
            // SAFETY: as above.
            orders.insert(
                (0..4)
                    .map(|i| unsafe { mapped.at(i * SLOT).cast::<usize>().read() })
                    .collect::<Vec<_>>(),
            );
        }
        assert_eq!(orders.len(), 6, "all cycles of four slots");
    }

    #[test]
    fn following_ends_where_counting_says() {
        let mapped = Mapped::new(1 << 20, Pages::Small).unwrap();
        let flag = AtomicBool::new(false);
        let mut quiet = drop::<f64>;
        let budget = Budget::new(Duration::from_secs(3600), &flag, &mut quiet);
        let mut cycle = Cycle::new(&mapped, place_packed, 3);
        cycle.grow(32, &budget);
        let start = cycle.at;
        cycle.batch_ns(16);
        let middle = cycle.at;
        cycle.batch_ns(16);
        assert!(middle != start && cycle.at == start);
        let mut loads_ps = Vec::new();
        cycle.sample(0, &budget, &mut loads_ps);
        assert_eq!(loads_ps.len(), 16);
    }
}
