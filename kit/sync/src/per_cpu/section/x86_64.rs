//! The sections in the language of x86-64.

use super::{Area, Ended, Form, Slots};
use super::{AtomicPtr, AtomicU64};
use crate::per_cpu::slots::Slot;
use std::arch::asm;
use std::ptr::NonNull;

/// The distance of two slots, the same for all words.
const SLOT: usize = size_of::<Slot<AtomicU64>>();
const _: () = assert!(size_of::<Slot<AtomicPtr<u8>>>() == SLOT);

/// The frame of all sections, which stand between the labels 23 and 24. `body` may leave for 27,
/// with nothing done; `commit` is the one instruction that others see. What stands in `begin` is
/// done again after each abort, and what stands in `done` only once the section is over.
///
/// Operands that all have: `area`, `slots`, `cpus` (how many); `cpu` (the number that was read),
/// `at` (where its slot is), `scratch`, `aborts` (where they are counted, where they are).
macro_rules! section {
    (
        $area:expr, $slots:expr, $form:ty, $cpu:ident, $aborts:ident,
        begin: [$($begin:literal),*], body: [$($body:literal),*],
        commit: [$($commit:literal),*], done: [$($done:literal),*],
        $($operands:tt)*
    ) => {
        asm!(
            // The descriptor: version and flags, start, length, abort handler. It has addresses,
            // so a loader must write it, and nobody afterwards.
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
                _ => &raw mut $aborts,
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

/// Adds to the number of this CPU.
///
/// # Safety
/// The slots live for the call, and those of CPUs are changed by sections alone.
#[inline(always)]
pub(crate) unsafe fn add<F: Form>(area: Area, slots: Slots<AtomicU64>, delta: u64) -> Ended<()> {
    let cpu: u64;
    let mut aborts = 0_u64;
    // SAFETY: the area is this thread's. The only other memory that is touched is the slot of index
    // `cpu`, which is below their number; it is an atomic, which may be written through a shared
    // reference.
    unsafe {
        section!(
            area, slots, F, cpu, aborts,
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
    Ended { outcome: (cpu < u64::from(slots.cpus)).then_some(()), aborts }
}

/// Puts a node in front of the list of this CPU. A node's first word is the next one.
///
/// # Safety
/// As of [`add`], and the node is the caller's alone.
#[inline(always)]
pub(crate) unsafe fn push<F: Form, N>(
    area: Area,
    slots: Slots<AtomicPtr<N>>,
    node: NonNull<N>,
) -> Ended<()> {
    let cpu: u64;
    let mut aborts = 0_u64;
    // SAFETY: as of `add`; before the last instruction the node is written too, which nobody else
    // has, and which is written again after an abort.
    unsafe {
        section!(
            area, slots, F, cpu, aborts,
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
    Ended { outcome: (cpu < u64::from(slots.cpus)).then_some(()), aborts }
}

/// Takes the first node of the list of this CPU.
///
/// # Safety
/// As of [`add`]; what is in the lists are nodes that only sections take out.
#[inline(always)]
pub(crate) unsafe fn pop<F: Form, N>(
    area: Area,
    slots: Slots<AtomicPtr<N>>,
) -> Ended<Option<NonNull<N>>> {
    let cpu: u64;
    let mut aborts = 0_u64;
    let head: *mut N;
    // SAFETY: as of `add`. The node that was first when `head` was read is still in the list when
    // its `next` is read: to take it out another section would have to run on this CPU in between,
    // and then this one would not go on.
    unsafe {
        section!(
            area, slots, F, cpu, aborts,
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
    Ended { outcome: (cpu < u64::from(slots.cpus)).then(|| NonNull::new(head)), aborts }
}

/// If this CPU is `seen_cpu` and its word is `expected`, stores `new` in it; gives whether it did.
///
/// # Safety
/// As of [`add`].
#[inline(always)]
pub(crate) unsafe fn compare_and_store<F: Form>(
    area: Area,
    slots: Slots<AtomicU64>,
    seen_cpu: u32,
    expected: u64,
    new: u64,
) -> Ended<bool> {
    let cpu: u64;
    let mut aborts = 0_u64;
    let stored: u64;
    // SAFETY: as of `add`.
    unsafe {
        section!(
            area, slots, F, cpu, aborts,
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
    Ended { outcome: (cpu < u64::from(slots.cpus)).then_some(stored != 0), aborts }
}
