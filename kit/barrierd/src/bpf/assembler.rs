//! Instructions of the kernel's virtual machine, and their eight bytes.
//!
//! Only what the two programs need. The encoding is that of the kernel's
//! `Documentation/bpf/standardization/instruction-set.rst`: opcode, two registers of four bits, a
//! signed offset of 16 bits and an immediate of 32.

use std::collections::HashMap;

/// A register. `R0` has results, `R1` to `R5` arguments, `R6` to `R9` survive calls, `R10` is the
/// end of the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    /// The result of a call, and of the program.
    R0 = 0,
    /// The first argument; at the start, the event's own arguments.
    R1 = 1,
    /// The second argument.
    R2 = 2,
    /// The third argument.
    R3 = 3,
    /// The fourth argument.
    R4 = 4,
    /// Survives calls.
    R6 = 6,
    /// Survives calls.
    R7 = 7,
    /// Survives calls.
    R8 = 8,
    /// Survives calls.
    R9 = 9,
    /// The end of the stack.
    R10 = 10,
}

/// How many bytes are loaded or stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Four.
    Word = 0x00,
    /// Eight.
    Double = 0x18,
}

/// What is computed, on 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Addition.
    Add = 0x00,
    /// Bitwise or.
    Or = 0x40,
    /// Bitwise and.
    And = 0x50,
    /// Shift to the left.
    ShiftLeft = 0x60,
    /// Shift to the right, without sign.
    ShiftRight = 0x70,
    /// A copy.
    Move = 0xb0,
}

/// When a jump is taken, without sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// They are equal.
    Equal = 0x10,
    /// They are not.
    NotEqual = 0x50,
    /// The left one is greater.
    Greater = 0x20,
}

/// The right side of an operation or comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A register.
    Register(Register),
    /// A number.
    Number(i32),
}

/// A function of the kernel. The numbers are of its stable interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Helper {
    /// The address of a map's value.
    MapLookup = 1,
    /// `CLOCK_MONOTONIC`.
    KtimeGetNs = 5,
    /// The CPU's number.
    SmpProcessorId = 8,
    /// Process and thread number of the task that runs: 0 of the idle task, and only of it.
    CurrentPidTgid = 14,
    /// The address of the task that runs.
    CurrentTask = 35,
    /// Copies a record into a ring buffer.
    RingbufOutput = 130,
}

/// One instruction, or a place to jump to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// `left = left OPERATION right`.
    Compute(Operation, Register, Operand),
    /// `to = *(from + offset)`.
    Load(Width, Register, Register, i16),
    /// `*(to + offset) = from`.
    Store(Width, Register, i16, Register),
    /// `*(to + offset) = number`.
    StoreNumber(Width, Register, i16, i32),
    /// `*(to + offset) <-> register`, 64 bits, atomic and a full fence.
    Exchange(Register, i16, Register),
    /// The map behind a descriptor.
    Map(Register, i32),
    /// The address of the only value of the map behind a descriptor.
    MapValue(Register, i32),
    /// Calls the kernel.
    Call(Helper),
    /// Jumps if the condition holds.
    JumpIf(Condition, Register, Operand, &'static str),
    /// Jumps.
    Jump(&'static str),
    /// A place to jump to; no instruction.
    Label(&'static str),
    /// The end of the program.
    Exit,
}

/// The bytes of a program.
///
/// # Panics
///
/// A label is there twice, or a jump goes nowhere: a fault of who wrote the program.
pub fn assemble(program: &[Instruction]) -> Vec<[u8; 8]> {
    let labels = places(program);
    let mut code = Vec::new();
    for instruction in program {
        encode(instruction, &labels, &mut code);
    }
    code
}

/// Where each label is, in units of eight bytes.
fn places(program: &[Instruction]) -> HashMap<&'static str, usize> {
    let (mut labels, mut at) = (HashMap::new(), 0);
    for instruction in program {
        match instruction {
            Instruction::Label(name) => {
                assert!(labels.insert(*name, at).is_none(), "there are two labels '{name}'");
            }
            Instruction::Map(..) | Instruction::MapValue(..) => at += 2,
            _ => at += 1,
        }
    }
    labels
}

const REGISTER_OPERAND: u8 = 0x08;
const LOAD_NUMBER: u8 = 0x18;
const LOAD: u8 = 0x61;
const STORE_NUMBER: u8 = 0x62;
const STORE: u8 = 0x63;
/// Atomic, of eight bytes.
const EXCHANGE: u8 = 0xdb;
const JUMP: u8 = 0x05;
const COMPUTE: u8 = 0x07;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;
const PSEUDO_MAP: u8 = 1;
const PSEUDO_MAP_VALUE: u8 = 2;
const ATOMIC_EXCHANGE: i32 = 0xe1;

fn encode(
    instruction: &Instruction,
    labels: &HashMap<&'static str, usize>,
    code: &mut Vec<[u8; 8]>,
) {
    use Instruction::*;
    let next = code.len() + 1;
    let distance = |label| match labels.get(label) {
        Some(place) => (*place as isize - next as isize) as i16,
        None => panic!("there is no label '{label}'"),
    };
    code.push(match *instruction {
        Label(_) => return,
        Compute(operation, left, right) => with_operand(COMPUTE | operation as u8, left, right, 0),
        Load(width, to, from, offset) => word(LOAD | width as u8, to as u8, from as u8, offset, 0),
        Store(width, to, offset, from) => {
            word(STORE | width as u8, to as u8, from as u8, offset, 0)
        }
        StoreNumber(width, to, offset, number) => {
            word(STORE_NUMBER | width as u8, to as u8, 0, offset, number)
        }
        Exchange(to, offset, register) => {
            word(EXCHANGE, to as u8, register as u8, offset, ATOMIC_EXCHANGE)
        }
        Map(to, descriptor) => word(LOAD_NUMBER, to as u8, PSEUDO_MAP, 0, descriptor),
        MapValue(to, descriptor) => word(LOAD_NUMBER, to as u8, PSEUDO_MAP_VALUE, 0, descriptor),
        Call(helper) => word(CALL, 0, 0, 0, helper as i32),
        JumpIf(condition, left, right, label) => {
            with_operand(JUMP | condition as u8, left, right, distance(label))
        }
        Jump(label) => word(JUMP, 0, 0, distance(label), 0),
        Exit => word(EXIT, 0, 0, 0, 0),
    });
    if let Map(..) | MapValue(..) = instruction {
        // The upper half of the number, or where in the value.
        code.push([0; 8]);
    }
}

fn with_operand(opcode: u8, left: Register, right: Operand, offset: i16) -> [u8; 8] {
    match right {
        Operand::Register(right) => {
            word(opcode | REGISTER_OPERAND, left as u8, right as u8, offset, 0)
        }
        Operand::Number(number) => word(opcode, left as u8, 0, offset, number),
    }
}

/// The kernel reads it in the byte order of the machine, which is x86-64.
fn word(opcode: u8, to: u8, from: u8, offset: i16, number: i32) -> [u8; 8] {
    let ([o0, o1], [n0, n1, n2, n3]) = (offset.to_le_bytes(), number.to_le_bytes());
    [opcode, from << 4 | to, o0, o1, n0, n1, n2, n3]
}

#[cfg(test)]
mod tests {
    use super::Register::*;
    use super::*;

    fn check(instruction: Instruction, expected: &str) {
        let code = assemble(&[instruction]);
        let hex: Vec<String> = code
            .iter()
            .map(|word| word.iter().map(|byte| format!("{byte:02x}")).collect())
            .collect();
        assert_eq!(hex.join(" "), expected, "{instruction:?}");
    }

    /// As an assembler of LLVM encodes the same (`llvm-mc -triple bpfel`).
    #[test]
    fn instructions_have_their_known_bytes() {
        use Instruction::*;
        let number = Operand::Number;
        for (instruction, expected) in [
            (Compute(Operation::Move, R0, number(0)), "b700000000000000"),
            (Compute(Operation::Move, R7, Operand::Register(R0)), "bf07000000000000"),
            (Compute(Operation::Add, R2, number(-4)), "07020000fcffffff"),
            (Compute(Operation::ShiftLeft, R7, number(1)), "6707000001000000"),
            (Compute(Operation::ShiftRight, R7, number(1)), "7707000001000000"),
            (Compute(Operation::And, R1, number(1)), "5701000001000000"),
            (Compute(Operation::Or, R7, Operand::Register(R1)), "4f17000000000000"),
            (Load(Width::Double, R1, R8, 8), "7981080000000000"),
            (Load(Width::Word, R1, R8, 4), "6181040000000000"),
            (Store(Width::Word, R10, -4, R0), "630afcff00000000"),
            (Store(Width::Double, R8, 8, R1), "7b18080000000000"),
            (StoreNumber(Width::Word, R10, -8, 0), "620af8ff00000000"),
            (Exchange(R8, 0, R7), "db780000e1000000"),
            (Map(R1, 5), "1811000005000000 0000000000000000"),
            (MapValue(R1, 6), "1821000006000000 0000000000000000"),
            (Call(Helper::KtimeGetNs), "8500000005000000"),
            (Call(Helper::RingbufOutput), "8500000082000000"),
            (Exit, "9500000000000000"),
        ] {
            check(instruction, expected);
        }
    }

    #[test]
    fn jumps_count_from_the_next_instruction_and_maps_are_two() {
        use Instruction::*;
        let program = [
            JumpIf(Condition::Equal, R0, Operand::Number(0), "out"),
            Map(R1, 5),
            JumpIf(Condition::Greater, R7, Operand::Register(R1), "out"),
            JumpIf(Condition::NotEqual, R0, Operand::Number(0), "out"),
            Jump("out"),
            Label("out"),
            Exit,
        ];
        let code = assemble(&program);
        assert_eq!(code.len(), 7);
        assert_eq!(code[0], [0x15, 0, 5, 0, 0, 0, 0, 0]);
        assert_eq!(code[3], [0x2d, 0x17, 2, 0, 0, 0, 0, 0]);
        assert_eq!(code[4], [0x55, 0, 1, 0, 0, 0, 0, 0]);
        assert_eq!(code[5], [0x05, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    #[should_panic(expected = "there is no label 'a'")]
    fn a_jump_to_nowhere_is_a_fault() {
        assemble(&[Instruction::Jump("a")]);
    }

    #[test]
    #[should_panic(expected = "there are two labels 'a'")]
    fn a_label_that_is_there_twice_is_a_fault() {
        assemble(&[Instruction::Label("a"), Instruction::Label("a")]);
    }
}
