//! What a move does to the machine.

use crate::machine::{Mode, Move, State, Violation};
use crate::program::{AddResult, Instruction, Locked, Model};

/// Longer loops of private instructions do not end.
const PRIVATE_STEPS_MAX: usize = 1000;

impl State {
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

    /// Executes one instruction, then forgets the registers that no later step reads.
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
                for thread in &mut self.threads {
                    if matches!(thread.mode, Mode::Asleep { word: slept, .. } if slept == *word) {
                        thread.mode = Mode::Runs;
                    }
                }
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

    /// Instructions that no other thread sees are run at once: fewer states, the same runs.
    pub fn run_private(&mut self, model: &Model, index: usize) -> Result<(), Violation> {
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
}
