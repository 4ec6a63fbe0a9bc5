//! A child that leads a process group of its own.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus};

/// When it is dropped, its whole group is killed and the child is reaped: whatever fails after the
/// start leaves no process behind.
#[derive(Debug)]
pub(crate) struct Leader {
    child: Child,
    ended: Option<ExitStatus>,
}

impl Leader {
    /// Starts it. What a terminal sends to our group is for us: we end the child ourselves.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn spawn(command: &mut Command) -> io::Result<Leader> {
        Ok(Leader { child: command.process_group(0).spawn()?, ended: None })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its standard input and output where they are pipes, once.
    pub(crate) fn take_pipes(&mut self) -> Option<(ChildStdin, ChildStdout)> {
        self.child.stdin.take().zip(self.child.stdout.take())
    }

    /// How it ended, as far as anybody has looked.
    pub(crate) fn ended(&self) -> Option<ExitStatus> {
        self.ended
    }

    /// Looks whether it has ended.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn look(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait()?;
        }
        Ok(self.ended)
    }

    /// Kills what still runs of its group and waits for its end.
    pub(crate) fn end(&mut self) -> ExitStatus {
        if let Some(status) = self.ended {
            return status;
        }
        // SAFETY: the process is a child of ours that was not reaped, so its number, which is its
        // group's too, names nothing else.
        unsafe { libc::kill(-(self.child.id() as i32), libc::SIGKILL) };
        // It may have left its group.
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
        // The sleeping one holds the pipe for as long as it lives.
        assert!(lines.next().is_none());
        // What was reaped is no child any more.
        // SAFETY: the call takes numbers and nothing to write to.
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
