//! Models as text, which reads like the pseudo-code of the algorithm:
//!
//! ```text
//! const FLAG = 64
//! shared word = 0, seq = 0
//! frequent producer                 the threads of the light side
//! thread waiter other:              the same program for two threads
//!     seen = word                   a load
//!     word = seen + 1               a store
//!     new = inc(word)               one instruction, not atomic; xadd(word, 2) gives the old value
//!     was = lock_cas(word, 0, 1)    atomic; also lock_xadd, lock_xchg, lock_and, lock_or
//!     fence                         mfence
//!     light, heavy                  replaced by a strategy's text
//!     interrupt other               sends an interrupt and waits until it was handled
//!     futex_wait(word, 1)           sleeps if the word is 1; also futex_wait_timed
//!     futex_sleep(word)             sleeps whatever it is
//!     futex_wake(word)              wakes all that sleep on it
//!     t0 = clock                    stamp.other is when the CPU of that thread was interrupted
//!     if, else, while, loop, break, return, await CONDITION, assert CONDITION
//!     each cpu in others:           its block for each other thread, or for each that is named, or
//!                                   for the `frequent` ones
//!         record.cpu = 0
//!     record.self = 1               the word of the thread itself
//! never waiter.seen == 0            of a run that has ended
//! ```
//!
//! A word of memory inside of an expression is a load of its own before the rest, from the left to
//! the right, except in `await`, which looks at one word.

use std::collections::HashMap;

use crate::expression::{Expression, tokens};
use crate::liveness::{live, read_at_end};
use crate::program::{Model, Program, Word};
use crate::write::write;

/// A line and the lines that are indented below it.
#[derive(Clone, Debug)]
pub struct Line {
    pub text: String,
    pub below: Vec<Line>,
}

pub type Result<T> = std::result::Result<T, String>;

/// Reads a model.
pub fn parse(text: &str) -> Result<Model> {
    let plain: Vec<(usize, &str)> = text.lines().filter_map(significant).collect();
    let lines = nest(&mut plain.as_slice(), 0)?;
    let mut reader = Reader::default();
    let mut bodies = Vec::new();
    let mut never = None;
    for line in &lines {
        let (keyword, rest) = line.text.split_once(' ').unwrap_or((&line.text, ""));
        match keyword {
            "const" => reader.constant(rest)?,
            "shared" => reader.shared(rest)?,
            "clock" => reader.clock(rest)?,
            "frequent" => reader.frequent = rest.split_whitespace().map(str::to_owned).collect(),
            "thread" => {
                for name in rest.trim_end_matches(':').split_whitespace() {
                    reader.names.push(name.to_owned());
                    bodies.push(&line.below);
                }
            }
            "never" => never = Some(rest.to_owned()),
            _ => return Err(format!("'{}' begins nothing that is known", line.text)),
        }
    }
    reader.model(&bodies, never)
}

/// Indentation and text of a line that is more than a comment.
fn significant(line: &str) -> Option<(usize, &str)> {
    let text = line.split('#').next().unwrap_or("").trim_end();
    let trimmed = text.trim_start();
    (!trimmed.is_empty()).then_some((text.len() - trimmed.len(), trimmed))
}

fn nest(lines: &mut &[(usize, &str)], indentation: usize) -> Result<Vec<Line>> {
    let mut nested = Vec::new();
    while let Some((depth, text)) = lines.first() {
        if *depth < indentation {
            break;
        }
        if *depth > indentation {
            return Err(format!("'{text}' is indented too far"));
        }
        *lines = &lines[1..];
        let below = match lines.first() {
            Some((deeper, _)) if *deeper > indentation => nest(lines, *deeper)?,
            _ => Vec::new(),
        };
        nested.push(Line { text: (*text).to_owned(), below });
    }
    Ok(nested)
}

/// What is known of all threads.
#[derive(Default)]
pub struct Reader {
    pub constants: HashMap<String, i16>,
    words: Vec<Word>,
    pub names: Vec<String>,
    frequent: Vec<String>,
    clock_end: i16,
    skew: i16,
}

impl Reader {
    fn constant(&mut self, rest: &str) -> Result<()> {
        let (name, value) = assignment(rest)?;
        self.constants.insert(name, value);
        Ok(())
    }

    fn shared(&mut self, rest: &str) -> Result<()> {
        for part in rest.split(',') {
            let (name, initial) = assignment(part)?;
            self.words.push(Word { name, initial });
        }
        Ok(())
    }

    /// `clock 3`, or `clock 3 skew 1`.
    fn clock(&mut self, rest: &str) -> Result<()> {
        let words: Vec<&str> = rest.split_whitespace().collect();
        let number = |text: &str| text.parse().map_err(|e| format!("{text}: {e}"));
        match words.as_slice() {
            [end] => self.clock_end = number(end)?,
            [end, "skew", skew] => (self.clock_end, self.skew) = (number(end)?, number(skew)?),
            _ => return Err(format!("'clock {rest}' is no clock")),
        }
        Ok(())
    }

    pub fn word(&self, name: &str) -> Option<usize> {
        self.words.iter().position(|word| word.name == name)
    }

    fn model(mut self, bodies: &[&Vec<Line>], never: Option<String>) -> Result<Model> {
        let mut expanded = Vec::new();
        for (thread, body) in bodies.iter().enumerate() {
            expanded.push(self.expand(body, thread));
        }
        let stamps = self.stamps(&expanded);
        let mut threads = Vec::new();
        for (thread, body) in expanded.iter().enumerate() {
            threads.push(write(&self, &self.names[thread], body)?);
        }
        let never = match never {
            Some(text) => Some((self.end_condition(&text, &threads)?, text)),
            None => None,
        };
        for (index, program) in threads.iter_mut().enumerate() {
            let at_end = never.as_ref().map_or(0, |(condition, _)| read_at_end(condition, index));
            program.live = live(program, at_end);
        }
        Ok(Model {
            never,
            words: self.words,
            threads,
            clock_end: self.clock_end,
            skew: self.skew,
            stamps,
        })
    }

    /// Only CPUs whose stamp somebody reads need a timer: what else an interrupt does, a store that
    /// reaches memory does too.
    fn stamps(&mut self, bodies: &[Vec<Line>]) -> Vec<Option<usize>> {
        let names = self.names.clone();
        let stamp = |name: &String| {
            let stamp = format!("stamp.{name}");
            bodies.iter().any(|body| mentions(body, &stamp)).then(|| {
                self.words.push(Word { name: stamp, initial: 0 });
                self.words.len() - 1
            })
        };
        names.iter().map(stamp).collect()
    }

    /// `each` blocks written out, and `self` replaced.
    fn expand(&self, lines: &[Line], thread: usize) -> Vec<Line> {
        let mut expanded = Vec::new();
        for line in lines {
            let words: Vec<&str> = line.text.trim_end_matches(':').split_whitespace().collect();
            if let ["each", variable, "in", members @ ..] = words.as_slice() {
                let others = self.names.iter().map(String::as_str);
                let members: Vec<&str> = match *members {
                    ["others"] => others.filter(|name| *name != self.names[thread]).collect(),
                    ["frequent"] => self.frequent.iter().map(String::as_str).collect(),
                    _ => members.to_vec(),
                };
                for member in members {
                    let block: Vec<Line> =
                        line.below.iter().map(|below| below.replaced(variable, member)).collect();
                    expanded.extend(self.expand(&block, thread));
                }
            } else {
                let own = line.replaced("self", &self.names[thread]);
                expanded.push(Line { text: own.text, below: self.expand(&own.below, thread) });
            }
        }
        expanded
    }

    fn end_condition(&self, text: &str, threads: &[Program]) -> Result<Expression> {
        Expression::parse(text, &mut |name| {
            if let Some(word) = self.word(name) {
                return Ok(Expression::Word(word));
            }
            if let Some(number) = self.constants.get(name) {
                return Ok(Expression::Number(*number));
            }
            let found = name.split_once('.').and_then(|(thread, register)| {
                let thread = threads.iter().position(|program| program.name == thread)?;
                let register = threads[thread].registers.iter().position(|r| r == register)?;
                Some(Expression::RegisterOf(thread, register))
            });
            found.ok_or_else(|| format!("there is no '{name}'"))
        })
    }
}

fn assignment(text: &str) -> Result<(String, i16)> {
    let (name, value) = text.split_once('=').ok_or_else(|| format!("'{text}' has no '='"))?;
    let value = value.trim().parse().map_err(|e| format!("'{text}': {e}"))?;
    Ok((name.trim().to_owned(), value))
}

fn mentions(lines: &[Line], name: &str) -> bool {
    lines.iter().any(|line| {
        tokens(&line.text).is_ok_and(|tokens| tokens.iter().any(|token| token == name))
            || mentions(&line.below, name)
    })
}

impl Line {
    /// With a name replaced, also where it is a part of one, as in `record.self`.
    fn replaced(&self, name: &str, by: &str) -> Line {
        let mut text = String::new();
        for part in self.text.split_inclusive(|c: char| !(c.is_ascii_alphanumeric() || c == '_')) {
            let end = part.trim_end_matches(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            text += if end == name { by } else { end };
            text += &part[end.len()..];
        }
        Line { text, below: self.below.iter().map(|below| below.replaced(name, by)).collect() }
    }
}
