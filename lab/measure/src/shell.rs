//! Hooks and judges: commands through `sh -c`, outside the timed span.

use crate::launcher::{process_descriptor, wait_for};
use crate::output;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use tiebreak_core::sampler::RunFailure;
use tiebreak_core::verdict::Fault;
use tiebreak_machine::clock;

/// How long a clean-up may still take once the user has interrupted.
const LAST_WILL_NS: u64 = 10_000_000_000;
const SLICE_MS: i32 = 50;

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
        let errors = output::memory_file().map_err(broken)?;
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).env("TIEBREAK_CONTESTANT", self.contestant);
        if let Some(directory) = self.directory {
            shell.current_dir(directory);
        }
        shell.stdin(input).stdout(Stdio::null());
        shell.stderr(errors.try_clone().map_err(broken)?).process_group(0);
        let mut child = shell.spawn().map_err(broken)?;
        let status = self.wait(&mut child)?;
        Ok(Ended { status: number(status), stderr: output::tail(&errors) })
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

/// Returns the exit status, or 128 + the signal, as shells do.
fn number(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}
