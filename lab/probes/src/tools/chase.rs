//! A chain of loads that each wait for the one before, and loads that no cache answers.
//!
//! What a machine says of its last cache is no measure of what a program gets of it: a guest of a
//! machine shares it with others. A load of a line that was flushed just before comes from memory
//! whatever the caches hold, so a latency near that of flushed lines is memory's.

use super::*;

/// A latency is memory's if it is at least this share of what a load of a flushed line takes. Lines
/// that are flushed and loaded again may find their DRAM row open, which takes up to a fifth less
/// time; caches answer in two thirds of the time at most.
pub(crate) const MEMORY_SHARE: f64 = 0.75;
/// Bytes of a slot: a line on most machines. Where a line is longer, two slots share it.
pub(crate) const SLOT: usize = 64;
/// Wanted duration of a batch.
const BATCH_NS: u64 = 10_000;
/// Number of slots that are added between two looks at the budget.
const STEP: usize = 1 << 15;
/// The fewest and the most batches of a sample.
const BATCHES: [usize; 2] = [16, 4000];
/// Number of lines that are flushed at a time.
const FLUSHED: usize = 512;

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
        while self.slots < slots && !(self.slots.is_multiple_of(STEP) && budget.is_spent()) {
            let [old, new] = [self.random.below(self.slots), self.slots]
                .map(|slot| self.mapped.at((self.place)(slot)));
            // SAFETY: both are slots: aligned, within the mapping, and not in use elsewhere.
            unsafe {
                let next = old.cast::<*const u8>().replace(new);
                new.cast::<*const u8>().write(next);
            }
            self.slots += 1;
        }
        self.slots == slots
    }

    /// Returns how many slots it has.
    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// Times a number of loads. The loop that contains them costs nothing: a processor runs it
    /// while it waits for a load.
    pub(crate) fn batch_ns(&mut self, loads: u64) -> u64 {
        let mut at = self.at;
        let begin = monotonic_ns();
        for _ in 0..loads {
            // SAFETY: `at` is a slot of a cycle, which holds the address of a slot. A volatile load
            // is never left out.
            at = unsafe { at.cast::<*const u8>().read_volatile() };
        }
        let end = monotonic_ns();
        self.at = at;
        end - begin
    }

    /// Returns the time of a load of lines that were flushed just before, in picoseconds; `None`
    /// where no program may flush, and for a cycle of fewer slots than are flushed at a time.
    pub(crate) fn flushed_ps(&mut self) -> Option<u64> {
        let mut lines = [self.at; FLUSHED];
        for index in 1..FLUSHED {
            // SAFETY: every load gives the address of a slot.
            lines[index] = unsafe { lines[index - 1].cast::<*const u8>().read_volatile() };
        }
        // SAFETY: all of them are slots.
        let is_flushed = self.slots >= FLUSHED && unsafe { flush(&lines) };
        is_flushed.then(|| self.batch_ns(FLUSHED as u64) * 1000 / FLUSHED as u64)
    }

    /// Goes round once, for at most half of the time until `end_ns`, then times batches until
    /// `end_ns`; adds the time of a load in each, in picoseconds.
    pub(crate) fn sample(&mut self, end_ns: u64, budget: &Budget<'_>, loads_ps: &mut Vec<u64>) {
        let begin = monotonic_ns();
        let warm_end = begin + end_ns.saturating_sub(begin) / 2;
        let (mut walked, mut batch) = (0, BATCH_NS / 10);
        while walked < self.slots as u64 && monotonic_ns() < warm_end && !budget.is_spent() {
            let ns = self.batch_ns(batch).max(1);
            walked += batch;
            // The pace of the last batch, but no jump: that batch may have waited for the CPU.
            batch = (batch * BATCH_NS / ns).clamp(batch / 2, batch * 2).clamp(64, 16_384);
        }
        let [least, most] = BATCHES;
        for taken in 0..most {
            if budget.is_interrupted() || (taken >= least && monotonic_ns() >= end_ns) {
                break;
            }
            loads_ps.push(self.batch_ns(batch) * 1000 / batch);
        }
    }
}

/// Writes lines back, takes them out of all caches, and waits until that is done; `false` where no
/// program may do that.
///
/// # Safety
/// The addresses can be read.
pub(crate) unsafe fn flush(lines: &[*const u8]) -> bool {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the caller's; contents do not change, and every x86-64 has both instructions.
    unsafe {
        lines.iter().for_each(|at| std::arch::x86_64::_mm_clflush(*at));
        std::arch::x86_64::_mm_mfence();
    }
    cfg!(target_arch = "x86_64") && !lines.is_empty()
}

/// Returns the offset of a line next to the one before it.
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
