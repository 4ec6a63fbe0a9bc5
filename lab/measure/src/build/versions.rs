//! Which compilers and interpreters are installed, and which versions they report.

use super::toolchain::first_line;
use crate::job::run_job;
use crate::output::memory_file;
use crate::program::resolve;
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use tiebreak_core::language::Language;
use tiebreak_core::tool::Tool;

/// The programs to ask, in the order of the report.
const ASKED: [&str; 7] = ["gcc", "clang", "rustc", "go", "ldc2", "node", "python3"];
/// How often the user's flag is checked.
const SLICE: Duration = Duration::from_millis(20);

/// Returns the compilers and interpreters found along `PATH`. Asks all of them at the same time,
/// for this long at most. One that exists and does not answer in time, or fails, is listed with the
/// reason.
///
/// Cost: a process each; about a tenth of a second if none has to be loaded from a disk.
pub fn compilers(longest: Duration, interrupted: &AtomicBool) -> Vec<Tool> {
    let stop = Arc::new(AtomicBool::new(false));
    let (sender, answers) = channel();
    let mut tools = Vec::new();
    for name in ASKED {
        let Ok(program) = resolve(name, None) else { continue };
        let (place, sender, stop) = (tools.len(), sender.clone(), Arc::clone(&stop));
        let asks = move || {
            let mut command = Command::new(program);
            let language = Language::of_program(name).unwrap_or_default();
            command.args(&language.entry().version);
            let _ = sender.send((place, ask(&mut command, &stop)));
        };
        // The thread is not joined: a program may take its time to end.
        let error = match std::thread::Builder::new().spawn(asks) {
            Ok(_) => "it did not answer in time".to_owned(),
            Err(error) => format!("no thread to ask it: {error}"),
        };
        tools.push(Tool { name: name.to_owned(), version: None, error: Some(error) });
    }
    drop(sender);
    let begin = Instant::now();
    while begin.elapsed() < longest && !interrupted.load(Ordering::Relaxed) {
        match answers.recv_timeout(SLICE.min(longest.saturating_sub(begin.elapsed()))) {
            Ok((place, answer)) => {
                (tools[place].version, tools[place].error) = match answer {
                    Ok(version) => (Some(version), None),
                    Err(error) => (None, Some(error)),
                };
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    stop.store(true, Ordering::Relaxed);
    tools
}

fn ask(command: &mut Command, stop: &AtomicBool) -> Result<String, String> {
    let said = |error: std::io::Error| error.to_string();
    let mut files = [memory_file().map_err(said)?, memory_file().map_err(said)?];
    let [output, errors] = &files;
    command.stdin(Stdio::null());
    command.stdout(output.try_clone().map_err(said)?).stderr(errors.try_clone().map_err(said)?);
    let status = run_job(command, stop).map_err(said)?;
    let mut texts = [Vec::new(), Vec::new()];
    for (file, text) in files.iter_mut().zip(&mut texts) {
        std::io::Seek::rewind(file).map_err(said)?;
        file.take(1 << 16).read_to_end(text).map_err(said)?;
    }
    let line = first_line(&texts[0]).or_else(|| first_line(&texts[1])).unwrap_or_default();
    match status {
        // Some end the line with a colon, because more lines follow.
        Some(0) if !line.is_empty() => Ok(line.trim_end_matches(':').to_owned()),
        Some(0) => Err("it said nothing".to_owned()),
        Some(status) => Err(format!("it failed with status {status}: {line}")),
        None => Err("it did not answer in time".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_first_lines_or_reasons() {
        let check = |script: &str, expected: Result<&str, &str>| {
            let mut command = Command::new("sh");
            let answer = ask(command.args(["-c", script]), &AtomicBool::new(false));
            assert_eq!(answer.as_ref().map(|s| &s[..]).map_err(|s| &s[..]), expected, "{script}");
        };
        check("echo; echo 'tool 1.2'; echo more", Ok("tool 1.2"));
        check("echo 'tool 1.2' >&2", Ok("tool 1.2"));
        check("echo broken; exit 3", Err("it failed with status 3: broken"));
        check(":", Err("it said nothing"));
    }

    #[test]
    fn nobody_is_waited_for() {
        let tools = compilers(Duration::ZERO, &AtomicBool::new(false));
        assert!(tools.iter().all(|tool| tool.version.is_none() && tool.error.is_some()));
        let names: Vec<_> = tools.iter().map(|tool| &tool.name[..]).collect();
        let known: Vec<_> = ASKED.to_vec();
        assert!(names.iter().all(|name| known.contains(name)));
        let stopped = compilers(Duration::from_secs(3600), &AtomicBool::new(true));
        assert_eq!(stopped, tools);
    }
}
