//! Every run of a model, the shortest first.

use std::collections::{HashSet, VecDeque};
use std::fmt::Write as _;

use crate::machine::{End, Mode, Move, State, Violation};
use crate::program::Model;

/// What was found.
#[derive(Debug)]
pub struct Report {
    pub state_count: usize,
    pub step_count: usize,
    /// States in which all threads have come to their end.
    pub complete_count: usize,
    /// States that the end of the model's clock has cut off.
    pub cut_off_count: usize,
    pub counterexample: Option<Counterexample>,
}

/// A shortest run that goes wrong.
#[derive(Debug)]
pub struct Counterexample {
    pub violation: Violation,
    pub moves: Vec<Move>,
}

/// Runs breadth first until something is wrong or all states are known. `Err` if there are more
/// than `state_count_max`.
pub fn explore(model: &Model, state_count_max: usize) -> Result<Report, String> {
    let mut report = Report {
        state_count: 1,
        step_count: 0,
        complete_count: 0,
        cut_off_count: 0,
        counterexample: None,
    };
    let initial = match State::initial(model) {
        Ok(initial) => initial,
        Err(violation) => {
            report.counterexample = Some(Counterexample { violation, moves: Vec::new() });
            return Ok(report);
        }
    };
    let mut known = HashSet::from([initial.key()]);
    let mut queue = VecDeque::from([(0, initial)]);
    // How each state was reached first: from which one, by which move.
    let mut origins: Vec<(usize, Move)> = vec![(0, Move::ClockTick)];
    while let Some((number, state)) = queue.pop_front() {
        let moves = state.moves(model);
        if moves.is_empty() {
            match state.end(model) {
                End::Complete => report.complete_count += 1,
                End::CutOff => report.cut_off_count += 1,
                End::Wrong(violation) => {
                    report.state_count = known.len();
                    report.counterexample =
                        Some(Counterexample { violation, moves: path(&origins, number) });
                    return Ok(report);
                }
            }
        }
        for next in moves {
            report.step_count += 1;
            match state.after(model, next) {
                Ok(after) => {
                    if known.insert(after.key()) {
                        origins.push((number, next));
                        queue.push_back((origins.len() - 1, after));
                    }
                }
                Err(violation) => {
                    let mut moves = path(&origins, number);
                    moves.push(next);
                    report.state_count = known.len();
                    report.counterexample = Some(Counterexample { violation, moves });
                    return Ok(report);
                }
            }
        }
        report.state_count = known.len();
        if known.len() > state_count_max {
            return Err(format!("more than {state_count_max} states"));
        }
    }
    Ok(report)
}

fn path(origins: &[(usize, Move)], mut number: usize) -> Vec<Move> {
    let mut moves = Vec::new();
    while number > 0 {
        let (from, by) = origins[number];
        moves.push(by);
        number = from;
    }
    moves.reverse();
    moves
}

impl Counterexample {
    /// The run, a line a step.
    pub fn text(&self, model: &Model) -> String {
        let mut text = String::new();
        let Ok(mut state) = State::initial(model) else {
            return self.violation.text(model);
        };
        for (index, next) in self.moves.iter().enumerate() {
            let (who, what) = described(model, &state, *next);
            let effect = match state.after(model, *next) {
                Ok(after) => {
                    let effect = differences(model, &state, &after);
                    state = after;
                    effect
                }
                Err(_) => String::new(),
            };
            let line = format!("{:4}  {who:<10} {what:<42} {effect}", index + 1);
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text + &self.violation.text(model)
    }
}

impl Violation {
    pub fn text(&self, model: &Model) -> String {
        let name = |thread: &usize| &model.threads[*thread].name;
        match self {
            Violation::Assertion { thread, line } => {
                format!("      {}: {line}: false", name(thread))
            }
            Violation::LostWakeUp { thread } => format!("      {} sleeps for ever", name(thread)),
            Violation::WaitsForEver { thread } => format!("      {} waits for ever", name(thread)),
            Violation::Never { line } => format!("      never {line}: but here it holds"),
        }
    }
}

fn described(model: &Model, state: &State, next: Move) -> (String, String) {
    let name = |thread: u8| model.threads[usize::from(thread)].name.clone();
    match next {
        Move::Step(thread) => {
            let index = usize::from(thread);
            let line = &model.threads[index].lines[state.threads[index].at];
            (name(thread), line.clone())
        }
        Move::Flush(thread) => (name(thread), "  (its oldest store reaches memory)".to_owned()),
        Move::ClockTick => ("clock".to_owned(), String::new()),
        Move::Interrupt(thread, _) => (name(thread), "  (timer interrupt)".to_owned()),
        Move::InterruptReturn(thread) => (name(thread), "  (return from it)".to_owned()),
        Move::TimeOut(thread) => (name(thread), "  (time-out)".to_owned()),
    }
}

/// What a move has changed.
fn differences(model: &Model, before: &State, after: &State) -> String {
    let mut changes = Vec::new();
    for (index, word) in model.words.iter().enumerate() {
        if before.memory[index] != after.memory[index] {
            changes
                .push(format!("{} {} -> {}", word.name, before.memory[index], after.memory[index]));
        }
    }
    if before.clock != after.clock {
        changes.push(format!("clock {} -> {}", before.clock, after.clock));
    }
    for (index, (old, new)) in before.threads.iter().zip(&after.threads).enumerate() {
        let program = &model.threads[index];
        let live = program.live[new.at];
        for (number, register) in program.registers.iter().enumerate() {
            let value = new.registers[number];
            if value != old.registers[number] && live >> number & 1 == 1 {
                changes.push(format!("{register} = {value}"));
            }
        }
        if new.buffer.len() > old.buffer.len() {
            let (word, value) = new.buffer[new.buffer.len() - 1];
            changes.push(format!("buffers {} = {value}", model.words[word].name));
        }
        match (old.mode, new.mode) {
            (Mode::Runs, Mode::MidInstruction(loaded)) => changes.push(format!("loads {loaded}")),
            (Mode::Runs, Mode::Asleep { .. }) => changes.push("falls asleep".to_owned()),
            (Mode::Asleep { .. }, Mode::Runs) => changes.push(format!("{} wakes", program.name)),
            _ => {}
        }
    }
    changes.join(", ")
}
