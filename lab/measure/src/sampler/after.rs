//! Turns a run that has ended into a fault, or into a sample and the digest of its output.

use super::{Files, MetersReading, Programs, cannot_prepare};
use crate::launcher::message::Reply;
use crate::output;
use crate::resources::Around;
use std::fs::File;
use std::io;
use tiebreak_core::plan::Check;
use tiebreak_core::sample::{Mark, Marks, Meters, Outcome, Sample};
use tiebreak_core::sampler::{OutputDigest, RunFailure, RunRequest};
use tiebreak_core::verdict::Fault;
use tiebreak_core::warning::Warning;

/// The kernel counts resident pages in batches for each CPU, so a peak may be off by this much.
const MEMORY_FLOOR_SLACK_BYTES: u64 = 256 << 10;

impl Programs {
    /// Checks whether the run gives a sample at all.
    pub(super) fn check_end(&self, reply: &Reply, files: &Files) -> Result<(), RunFailure> {
        let system = || io::Error::from_raw_os_error(reply.errno);
        let fault = match reply.end {
            Reply::ENDED => return self.check_status(reply.status, files),
            Reply::TIMED_OUT => return Ok(()),
            Reply::FLOODED => Fault::Flooded { limit_bytes: self.plan.output_limit_bytes },
            Reply::NOT_STARTED if matches!(reply.errno, libc::EAGAIN | libc::ENOMEM) => {
                let text = format!(
                    "no process could be started: {}: raise the limits on processes, or free \
                     memory",
                    system()
                );
                return Err(RunFailure::Broken(text));
            }
            Reply::NOT_STARTED => Fault::CannotStart { reason: system().to_string() },
            Reply::CANCELLED => return Err(RunFailure::Interrupted),
            _ => {
                let text = format!("a run could not be watched: {}", system());
                return Err(RunFailure::Broken(text));
            }
        };
        Err(RunFailure::Fault(fault))
    }

    fn check_status(&self, status: i32, files: &Files) -> Result<(), RunFailure> {
        let stderr = || output::tail(&files.errors);
        let fault = if libc::WIFSIGNALED(status) {
            Fault::Signal { signal: libc::WTERMSIG(status), stderr: stderr() }
        } else {
            let status = libc::WEXITSTATUS(status);
            if self.plan.success.accepts(status) {
                return Ok(());
            }
            Fault::ExitStatus { status, stderr: stderr() }
        };
        Err(RunFailure::Fault(fault))
    }

    pub(super) fn sample(
        &mut self,
        request: &RunRequest,
        reply: &Reply,
        before: &MetersReading,
        after: &MetersReading,
    ) -> Sample {
        let (outcome, wall_ns) = match reply.end_ns.checked_sub(reply.start_ns) {
            _ if reply.end == Reply::TIMED_OUT => (Outcome::TimedOut, request.timeout_ns),
            Some(wall_ns) => (Outcome::Finished, wall_ns),
            None => (Outcome::Unusable, 0),
        };
        let cpu_ns = reply.user_ns + reply.system_ns;
        let mut around = self.surroundings.after_run(reply.start_ns, wall_ns, cpu_ns);
        let counted = after.counters.since(&before.counters);
        around.beside.migrations = counted.migrations;
        let known = |ns: u64| Some(ns).filter(|ns| *ns != Reply::UNKNOWN);
        around.beside.run_delay_ns = known(reply.run_delay_ns);
        Sample {
            outcome,
            wall_ns,
            user_ns: reply.user_ns,
            system_ns: reply.system_ns,
            peak_memory_bytes: reply.peak_kib * 1024,
            minor_faults: reply.minor_faults,
            major_faults: reply.major_faults,
            voluntary_switches: reply.voluntary_switches,
            involuntary_switches: reply.involuntary_switches,
            meters: Meters {
                energy_nj: self.energy_nj(before, after),
                run_ns: known(reply.run_ns),
                ..counted.meters
            },
            beside: around.beside,
            marks: self.at_floor(reply, marks(reply, outcome, &around, counted.multiplexed)),
        }
    }

    /// Marks a program whose peak is not well above the launcher's own peak, which `exec` passes
    /// on: it may have used less.
    fn at_floor(&self, reply: &Reply, marks: Marks) -> Marks {
        let floor = self.peak_memory_floor_bytes() + MEMORY_FLOOR_SLACK_BYTES;
        if reply.peak_kib * 1024 <= floor { marks.with(Mark::MemoryFloor) } else { marks }
    }

    fn energy_nj(&self, before: &MetersReading, after: &MetersReading) -> Option<u64> {
        let energy = self.energy.as_ref()?;
        energy.since_nj(after.energy.as_ref()?, before.energy.as_ref()?)
    }

    pub(super) fn note_left_behind(
        &mut self,
        index: usize,
        reply: &Reply,
    ) -> Result<(), RunFailure> {
        if reply.left_behind > 0 && self.warned.insert(index) {
            let contestant = self.contestant(index)?.name.clone();
            let name = reply.left_name.split(|byte| *byte == 0).next().unwrap_or_default();
            let process = String::from_utf8_lossy(name).into_owned();
            self.warnings.push(Warning::LeftBehind { contestant, process });
        }
        Ok(())
    }

    /// Returns the digest of an output, accepted by the judge if there is one.
    pub(super) fn judge(
        &mut self,
        contestant: usize,
        file: &File,
    ) -> Result<OutputDigest, RunFailure> {
        let print = output::print(file).map_err(cannot_prepare)?;
        if let Check::Judge(judge) = &self.plan.check {
            let key = (contestant, print.clone());
            if !self.judged.contains(&key) {
                self.shell(contestant, false)?.judge(judge, file)?;
                self.judged.insert(key);
            }
        }
        Ok(print)
    }
}

fn marks(reply: &Reply, outcome: Outcome, around: &Around, multiplexed: bool) -> Marks {
    let mut marks = around.marks(Marks::NONE);
    for (earned, mark) in [
        (reply.involuntary_switches > 1, Mark::Preempted),
        (reply.left_behind > 0, Mark::LeftBehind),
        (outcome == Outcome::Unusable, Mark::ClockBackwards),
        (multiplexed, Mark::Multiplexed),
    ] {
        if earned {
            marks = marks.with(mark);
        }
    }
    marks
}
