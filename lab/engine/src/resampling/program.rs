//! A statistic that a program computes: a line of JSON in, a number out.

use crate::error::LabError;
use crate::lines::{Lines, Next, quoted};
use std::io::{Read, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tiebreak_measure::Leader;
use tiebreak_measure::words::{self, WordsError};

/// The most bytes of the program's standard error that are kept: the end.
const SAID_BYTES_MAX: usize = 2000;
/// How often a request to stop is checked while the program computes.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How long a program may take to end after its last line.
const GRACE: Duration = Duration::from_secs(1);

/// A program that keeps running. For each pair of sets it gets one line,
///
/// ```text
/// {"x":[1.5,2.0],"y":[3.25]}
/// ```
///
/// with the numbers of each set in ascending order, and answers with one number on a separate line,
/// which it must flush. The first line contains the observed sets. Equal sets are equal lines, so
/// with a deterministic program ties stay ties.
pub struct Program {
    command: String,
    leader: Leader,
    /// The lines to write. Dropping it closes the program's standard input.
    to_writer: Option<Sender<String>>,
    answers: Lines,
    said: Option<JoinHandle<String>>,
    asked: u64,
}

impl Program {
    /// Starts the program; its words are split as those of a contestant are, without a shell.
    ///
    /// # Errors
    /// Fails if the command cannot be split or started.
    pub fn start(command: &str) -> Result<Program, LabError> {
        let words = words::split(command).map_err(|error| wrong(command, not_words(&error)))?;
        let mut program = Command::new(&words[0]);
        program.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut leader = Leader::spawn(program.stderr(Stdio::piped()))
            .map_err(|error| wrong(command, format!("cannot be started: {error}")))?;
        let Some((input, output)) = leader.take_pipes() else {
            return Err(wrong(command, "cannot be started: it has no pipes".to_owned()));
        };
        let (to_writer, lines) = channel();
        thread::spawn(move || write_lines(input, &lines));
        let answers = Lines::of(output);
        let said = leader.take_errors().map(|from| thread::spawn(move || last_bytes(from)));
        let command = command.to_owned();
        Ok(Program { command, leader, to_writer: Some(to_writer), answers, said, asked: 0 })
    }

    /// Returns what the program computes from two sets.
    ///
    /// # Errors
    /// Fails if the program ended, its answer is not a number, or with [`LabError::Interrupted`].
    pub fn ask(&mut self, x: &[f64], y: &[f64], stop: &AtomicBool) -> Result<f64, LabError> {
        self.asked += 1;
        if let Some(to_writer) = &self.to_writer {
            // If the writer has ended, the program has ended too, and its output shows it.
            let _ = to_writer.send(line(x, y));
        }
        loop {
            if stop.load(Ordering::SeqCst) {
                return Err(LabError::Interrupted);
            }
            match self.answers.next(LOOK_EVERY) {
                Next::Silence => {}
                Next::Line(answer) => return self.number(&String::from_utf8_lossy(&answer)),
                Next::End | Next::Broken(_) => return Err(self.ended()),
            }
        }
    }

    fn number(&self, answer: &str) -> Result<f64, LabError> {
        match answer.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => {
                let (answer, asked) = (quoted(answer), self.asked);
                let why = format!(
                    "answered {answer} to line {asked}, which is not a number: it must answer each \
                     line with one finite number on a line of its own"
                );
                Err(wrong(&self.command, why))
            }
        }
    }

    fn ended(&mut self) -> LabError {
        self.to_writer = None;
        let status = self.wait(GRACE);
        let how = status
            .map_or("closed its standard output".to_owned(), |status| format!("ended ({status})"));
        let said = match status {
            Some(_) => self.said.take().and_then(|thread| thread.join().ok()).unwrap_or_default(),
            None => String::new(),
        };
        let said = match said.trim() {
            "" => String::new(),
            said => format!("; it said: {}", said.replace(char::is_control, " ")),
        };
        let why = format!(
            "{how} before it answered line {}: it must go on until its standard input ends{said}",
            self.asked
        );
        wrong(&self.command, why)
    }

    fn wait(&mut self, most: Duration) -> Option<std::process::ExitStatus> {
        let start = Instant::now();
        loop {
            match self.leader.look() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if start.elapsed() < most => thread::sleep(Duration::from_millis(2)),
                _ => return None,
            }
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.to_writer = None;
        // What still runs after it is killed with the leader.
        self.wait(GRACE);
    }
}

/// Returns the error of a program that breaks its protocol; `why` says what it does.
fn wrong(command: &str, why: String) -> LabError {
    LabError::Data(format!("the statistic '{command}' {why}"))
}

fn not_words(error: &WordsError) -> String {
    match error {
        WordsError::NeedsShell { character, position } => format!(
            "has a {character} at character {position}, which means something to a shell, and none \
             is used: quote it if it is meant as it stands, or say sh -c '...'"
        ),
        WordsError::Assignment { word } => {
            format!("sets a variable, which needs a shell: say env {word} ...")
        }
        other => format!("cannot be split into words: {other}"),
    }
}

/// Returns the line for two sets.
fn line(x: &[f64], y: &[f64]) -> String {
    let [x, y] = [x, y].map(|values| {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        // The shortest digits that give the number again; JSON reads all of them.
        sorted.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(",")
    });
    format!("{{\"x\":[{x}],\"y\":[{y}]}}\n")
}

fn write_lines(mut input: ChildStdin, lines: &Receiver<String>) {
    for line in lines {
        if input.write_all(line.as_bytes()).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

fn last_bytes(mut from: impl Read) -> String {
    let mut kept = Vec::new();
    let mut buffer = [0; 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        kept.extend_from_slice(&buffer[..read]);
        let more = kept.len().saturating_sub(SAID_BYTES_MAX);
        kept.drain(..more);
    }
    String::from_utf8_lossy(&kept).into_owned()
}
