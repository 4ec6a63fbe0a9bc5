//! Builds a revision.

use super::Revision;
use super::git::without_hooks;
use crate::error::{FailedBuild, LabError};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use tiebreak_measure::run_job;
use tiebreak_report::shell_quote;

/// The most lines of a failed build's output that are shown.
const LINES_MAX: usize = 20;
/// The most characters of a line that are shown.
const COLUMNS_MAX: usize = 200;

/// A build to make.
pub(super) struct Build<'a> {
    pub(super) revision: &'a Revision,
    pub(super) command: &'a str,
    /// The folder where it runs.
    pub(super) folder: PathBuf,
    /// The same folder, relative to the top of the worktree.
    pub(super) prefix: &'a Path,
    /// Whether the folder still exists when the user reads why it failed.
    pub(super) keeps: bool,
}

impl Build<'_> {
    /// Runs the command through `sh -c`, with its output in a file in `logs`.
    ///
    /// # Errors
    /// Fails if the command fails, with the end of its output in the text, or if the user
    /// interrupts.
    pub(super) fn run(&self, logs: &Path, stop: &AtomicBool) -> Result<(), LabError> {
        let name = self.revision.name;
        let failed = |error: std::io::Error| {
            LabError::Broken(format!("the build of {name} cannot be run: {error}"))
        };
        let path = logs.join(format!("build-{name}.log"));
        let log = File::create(&path).map_err(failed)?;
        let mut shell = Command::new("sh");
        shell.args(["-c", self.command]).current_dir(&self.folder).stdin(Stdio::null());
        shell.stdout(log.try_clone().map_err(failed)?).stderr(log);
        shell.env("TIEBREAK_CONTESTANT", name);
        without_hooks(&mut shell);
        match run_job(&mut shell, stop).map_err(failed)? {
            Some(0) => Ok(()),
            None => Err(LabError::Interrupted),
            Some(status) => Err(LabError::Build(Box::new(FailedBuild {
                name,
                commit: self.revision.short().to_owned(),
                status,
                said: tail(&fs::read(&path).unwrap_or_default()),
                again: self.again(),
            }))),
        }
    }

    /// Returns a line for the user's shell that repeats the build.
    fn again(&self) -> String {
        let folder = self.folder.display().to_string();
        let build = format!("sh -c {}", shell_quote(self.command));
        if self.keeps {
            return format!("cd {} && {build}", shell_quote(&folder));
        }
        let top = format!("../{}-{}", self.revision.name, self.revision.short());
        let commit = &self.revision.commit;
        let within = Path::new(&top).join(self.prefix).display().to_string();
        let within = shell_quote(within.trim_end_matches('/'));
        format!("git worktree add --detach {top} {commit} && cd {within} && {build}")
    }
}

/// Returns the last lines of an output, in a form that a terminal can show.
fn tail(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let last = &lines[lines.len().saturating_sub(LINES_MAX)..];
    let shown = |c: char| if c.is_control() { ' ' } else { c };
    let show = |line: &&str| line.chars().take(COLUMNS_MAX).map(shown).collect::<String>();
    last.iter().map(show).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_short_and_plain() {
        let check = |output: &str, expected: &str| assert_eq!(tail(output.as_bytes()), expected);
        check("", "");
        check("one\n\x1b[31mtwo\r\n\n", "one\n [31mtwo");
        let many: String = (1..=30).map(|line| format!("{line}\n")).collect();
        let last: Vec<String> = (11..=30).map(|line| line.to_string()).collect();
        check(&many, &last.join("\n"));
        check(&"x".repeat(1000), &"x".repeat(COLUMNS_MAX));
    }
}
