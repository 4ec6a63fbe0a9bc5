//! One runner: its process, its two pipes, requests with answers, and what is wrong with an answer.

use super::suspicion::Held;
use super::usage::Counters;
use crate::children::Leader;
use crate::files;
use crate::resources::Waits;
use crate::system::{checked, wait_for};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::FileExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tiebreak_core::sampler::UnitFailure;
use tiebreak_core::verdict::Fault;
use tiebreak_machine::{clock, cpus};

/// The longest sleep before the next check whether the user interrupted.
const SLICE_NS: u64 = 100_000_000;
/// How long a runner that closed its pipe may take to end.
const END_NS: u64 = 1_000_000_000;
/// The pause between two checks whether a process is idle.
const PAUSE: Duration = Duration::from_micros(200);
/// How long other threads of a runner may continue after its answer before the next one is asked.
const REST_NS: u64 = 20_000_000;
/// Standard error longer than this makes a runner void: it would fill the memory.
const ERRORS_BYTES_MAX: u64 = 16 << 20;

thread_local! {
    /// How long this thread waits for a CPU.
    static OWN: Waits = Waits::open("thread-self");
}

/// How the runner of a contestant is started.
#[derive(Clone, Debug)]
pub(super) struct Launch {
    /// The contestant, by its index in the plan.
    pub(super) contestant: usize,
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
    pub(super) environment: Vec<(String, OsString)>,
    pub(super) directory: PathBuf,
    pub(super) cpu: Option<usize>,
    /// Becomes true when the user asks to stop.
    pub(super) interrupted: &'static AtomicBool,
}

/// A runner's process. Dropping it ends the process and its group.
#[derive(Debug)]
pub(super) struct Process {
    /// The contestant, by its index in the plan.
    pub(super) contestant: usize,
    leader: Leader,
    requests: ChildStdin,
    answers: ChildStdout,
    /// What was read after the last answer.
    rest: Vec<u8>,
    errors: File,
    input: File,
    dump: File,
    pub(super) counters: Counters,
    interrupted: &'static AtomicBool,
    /// The longest that the runner may take for one answer, without waits for a CPU.
    pub(super) timeout_ns: u64,
    /// The name of the workload, for faults.
    pub(super) workload: String,
}

impl Process {
    /// Starts the runner in its own process group; it ends when this thread does.
    pub(super) fn start(
        launch: &Launch,
        padding_bytes: u32,
        timeout_ns: u64,
        workload: &str,
    ) -> Result<Process, UnitFailure> {
        let [input, dump, errors] = [(); 3].map(|()| files::memory_file().map_err(no_process));
        let (input, dump, errors) = (input?, dump?, errors?);
        let mut command = Command::new(&launch.program);
        command
            .args(&launch.arguments)
            .envs(launch.environment.iter().map(|(name, value)| (name, value)))
            .env("TIEBREAK_PADDING", "x".repeat(padding_bytes as usize))
            .current_dir(&launch.directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors.try_clone().map_err(no_process)?);
        let kept = [input.as_raw_fd(), dump.as_raw_fd()];
        let (own_pid, cpu) = (std::process::id() as i32, launch.cpu);
        // SAFETY: `before_exec` makes system calls only and allocates nothing, so it may run
        // between fork and exec.
        unsafe { command.pre_exec(move || before_exec(kept, own_pid, cpu)) };
        let mut leader = Leader::spawn(&mut command).map_err(|error| not_started(launch, error))?;
        let Some((requests, answers)) = leader.take_pipes() else {
            return Err(UnitFailure::Broken("a runner has no pipes".into()));
        };
        Ok(Process {
            contestant: launch.contestant,
            counters: Counters::open(leader.pid()).map_err(no_process)?,
            leader,
            requests,
            answers,
            rest: Vec::new(),
            errors,
            input,
            dump,
            interrupted: launch.interrupted,
            timeout_ns,
            workload: workload.to_owned(),
        })
    }

    /// Writes the input where the runner can read it, and returns the path for the request.
    pub(super) fn give_input(&self, bytes: &[u8]) -> Result<String, UnitFailure> {
        let written = self.input.set_len(0).and_then(|()| self.input.write_all_at(bytes, 0));
        written.map_err(no_process)?;
        Ok(format!("/proc/self/fd/{}", self.input.as_raw_fd()))
    }

    /// Returns the path to which the runner dumps.
    pub(super) fn dump_path(&self) -> String {
        format!("/proc/self/fd/{}", self.dump.as_raw_fd())
    }

    /// Returns what the runner has dumped.
    pub(super) fn dumped(&self) -> Result<Vec<u8>, UnitFailure> {
        files::content(&self.dump).map_err(no_process)
    }

    /// Sends a request, with its arguments after a space, and waits for the answer. Returns the
    /// answer and the times of the exchange, without the time that the answer reports.
    pub(super) fn ask<T>(
        &mut self,
        request: &Request<T>,
        arguments: &str,
    ) -> Result<(T, Held), UnitFailure> {
        let text = format!("{}{arguments}\n", request.word);
        if !self.rest.is_empty() {
            let said = quoted(&String::from_utf8_lossy(&self.rest));
            return Err(self.broke(format!(
                "wrote '{said}' to standard output without being asked: the protocol has it for \
                 itself, and prints belong on standard error"
            )));
        }
        let (ran_before_ns, waited_before_ns) = self.scheduled_ns();
        let start_ns = clock::monotonic_ns();
        if self.requests.write_all(text.as_bytes()).is_err() {
            return Err(self.ended());
        }
        let line = self.read_line(start_ns, waited_before_ns)?;
        let outside_ns = clock::monotonic_ns() - start_ns;
        let (ran_ns, waited_ns) = self.scheduled_ns();
        let held = Held {
            inside_ns: 0,
            outside_ns,
            waited_ns: waited_ns.saturating_sub(waited_before_ns),
            ran_ns: ran_ns.saturating_sub(ran_before_ns),
        };
        if self.errors.metadata().map_or(0, |data| data.len()) > ERRORS_BYTES_MAX {
            let most = ERRORS_BYTES_MAX >> 20;
            let what = format!("wrote more than {most} MiB to standard error: it must say less");
            return Err(self.broke(what));
        }
        let answer = request.answer(&line).map_err(|what| self.broke(what))?;
        Ok((answer, held))
    }

    /// Returns how long the runner has been on a CPU, and how long the runner and this thread have
    /// waited for one.
    fn scheduled_ns(&self) -> (u64, u64) {
        let (ran_ns, waited_ns) = self.counters.scheduled_ns();
        (ran_ns, waited_ns + OWN.with(Waits::waited_ns))
    }

    fn read_line(&mut self, start_ns: u64, waited_before_ns: u64) -> Result<String, UnitFailure> {
        let mut deadline_ns = start_ns.saturating_add(self.timeout_ns);
        let mut chunk = [0; 4096];
        loop {
            if let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                let line = self.rest.drain(..=end).collect::<Vec<u8>>();
                return Ok(String::from_utf8_lossy(&line[..end]).into_owned());
            }
            if self.rest.len() > LINE_BYTES_MAX {
                let said = quoted(&String::from_utf8_lossy(&self.rest));
                let what = format!("answered '{said}' without an end of line in 64 KiB");
                return Err(self.broke(what));
            }
            if self.interrupted.load(Ordering::Relaxed) {
                return Err(UnitFailure::Interrupted);
            }
            let now_ns = clock::monotonic_ns();
            if now_ns >= deadline_ns {
                // A runner that waits for a CPU is not hung.
                let waited_ns = self.scheduled_ns().1.saturating_sub(waited_before_ns);
                deadline_ns = start_ns.saturating_add(self.timeout_ns).saturating_add(waited_ns);
            }
            if now_ns >= deadline_ns {
                let seconds = self.timeout_ns.div_ceil(1_000_000_000);
                return Err(self.fault(Fault::Hung { workload: self.workload.clone(), seconds }));
            }
            let slice_ns = (deadline_ns - now_ns).min(SLICE_NS);
            if wait_for(self.answers.as_fd(), slice_ns).map_err(no_process)? {
                match self.answers.read(&mut chunk) {
                    Ok(0) => return Err(self.ended()),
                    Ok(length) => self.rest.extend_from_slice(&chunk[..length]),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(no_process(error)),
                }
            }
        }
    }

    /// Waits until no thread of the runner works any more, so that it does not compete with the
    /// next one; at most 20 ms.
    pub(super) fn rest(&self) {
        let start_ns = clock::monotonic_ns();
        let mut cpu_ns = self.counters.cpu_ns();
        while clock::monotonic_ns() - start_ns < REST_NS {
            std::thread::sleep(PAUSE);
            let before_ns = std::mem::replace(&mut cpu_ns, self.counters.cpu_ns());
            if before_ns == cpu_ns {
                break;
            }
        }
    }

    /// Sends `bye` and waits briefly for the end.
    pub(super) fn bye(mut self) {
        if self.requests.write_all(b"bye\n").is_ok() {
            self.end();
        }
    }

    /// Waits briefly for the end.
    fn end(&mut self) -> Option<ExitStatus> {
        let deadline_ns = clock::monotonic_ns() + END_NS;
        self.leader.wait_unless(|| clock::monotonic_ns() >= deadline_ns).ok().flatten()
    }

    /// Returns the fault of a runner whose pipe is closed.
    fn ended(&mut self) -> UnitFailure {
        let status = self.end();
        let stderr = files::tail(&self.errors);
        let early = "before it was asked to: a runner ends after bye";
        match status.map(|status| (status.signal(), status.code())) {
            Some((Some(signal), _)) => self.fault(Fault::Signal { signal, stderr }),
            Some((None, Some(status))) if status != 0 => {
                self.fault(Fault::ExitStatus { status, stderr })
            }
            Some(_) => self.broke(format!("ended {early}")),
            None => self.broke(format!("closed its standard output {early}")),
        }
    }

    /// Returns the fault of a runner that broke the protocol, with what it wrote to standard error.
    pub(super) fn broke(&self, what: impl Into<String>) -> UnitFailure {
        let mut what = what.into();
        let said = files::tail(&self.errors);
        let last = said.lines().last().filter(|_| !what.starts_with("could not do"));
        if let Some(line) = last {
            what += &format!(" (on standard error: {})", quoted(line));
        }
        self.fault(Fault::Runner { workload: self.workload.clone(), what })
    }

    fn fault(&self, fault: Fault) -> UnitFailure {
        UnitFailure::Fault(self.contestant, fault)
    }
}

/// Prepares the process of a runner: it inherits the two files, ends with this process and runs on
/// its CPU.
fn before_exec(kept: [i32; 2], own_pid: i32, cpu: Option<usize>) -> io::Result<()> {
    // SAFETY: the calls take numbers; the descriptors are open, and no lock is taken.
    unsafe {
        for fd in kept {
            checked(libc::fcntl(fd, libc::F_SETFD, 0))?;
        }
        // If this process is killed while a runner works, the runner must end too.
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() != own_pid {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
    }
    cpu.map_or(Ok(()), |cpu| cpus::pin_this_thread(&[cpu]))
}

fn not_started(launch: &Launch, error: io::Error) -> UnitFailure {
    match error.raw_os_error() {
        Some(libc::EAGAIN | libc::ENOMEM | libc::EMFILE | libc::ENFILE) => no_process(error),
        _ => {
            let reason = error.to_string();
            UnitFailure::Fault(launch.contestant, Fault::CannotStart { reason })
        }
    }
}

pub(super) fn no_process(error: io::Error) -> UnitFailure {
    UnitFailure::Broken(format!(
        "a runner could not be served: {error}: raise the limits on processes and open files, or \
         free memory"
    ))
}

/// The version of the protocol: the first word after `hello`, on both sides.
pub(super) const VERSION: u32 = 1;

/// Checks which version a runner speaks.
pub(super) fn check_version(version: u32) -> Result<(), String> {
    if version == VERSION {
        return Ok(());
    }
    Err(format!(
        "speaks version {version} of the runner protocol, and this tiebreak speaks {VERSION}: \
         take the client of the same release"
    ))
}

/// The longest line that is accepted as an answer.
const LINE_BYTES_MAX: usize = 1 << 16;
/// The most characters of a wrong line that a message quotes.
const QUOTED_CHARS: usize = 60;

/// A request of the protocol, and how its answer is read.
pub(super) struct Request<T> {
    word: &'static str,
    /// A right answer; all answers have its first word.
    right: &'static str,
    /// Reads what follows that word; `None` if it is wrong.
    read: fn(&str) -> Option<T>,
}

/// The version of the protocol that the runner speaks.
pub(super) const HELLO: Request<u32> = Request {
    word: "hello",
    right: "hello 1 RUNTIME VERSION",
    read: |rest| rest.split(' ').next()?.parse().ok(),
};
/// Whether each run of the loaded workload needs a reset before it.
pub(super) const LOAD: Request<bool> = Request {
    word: "load",
    right: "loaded reset=no",
    read: |rest| match value(rest, "reset") {
        None | Some("no") => Some(false),
        Some("yes") => Some(true),
        Some(_) => None,
    },
};
/// What the runner reports about a batch.
pub(super) const RUN: Request<Timed> =
    Request { word: "run", right: "ran elapsed_ns=NANOSECONDS checksum=NUMBER", read: Timed::read };
/// Ready for the next run.
pub(super) const RESET: Request<()> = Request { word: "reset", right: "reset", read: |_| Some(()) };
/// The number of bytes of the answer that was written.
pub(super) const DUMP: Request<u64> =
    Request { word: "dump", right: "dumped bytes=NUMBER", read: |rest| number(rest, "bytes") };

impl<T> Request<T> {
    /// Parses the answer.
    ///
    /// # Errors
    /// Returns what the runner did, and what would be right, as the end of a sentence that starts
    /// with its name.
    fn answer(&self, line: &str) -> Result<T, String> {
        let Request { word: asked, right, read } = self;
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if word == "error" {
            return Err(format!("could not do '{asked}': {}", quoted(rest)));
        }
        let is_answer = right.split(' ').next() == Some(word);
        is_answer.then(|| read(rest)).flatten().ok_or_else(|| {
            let got = quoted(line);
            format!("answered '{asked}' with '{got}', where '{right}' would be right")
        })
    }
}

/// What a runner reports about a batch.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Timed {
    /// The time of all runs, with all parts.
    pub(super) elapsed_ns: u64,
    /// The checksum of each run.
    pub(super) checksum: u64,
    /// The time of each part, if the contestant has several; their sum is `elapsed_ns`.
    parts_ns: Vec<u64>,
}

impl Timed {
    fn read(rest: &str) -> Option<Timed> {
        let (elapsed_ns, checksum) = (number(rest, "elapsed_ns")?, number(rest, "checksum")?);
        let Some(list) = value(rest, "parts_ns") else {
            return Some(Timed { elapsed_ns, checksum, parts_ns: Vec::new() });
        };
        let parts_ns: Vec<u64> =
            list.split(',').map(|part| part.parse().ok()).collect::<Option<_>>()?;
        let sum = parts_ns.iter().try_fold(0_u64, |sum, part| sum.checked_add(*part));
        (sum == Some(elapsed_ns)).then_some(Timed { elapsed_ns, checksum, parts_ns })
    }

    /// Returns the time that counts for the batch: that of all runs, or the geometric mean of the
    /// parts, `exp(sum of ln(part) / parts)`. The ratio of two batches is then the geometric mean
    /// of the ratios of their parts.
    pub(super) fn batch_ns(&self) -> u64 {
        if self.parts_ns.is_empty() {
            return self.elapsed_ns;
        }
        let logarithms = self.parts_ns.iter().map(|ns| (*ns).max(1) as f64).map(f64::ln);
        (logarithms.sum::<f64>() / self.parts_ns.len() as f64).exp().round() as u64
    }

    /// Returns the same with another time of all runs. The parts keep their proportions; a part
    /// that took nothing counts as 1 ns.
    pub(super) fn with_elapsed(&self, elapsed_ns: u64) -> Timed {
        let sum: f64 = self.parts_ns.iter().map(|ns| (*ns).max(1) as f64).sum();
        let shares = self.parts_ns.iter().map(|ns| (*ns).max(1) as f64 / sum);
        let parts_ns = shares.map(|share| (share * elapsed_ns as f64).round() as u64).collect();
        Timed { elapsed_ns, parts_ns, checksum: self.checksum }
    }
}

/// Returns the value of the word `NAME=VALUE`. Ignores words with other names: a later version of a
/// client may add some.
fn value<'a>(rest: &'a str, name: &str) -> Option<&'a str> {
    let mut words = rest.split(' ').filter_map(|word| word.split_once('='));
    words.find(|(found, _)| *found == name).map(|(_, value)| value)
}

fn number(rest: &str, name: &str) -> Option<u64> {
    value(rest, name)?.parse().ok()
}

/// Shortens a foreign text for a message and replaces control characters.
pub(super) fn quoted(text: &str) -> String {
    let plain = text.trim_end().chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut short: String = plain.take(QUOTED_CHARS + 1).collect();
    if let Some((end, _)) = short.char_indices().nth(QUOTED_CHARS) {
        short.truncate(end);
        short.push_str("...");
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(elapsed_ns: u64, checksum: u64, parts_ns: &[u64]) -> Timed {
        Timed { elapsed_ns, checksum, parts_ns: parts_ns.to_vec() }
    }

    #[test]
    fn answers_are_read() {
        fn check<T: PartialEq + std::fmt::Debug>(request: Request<T>, line: &str, expected: T) {
            assert_eq!(request.answer(line), Ok(expected), "{line}");
        }
        check(HELLO, "hello 1 node 20.1.0", VERSION);
        check(HELLO, "hello 1", VERSION);
        check(HELLO, "hello 2 node", 2);
        assert_eq!(check_version(VERSION), Ok(()));
        assert!(check_version(2).unwrap_err().contains("speaks version 2"));
        check(LOAD, "loaded", false);
        check(LOAD, "loaded later=5 reset=yes", true);
        check(RUN, "ran elapsed_ns=5 checksum=18446744073709551615", ran(5, u64::MAX, &[]));
        check(RUN, "ran checksum=0 parts_ns=2,3 elapsed_ns=5", ran(5, 0, &[2, 3]));
        check(RESET, "reset", ());
        check(DUMP, "dumped bytes=12", 12);
        let why = RUN.answer("error it is\tbroken");
        assert_eq!(why, Err("could not do 'run': it is broken".to_owned()));
    }

    #[test]
    fn what_is_wrong_is_said_with_what_would_be_right() {
        fn check<T: std::fmt::Debug>(request: Request<T>, line: &str, needle: &str) {
            let said = request.answer(line).unwrap_err();
            assert!(said.contains(needle), "{line}: {said}");
        }
        check(HELLO, "hello you", "'hello 1 RUNTIME VERSION' would be right");
        check(HELLO, "ran elapsed_ns=1 checksum=1", "answered 'hello' with 'ran elapsed_ns=1");
        check(LOAD, "loaded reset=maybe", "'loaded reset=no' would be right");
        check(RUN, "", "answered 'run' with ''");
        check(RUN, "ran elapsed_ns=-1 checksum=2", "ran elapsed_ns=NANOSECONDS");
        check(RUN, "ran elapsed_ns=1.5 checksum=2", "ran elapsed_ns=NANOSECONDS");
        check(RUN, "ran elapsed_ns=1", "checksum=NUMBER");
        check(RUN, "ran elapsed_ns=6 checksum=1 parts_ns=2,3", "would be right");
        check(RUN, "ran elapsed_ns=6 checksum=1 parts_ns=", "would be right");
        let most = u64::MAX;
        check(RUN, &format!("ran elapsed_ns=1 checksum=1 parts_ns={most},2"), "would be right");
        check(DUMP, "dumped", "'dumped bytes=NUMBER' would be right");
        check(RESET, &"x".repeat(1000), &format!("'{}...'", "x".repeat(60)));
    }

    #[test]
    fn the_time_of_parts_is_their_geometric_mean() {
        let check = |parts: &[u64], expected: u64| {
            assert_eq!(ran(100, 0, parts).batch_ns(), expected);
        };
        check(&[], 100);
        check(&[100], 100);
        check(&[1_000_000, 4_000_000], 2_000_000);
        check(&[0, 1_000_000], 1000);
        check(&[1 << 20, 1 << 40], 1 << 30);
    }

    #[test]
    fn another_time_is_shared_by_the_parts() {
        let check = |parts: &[u64], shared: &[u64]| {
            let counted =
                Timed { elapsed_ns: parts.iter().sum(), checksum: 7, parts_ns: parts.into() };
            let right = Timed { elapsed_ns: 9000, checksum: 7, parts_ns: shared.into() };
            assert_eq!(counted.with_elapsed(9000), right);
        };
        check(&[], &[]);
        check(&[5], &[9000]);
        check(&[10, 20], &[3000, 6000]);
        check(&[0, 0, 0], &[3000, 3000, 3000]);
        check(&[0, u64::MAX], &[0, 9000]);
    }
}
