//! The machine: x86-TSO (Sewell et al., "x86-TSO", CACM 2010), with interrupts and futexes.
//!
//! Every thread has a CPU, and every CPU a buffer through which its stores go to memory in their
//! order, each at any later time. A load takes the youngest store to its word from the own buffer,
//! else memory. Locked instructions and `mfence` wait until the own buffer is empty. So do the
//! return from an interrupt and a system call that goes to sleep or wakes.
//!
//! Interrupts come between instructions. One that another CPU sends is handled before the sender
//! goes on. A timer's reads the clock, then stores it among the CPU's other stores, then returns;
//! it may come at any time, as the clock may go on at any time.

use crate::expression::{Expression, Values};
use crate::program::{Instruction, Model};

#[derive(Clone, Debug)]
pub struct State {
    pub memory: Vec<i16>,
    pub clock: i16,
    pub threads: Vec<Thread>,
}

#[derive(Clone, Debug)]
pub struct Thread {
    pub at: usize,
    pub mode: Mode,
    pub registers: Vec<i16>,
    /// The oldest store first: word and value.
    pub buffer: Vec<(usize, i16)>,
    /// Whether its CPU is in the handler of an interrupt.
    pub is_interrupted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    Runs,
    /// Between the load and the store of an instruction, with what it loaded.
    MidInstruction(i16),
    Asleep {
        word: usize,
        is_timed: bool,
    },
}

/// What may happen next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Move {
    Step(u8),
    /// The oldest store of the thread's buffer reaches memory.
    Flush(u8),
    ClockTick,
    /// A timer interrupt of the thread's CPU, whose clock is ahead by so much.
    Interrupt(u8, u8),
    InterruptReturn(u8),
    TimeOut(u8),
}

/// What is wrong with a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Violation {
    Assertion { thread: usize, line: String },
    LostWakeUp { thread: usize },
    WaitsForEver { thread: usize },
    Never { line: String },
}

/// How a run ends that can do nothing more.
#[derive(Debug, PartialEq)]
pub enum End {
    Complete,
    /// The model's clock has ended while someone waited for it: this says nothing.
    CutOff,
    Wrong(Violation),
}

struct View<'a> {
    state: &'a State,
    thread: usize,
}

impl Values for View<'_> {
    fn register(&self, register: usize) -> i16 {
        self.state.threads[self.thread].registers[register]
    }

    fn word(&self, word: usize) -> i16 {
        self.state.read(self.thread, word)
    }

    fn register_of(&self, thread: usize, register: usize) -> i16 {
        self.state.threads[thread].registers[register]
    }
}

impl State {
    pub fn initial(model: &Model) -> Result<State, Violation> {
        let thread = |program: &crate::program::Program| Thread {
            at: 0,
            mode: Mode::Runs,
            registers: vec![0; program.registers.len() + program.scratch_count],
            buffer: Vec::new(),
            is_interrupted: false,
        };
        let mut state = State {
            memory: model.words.iter().map(|word| word.initial).collect(),
            clock: 0,
            threads: model.threads.iter().map(thread).collect(),
        };
        for thread in 0..model.threads.len() {
            state.run_private(model, thread)?;
        }
        Ok(state)
    }

    /// What a CPU sees in a word: the youngest of its own stores that are under way, else memory.
    pub fn read(&self, thread: usize, word: usize) -> i16 {
        let own = self.threads[thread].buffer.iter().rev().find(|(stored, _)| *stored == word);
        own.map_or(self.memory[word], |(_, value)| *value)
    }

    /// All bytes of the state, as the key under which it is known.
    pub fn key(&self) -> Box<[u8]> {
        let byte = |value: i16| i8::try_from(value).expect("models use small numbers") as u8;
        let mut key = Vec::with_capacity(64);
        key.extend(self.memory.iter().map(|value| byte(*value)));
        key.push(byte(self.clock));
        for thread in &self.threads {
            key.push(u8::try_from(thread.at).expect("programs are short"));
            key.extend(match thread.mode {
                Mode::Runs => [u8::from(thread.is_interrupted), 0],
                Mode::MidInstruction(loaded) => [2, byte(loaded)],
                Mode::Asleep { word, is_timed } => {
                    [4 + u8::from(thread.is_interrupted), (word * 2) as u8 + u8::from(is_timed)]
                }
            });
            key.extend(thread.registers.iter().map(|value| byte(*value)));
            key.push(thread.buffer.len() as u8);
            key.extend(thread.buffer.iter().flat_map(|(word, value)| [*word as u8, byte(*value)]));
        }
        key.into_boxed_slice()
    }

    /// All that may happen in this state.
    pub fn moves(&self, model: &Model) -> Vec<Move> {
        let mut moves = Vec::new();
        for (index, thread) in self.threads.iter().enumerate() {
            let number = index as u8;
            if self.can_step(model, index) {
                moves.push(Move::Step(number));
            }
            if !thread.buffer.is_empty() {
                moves.push(Move::Flush(number));
            }
            if matches!(thread.mode, Mode::Asleep { is_timed: true, .. }) {
                moves.push(Move::TimeOut(number));
            }
            if thread.is_interrupted && thread.buffer.is_empty() {
                moves.push(Move::InterruptReturn(number));
            } else if let Some(stamp) = model.stamps[index]
                && self.is_between_instructions(index)
            {
                let ahead = (0..=model.skew)
                    .filter(|ahead| self.clock + ahead > self.read(index, stamp))
                    .map(|ahead| Move::Interrupt(number, ahead as u8));
                moves.extend(ahead);
            }
        }
        if self.clock < model.clock_end {
            moves.push(Move::ClockTick);
        }
        moves
    }

    fn is_between_instructions(&self, thread: usize) -> bool {
        let thread = &self.threads[thread];
        !thread.is_interrupted && !matches!(thread.mode, Mode::MidInstruction(_))
    }

    fn can_step(&self, model: &Model, index: usize) -> bool {
        let thread = &self.threads[index];
        let program = &model.threads[index];
        let is_asleep = matches!(thread.mode, Mode::Asleep { .. });
        if is_asleep || thread.is_interrupted || thread.at == program.instructions.len() {
            return false;
        }
        match &program.instructions[thread.at] {
            // Waiting for an empty buffer leaves its stores the time that they may take anyway.
            Instruction::Fence
            | Instruction::Locked { .. }
            | Instruction::FutexWait { .. }
            | Instruction::FutexWake { .. } => thread.buffer.is_empty(),
            // The one who is interrupted has no stores under way when it returns.
            Instruction::Interrupt { thread: other } => {
                self.is_between_instructions(*other) && self.threads[*other].buffer.is_empty()
            }
            Instruction::Await { condition } => self.value(index, condition) != 0,
            // No thread could wait for what comes after the end of the clock.
            Instruction::ReadClock { .. } => self.clock < model.clock_end,
            _ => true,
        }
    }

    pub fn value(&self, thread: usize, expression: &Expression) -> i16 {
        expression.value(&View { state: self, thread })
    }

    /// How a run has ended in this state, which has no moves.
    pub fn end(&self, model: &Model) -> End {
        let has_ended = |(index, thread): (usize, &Thread)| {
            thread.at == model.threads[index].instructions.len() && thread.mode == Mode::Runs
        };
        let waits = |(index, thread): (usize, &Thread)| {
            thread.mode == Mode::Runs && !has_ended((index, thread))
        };
        if let Some(thread) = self.threads.iter().enumerate().position(waits) {
            return if model.clock_end > 0 {
                End::CutOff
            } else {
                End::Wrong(Violation::WaitsForEver { thread })
            };
        }
        if let Some(thread) = self.threads.iter().enumerate().position(|t| !has_ended(t)) {
            return End::Wrong(Violation::LostWakeUp { thread });
        }
        match &model.never {
            Some((condition, line)) if self.value(0, condition) != 0 => {
                End::Wrong(Violation::Never { line: line.clone() })
            }
            _ => End::Complete,
        }
    }
}
