//! Restartable sequences: short stretches of code that happen as a whole on one CPU, or not at all.
//!
//! A thread that is interrupted in one (another thread gets the CPU, a signal comes, it wakes on
//! another CPU) does not go on where it was: the kernel sets it to the abort handler, which begins
//! again. So between the first instruction of a section and its last one no other thread ran on
//! this CPU, and what a section does to the slot of its CPU is never mixed with another section on
//! it. The last instruction is the only one whose effect others can see; before it a section may be
//! left at any point as if it had never begun.
//!
//! What each of them must have, and has through the frame that they share:
//!
//! 1. The thread's `rseq_cs` is set by the last instruction *before* the section, so that there is
//!    no instruction between the two at which an interrupt would find an unarmed section.
//! 2. The CPU's number is read inside. What is read before may be old.
//! 3. It is compared with the number of slots: a thread that is not registered has a number above
//!    all, and leaves.
//! 4. The store that others see is the last instruction.
//! 5. Nothing is called, and no stack is touched.
//! 6. The abort handler lies outside and has the signature before it.
//! 7. Its descriptor stays in memory. `rseq_cs` points to it until the kernel looks next, which may
//!    be after the section has long ended; so a library that has sections is never unloaded.
//!
//! For tests alone each section is made with a delay before its last instruction, so that it is
//! really interrupted, and without 1, so that it is seen to go wrong.
//!
//! Memory order: a section's loads and stores are ordinary ones, on x86-64 with acquire and release
//! order; sections of one CPU are in the order in which they ran on it; and a thread that moves to
//! another CPU takes its stores along, as the kernel's switch is a full fence.

use super::rseq::Area;
use super::slots::{PerCpu, Slot};
use crate::atomic::{AtomicPtr, AtomicU64};

/// How a section is made.
// Nobody comes to a section elsewhere.
#[cfg_attr(any(miri, loom, not(target_arch = "x86_64")), allow(dead_code))]
pub(super) trait Form {
    /// So many turns of a loop before the last instruction.
    const DELAY: u32;
    /// Whether the kernel is told that it is one.
    const ARMED: bool;
}

/// As it is used.
pub(super) struct Plain;

impl Form for Plain {
    const DELAY: u32 = 0;
    const ARMED: bool = true;
}

/// Slots that sections may change, for the length of a call.
#[cfg_attr(any(miri, loom, not(target_arch = "x86_64")), allow(dead_code))]
pub(super) struct Slots<T> {
    first: *const Slot<T>,
    cpus: u32,
}

impl<T> Slots<T> {
    #[inline(always)]
    pub(super) fn of(slots: &PerCpu<T>) -> Slots<T> {
        Slots { first: slots.as_ptr(), cpus: slots.cpus() as u32 }
    }
}

/// What came of a section.
pub(super) struct Ended<T> {
    /// `None` if the thread is not registered: nothing was done then.
    pub(super) outcome: Option<T>,
    /// How often it was interrupted.
    #[cfg_attr(not(test), allow(dead_code))]
    pub(super) aborts: u64,
}

#[cfg(all(target_arch = "x86_64", target_pointer_width = "64", not(any(miri, loom))))]
#[path = "section/x86_64.rs"]
mod platform;

#[cfg(not(all(target_arch = "x86_64", target_pointer_width = "64", not(any(miri, loom)))))]
#[path = "section/none.rs"]
mod platform;

pub(super) use platform::{add, compare_and_store, pop, push};
