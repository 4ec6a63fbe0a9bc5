//! Data of a CPU, changed without atomic instructions.
//!
//! Threads that run on different CPUs and change different memory need not agree on anything; those
//! of one CPU run one after the other. So what is kept *for each CPU* could be changed by ordinary
//! instructions, if only a thread could not lose its CPU in the middle. A restartable sequence
//! (`rseq(2)`, since Linux 4.18) is a stretch of code that the kernel begins again if that happens
//! in it: others see it as a whole or not at all.
//!
//! | type | a CPU has | changed by |
//! |---|---|---|
//! | [`Counter`] | a number | [`add`](Counter::add); all have a [`sum`](Counter::sum) |
//! | [`List`] | a stack of nodes | [`push`](List::push), [`pop`](List::pop) |
//! | [`Word`] | a word | [`compare_and_store`](Word::compare_and_store) |
//! | [`PerCpu`] | any value that bears several threads | what the value has |
//!
//! # Two modes
//!
//! [`mode()`] says which is in force, and why. [`Mode::Rseq`] needs x86-64 and threads that are
//! registered with the kernel: glibc does so since 2.35. Everywhere else ([`Reason`] has the list)
//! the same types work by atomic instructions on the slot of `sched_getcpu(3)`: those are rarely
//! contended and always right, and cost what an atomic instruction costs. With musl or an older
//! glibc a program may have its threads registered by this crate ([`Choice::OwnRegistration`]). On
//! AArch64 sections are not offered: none was written and tested.
//!
//! Each object has one mode for as long as it lives, so its slots are never changed by sections and
//! by atomic instructions at once.
//!
//! # In the handler of a signal
//!
//! [`Counter::add`], [`List::push`] and [`List::pop`] neither allocate nor lock, and may be called
//! there. The exception is a thread that this crate is to register ([`Registration::Own`]) and that
//! has not used anything of this module yet: its first use has the thread's end taken note of, for
//! which the Rust and C libraries allocate. So in such a process let each thread use something once
//! before it can get such a signal; [`PerCpu::here`] is enough.
//!
//! # Why it is right
//!
//! The theorem: of two sections on the slot of one CPU, one happens wholly before the other. The
//! second can only run on that CPU after the first has lost it or has ended; if it has lost it
//! before its last instruction, it begins again, and no thread has seen anything of it. What this
//! rests on, and who must hold it:
//!
//! - A thread that is interrupted in a section goes on at the abort handler: the kernel, for every
//!   thread that is registered.
//! - A thread that is not registered has a number above all CPUs: the kernel and the C library,
//!   which write that mark. Sections look at it.
//! - Slots of CPUs are changed by sections alone: this crate. A thread that cannot have a section
//!   uses a slot that is no CPU's, by atomic instructions.
//! - Each thread has a thread pointer and an area of its own, whatever makes threads. It is not so
//!   in the child of `vfork(2)`, or of a `clone(2)` by hand that keeps the parent's thread pointer;
//!   there nothing of this may be used.
//!
//! So in the cases that come to mind:
//!
//! - *Signals*: a section that a signal interrupts begins again after the handler, which may use
//!   the same objects.
//! - *Fork*: the child's thread keeps its registration and gets its copy of all slots.
//! - *Hotplug*: there is a slot for each CPU that the machine can ever have. The slot of one that
//!   is gone keeps what it has. A CPU beyond them, should there be one, uses the slot that is no
//!   CPU's.
//! - *Reading from elsewhere* ([`Counter::sum`]) sees each slot before or after a section, as the
//!   one store that others can see is one aligned word.
//! - *Unloading* (`dlclose`): the kernel may look at what describes a section after its end. So
//!   where [`Mode::Rseq`] is chosen, the library that this code is linked into is marked as one
//!   that stays (`RTLD_NODELETE`). To empty the thread's pointer after each section instead would
//!   cost a store each time.
//! - *Debuggers*: who steps through a section by single instructions never ends it, as each step
//!   interrupts it. Set the next stop behind it.
//!
//! # History
//!
//! Until Linux had this call, a thread could notice its preemption by a null selector in the
//! register GS (Paul Khuong, 2018): writing 0 to it set the base of the segment to 0, and the
//! kernel, which did not save that, put back the old base when the thread ran again. A write
//! relative to GS then went elsewhere. Kernels that save the base itself, as Linux does since 5.9
//! on CPUs with FSGSBASE, put back the 0. The example `null_gs` of this crate says which it is.
//! Nothing here uses it.

mod list;
mod mode;
mod rseq;
mod section;

#[cfg(all(test, not(any(miri, loom))))]
mod tests;

pub use list::{List, Node};
pub use mode::{Choice, Mode, Reason, Registration, choose, mode};

use crate::atomic::{AtomicU64, Ordering, Padded};
use crate::interrupts::CpuSet;
use rseq::{Area, Finder};
use section::{Form, Plain, Slots};
use std::num::NonZeroIsize;

/// A `T` for each CPU, each on cache lines of its own.
///
/// Which one a thread gets is a hint: it may be on another CPU before it has used it. So a `T` must
/// bear the access of several threads, as atomics do; that they are rarely on the same one makes it
/// fast. [`Counter`], [`List`] and [`Word`] are made of this and change their slots by restartable
/// sequences.
///
/// Representation: an array of `T`s, 128 bytes or a multiple each: one for each CPU that there can
/// be on this machine, also if it is plugged in later, and one for threads of which the CPU is not
/// known.
///
/// Cost: [`here`](Self::here) is two loads where the C library has registered the thread with
/// `rseq(2)`, else a call of `sched_getcpu`.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use tiebreak_sync::per_cpu::PerCpu;
///
/// let requests = PerCpu::new(|| AtomicU64::new(0));
/// requests.here().fetch_add(1, Ordering::Relaxed);
/// let total: u64 = requests.iter().map(|count| count.load(Ordering::Relaxed)).sum();
/// assert_eq!(total, 1);
/// ```
#[derive(Debug)]
pub struct PerCpu<T> {
    /// The last one belongs to no CPU.
    slots: Box<[Padded<T>]>,
    /// How many do belong to one, at most 2^16.
    cpus: u32,
    /// Where the C library's areas are, if they are used.
    offset: Option<NonZeroIsize>,
    finder: Option<Finder>,
    mode: Mode,
}

impl<T> PerCpu<T> {
    /// A value for each CPU, in the [mode](mode()) of this process.
    pub fn new(make: impl FnMut() -> T) -> PerCpu<T> {
        PerCpu::in_mode(mode(), make)
    }

    /// The same without restartable sequences.
    pub fn with_atomics(make: impl FnMut() -> T) -> PerCpu<T> {
        PerCpu::in_mode(Mode::Atomics(Reason::Requested), make)
    }

    fn in_mode(mode: Mode, mut make: impl FnMut() -> T) -> PerCpu<T> {
        let cpus = possible_cpus();
        let slots = (0..cpus + 1).map(|_| Padded(make())).collect();
        let finder = Finder::of(mode);
        let offset = match finder {
            Some(Finder::Libc(offset)) => Some(offset),
            _ => None,
        };
        PerCpu { slots, cpus: cpus as u32, offset, finder, mode }
    }

    /// By what it is changed, for as long as it lives.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The value of the CPU on which this thread ran a moment ago.
    #[inline]
    pub fn here(&self) -> &T {
        self.at(self.index())
    }

    /// All values: of CPU 0 first, and last the one that is no CPU's.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().map(|slot| &slot.0)
    }

    fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut().map(|slot| &mut slot.0)
    }

    /// The slot of this index; of one that no CPU has, the slot of no CPU.
    #[inline(always)]
    fn at(&self, index: usize) -> &T {
        &self.slots[index.min(self.cpus as usize)].0
    }

    /// The slot that belongs to no CPU. Sections never touch it.
    #[cold]
    fn shared(&self) -> &T {
        self.at(usize::MAX)
    }

    /// The slot that this thread may change by atomic instructions. With sections a slot of a CPU
    /// is theirs alone, so a thread that has none goes to the slot of no CPU.
    fn for_atomics(&self) -> &T {
        match self.finder {
            None => self.at(current_cpu()),
            Some(_) => self.shared(),
        }
    }

    /// The index of the slot of this CPU.
    #[inline(always)]
    fn index(&self) -> usize {
        let cpu = match self.area_of_libc() {
            Some(area) => area.cpu() as usize,
            None if self.finder.is_none() => current_cpu(),
            None => self.area().map_or(usize::MAX, |area| area.cpu() as usize),
        };
        cpu.min(self.cpus as usize)
    }

    /// The area for a section, in the usual case, with nothing else in its way.
    #[inline(always)]
    fn area_of_libc(&self) -> Option<Area> {
        self.offset.map(Area::of_libc)
    }

    /// The area for a section, in every case.
    fn area(&self) -> Option<Area> {
        self.finder.and_then(Area::of_thread)
    }
}

/// One more than the largest number that a CPU of this machine can get, also if it is plugged in
/// later. Where the kernel does not say so: one more than the largest of those that are known now.
/// It is no promise: code that indexes by a CPU's number checks it.
fn possible_cpus() -> usize {
    if cfg!(any(miri, loom)) {
        // So that threads meet in a slot, and the model stays small.
        return 1;
    }
    let listed = std::fs::read_to_string("/sys/devices/system/cpu/possible").ok();
    // SAFETY: a number goes in, a number comes out.
    let configured = || unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
    let cpus = listed.and_then(|text| end_of(&text));
    cpus.unwrap_or_else(|| usize::try_from(configured()).unwrap_or(1)).clamp(1, CPUS_MAX)
}

/// A list that is longer is not believed: memory is taken for each.
const CPUS_MAX: usize = 1 << 16;

/// The end of a list as `0-3,8-11` has it, here 12.
fn end_of(list: &str) -> Option<usize> {
    list.parse::<CpuSet>().ok()?.iter().last().map(|last| last + 1)
}

/// The CPU on which this thread ran a moment ago; `usize::MAX` where that is unknown.
#[inline]
pub(crate) fn current_cpu() -> usize {
    if cfg!(any(miri, loom)) {
        // Neither tool knows CPUs.
        return 0;
    }
    // SAFETY: it takes nothing and changes nothing.
    let cpu = unsafe { libc::sched_getcpu() };
    // -1 becomes the largest number.
    cpu as isize as usize
}

/// A number that many threads add to and somebody reads now and then.
///
/// The theorem: [`sum`](Self::sum) has every [`add`](Self::add) that happened before it, none
/// twice, and of those that run at the same time some. It is no snapshot: of `add(1)` followed by
/// `add(-1)` at that time, it may have the second alone. Once no thread adds, it is exact. The
/// assumptions are those of the [module](self#why-it-is-right).
///
/// Representation: a 64-bit number for each CPU on 128 bytes of its own, and one for threads
/// without a section; all wrap.
///
/// Cost: `add` is one section of about a dozen instructions, none of them atomic; in the mode of
/// atomics a call of `sched_getcpu` and one atomic addition. `sum` reads all numbers.
///
/// ```
/// use tiebreak_sync::per_cpu::Counter;
///
/// let requests = Counter::new();
/// std::thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| (0..1000).for_each(|_| requests.add(1)));
///     }
/// });
/// requests.add(-50);
/// assert_eq!(requests.sum(), 3950);
/// ```
#[derive(Debug)]
pub struct Counter {
    numbers: PerCpu<AtomicU64>,
}

impl Counter {
    /// Zero, in the [mode](mode()) of this process.
    pub fn new() -> Counter {
        Counter { numbers: PerCpu::new(|| AtomicU64::new(0)) }
    }

    /// Zero, by atomic instructions.
    pub fn with_atomics() -> Counter {
        Counter { numbers: PerCpu::with_atomics(|| AtomicU64::new(0)) }
    }

    /// By what it is changed.
    pub fn mode(&self) -> Mode {
        self.numbers.mode()
    }

    /// Adds, and wraps at the ends of 64 bits. It may be called in a signal handler, [with one
    /// exception](self#in-the-handler-of-a-signal).
    #[inline]
    pub fn add(&self, delta: i64) {
        self.add_as::<Plain>(delta);
    }

    /// The sum of what was added.
    pub fn sum(&self) -> i64 {
        // Relaxed: a number that happened before is seen whatever the order, and of the others
        // nothing is promised.
        let numbers = self.numbers.iter().map(|number| number.load(Ordering::Relaxed));
        numbers.fold(0, u64::wrapping_add) as i64
    }

    #[inline(always)]
    fn add_as<F: Form>(&self, delta: i64) {
        let area = self.numbers.area_of_libc();
        if area.and_then(|area| self.add_by_section::<F>(area, delta)).is_none() {
            self.add_otherwise::<F>(delta);
        }
    }

    #[inline(always)]
    fn add_by_section<F: Form>(&self, area: Area, delta: i64) -> Option<()> {
        // SAFETY: the slots live as long as `self`, and those of CPUs are only changed here where
        // there are areas.
        unsafe { section::add::<F>(area, Slots::of(&self.numbers), delta as u64) }
    }

    /// Out of the way: where only this crate has registered, and by atomics.
    #[cold]
    fn add_otherwise<F: Form>(&self, delta: i64) {
        let area = self.numbers.area();
        if area.and_then(|area| self.add_by_section::<F>(area, delta)).is_none() {
            // Relaxed: an addition says nothing of other memory.
            self.numbers.for_atomics().fetch_add(delta as u64, Ordering::Relaxed);
        }
    }
}

impl Default for Counter {
    fn default() -> Counter {
        Counter::new()
    }
}

/// A word for each CPU, changed if it is what one expects: the base of other structures (who owns
/// this CPU's buffer, how far it is filled, which state it is in).
///
/// The theorem: when [`compare_and_store`](Self::compare_and_store) gives `Ok`, the word of the CPU
/// that was seen was changed from the value that was seen to the new one in one step; no change of
/// it was in between. It may have changed to something else and back before that step: a word that
/// must not be mistaken so has a number in it that only grows. The assumptions are those of the
/// [module](self#why-it-is-right).
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
    /// The same value for each CPU, in the [mode](mode()) of this process.
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
        // Acquire: pairs with the store of this value.
        ObservedWord { cpu: index as u32, value: self.words.at(index).load(Ordering::Acquire) }
    }

    /// Stores `new` in the word that was seen, if it still is what was seen. What this thread wrote
    /// before is seen by a thread that loads the new value.
    ///
    /// # Errors
    /// What there is now to see. Nothing was stored: the word was another, or (by sections) this
    /// thread is on another CPU.
    #[inline]
    pub fn compare_and_store(&self, seen: ObservedWord, new: u64) -> Result<(), ObservedWord> {
        self.compare_and_store_as::<Plain>(seen, new)
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

    #[inline(always)]
    fn compare_and_store_as<F: Form>(
        &self,
        seen: ObservedWord,
        new: u64,
    ) -> Result<(), ObservedWord> {
        let area = self.words.area_of_libc();
        match area.and_then(|area| self.store_by_section::<F>(area, seen, new)) {
            Some(()) => Ok(()),
            None => self.store_otherwise::<F>(seen, new),
        }
    }

    #[inline(always)]
    fn store_by_section<F: Form>(&self, area: Area, seen: ObservedWord, new: u64) -> Option<()> {
        let (ObservedWord { cpu, value }, slots) = (seen, Slots::of(&self.words));
        // SAFETY: the slots live as long as `self`, and those of CPUs are only changed here where
        // there are areas. A section is never on the slot of no CPU.
        unsafe { section::compare_and_store::<F>(area, slots, cpu, value, new) }
    }

    /// Out of the way: where the word is another, where only this crate has registered, and
    /// by atomics.
    #[cold]
    fn store_otherwise<F: Form>(&self, seen: ObservedWord, new: u64) -> Result<(), ObservedWord> {
        let area = self.words.area();
        let stored = area.and_then(|area| self.store_by_section::<F>(area, seen, new));
        stored.map_or_else(|| self.compare_and_swap(seen, new), Ok)
    }

    /// By atomics, where they are allowed.
    fn compare_and_swap(&self, seen: ObservedWord, new: u64) -> Result<(), ObservedWord> {
        let is_of_a_cpu = seen.cpu < self.words.cpus;
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
