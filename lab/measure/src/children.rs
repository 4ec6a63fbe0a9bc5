//! A child that leads its own process group.
//!
//! Jobs: commands that are neither contestants nor hooks, such as builds. An interrupt by the user
//! ends them.
//!
//! Hooks and judges: commands through `sh -c`, outside the timed span.

use crate::files;
use crate::launcher::{process_descriptor, wait_for};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use tiebreak_core::sampler::RunFailure;
use tiebreak_core::verdict::Fault;
use tiebreak_machine::clock;

/// A child process and its group. Dropping it kills the whole group and reaps the child, so no
/// failure after the start leaves a process behind.
#[derive(Debug)]
pub(crate) struct Leader {
    child: Child,
    ended: Option<ExitStatus>,
}

impl Leader {
    /// Starts the child. Its group does not get what a terminal sends to our group: the caller ends
    /// the child.
    ///
    /// # Errors
    /// Fails if the system cannot start it.
    pub(crate) fn spawn(command: &mut Command) -> io::Result<Leader> {
        Ok(Leader { child: command.process_group(0).spawn()?, ended: None })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Takes its standard input and output, if they are pipes; `None` the second time.
    pub(crate) fn take_pipes(&mut self) -> Option<(ChildStdin, ChildStdout)> {
        self.child.stdin.take().zip(self.child.stdout.take())
    }

    /// Returns how it ended, if a check has already seen that.
    pub(crate) fn ended(&self) -> Option<ExitStatus> {
        self.ended
    }

    /// Checks whether it has ended.
    ///
    /// # Errors
    /// Fails if the system call fails.
    pub(crate) fn look(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait()?;
        }
        Ok(self.ended)
    }

    /// Kills what still runs of its group and waits for the child's end.
    pub(crate) fn end(&mut self) -> ExitStatus {
        if let Some(status) = self.ended {
            return status;
        }
        // SAFETY: the process is a child of ours that was not reaped, so its number, which is also
        // its group's, names nothing else.
        unsafe { libc::kill(-(self.child.id() as i32), libc::SIGKILL) };
        // The child may have left its group.
        let _ = self.child.kill();
        let status = self.child.wait().unwrap_or_else(|_| ExitStatus::from_raw(libc::SIGKILL));
        self.ended = Some(status);
        status
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        self.end();
    }
}

/// The longest sleep before the next check whether the user interrupted.
const SLICE_MS: i32 = 50;
/// The number of checks whether a job has ended after SIGTERM, before it is killed: 2 s.
const LOOKS_AFTER_TERM: u32 = 40;

/// Runs a command in its own process group until it ends, and returns its exit status, or 128 + the
/// signal that ended it. The caller sets its streams. They should be files: a pipe that the caller
/// reads only afterwards may fill up.
///
/// When `interrupted` becomes true, SIGTERM goes to the whole group and SIGKILL two seconds later;
/// the function then returns `None`. Processes that left the group are not ended.
///
/// # Errors
/// Fails if the command cannot be started or waited for.
pub fn run_job(command: &mut Command, interrupted: &AtomicBool) -> io::Result<Option<i32>> {
    if interrupted.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let mut child = command.process_group(0).spawn()?;
    let process = process_descriptor(child.id() as i32)?;
    loop {
        if wait_for(process.as_fd(), SLICE_MS)? {
            return child.wait().map(|status| Some(number(status)));
        }
        if interrupted.load(Ordering::Relaxed) {
            return end(&mut child, process.as_fd()).map(|()| None);
        }
    }
}

/// Ends the group of a child that was not reaped.
fn end(child: &mut Child, process: BorrowedFd<'_>) -> io::Result<()> {
    let group = -(child.id() as i32);
    // SAFETY: the child was not reaped, so its number, which is also its group's, names nothing
    // else.
    unsafe { libc::kill(group, libc::SIGTERM) };
    for _ in 0..LOOKS_AFTER_TERM {
        if wait_for(process, SLICE_MS)? {
            break;
        }
    }
    // Processes that the child started may remain. SAFETY: as above.
    unsafe { libc::kill(group, libc::SIGKILL) };
    child.wait().map(drop)
}

/// Returns the exit status, or 128 + the signal, as shells do.
fn number(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

/// How long a clean-up may still take once the user has interrupted.
const LAST_WILL_NS: u64 = 10_000_000_000;

/// How shell commands are run for one contestant.
#[derive(Clone, Copy)]
pub(crate) struct Shell<'a> {
    pub(crate) contestant: &'a str,
    pub(crate) directory: Option<&'a Path>,
    pub(crate) interrupted: &'a AtomicBool,
    /// Whether to continue for a while although the user interrupted, as a clean-up must.
    pub(crate) insists: bool,
}

struct Ended {
    status: i32,
    stderr: String,
}

impl Shell<'_> {
    /// Runs a hook.
    pub(crate) fn hook(&self, hook: &str, command: &str) -> Result<(), RunFailure> {
        let Ended { status, stderr } = self.run(command, Stdio::null())?;
        if status == 0 {
            return Ok(());
        }
        let (hook, command) = (hook.to_owned(), command.to_owned());
        Err(RunFailure::Fault(Fault::Hook { hook, command, status, stderr }))
    }

    /// Passes an output to a judge.
    pub(crate) fn judge(&self, judge: &str, output: &File) -> Result<(), RunFailure> {
        let broken = |error| RunFailure::Broken(format!("the output cannot be judged: {error}"));
        use std::io::Seek;
        let mut input = output.try_clone().map_err(broken)?;
        input.rewind().map_err(broken)?;
        let Ended { status, .. } = self.run(judge, Stdio::from(input))?;
        if status == 0 {
            return Ok(());
        }
        Err(RunFailure::Fault(Fault::Rejected { judge: judge.to_owned(), status }))
    }

    fn run(&self, command: &str, input: Stdio) -> Result<Ended, RunFailure> {
        let broken = |error| RunFailure::Broken(format!("'sh -c' cannot be run: {error}"));
        let errors = files::memory_file().map_err(broken)?;
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).env("TIEBREAK_CONTESTANT", self.contestant);
        if let Some(directory) = self.directory {
            shell.current_dir(directory);
        }
        shell.stdin(input).stdout(Stdio::null());
        shell.stderr(errors.try_clone().map_err(broken)?).process_group(0);
        let mut child = shell.spawn().map_err(broken)?;
        let status = self.wait(&mut child)?;
        Ok(Ended { status: number(status), stderr: files::tail(&errors) })
    }

    fn wait(&self, child: &mut Child) -> Result<ExitStatus, RunFailure> {
        let broken = |error| RunFailure::Broken(format!("a hook cannot be waited for: {error}"));
        let pid = child.id() as i32;
        let process = process_descriptor(pid).map_err(broken)?;
        let mut end_ns = None;
        loop {
            if wait_for(process.as_fd(), SLICE_MS).map_err(broken)? {
                return child.wait().map_err(broken);
            }
            if self.interrupted.load(Ordering::Relaxed) {
                let allowed_ns = if self.insists { LAST_WILL_NS } else { 0 };
                let now_ns = clock::monotonic_ns();
                if now_ns >= *end_ns.get_or_insert(now_ns + allowed_ns) {
                    // SAFETY: the process is a child of ours that was not reaped, so its number,
                    // which is also its group's, names nothing else.
                    unsafe { libc::kill(-pid, libc::SIGKILL) };
                    child.wait().map_err(broken)?;
                    return Err(RunFailure::Interrupted);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufRead;
    use std::path::Path;
    use std::process::Stdio;

    #[test]
    fn nothing_of_a_group_is_left() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 1000 & echo $!; wait"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut leader = Leader::spawn(&mut command).unwrap();
        let (_stdin, stdout) = leader.take_pipes().unwrap();
        let mut lines = io::BufReader::new(stdout).lines();
        lines.next().unwrap().unwrap();
        assert_eq!(leader.look().unwrap(), None);
        let pid = leader.pid();
        drop(leader);
        // The sleeping process holds the pipe as long as it lives.
        assert!(lines.next().is_none());
        // A reaped process is not a child any more. SAFETY: the call takes numbers and no place to
        // write to.
        let waited = unsafe { libc::waitpid(pid as i32, std::ptr::null_mut(), libc::WNOHANG) };
        assert_eq!(waited, -1);
    }

    #[test]
    fn how_it_ended_is_kept() {
        let mut leader = Leader::spawn(Command::new("sh").args(["-c", "kill -9 $$"])).unwrap();
        while leader.look().unwrap().is_none() {
            std::thread::yield_now();
        }
        assert_eq!(leader.ended().and_then(|status| status.signal()), Some(libc::SIGKILL));
        assert_eq!(leader.end().signal(), Some(libc::SIGKILL));
    }

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    #[test]
    fn a_job_gives_its_status() {
        let go_on = AtomicBool::new(false);
        let check = |script: &str, status: i32| {
            assert_eq!(run_job(&mut shell(script), &go_on).unwrap(), Some(status), "{script}");
        };
        check("exit 0", 0);
        check("exit 7", 7);
        check("kill -9 $$", 128 + 9);
        assert!(run_job(&mut Command::new("/no/such/program"), &go_on).is_err());
        assert_eq!(run_job(&mut shell("exit 0"), &AtomicBool::new(true)).unwrap(), None);
    }

    /// Interrupts a job once it has written the file `ready`, and returns the file's final content.
    fn interrupted(folder: &Path, script: &str) -> String {
        let (stop, ready) = (AtomicBool::new(false), folder.join("ready"));
        std::thread::scope(|scope| {
            let job = scope.spawn(|| run_job(shell(script).current_dir(folder), &stop));
            while std::fs::read_to_string(&ready).unwrap_or_default().is_empty() {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            stop.store(true, Ordering::Relaxed);
            assert_eq!(job.join().unwrap().unwrap(), None);
        });
        std::fs::read_to_string(ready).unwrap()
    }

    #[test]
    fn an_interrupted_job_is_asked_to_end_and_then_killed() {
        let folder = tempfile::tempdir().unwrap();
        let polite = "trap 'echo bye >> ready; exit' TERM; echo ready > ready; sleep 60 & wait";
        assert_eq!(interrupted(folder.path(), polite), "ready\nbye\n");
        std::fs::remove_file(folder.path().join("ready")).unwrap();
        // The child of the shell is also killed.
        let deaf = "trap '' TERM; sh -c 'echo $$ > ready; while :; do sleep 60; done'; :";
        let child = interrupted(folder.path(), deaf);
        let stat = format!("/proc/{}/stat", child.trim());
        let is_gone = || std::fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z "));
        for _ in 0..1000 {
            if is_gone() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("{} still runs", child.trim());
    }
}
