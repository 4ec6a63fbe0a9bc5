//! A word for each CPU.

use super::Mode;
use super::rseq::Area;
use super::section::{self, Ended, Form, Plain, Slots};
use super::slots::PerCpu;
use crate::atomic::{AtomicU64, Ordering};

/// A word for each CPU, changed if it is what one expects: the base of other structures (who owns
/// this CPU's buffer, how far it is filled, which state it is in).
///
/// The theorem: when [`compare_and_store`](Self::compare_and_store) gives `Ok`, the word of the CPU
/// that was seen was changed from the value that was seen to the new one in one step; no change of
/// it was in between. It may have changed to something else and back before that step: a word that
/// must not be mistaken so has a number in it that only grows. The assumptions are those of the
/// [module](super#why-it-is-right).
///
/// Representation: a 64-bit word for each CPU on 128 bytes of its own, and one for threads without
/// a section.
///
/// Cost: [`load`](Self::load) is two loads; a `compare_and_store` one section, in the mode of
/// atomics one compare-and-swap.
///
/// ```
/// use tiebreak_sync::per_cpu::Word;
///
/// let filled = Word::new(0);
/// // Room for 16 bytes in this CPU's buffer, where there is any.
/// let start = filled.update(|bytes| (bytes + 16 <= 4096).then_some(bytes + 16));
/// assert_eq!(start, Ok(0));
/// assert_eq!(filled.values().sum::<u64>(), 16);
/// ```
#[derive(Debug)]
pub struct Word {
    words: PerCpu<AtomicU64>,
}

/// What a thread has seen: a CPU, and its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObservedWord {
    cpu: u32,
    value: u64,
}

impl ObservedWord {
    /// The number of the CPU, or one above all for the word that is no CPU's: the index into
    /// [`Word::values`].
    pub fn cpu(self) -> usize {
        self.cpu as usize
    }

    /// Its word.
    pub fn value(self) -> u64 {
        self.value
    }
}

impl Word {
    /// The same value for each CPU, in the [mode](super::mode()) of this process.
    pub fn new(value: u64) -> Word {
        Word { words: PerCpu::new(|| AtomicU64::new(value)) }
    }

    /// The same value for each CPU, by atomic instructions.
    pub fn with_atomics(value: u64) -> Word {
        Word { words: PerCpu::with_atomics(|| AtomicU64::new(value)) }
    }

    /// By what it is changed.
    pub fn mode(&self) -> Mode {
        self.words.mode()
    }

    /// The word of this CPU. What others wrote before they stored it is seen too.
    #[inline]
    pub fn load(&self) -> ObservedWord {
        let index = self.words.index();
        // Acquire: pairs with the store of whoever stored this value.
        ObservedWord { cpu: index as u32, value: self.words.at(index).load(Ordering::Acquire) }
    }

    /// Stores `new` in the word that was seen, if it still is what was seen. What this thread wrote
    /// before is seen by whoever loads the new value.
    ///
    /// # Errors
    /// What there is now to see. Nothing was stored: the word was another, or (by sections) this
    /// thread is on another CPU.
    #[inline]
    pub fn compare_and_store(&self, seen: ObservedWord, new: u64) -> Result<(), ObservedWord> {
        self.compare_and_store_as::<Plain>(seen, new).0
    }

    /// Replaces this CPU's word by what `next` makes of it and gives what it was. `next` is called
    /// again as long as the word changes, or this thread's CPU.
    ///
    /// # Errors
    /// `next` gave `None`: the word of which it did.
    #[inline]
    pub fn update(&self, mut next: impl FnMut(u64) -> Option<u64>) -> Result<u64, u64> {
        let mut seen = self.load();
        loop {
            let new = next(seen.value).ok_or(seen.value)?;
            match self.compare_and_store(seen, new) {
                Ok(()) => return Ok(seen.value),
                Err(now) => seen = now,
            }
        }
    }

    /// The words of all CPUs, that of CPU 0 first, and last the one that is no CPU's. It is no
    /// snapshot.
    pub fn values(&self) -> impl Iterator<Item = u64> {
        // Acquire: as of `load`.
        self.words.iter().map(|word| word.load(Ordering::Acquire))
    }

    /// Gives how often the section was interrupted, too.
    #[inline(always)]
    pub(super) fn compare_and_store_as<F: Form>(
        &self,
        seen: ObservedWord,
        new: u64,
    ) -> (Result<(), ObservedWord>, u64) {
        let area = self.words.area_of_libc();
        match area.map(|area| self.store_by_section::<F>(area, seen, new)) {
            Some((true, aborts)) => (Ok(()), aborts),
            _ => self.store_otherwise::<F>(seen, new),
        }
    }

    #[inline(always)]
    fn store_by_section<F: Form>(&self, area: Area, seen: ObservedWord, new: u64) -> (bool, u64) {
        let ObservedWord { cpu, value } = seen;
        let slots = Slots::of(&self.words);
        // SAFETY: the slots live as long as `self`, and those of CPUs are only changed here where
        // there are areas. A section is never on the slot of no CPU.
        let ended = unsafe { section::compare_and_store::<F>(area, slots, cpu, value, new) };
        let Ended { outcome, aborts } = ended;
        (outcome == Some(true), aborts)
    }

    /// Out of the way: where the word is another, where nobody but this crate has registered, and
    /// by atomics.
    #[cold]
    fn store_otherwise<F: Form>(
        &self,
        seen: ObservedWord,
        new: u64,
    ) -> (Result<(), ObservedWord>, u64) {
        let area = self.words.area();
        match area.map(|area| self.store_by_section::<F>(area, seen, new)) {
            Some((true, aborts)) => (Ok(()), aborts),
            Some((false, aborts)) => (self.compare_and_swap(seen, new), aborts),
            None => (self.compare_and_swap(seen, new), 0),
        }
    }

    /// By atomics, where they are allowed.
    fn compare_and_swap(&self, seen: ObservedWord, new: u64) -> Result<(), ObservedWord> {
        let is_of_a_cpu = seen.cpu() < self.words.cpus();
        if is_of_a_cpu && matches!(self.mode(), Mode::Rseq(_)) {
            // It is for sections alone, and there was none, or it did not store.
            return Err(self.load());
        }
        let word = self.words.at(seen.cpu());
        // AcqRel: what this thread wrote before is seen with the new value, and what was written
        // before the old one is seen here.
        word.compare_exchange(seen.value, new, Ordering::AcqRel, Ordering::Relaxed)
            .map_or_else(|_| Err(self.load()), |_| Ok(()))
    }
}
