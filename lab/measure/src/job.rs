//! Jobs: commands that are neither contestants nor hooks, such as builds. An interrupt by the user
//! ends them.

use crate::launcher::{process_descriptor, wait_for};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};

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

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::process::Stdio;

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
