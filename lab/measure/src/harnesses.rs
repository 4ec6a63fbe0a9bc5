//! Benchmark harnesses that projects have already: how each is recognised, built, run for a short
//! time, and read. A file a harness.
//!
//! A harness has programs, and a program has benchmarks. One run of a program is a process of its
//! own, which times each of the benchmarks that it is asked for during a short slice and says how
//! long an iteration took.

mod criterion;
mod custom;
mod go;
mod google;
mod pytest;
#[cfg(test)]
mod tests;

use crate::children::Leader;
use crate::files;
use crate::system::shell_status;
use serde_json::Value;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tiebreak_machine::clock;

/// All harnesses, in the order in which a project is asked for them.
pub static ALL: [&dyn Harness; 5] =
    [&criterion::Criterion, &go::Go, &google::Google, &pytest::Pytest, &custom::Custom];

/// A benchmark harness.
pub trait Harness: Sync {
    /// Returns its name.
    fn name(&self) -> &'static str;

    /// Returns the file that shows that a project uses it.
    fn trace(&self, project: &Path) -> Option<PathBuf>;

    /// Builds the programs of a checkout into a folder, and returns those with benchmarks.
    ///
    /// # Errors
    /// Fails if a tool is missing or a build fails, with the last lines of its output.
    fn build(&self, at: &Place<'_>) -> Result<Vec<Program>, Failure>;

    /// Returns the command that runs a program's benchmarks: those of these names, or all. Each
    /// takes about `slice`; results that are no output go to its folder.
    fn command(&self, program: &Program, asked: &SliceRequest<'_>) -> Command;

    /// Reads what a run said: each benchmark that it timed.
    ///
    /// # Errors
    /// Fails if it is not in the harness's format; the text says what is wrong.
    fn read(&self, output: &str, results: &Path) -> Result<Vec<Timed>, String>;
}

/// Where programs are built.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The checkout, or the folder of it in which the suite is.
    pub project: &'a Path,
    /// An empty folder for what is built.
    pub built: &'a Path,
    /// What the user says instead of what the harness would find, word by word.
    pub words: &'a [String],
    /// Becomes true when the user asks to stop.
    pub stop: &'a AtomicBool,
}

/// A program with benchmarks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its name, the same for both revisions.
    pub name: String,
    /// The words that start it.
    pub words: Vec<String>,
    /// The folder in which it runs.
    pub folder: PathBuf,
}

/// A request for one run.
#[derive(Clone, Copy, Debug)]
pub struct SliceRequest<'a> {
    /// The names of benchmarks; `None` for all.
    pub names: Option<&'a [&'a str]>,
    /// About how long each is timed.
    pub slice: Duration,
    /// A folder for results that are files, which is made anew.
    pub results: &'a Path,
    /// The bytes of padding in the environment.
    pub padding_bytes: u32,
    /// The time at which the run is ended.
    pub limit: Duration,
    /// Becomes true when the user asks to stop.
    pub stop: &'a AtomicBool,
}

/// A benchmark that was timed.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed {
    /// Its name.
    pub name: String,
    /// The mean time of an iteration in nanoseconds.
    pub ns: f64,
    /// What its last digit stands for, in nanoseconds; 0 if all digits are there.
    pub step_ns: f64,
}

impl Timed {
    /// Returns a time that is said to the last digit.
    fn exact(name: &str, ns: f64) -> Timed {
        Timed { name: name.to_owned(), ns, step_ns: 0.0 }
    }

    /// Reads a time in nanoseconds; `None` if it is none.
    fn read(name: &str, ns: &str) -> Option<Timed> {
        let (digits, exponent) = ns.split_once(['e', 'E']).unwrap_or((ns, "0"));
        let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let step_ns = 10_f64.powi(exponent.parse::<i32>().ok()? - i32::try_from(decimals).ok()?);
        let ns = ns.parse().ok().filter(|ns: &f64| ns.is_finite() && *ns > 0.0)?;
        Some(Timed { name: name.to_owned(), ns, step_ns })
    }
}

/// Why a harness gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// It took too long, and was ended.
    #[error("{what} did not end within {seconds} s, and was ended")]
    TooLong {
        /// What ran.
        what: String,
        /// The limit.
        seconds: u64,
    },
    /// It failed: what, and the last lines of its output.
    #[error("{what} failed with status {status}:\n{tail}")]
    Status {
        /// What ran.
        what: String,
        /// The exit status, or 128 + the signal.
        status: i32,
        /// The last lines of its output.
        tail: String,
    },
    /// It could not be started, or said something else than its format.
    #[error("{0}")]
    Other(String),
}

/// The longest time that is believed: a day and a half.
const MOST_NS: f64 = 1e14;

/// Runs a program once. Returns the benchmarks that it timed and, if it timed some and failed
/// nevertheless, how.
///
/// # Errors
/// Fails if it cannot be started, takes too long, times nothing and fails, or is not understood.
pub fn look(
    harness: &dyn Harness,
    program: &Program,
    asked: &SliceRequest<'_>,
) -> Result<(Vec<Timed>, Option<Failure>), Failure> {
    empty(asked.results).map_err(Failure::of(asked.results))?;
    let what = format!("{} {}", harness.name(), program.name);
    let what = what.trim_end();
    let mut command = harness.command(program, asked);
    let padding = "x".repeat(asked.padding_bytes as usize);
    command.current_dir(&program.folder).env(crate::image::PADDING_NAME, padding);
    let Ran { output, failure } = run(&mut command, what, asked.limit, asked.stop)?;
    let timed = harness.read(&output, asked.results);
    let mut timed = match timed {
        Ok(timed) => timed,
        Err(why) => return Err(failure.unwrap_or(Failure::Other(format!("{what}: {why}")))),
    };
    // What takes no time has no ratio.
    timed.retain(|one| one.ns > 0.0 && one.ns <= MOST_NS);
    match failure {
        Some(failure) if timed.is_empty() => Err(failure),
        failure => Ok((timed, failure)),
    }
}

/// Runs a program once, and returns the benchmarks that it timed.
///
/// # Errors
/// Fails if it cannot be started, takes too long, fails, or is not understood.
pub fn time(
    harness: &dyn Harness,
    program: &Program,
    asked: &SliceRequest<'_>,
) -> Result<Vec<Timed>, Failure> {
    let (timed, failure) = look(harness, program, asked)?;
    failure.map_or(Ok(timed), Err)
}

/// Makes a folder anew.
fn empty(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::create_dir_all(folder)
}

/// What a command has written to standard output, and how it failed, if it did.
struct Ran {
    output: String,
    failure: Option<Failure>,
}

/// Runs a command to its end.
///
/// # Errors
/// Fails if it cannot be started or takes longer than `limit`, or if the user asks to stop.
fn run(
    command: &mut Command,
    what: &str,
    limit: Duration,
    stop: &AtomicBool,
) -> Result<Ran, Failure> {
    let failed = |error: io::Error| Failure::Other(format!("{what} cannot be run: {error}"));
    let (output, errors) = (files::memory_file(), files::memory_file());
    let (output, errors) = (output.map_err(failed)?, errors.map_err(failed)?);
    command.stdin(Stdio::null());
    command.stdout(output.try_clone().map_err(failed)?);
    command.stderr(errors.try_clone().map_err(failed)?);
    let mut child = Leader::spawn(command).map_err(failed)?;
    let end_ns = clock::monotonic_ns().saturating_add(limit.as_nanos() as u64);
    let ended =
        child.wait_unless(|| stop.load(Ordering::Relaxed) || clock::monotonic_ns() > end_ns);
    let output = files::content(&output).map_err(failed)?;
    let output = String::from_utf8_lossy(&output).into_owned();
    match ended.map_err(failed)?.map(shell_status) {
        Some(0) => Ok(Ran { output, failure: None }),
        None if stop.load(Ordering::Relaxed) => Err(Failure::Interrupted),
        None => Err(Failure::TooLong { what: what.to_owned(), seconds: limit.as_secs() }),
        Some(status) => {
            // Some say what failed here, some there.
            let tail = [last_lines(&output), files::tail(&errors)].join("\n").trim().to_owned();
            let failure = Some(Failure::Status { what: what.to_owned(), status, tail });
            Ok(Ran { output, failure })
        }
    }
}

/// Returns the last lines of a text.
fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(10)..].join("\n")
}

impl Failure {
    fn of(path: &Path) -> impl Fn(io::Error) -> Failure {
        move |error| Failure::Other(format!("{}: {error}", path.display()))
    }
}

impl fmt::Debug for dyn Harness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How long a build may take.
const BUILD_LIMIT: Duration = Duration::from_secs(3600);

impl Place<'_> {
    /// Runs a tool in the project, and returns its standard output.
    fn tool(&self, words: &[&str]) -> Result<String, Failure> {
        let what = words.join(" ");
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(self.project);
        let ran = run(&mut command, &what, BUILD_LIMIT, self.stop)?;
        ran.failure.map_or(Ok(ran.output), Err)
    }
}

/// Returns a name as a regular expression that matches it, in any dialect: elsewhere a backslash
/// before `<` makes it the beginning of a word.
fn escaped(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for c in name.chars() {
        if r"\.+*?()|[]{}^$".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Returns a regular expression that matches these names and no other.
fn any_of(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| escaped(name)).collect();
    format!("^({})$", names.join("|"))
}

/// Returns the files below a folder, in the order of their paths, without hidden folders.
fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let is_hidden = path.file_name().is_some_and(|name| name.as_bytes().starts_with(b"."));
        if path.is_dir() && !path.is_symlink() && !is_hidden {
            files_below(&path, found);
        } else if path.is_file() {
            found.push(path);
        }
    }
}

/// Returns whether a file has any of these bytes.
fn contains(path: &Path, signs: &[&[u8]]) -> bool {
    let all = fs::read(path).unwrap_or_default();
    signs.iter().any(|sign| all.windows(sign.len()).any(|part| part == *sign))
}

/// The file of results, of harnesses that write one.
const RESULTS: &str = "results.json";

/// Reads a file of JSON.
fn json(path: &Path) -> Result<Value, String> {
    let said = |error: String| format!("{}: {error}", path.display());
    let text = fs::read_to_string(path).map_err(|error| said(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| said(error.to_string()))
}

/// Returns how many threads may run at once.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns a path as text.
fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
