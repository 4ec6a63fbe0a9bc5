//! Children that lead their own process group: jobs, such as builds, and hooks and judges, which
//! run through `sh -c` outside the timed span. An interrupt by the user ends them.

use crate::files;
use crate::system::{process_descriptor, shell_status, wait_for};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use tiebreak_core::sampler::RunFailure;
use tiebreak_machine::clock;

/// A child process and its group. Dropping it kills the whole group and reaps the child, so no
/// failure after the start leaves a process behind.
#[derive(Debug)]
pub struct Leader {
    child: Child,
    ended: Option<ExitStatus>,
}

impl Leader {
    /// Starts the child. Its group does not get what a terminal sends to our group: the caller ends
    /// the child.
    ///
    /// # Errors
    /// Fails if the system cannot start it.
    pub fn spawn(command: &mut Command) -> io::Result<Leader> {
        Ok(Leader { child: command.process_group(0).spawn()?, ended: None })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Takes its standard input and output, if they are pipes; `None` the second time.
    pub fn take_pipes(&mut self) -> Option<(ChildStdin, ChildStdout)> {
        self.child.stdin.take().zip(self.child.stdout.take())
    }

    /// Takes its standard error, if that is a pipe; `None` the second time.
    pub fn take_errors(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Returns how it ended, if a check has already seen that.
    pub(crate) fn ended(&self) -> Option<ExitStatus> {
        self.ended
    }

    /// Checks whether it has ended.
    ///
    /// # Errors
    /// Fails if the system call fails.
    pub fn look(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait()?;
        }
        Ok(self.ended)
    }

    /// Waits until it has ended, or until `stop`, asked every 50 ms, returns true: then `None`.
    pub(crate) fn wait_unless(
        &mut self,
        mut stop: impl FnMut() -> bool,
    ) -> io::Result<Option<ExitStatus>> {
        let process = process_descriptor(self.pid() as i32)?;
        while !wait_for(process.as_fd(), SLICE_NS)? {
            if stop() {
                return Ok(None);
            }
        }
        self.ended = Some(self.child.wait()?);
        Ok(self.ended)
    }

    /// Sends a signal to the group of a child that was not reaped.
    fn signal_group(&self, signal: i32) {
        // SAFETY: the call takes numbers. The process is a child of ours that was not reaped, so
        // its number, which is also its group's, names nothing else.
        unsafe { libc::kill(-(self.pid() as i32), signal) };
    }

    /// Kills what still runs of its group, and waits for nothing.
    pub(crate) fn kill(&mut self) {
        if self.ended.is_none() {
            self.signal_group(libc::SIGKILL);
            // The child may have left its group.
            let _ = self.child.kill();
        }
    }

    /// Kills what still runs of its group and waits for the child's end.
    pub(crate) fn end(&mut self) -> ExitStatus {
        if let Some(status) = self.ended {
            return status;
        }
        self.kill();
        let status = self.child.wait().unwrap_or_else(|_| ExitStatus::from_raw(libc::SIGKILL));
        self.ended = Some(status);
        status
    }

    /// Asks the group to end, and kills what still runs of it once the child has ended, or after
    /// two seconds.
    fn terminate(&mut self) -> io::Result<()> {
        self.signal_group(libc::SIGTERM);
        let process = process_descriptor(self.pid() as i32)?;
        for _ in 0..LOOKS_AFTER_TERM {
            if wait_for(process.as_fd(), SLICE_NS)? {
                break;
            }
        }
        // Processes that the child started may remain.
        self.end();
        Ok(())
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        self.end();
    }
}

/// The longest sleep before the next check whether the user interrupted.
const SLICE_NS: u64 = 50_000_000;
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
    let mut job = Leader::spawn(command)?;
    match job.wait_unless(|| interrupted.load(Ordering::Relaxed))? {
        Some(status) => Ok(Some(shell_status(status))),
        None => job.terminate().map(|()| None),
    }
}

/// How long a clean-up may still take once the user has interrupted.
const LAST_WILL_NS: u64 = 10_000_000_000;

/// Runs a shell, whose standard input is set, and returns its exit status and the end of its
/// standard error. One that insists continues for a while although the user interrupted, as a
/// clean-up must.
pub(crate) fn run_shell(
    shell: &mut Command,
    interrupted: &AtomicBool,
    insists: bool,
) -> Result<(i32, String), RunFailure> {
    let cannot_run = || broken("'sh -c' cannot be run");
    let errors = files::memory_file().map_err(cannot_run())?;
    shell.stdout(Stdio::null()).stderr(errors.try_clone().map_err(cannot_run())?);
    let mut child = Leader::spawn(shell).map_err(cannot_run())?;
    let allowed_ns = if insists { LAST_WILL_NS } else { 0 };
    let mut end_ns = None;
    let ended = child.wait_unless(|| {
        let now_ns = clock::monotonic_ns();
        interrupted.load(Ordering::Relaxed) && now_ns >= *end_ns.get_or_insert(now_ns + allowed_ns)
    });
    match ended.map_err(broken("a hook cannot be waited for"))? {
        Some(status) => Ok((shell_status(status), files::tail(&errors))),
        None => Err(RunFailure::Interrupted),
    }
}

/// Returns the failure of a run because of the system.
pub(crate) fn broken(what: &str) -> impl Fn(io::Error) -> RunFailure {
    move |error| RunFailure::Broken(format!("{what}: {error}"))
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
