//! The commands of a build, in sequence.

use super::error::BuildError;
use crate::job::run_job;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use tiebreak_core::study::{Recipe, Study};

/// What every step of one build needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps<'a> {
    pub(super) study: &'a Study,
    pub(super) recipe: &'a Recipe,
    /// The compiler.
    pub(super) program: &'a Path,
    /// Whether kernels may be inlined.
    pub(super) is_inlined: bool,
    /// The folder with the kit's headers.
    pub(super) kit: &'a Path,
    pub(super) interrupted: &'a AtomicBool,
}

/// The number of lines that an error shows from the beginning of an output: the first message says
/// most.
const FIRST_LINES: usize = 30;
/// The number of lines that an error shows from the end of an output.
const LAST_LINES: usize = 10;
/// The most bytes of a line that are shown.
const LINE_BYTES_MAX: usize = 400;

/// Runs a command whose output goes to a file next to what it makes. Removes the file if the
/// command succeeds.
pub(super) fn run(
    command: &mut Command,
    log: &Path,
    interrupted: &AtomicBool,
) -> Result<(), BuildError> {
    let failed = || BuildError::io("writing", log);
    let output = File::create(log).map_err(failed())?;
    let errors = output.try_clone().map_err(failed())?;
    command.stdin(Stdio::null()).stdout(output).stderr(errors);
    let status = run_job(command, interrupted)
        .map_err(|reason| BuildError::Start { command: shown(command), reason })?;
    match status {
        Some(0) => fs::remove_file(log).map_err(failed()),
        None => Err(BuildError::Interrupted),
        Some(status) => {
            let output = fs::read(log).map_err(BuildError::io("reading", log))?;
            let output = excerpt(&String::from_utf8_lossy(&output));
            Err(BuildError::Failed { command: shown(command), status: ended(status), output })
        }
    }
}

fn ended(status: i32) -> String {
    if status > 128 {
        format!("was ended by signal {}", status - 128)
    } else {
        format!("failed with status {status}")
    }
}

/// Returns a command as it would be typed.
fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| quoted(&word.to_string_lossy())).collect();
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_=+/.,:@%".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Returns the beginning and the end of an output.
fn excerpt(output: &str) -> String {
    let lines: Vec<_> = output.trim_end().lines().map(shortened).collect();
    if lines.is_empty() {
        return "(it printed nothing)".to_owned();
    }
    if lines.len() <= FIRST_LINES + LAST_LINES + 1 {
        return lines.join("\n");
    }
    let left_out = lines.len() - FIRST_LINES - LAST_LINES;
    let (first, last) = (&lines[..FIRST_LINES], &lines[lines.len() - LAST_LINES..]);
    format!("{}\n... {left_out} lines left out ...\n{}", first.join("\n"), last.join("\n"))
}

fn shortened(line: &str) -> &str {
    &line[..line.floor_char_boundary(LINE_BYTES_MAX)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_shown_as_one_would_type_them() {
        let mut command = Command::new("cc");
        command.args(["-o", "a b", "it's", "", "-Wl,-u,x"]);
        assert_eq!(shown(&command), r"cc -o 'a b' 'it'\''s' '' -Wl,-u,x");
    }

    #[test]
    fn a_long_output_is_cut_in_the_middle() {
        let lines = |count: usize| (1..=count).map(|n| format!("{n}\n")).collect::<String>();
        assert_eq!(excerpt("\n"), "(it printed nothing)");
        assert_eq!(excerpt(&lines(41)), lines(41).trim_end());
        let cut = excerpt(&lines(100));
        assert!(cut.contains("30\n... 60 lines left out ...\n91\n"), "{cut}");
        assert_eq!(excerpt(&"x".repeat(1000)).len(), LINE_BYTES_MAX);
    }
}
