//! The two programs.
//!
//! Both run with interrupts off, so on one CPU no run is within another. Each exchanges the CPU's
//! word in the shared array: a locked instruction, and so a full fence. That is all on which the
//! clients' argument rests; neither the return from an interrupt nor the scheduler need be one.

use super::assembler::Condition::{Equal, Greater, NotEqual};
use super::assembler::Instruction::{self, *};
use super::assembler::Operand::{self, Number};
use super::assembler::Operation::{Add, And, Move, Or, ShiftLeft, ShiftRight};
use super::assembler::Register::*;
use super::assembler::Width::{Double, Word};
use super::assembler::{Helper, assemble};

/// The descriptors of the maps that the programs use.
#[derive(Clone, Copy, Debug)]
pub struct Maps {
    /// The array that clients read: one slot a CPU.
    pub slots: i32,
    /// For each CPU, the address of its idle task once that is known.
    pub idle_tasks: i32,
    /// One number: up to which time somebody waits.
    pub watermark: i32,
    /// Where a CPU reports that it has passed the watermark.
    pub ring: i32,
}

/// For interrupts: count, keep the idle flag, stamp.
pub fn interrupts(maps: Maps) -> Vec<[u8; 8]> {
    let mut program = slot_and_clock(maps);
    program.extend([
        Load(Double, R1, R8, STATE),
        Compute(And, R1, Number(1)),
        Compute(Or, R7, Operand::Register(R1)),
    ]);
    program.extend(stamp_and_wake(maps));
    assemble(&program)
}

/// For context switches: count, tell whether the CPU becomes idle, stamp.
///
/// The event's arguments are whether it was a preemption, the previous and the next task. The task
/// that still runs is the previous one. Where its number is 0 it is the idle task, which each CPU
/// has one of for ever: its address is kept. Where it is not, the next task is compared with that.
/// So nothing of the kernel's structures need be known. In Linux 5.18 alone the arguments had
/// another order: what is compared there is the previous task, which is not idle, and the flag is
/// never set. That is slower, and right.
pub fn switches(maps: Maps) -> Vec<[u8; 8]> {
    let mut program = vec![Compute(Move, R6, Operand::Register(R1))];
    program.extend(slot_and_clock(maps));
    program.extend([
        StoreNumber(Word, R10, KEY_ZERO, 0),
        Map(R1, maps.idle_tasks),
        Compute(Move, R2, Operand::Register(R10)),
        Compute(Add, R2, Number(KEY_ZERO as i32)),
        Call(Helper::MapLookup),
        JumpIf(Equal, R0, Number(0), "out"),
        Compute(Move, R9, Operand::Register(R0)),
        Call(Helper::CurrentPidTgid),
        JumpIf(NotEqual, R0, Number(0), "from a task"),
        Call(Helper::CurrentTask),
        Store(Double, R9, 0, R0),
        Jump("stamp"),
        Label("from a task"),
        Load(Double, R1, R6, NEXT_TASK),
        Load(Double, R2, R9, 0),
        JumpIf(NotEqual, R1, Operand::Register(R2), "stamp"),
        Compute(Or, R7, Number(1)),
        Load(Double, R1, R8, IDLE_COUNT),
        Compute(Add, R1, Number(1)),
        Store(Double, R8, IDLE_COUNT, R1),
        Label("stamp"),
    ]);
    program.extend(stamp_and_wake(maps));
    assemble(&program)
}

/// Offsets in a slot.
const STATE: i16 = 0;
const COUNT: i16 = 8;
const IDLE_COUNT: i16 = 16;

/// Offset in the event's arguments.
const NEXT_TASK: i16 = 16;

/// Offsets on the stack.
const CPU: i16 = -4;
const KEY_ZERO: i16 = -8;

/// `BPF_RB_FORCE_WAKEUP`.
const WAKE: i32 = 2;

/// The slot's address into R8, one more run counted, the time into R7, shifted by one.
///
/// Reading the clock waits for all loads before it. On a CPU that was idle each of them misses its
/// caches, so those of the slot and of the watermark come first, where they miss at the same time.
fn slot_and_clock(maps: Maps) -> Vec<Instruction> {
    vec![
        Call(Helper::SmpProcessorId),
        Store(Word, R10, CPU, R0),
        Map(R1, maps.slots),
        Compute(Move, R2, Operand::Register(R10)),
        Compute(Add, R2, Number(CPU as i32)),
        Call(Helper::MapLookup),
        JumpIf(Equal, R0, Number(0), "out"),
        Compute(Move, R8, Operand::Register(R0)),
        // Only to have the line: its value is read again after the fence.
        MapValue(R1, maps.watermark),
        Load(Double, R2, R1, 0),
        // Stored before the fence: after a count that has just moved, the fence is still to come.
        Load(Double, R1, R8, COUNT),
        Compute(Add, R1, Number(1)),
        Store(Double, R8, COUNT, R1),
        Call(Helper::KtimeGetNs),
        Compute(Move, R7, Operand::Register(R0)),
        Compute(ShiftLeft, R7, Number(1)),
    ]
}

/// The fence. Then, if the previous stamp was not after the watermark, a report.
///
/// The watermark is read after the fence, the daemon looks at the slots after a fence behind its
/// own store to the watermark: at least one sees the other, and no wake-up is lost. With no client
/// waiting the watermark is 0, and only a CPU's first stamp ever is reported.
fn stamp_and_wake(maps: Maps) -> Vec<Instruction> {
    vec![
        Exchange(R8, STATE, R7),
        Compute(ShiftRight, R7, Number(1)),
        MapValue(R1, maps.watermark),
        Load(Double, R1, R1, 0),
        JumpIf(Greater, R7, Operand::Register(R1), "out"),
        Map(R1, maps.ring),
        Compute(Move, R2, Operand::Register(R10)),
        Compute(Add, R2, Number(CPU as i32)),
        Compute(Move, R3, Number(4)),
        Compute(Move, R4, Number(WAKE)),
        Call(Helper::RingbufOutput),
        Label("out"),
        Compute(Move, R0, Number(0)),
        Exit,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_programs_assemble_and_have_one_fence_each() {
        let maps = Maps { slots: 3, idle_tasks: 4, watermark: 5, ring: 6 };
        for (program, most) in [(interrupts(maps), 40), (switches(maps), 60)] {
            assert!(program.len() <= most, "{} instructions", program.len());
            let fences = program.iter().filter(|word| word[0] == 0xdb).count();
            assert_eq!(fences, 1);
            assert_eq!(program.last().map(|word| word[0]), Some(0x95));
        }
    }
}
