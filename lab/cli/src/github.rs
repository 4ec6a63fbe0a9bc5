//! Output for a step of GitHub's runner: its summary, and annotations of the code.

use crate::io::Io;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use tiebreak_lab::check;
use tiebreak_lab::core::result::{CheckResult, RunResult};
use tiebreak_lab::report::ci::{github, markdown};

/// Returns the value of a variable that is set and not empty.
fn set(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Returns whether this is a step of GitHub's runner.
fn is_runner() -> bool {
    set("GITHUB_ACTIONS").is_some_and(|value| value == "true")
}

/// In a step of GitHub's runner, writes the table to its summary, and an annotation at the line of
/// each claim that does not hold.
pub fn tell(result: &CheckResult, io: &mut Io) {
    summarise(result, io);
    if is_runner() {
        // Standard output may be JSON; the runner reads both streams. No file has lines for the
        // claims of a single run.
        let notes = github::annotations(result)
            .replace("file=tiebreak compare,line=1,", "")
            .replace("file=tiebreak suite,", "");
        io.err(&notes);
    }
}

/// Does the same for a single run, if its claims are gates.
pub fn tell_of_gate(run: &RunResult, io: &mut Io) {
    if let Some(result) = check::of_gate(run) {
        tell(&result, io);
    }
}

/// In a step of GitHub's runner, writes why there is no result.
pub fn tell_failure(text: &str, io: &mut Io) {
    if is_runner() {
        let escaped = text.trim().replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
        io.err(&format!("::error title=tiebreak::{escaped}\n"));
    }
}

fn summarise(result: &CheckResult, io: &mut Io) {
    let Some(path) = set("GITHUB_STEP_SUMMARY") else { return };
    let opened = OpenOptions::new().append(true).create(true).open(&path);
    let text = markdown::text(result);
    if let Err(error) = opened.and_then(|mut file| file.write_all(text.as_bytes())) {
        io.err(&format!("warning: no summary in {}: {error}\n", Path::new(&path).display()));
    }
}
