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

// No section is reached elsewhere: there is no `Area`.
#![cfg_attr(
    not(all(target_arch = "x86_64", target_pointer_width = "64", not(any(miri, loom)))),
    allow(dead_code, unreachable_code, unused_mut, unused_unsafe, unused_variables)
)]

use super::PerCpu;
use super::rseq::Area;
use crate::atomic::{AtomicPtr, AtomicU64, Padded};
use std::ptr::NonNull;

/// How a section is made.
pub(super) trait Form {
    /// So many turns of a loop before the last instruction.
    const DELAY: u32;
    /// Whether the kernel knows that it is one.
    const ARMED: bool;
    /// Where it is counted how often one with a delay was interrupted.
    fn aborts() -> *mut u64;
}

/// As it is used.
pub(super) struct Plain;

impl Form for Plain {
    const DELAY: u32 = 0;
    const ARMED: bool = true;

    fn aborts() -> *mut u64 {
        unreachable!("without a delay nothing is counted")
    }
}

/// Slots that sections may change, for the length of a call.
pub(super) struct Slots<T> {
    first: *const Padded<T>,
    cpus: u32,
}

impl<T> Slots<T> {
    #[inline(always)]
    pub(super) fn of(slots: &PerCpu<T>) -> Slots<T> {
        Slots { first: slots.slots.as_ptr(), cpus: slots.cpus }
    }
}

/// The distance of two slots, the same for all words.
const SLOT: usize = size_of::<Padded<AtomicU64>>();
const _: () = assert!(size_of::<Padded<AtomicPtr<u8>>>() == SLOT);

/// The frame of all sections, which stand between the labels 23 and 24. `body` may leave for 27,
/// with nothing done; `commit` is the one instruction that others see. What stands in `begin` is
/// done again after each abort, and what stands in `done` only once the section is over.
///
/// Operands that all have: `area`, `slots`, `cpus` (how many); `cpu` (the number that was read),
/// `at` (where its slot is), `scratch`, `aborts` (where they are counted, where they are).
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64", not(any(miri, loom))))]
macro_rules! section {
    (
        $area:expr, $slots:expr, $form:ty, $cpu:ident,
        begin: [$($begin:literal),*], body: [$($body:literal),*],
        commit: [$($commit:literal),*], done: [$($done:literal),*],
        $($operands:tt)*
    ) => {
        std::arch::asm!(
            // The descriptor: version and flags, start, length, abort handler. It has addresses,
            // so a loader must write it, and nothing afterwards.
            ".pushsection .data.rel.ro.tiebreak_rseq, \"aw\", @progbits",
            ".balign 32",
            "22: .long 0, 0",
            ".quad 23f, 24f - 23f, 25f",
            ".popsection",
            "26:",
            $($begin,)*
            ".if {armed}",
            "lea {scratch}, [rip + 22b]",
            "mov qword ptr fs:[{area} + {rseq_cs}], {scratch}",
            ".endif",
            "23:",
            "mov {cpu:e}, dword ptr fs:[{area} + {cpu_id}]",
            "cmp {cpu:e}, {cpus:e}",
            "jae 27f",
            "imul {at}, {cpu}, {slot}",
            "add {at}, {slots}",
            $($body,)*
            ".if {delay}",
            "mov {scratch:e}, {delay}",
            "28:",
            "dec {scratch:e}",
            "jnz 28b",
            ".endif",
            $($commit,)*
            "24:",
            $($done,)*
            "27:",
            // The first bytes make the signature part of an instruction, for disassemblers.
            ".pushsection .text.unlikely.tiebreak_rseq, \"ax\", @progbits",
            ".byte 0x0f, 0xb9, 0x3d",
            ".long {signature}",
            "25:",
            ".if {delay}",
            "inc qword ptr [{aborts}]",
            ".endif",
            "jmp 26b",
            ".popsection",
            $($operands)*
            area = in(reg) $area.offset(),
            slots = in(reg) $slots.first,
            cpus = in(reg) $slots.cpus,
            cpu = out(reg) $cpu,
            at = out(reg) _,
            scratch = out(reg) _,
            // Any register will do where nothing is counted.
            aborts = in(reg) match <$form>::DELAY {
                0 => $slots.first.cast_mut().cast(),
                _ => <$form>::aborts(),
            },
            delay = const <$form>::DELAY,
            cpu_id = const Area::CPU_ID,
            rseq_cs = const Area::RSEQ_CS,
            slot = const SLOT,
            signature = const Area::SIGNATURE,
            armed = const <$form>::ARMED as u32,
            options(nostack)
        )
    };
}

#[cfg(not(all(target_arch = "x86_64", target_pointer_width = "64", not(any(miri, loom)))))]
macro_rules! section {
    ($area:expr, $($rest:tt)*) => {
        match $area {}
    };
}

/// Adds to the number of this CPU; `None` if the thread is not registered: nothing was done then.
///
/// # Safety
/// The slots live for the call, and those of CPUs are changed by sections alone.
#[inline(always)]
pub(super) unsafe fn add<F: Form>(area: Area, slots: Slots<AtomicU64>, delta: u64) -> Option<()> {
    let cpu: u64;
    // SAFETY: the area is this thread's. The only other memory that is touched is the slot of index
    // `cpu`, which is below their number; it is an atomic, which may be written through a shared
    // reference.
    unsafe {
        section!(
            area, slots, F, cpu,
            begin: [],
            // Three instructions, and one register in the address: Intel's Golden Cove forwards
            // such a store to the next load at no cost; `add [first + at], delta` costs it 2.4 ns.
            body: ["mov {sum}, qword ptr [{at}]", "add {sum}, {delta}"],
            commit: ["mov qword ptr [{at}], {sum}"],
            done: [],
            sum = out(reg) _,
            delta = in(reg) delta,
        );
    }
    (cpu < u64::from(slots.cpus)).then_some(())
}

/// Puts a node in front of the list of this CPU; `None` as of [`add`]. A node's first word is the
/// next one.
///
/// # Safety
/// As of [`add`], and the node is the caller's alone.
#[inline(always)]
pub(super) unsafe fn push<F: Form, N>(
    area: Area,
    slots: Slots<AtomicPtr<N>>,
    node: NonNull<N>,
) -> Option<()> {
    let cpu: u64;
    // SAFETY: as of `add`; before the last instruction the node is written too, which no other
    // has, and which is written again after an abort.
    unsafe {
        section!(
            area, slots, F, cpu,
            begin: [],
            body: [
                "mov {head}, qword ptr [{at}]",
                "mov qword ptr [{node}], {head}"
            ],
            commit: ["mov qword ptr [{at}], {node}"],
            done: [],
            head = out(reg) _,
            node = in(reg) node.as_ptr(),
        );
    }
    (cpu < u64::from(slots.cpus)).then_some(())
}

/// Takes the first node of the list of this CPU; `None` if there is none, or as of [`add`].
///
/// # Safety
/// As of [`add`]; what is in the lists are nodes that only sections take out.
#[inline(always)]
pub(super) unsafe fn pop<F: Form, N>(area: Area, slots: Slots<AtomicPtr<N>>) -> Option<NonNull<N>> {
    let cpu: u64;
    let head: *mut N;
    // SAFETY: as of `add`. The node that was first when `head` was read is still in the list when
    // its `next` is read: to take it out another section would have to run on this CPU in between,
    // and then this one would not go on.
    unsafe {
        section!(
            area, slots, F, cpu,
            begin: ["xor {head:e}, {head:e}"],
            body: [
                "mov {head}, qword ptr [{at}]",
                "test {head}, {head}",
                "jz 27f",
                "mov {next}, qword ptr [{head}]"
            ],
            commit: ["mov qword ptr [{at}], {next}"],
            done: [],
            head = out(reg) head,
            next = out(reg) _,
        );
    }
    (cpu < u64::from(slots.cpus)).then(|| NonNull::new(head))?
}

/// If this CPU is `seen_cpu` and its word is `expected`, stores `new` in it; `None` if not, or as
/// of [`add`].
///
/// # Safety
/// As of [`add`].
#[inline(always)]
pub(super) unsafe fn compare_and_store<F: Form>(
    area: Area,
    slots: Slots<AtomicU64>,
    seen_cpu: u32,
    expected: u64,
    new: u64,
) -> Option<()> {
    let cpu: u64;
    let stored: u64;
    // SAFETY: as of `add`.
    unsafe {
        section!(
            area, slots, F, cpu,
            begin: ["xor {stored:e}, {stored:e}"],
            body: [
                "cmp {cpu:e}, {seen_cpu:e}",
                "jne 27f",
                "cmp {expected}, qword ptr [{at}]",
                "jne 27f"
            ],
            commit: ["mov qword ptr [{at}], {new}"],
            done: ["mov {stored:e}, 1"],
            seen_cpu = in(reg) seen_cpu,
            expected = in(reg) expected,
            new = in(reg) new,
            stored = out(reg) stored,
        );
    }
    (cpu < u64::from(slots.cpus) && stored != 0).then_some(())
}
