//! What the machine runs: threads as lists of instructions over named words and registers.

use crate::expression::Expression;

/// A model: memory, threads with a CPU each, and what must never be.
#[derive(Debug)]
pub struct Model {
    pub words: Vec<Word>,
    pub threads: Vec<Program>,
    /// The clock ends here; without one there are no timer interrupts.
    pub clock_end: i16,
    /// How far ahead of the client's clock that of another CPU may be.
    pub skew: i16,
    /// For each thread, the word into which its CPU's interrupts store the time.
    pub stamps: Vec<Option<usize>>,
    /// Of a run that has ended: what must not hold.
    pub never: Option<(Expression, String)>,
}

#[derive(Debug)]
pub struct Word {
    pub name: String,
    pub initial: i16,
}

#[derive(Debug, Default)]
pub struct Program {
    pub name: String,
    pub instructions: Vec<Instruction>,
    /// The line of the model that each instruction is from.
    pub lines: Vec<String>,
    /// Those with a name; the scratch registers of expressions follow.
    pub registers: Vec<String>,
    pub scratch_count: usize,
    /// For each instruction and the end, a bit for each register that is still needed.
    pub live: Vec<u32>,
}

/// One step of a thread.
#[derive(Clone, Debug)]
pub enum Instruction {
    Load {
        register: usize,
        word: usize,
    },
    Store {
        word: usize,
        value: Expression,
    },
    /// `inc` or `xadd` without `lock`: a load and a store of one instruction. Others may act
    /// between the two, but no interrupt comes there.
    Add {
        register: usize,
        word: usize,
        summand: Expression,
        result: AddResult,
    },
    /// A locked instruction: the buffer is empty, then all of it at once.
    Locked {
        register: Option<usize>,
        word: usize,
        operation: Locked,
    },
    /// `mfence`: the buffer is empty.
    Fence,
    /// An interrupt is sent to the CPU of a thread, and waited for.
    Interrupt {
        thread: usize,
    },
    FutexWait {
        word: usize,
        expected: Expression,
        is_timed: bool,
    },
    FutexWake {
        word: usize,
    },
    ReadClock {
        register: usize,
    },
    /// Goes on once the condition holds: a loop that spins.
    Await {
        condition: Expression,
    },
    Assert {
        condition: Expression,
    },
    /// Registers only.
    Set {
        register: usize,
        value: Expression,
    },
    /// To `otherwise` if the condition is false.
    Branch {
        condition: Expression,
        otherwise: usize,
    },
    Jump {
        to: usize,
    },
}

#[derive(Clone, Copy, Debug)]
pub enum AddResult {
    Old,
    New,
}

#[derive(Clone, Debug)]
pub enum Locked {
    Add(Expression),
    And(Expression),
    Or(Expression),
    Exchange(Expression),
    CompareExchange { expected: Expression, new: Expression },
}

impl Instruction {
    /// Whether only the thread itself can see this, so that it belongs to the step before.
    pub fn is_private(&self) -> bool {
        matches!(
            self,
            Instruction::Set { .. }
                | Instruction::Branch { .. }
                | Instruction::Jump { .. }
                | Instruction::Assert { .. }
        )
    }
}
