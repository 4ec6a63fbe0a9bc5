//! The machine: x86-TSO (Sewell et al., "x86-TSO", CACM 2010), with interrupts and futexes.
//!
//! Every thread has a CPU, and every CPU a buffer through which its stores go to memory in their
//! order, each at any later time. A load takes the youngest store to its word from the own buffer,
//! else memory. Locked instructions and `mfence` wait until the own buffer is empty. So do the
//! return from an interrupt and a system call that goes to sleep or wakes.
//!
//! Interrupts come between instructions. One that another CPU sends is handled before the sender
//! goes on. A timer's reads the clock, then stores it among the CPU's other stores, then returns; it
//! may come at any time, as the clock may go on at any time.

use crate::expression::{Expression, Values};
use crate::program::{AddResult, Instruction, Locked, Model};

/// Longer loops of private instructions do not end.
const PRIVATE_STEPS_MAX: usize = 1000;

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
            // Nobody could wait for what comes after the end of the clock.
            Instruction::ReadClock { .. } => self.clock < model.clock_end,
            _ => true,
        }
    }

    fn value(&self, thread: usize, expression: &Expression) -> i16 {
        expression.value(&View { state: self, thread })
    }

    /// The state after a move that [`moves`](Self::moves) has named.
    pub fn after(&self, model: &Model, next: Move) -> Result<State, Violation> {
        let mut state = self.clone();
        match next {
            Move::Step(thread) => state.step(model, usize::from(thread))?,
            Move::Flush(thread) => state.flush(usize::from(thread)),
            Move::ClockTick => state.clock += 1,
            Move::Interrupt(thread, ahead) => {
                let index = usize::from(thread);
                let stamp = model.stamps[index].expect("only those with a stamp have timers");
                state.threads[index].buffer.push((stamp, self.clock + i16::from(ahead)));
                state.threads[index].is_interrupted = true;
            }
            Move::InterruptReturn(thread) => {
                state.threads[usize::from(thread)].is_interrupted = false;
            }
            Move::TimeOut(thread) => state.threads[usize::from(thread)].mode = Mode::Runs,
        }
        Ok(state)
    }

    fn flush(&mut self, thread: usize) {
        let (word, value) = self.threads[thread].buffer.remove(0);
        self.memory[word] = value;
    }

    fn step(&mut self, model: &Model, index: usize) -> Result<(), Violation> {
        let instruction = &model.threads[index].instructions[self.threads[index].at];
        if let (Instruction::Add { word, .. }, Mode::Runs) = (instruction, self.threads[index].mode)
        {
            self.threads[index].mode = Mode::MidInstruction(self.read(index, *word));
            return Ok(());
        }
        self.perform(model, index, instruction);
        self.run_private(model, index)
    }

    /// Executes one instruction, then forgets the registers that nobody will read.
    fn perform(&mut self, model: &Model, index: usize, instruction: &Instruction) {
        self.threads[index].at += 1;
        self.execute(index, instruction);
        let thread = &mut self.threads[index];
        let live = model.threads[index].live[thread.at];
        for (register, value) in thread.registers.iter_mut().enumerate() {
            if live >> register & 1 == 0 {
                *value = 0;
            }
        }
    }

    fn execute(&mut self, index: usize, instruction: &Instruction) {
        match instruction {
            Instruction::Load { register, word } => {
                self.threads[index].registers[*register] = self.read(index, *word);
            }
            Instruction::Store { word, value } => {
                let value = self.value(index, value);
                self.threads[index].buffer.push((*word, value));
            }
            Instruction::Add { register, word, summand, result } => {
                let Mode::MidInstruction(old) = self.threads[index].mode else { unreachable!() };
                let new = old + self.value(index, summand);
                let thread = &mut self.threads[index];
                thread.mode = Mode::Runs;
                thread.buffer.push((*word, new));
                thread.registers[*register] = match result {
                    AddResult::Old => old,
                    AddResult::New => new,
                };
            }
            Instruction::Locked { register, word, operation } => {
                let old = self.memory[*word];
                self.memory[*word] = self.locked(index, old, operation);
                if let Some(register) = register {
                    self.threads[index].registers[*register] = old;
                }
            }
            Instruction::FutexWait { word, expected, is_timed } => {
                if self.memory[*word] == self.value(index, expected) {
                    self.threads[index].mode = Mode::Asleep { word: *word, is_timed: *is_timed };
                }
            }
            Instruction::FutexWake { word } => {
                let sleeps = |thread: &&mut Thread| matches!(thread.mode, Mode::Asleep { word: slept, .. } if slept == *word);
                self.threads.iter_mut().filter(sleeps).for_each(|t| t.mode = Mode::Runs);
            }
            Instruction::ReadClock { register } => {
                self.threads[index].registers[*register] = self.clock;
            }
            Instruction::Set { register, value } => {
                self.threads[index].registers[*register] = self.value(index, value);
            }
            Instruction::Branch { condition, otherwise } => {
                if self.value(index, condition) == 0 {
                    self.threads[index].at = *otherwise;
                }
            }
            Instruction::Jump { to } => self.threads[index].at = *to,
            Instruction::Fence
            | Instruction::Interrupt { .. }
            | Instruction::Await { .. }
            | Instruction::Assert { .. } => {}
        }
    }

    fn locked(&self, thread: usize, old: i16, operation: &Locked) -> i16 {
        match operation {
            Locked::Add(summand) => old + self.value(thread, summand),
            Locked::And(mask) => old & self.value(thread, mask),
            Locked::Or(mask) => old | self.value(thread, mask),
            Locked::Exchange(new) => self.value(thread, new),
            Locked::CompareExchange { expected, new } => {
                if old == self.value(thread, expected) {
                    self.value(thread, new)
                } else {
                    old
                }
            }
        }
    }

    /// Instructions that nobody sees are run at once: fewer states, the same runs.
    fn run_private(&mut self, model: &Model, index: usize) -> Result<(), Violation> {
        let program = &model.threads[index];
        for _ in 0..PRIVATE_STEPS_MAX {
            let at = self.threads[index].at;
            let Some(instruction) = program.instructions.get(at).filter(|i| i.is_private()) else {
                return Ok(());
            };
            if let Instruction::Assert { condition } = instruction
                && self.value(index, condition) == 0
            {
                let line = program.lines[at].clone();
                return Err(Violation::Assertion { thread: index, line });
            }
            self.perform(model, index, instruction);
        }
        panic!("{} goes round for ever without touching memory", program.name);
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
