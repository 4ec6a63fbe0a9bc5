//! From the lines of a thread to its instructions.

use crate::expression::{Expression, is_name, tokens};
use crate::parse::{Line, Reader, Result};
use crate::program::{AddResult, Instruction, Locked, Program};

/// The instructions of a thread.
pub fn write(reader: &Reader, name: &str, body: &[Line]) -> Result<Program> {
    let mut registers = Vec::new();
    name_registers(reader, body, &mut registers);
    let program = Program { name: name.to_owned(), registers, ..Program::default() };
    let mut writer = Writer { reader, program, line: String::new(), scratch: 0, loops: Vec::new() };
    // The outermost loop is the thread itself: `return` leaves it.
    writer.loops.push(Vec::new());
    writer.block(body)?;
    writer.close_loop();
    Ok(writer.program)
}

/// Whatever is assigned to and is no shared word is a register.
fn name_registers(reader: &Reader, body: &[Line], registers: &mut Vec<String>) {
    for line in body {
        if let Some((name, _)) = assigned(&line.text)
            && reader.word(name).is_none()
            && !registers.iter().any(|known| known == name)
        {
            registers.push(name.to_owned());
        }
        name_registers(reader, &line.below, registers);
    }
}

/// `NAME = REST`
fn assigned(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once(" = ")?;
    is_name(name).then_some((name, rest))
}

struct Writer<'a> {
    reader: &'a Reader,
    program: Program,
    /// The line that is being written.
    line: String,
    /// Scratch registers that the line has used.
    scratch: usize,
    /// The jumps that leave each open loop.
    loops: Vec<Vec<usize>>,
}

impl Writer<'_> {
    fn block(&mut self, lines: &[Line]) -> Result<()> {
        let mut lines = lines.iter().peekable();
        while let Some(line) = lines.next() {
            self.begin(line);
            let (keyword, rest) = line.text.split_once(' ').unwrap_or((&line.text, ""));
            let condition = rest.strip_suffix(':').unwrap_or(rest);
            match keyword {
                "if" => {
                    let otherwise = lines.next_if(|next| next.text == "else:");
                    self.branch(condition, line, otherwise)?;
                }
                "while" => self.repeat(Some(condition), line)?,
                "loop:" => self.repeat(None, line)?,
                _ if !line.below.is_empty() => return self.error("opens no block"),
                _ => self.statement(&line.text)?,
            }
        }
        Ok(())
    }

    fn begin(&mut self, line: &Line) {
        self.line = line.text.clone();
        self.scratch = 0;
    }

    fn error<T>(&self, what: &str) -> Result<T> {
        Err(format!("'{}' in {}: {what}", self.line, self.program.name))
    }

    fn emit(&mut self, instruction: Instruction) -> usize {
        self.program.instructions.push(instruction);
        self.program.lines.push(self.line.clone());
        self.here() - 1
    }

    fn here(&self) -> usize {
        self.program.instructions.len()
    }

    /// A jump whose end is not known yet.
    fn jump(&mut self) -> usize {
        self.emit(Instruction::Jump { to: 0 })
    }

    fn land(&mut self, jump: usize) {
        let here = self.here();
        match &mut self.program.instructions[jump] {
            Instruction::Jump { to: target } | Instruction::Branch { otherwise: target, .. } => {
                *target = here;
            }
            other => unreachable!("{other:?} is no jump"),
        }
    }

    fn branch(&mut self, condition: &str, then: &Line, otherwise: Option<&Line>) -> Result<()> {
        let condition = self.expression(condition)?;
        let branch = self.emit(Instruction::Branch { condition, otherwise: 0 });
        self.block(&then.below)?;
        let Some(otherwise) = otherwise else {
            self.land(branch);
            return Ok(());
        };
        let over = self.jump();
        self.land(branch);
        self.block(&otherwise.below)?;
        self.land(over);
        Ok(())
    }

    fn repeat(&mut self, condition: Option<&str>, line: &Line) -> Result<()> {
        let again = self.here();
        self.loops.push(Vec::new());
        if let Some(condition) = condition {
            let condition = self.expression(condition)?;
            let leave = self.emit(Instruction::Branch { condition, otherwise: 0 });
            self.loops.last_mut().expect("just pushed").push(leave);
        }
        self.block(&line.below)?;
        self.begin(line);
        self.emit(Instruction::Jump { to: again });
        self.close_loop();
        Ok(())
    }

    fn close_loop(&mut self) {
        for jump in self.loops.pop().expect("one is open") {
            self.land(jump);
        }
    }

    fn statement(&mut self, text: &str) -> Result<()> {
        if let Some((name, value)) = assigned(text) {
            return self.assignment(name, value);
        }
        let (keyword, rest) = text.split_once(' ').unwrap_or((text, ""));
        match keyword {
            "break" | "return" => {
                let jump = self.jump();
                let depth = if keyword == "break" { self.loops.len() - 1 } else { 0 };
                self.loops[depth].push(jump);
            }
            "fence" => drop(self.emit(Instruction::Fence)),
            "interrupt" => match self.reader.names.iter().position(|name| name == rest) {
                Some(thread) => drop(self.emit(Instruction::Interrupt { thread })),
                None => return self.error("is to no thread"),
            },
            "await" => {
                let condition = self.watched(rest)?;
                self.emit(Instruction::Await { condition });
            }
            "assert" => {
                let condition = self.expression(rest)?;
                self.emit(Instruction::Assert { condition });
            }
            _ => return self.call(None, text),
        }
        Ok(())
    }

    fn assignment(&mut self, name: &str, value: &str) -> Result<()> {
        if let Some(word) = self.reader.word(name) {
            let value = self.expression(value)?;
            self.emit(Instruction::Store { word, value });
            return Ok(());
        }
        let register = self.program.registers.iter().position(|known| known == name);
        let register = register.expect("all names were collected");
        if let Some(word) = self.reader.word(value) {
            self.emit(Instruction::Load { register, word });
        } else if value == "clock" {
            self.emit(Instruction::ReadClock { register });
        } else if value.split_once('(').is_some_and(|(called, _)| is_name(called)) {
            self.call(Some(register), value)?;
        } else {
            let value = self.expression(value)?;
            self.emit(Instruction::Set { register, value });
        }
        Ok(())
    }

    /// `NAME(word, ...)`
    fn call(&mut self, register: Option<usize>, text: &str) -> Result<()> {
        let Some((name, rest)) = text.strip_suffix(')').and_then(|t| t.split_once('(')) else {
            return self.error("means nothing");
        };
        let arguments: Vec<&str> = rest.split(',').map(str::trim).collect();
        let Some(word) = arguments.first().and_then(|first| self.reader.word(first)) else {
            return self.error("names no shared word first");
        };
        let mut values = Vec::new();
        for argument in &arguments[1..] {
            values.push(self.expression(argument)?);
        }
        let mut values = values.into_iter();
        let mut value = || values.next().ok_or_else(|| format!("'{text}' lacks an argument"));
        let locked = |operation| Instruction::Locked { register, word, operation };
        let instruction = match (name, register) {
            ("inc", Some(register)) => {
                let summand = Expression::Number(1);
                Instruction::Add { register, word, summand, result: AddResult::New }
            }
            ("xadd", Some(register)) => {
                Instruction::Add { register, word, summand: value()?, result: AddResult::Old }
            }
            ("lock_xadd", _) => locked(Locked::Add(value()?)),
            ("lock_and", _) => locked(Locked::And(value()?)),
            ("lock_or", _) => locked(Locked::Or(value()?)),
            ("lock_xchg", _) => locked(Locked::Exchange(value()?)),
            ("lock_cas", _) => {
                locked(Locked::CompareExchange { expected: value()?, new: value()? })
            }
            ("futex_wait" | "futex_wait_timed", None) => {
                let is_timed = name == "futex_wait_timed";
                Instruction::FutexWait { word, expected: value()?, is_timed }
            }
            ("futex_sleep", None) => {
                // Whatever the word is, it equals itself.
                Instruction::FutexWait { word, expected: Expression::Word(word), is_timed: false }
            }
            ("futex_wake", None) => Instruction::FutexWake { word },
            _ => return self.error("is no instruction"),
        };
        if values.next().is_some() {
            return self.error("has an argument too many");
        }
        self.emit(instruction);
        Ok(())
    }

    /// An expression whose words of memory are loaded first, each by an instruction of its own.
    fn expression(&mut self, text: &str) -> Result<Expression> {
        let mut loads = Vec::new();
        let named = self.program.registers.len();
        let first = self.scratch;
        let expression = Expression::parse(text, &mut |name| {
            let scratch = Expression::Register(named + first + loads.len());
            if let Some(word) = self.reader.word(name) {
                loads.push(Some(word));
                return Ok(scratch);
            }
            if name == "clock" {
                loads.push(None);
                return Ok(scratch);
            }
            self.private(name)
        });
        let expression = expression.or_else(|error| self.error(&error))?;
        for (index, load) in loads.iter().enumerate() {
            let register = named + first + index;
            self.emit(match load {
                Some(word) => Instruction::Load { register, word: *word },
                None => Instruction::ReadClock { register },
            });
        }
        self.scratch += loads.len();
        self.program.scratch_count = self.program.scratch_count.max(self.scratch);
        Ok(expression)
    }

    /// An expression that looks at memory while it waits: at one word, as only that is one load.
    fn watched(&mut self, text: &str) -> Result<Expression> {
        let mut words: Vec<_> = tokens(text)?.iter().filter_map(|t| self.reader.word(t)).collect();
        words.sort_unstable();
        words.dedup();
        if words.len() > 1 {
            return self.error("looks at more than one word");
        }
        let expression = Expression::parse(text, &mut |name| match self.reader.word(name) {
            Some(word) => Ok(Expression::Word(word)),
            None => self.private(name),
        });
        expression.or_else(|error| self.error(&error))
    }

    /// A constant or a register.
    fn private(&self, name: &str) -> Result<Expression> {
        if let Some(number) = self.reader.constants.get(name) {
            return Ok(Expression::Number(*number));
        }
        let register = self.program.registers.iter().position(|known| known == name);
        register.map(Expression::Register).ok_or_else(|| format!("there is no '{name}'"))
    }
}
