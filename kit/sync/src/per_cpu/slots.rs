//! A value for each CPU.

use super::cpus;
use super::mode::{self, Mode, Reason};
use super::rseq::{Area, Finder};
use std::num::NonZeroIsize;

/// A value alone on its pair of cache lines: processors fetch two at a time.
#[repr(C, align(128))]
#[derive(Debug, Default)]
pub(super) struct Slot<T>(pub(super) T);

/// A `T` for each CPU, each on cache lines of its own.
///
/// Which one a thread gets is a hint: it may be on another CPU before it has used it. So a `T` must
/// bear the access of several threads, as atomics do; that they are rarely on the same one makes it
/// fast. [`Counter`](super::Counter), [`List`](super::List) and [`Word`](super::Word) are made of
/// this and change their slots by restartable sequences.
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
    slots: Box<[Slot<T>]>,
    /// How many do belong to one, at most 2^16.
    cpus: u32,
    /// Where the C library's areas are, if they are used.
    offset: Option<NonZeroIsize>,
    finder: Option<Finder>,
    mode: Mode,
}

impl<T> PerCpu<T> {
    /// A value for each CPU, in the [mode](super::mode()) of this process.
    pub fn new(make: impl FnMut() -> T) -> PerCpu<T> {
        PerCpu::in_mode(mode::mode(), make)
    }

    /// The same without restartable sequences.
    pub fn with_atomics(make: impl FnMut() -> T) -> PerCpu<T> {
        PerCpu::in_mode(Mode::Atomics(Reason::Requested), make)
    }

    fn in_mode(mode: Mode, mut make: impl FnMut() -> T) -> PerCpu<T> {
        let cpus = cpus::possible();
        let slots = (0..cpus + 1).map(|_| Slot(make())).collect();
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

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut().map(|slot| &mut slot.0)
    }

    /// How many slots belong to a CPU.
    #[inline(always)]
    pub(super) fn cpus(&self) -> usize {
        self.cpus as usize
    }

    /// The first slot.
    #[inline(always)]
    pub(super) fn as_ptr(&self) -> *const Slot<T> {
        self.slots.as_ptr()
    }

    /// The slot of this index; of one that no CPU has, the slot of no CPU.
    #[inline(always)]
    pub(super) fn at(&self, index: usize) -> &T {
        &self.slots[index.min(self.cpus())].0
    }

    /// The slot that belongs to no CPU. Sections never touch it.
    #[cold]
    pub(super) fn shared(&self) -> &T {
        self.at(usize::MAX)
    }

    /// The slot that this thread may change by atomic instructions. With sections a slot of a CPU
    /// is theirs alone, so a thread that has none goes to the slot of no CPU.
    pub(super) fn for_atomics(&self) -> &T {
        match self.finder {
            None => self.at(cpus::current()),
            Some(_) => self.shared(),
        }
    }

    /// The index of the slot of this CPU.
    #[inline(always)]
    pub(super) fn index(&self) -> usize {
        let cpu = match self.area_of_libc() {
            Some(area) => area.cpu() as usize,
            None if self.finder.is_none() => cpus::current(),
            None => self.area().map_or(usize::MAX, |area| area.cpu() as usize),
        };
        cpu.min(self.cpus())
    }

    /// The area for a section, in the usual case, with nothing else in its way.
    #[inline(always)]
    pub(super) fn area_of_libc(&self) -> Option<Area> {
        self.offset.map(Area::of_libc)
    }

    /// The area for a section, in every case.
    pub(super) fn area(&self) -> Option<Area> {
        self.finder.and_then(Area::of_thread)
    }
}
