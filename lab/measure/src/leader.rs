//! A child that leads its own process group.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus};

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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufRead;
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
}
