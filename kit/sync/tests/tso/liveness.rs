//! Which registers a thread may still read: the others are forgotten, so that states which differ
//! in them alone are one.

use crate::expression::Expression;
use crate::program::{Instruction, Locked, Program};

/// For each instruction, and for the end, a bit for every register that is read from there on
/// before it is set. `at_end` are those that the end of a run is judged by.
pub fn live(program: &Program, at_end: u32) -> Vec<u32> {
    let count = program.instructions.len();
    let mut live = vec![0; count + 1];
    live[count] = at_end;
    // To a fixed point, which loops need.
    loop {
        let mut has_changed = false;
        for at in (0..count).rev() {
            let instruction = &program.instructions[at];
            let after = successors(instruction, at).fold(0, |after, next| after | live[next]);
            let (reads, sets) = uses(instruction);
            let now = reads | (after & !sets);
            has_changed |= live[at] != now;
            live[at] = now;
        }
        if !has_changed {
            return live;
        }
    }
}

fn successors(instruction: &Instruction, at: usize) -> impl Iterator<Item = usize> {
    let (next, jump) = match instruction {
        Instruction::Jump { to } => (None, Some(*to)),
        Instruction::Branch { otherwise, .. } => (Some(at + 1), Some(*otherwise)),
        _ => (Some(at + 1), None),
    };
    next.into_iter().chain(jump)
}

/// Registers that an instruction reads, and those that it sets.
fn uses(instruction: &Instruction) -> (u32, u32) {
    match instruction {
        Instruction::Load { register, .. } | Instruction::ReadClock { register } => {
            (0, 1 << register)
        }
        Instruction::Add { register, summand, .. } => (reads(summand), 1 << register),
        Instruction::Set { register, value } => (reads(value), 1 << register),
        Instruction::Locked { register, operation, .. } => {
            let read = match operation {
                Locked::Add(value)
                | Locked::And(value)
                | Locked::Or(value)
                | Locked::Exchange(value) => reads(value),
                Locked::CompareExchange { expected, new } => reads(expected) | reads(new),
            };
            (read, register.map_or(0, |register| 1 << register))
        }
        Instruction::Store { value, .. } => (reads(value), 0),
        Instruction::FutexWait { expected, .. } => (reads(expected), 0),
        Instruction::Await { condition }
        | Instruction::Assert { condition }
        | Instruction::Branch { condition, .. } => (reads(condition), 0),
        Instruction::Fence
        | Instruction::Interrupt { .. }
        | Instruction::FutexWake { .. }
        | Instruction::Jump { .. } => (0, 0),
    }
}

fn reads(expression: &Expression) -> u32 {
    match expression {
        Expression::Register(register) => 1 << register,
        Expression::Not(inner) => reads(inner),
        Expression::Binary(_, left, right) => reads(left) | reads(right),
        Expression::Number(_) | Expression::Word(_) | Expression::RegisterOf(..) => 0,
    }
}

/// The registers of a thread by which the end is judged.
pub fn read_at_end(expression: &Expression, of: usize) -> u32 {
    match expression {
        Expression::RegisterOf(thread, register) if *thread == of => 1 << register,
        Expression::Not(inner) => read_at_end(inner, of),
        Expression::Binary(_, left, right) => read_at_end(left, of) | read_at_end(right, of),
        _ => 0,
    }
}
