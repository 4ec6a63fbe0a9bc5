//! Any command that prints `name nanoseconds`, a line a benchmark.
//!
//! `TIEBREAK_BENCHMARKS` has the names that are asked for, a line each; where it is empty, all are.
//! `TIEBREAK_SLICE_NS` says about how long each is timed. Other lines of its output are left alone.

use super::{Failure, Harness, Place, Program, SliceRequest, Timed};
use std::path::{Path, PathBuf};
use std::process::Command;

pub(super) struct Custom;

impl Harness for Custom {
    fn name(&self) -> &'static str {
        "custom"
    }

    /// Nothing shows it: the user says it.
    fn trace(&self, _: &Path) -> Option<PathBuf> {
        None
    }

    fn build(&self, at: &Place<'_>) -> Result<Vec<Program>, Failure> {
        let words = at.words.to_vec();
        Ok(vec![Program { name: String::new(), words, folder: at.project.to_owned() }])
    }

    fn command(&self, program: &Program, asked: &SliceRequest<'_>) -> Command {
        let mut command = Command::new(&program.words[0]);
        command.args(&program.words[1..]);
        command.env("TIEBREAK_BENCHMARKS", asked.names.unwrap_or_default().join("\n"));
        command.env("TIEBREAK_SLICE_NS", asked.slice.as_nanos().to_string());
        command
    }

    /// The last word of a line is the time, and the others are the name.
    fn read(&self, output: &str, _: &Path) -> Result<Vec<Timed>, String> {
        let split = output.lines().filter_map(|line| line.trim().rsplit_once(char::is_whitespace));
        Ok(split.filter_map(|(name, ns)| Timed::read(name.trim_end(), ns)).collect())
    }
}
