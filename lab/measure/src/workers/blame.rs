//! Determines whose fault it is that a worker did not answer correctly.

use super::process::{NoReply, Process};
use crate::worker::area::Area;
use crate::worker::message::{Refusal, Reply};
use std::cell::Cell;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::atomic::AtomicBool;
use tiebreak_core::sampler::UnitFailure;
use tiebreak_core::verdict::Fault;

use super::process::Patience;

/// Signals that a process causes itself, and that do not come from another process or a lack of
/// memory.
const OWN_SIGNALS: [i32; 10] = [
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGSEGV,
    libc::SIGPIPE,
    libc::SIGALRM,
    libc::SIGSYS,
    libc::SIGXCPU,
];

/// What every wait for a worker needs.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    pub(super) workload: &'a str,
    pub(super) interrupted: &'static AtomicBool,
    pub(super) timeout_ns: u64,
    /// Set when a worker is killed while a contestant runs: the cause is not known yet.
    pub(super) suspect: &'a Cell<Option<Suspect>>,
}

/// A contestant that ran when its worker was killed by a signal that other processes may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Suspect {
    pub(super) contestant: usize,
    pub(super) signal: i32,
}

impl<'a> Frame<'a> {
    /// Returns how long to wait for a worker with this area.
    pub(super) fn patience(&self, area: &'a Area) -> Patience<'a> {
        let interrupted = Some(self.interrupted);
        Patience { interrupted, timeout_ns: self.timeout_ns, area: Some(area) }
    }

    /// Returns the answer of a worker in which `members` are loaded, or the failure if there is
    /// none.
    pub(super) fn settle(
        &self,
        reply: Result<Reply, NoReply>,
        process: &mut Process,
        area: &Area,
        members: &[usize],
    ) -> Result<Reply, UnitFailure> {
        let (_, running) = area.header().look();
        let workload = || self.workload.to_owned();
        let (position, fault) = match reply {
            Ok(Reply::Refused(position, Refusal::NotPrepared)) => {
                (position, Fault::NotPrepared { workload: workload() })
            }
            Ok(Reply::Refused(position, refusal)) => {
                (position, Fault::CannotStart { reason: refusal.sentence() })
            }
            Ok(Reply::Failed(why)) => return Err(broken(&why)),
            Ok(reply) => return Ok(reply),
            Err(NoReply::Interrupted) => return Err(UnitFailure::Interrupted),
            Err(NoReply::Lost(error)) => return Err(no_worker(&error)),
            Err(NoReply::Hung) => {
                let seconds = self.timeout_ns.div_ceil(1_000_000_000);
                (running, Fault::Hung { workload: workload(), seconds })
            }
            Err(NoReply::Ended(status)) => match fault_of(status, || process.said()) {
                Some(fault) => (running, fault),
                None => {
                    let signal = status.signal().unwrap_or_default();
                    let running = members.get(running as usize);
                    let suspect = |contestant: &usize| Suspect { contestant: *contestant, signal };
                    self.suspect.set(running.map(suspect));
                    return Err(killed(signal));
                }
            },
        };
        match members.get(position as usize) {
            Some(contestant) => Err(UnitFailure::Fault(*contestant, fault)),
            None => Err(broken(&format!("while no contestant ran, it {fault}"))),
        }
    }
}

/// Returns the contestant's fault if it ended the process; `None` if something else killed it.
fn fault_of(status: ExitStatus, said: impl FnOnce() -> String) -> Option<Fault> {
    match (status.signal(), status.code()) {
        (Some(signal), _) if OWN_SIGNALS.contains(&signal) => {
            Some(Fault::Signal { signal, stderr: said() })
        }
        (None, Some(status)) => Some(Fault::ExitStatus { status, stderr: said() }),
        _ => None,
    }
}

fn killed(signal: i32) -> UnitFailure {
    UnitFailure::Broken(format!(
        "a worker was killed from outside (signal {signal}), by somebody or for want of memory"
    ))
}

/// Returns the failure if a worker could not be started, or has ended.
pub(super) fn no_worker(error: &io::Error) -> UnitFailure {
    broken(&format!("{error}: free memory, or raise the limits on processes and open files"))
}

/// Returns the failure of a worker for which no contestant is at fault.
pub(super) fn broken(why: &str) -> UnitFailure {
    UnitFailure::Broken(format!("the worker that runs functions failed: {why}"))
}

/// Returns the failure of a worker with an unexpected answer.
pub(super) fn unexpected(reply: &Reply) -> UnitFailure {
    broken(&format!("it answered {reply:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_kills_a_worker_is_told_from_whoever_crashes_it() {
        let check = |raw: i32, expected: Option<Fault>| {
            let said = || "said".to_owned();
            assert_eq!(fault_of(ExitStatus::from_raw(raw), said), expected, "{raw}");
        };
        let signal = |signal| Some(Fault::Signal { signal, stderr: "said".to_owned() });
        check(libc::SIGSEGV, signal(libc::SIGSEGV));
        check(libc::SIGABRT | 0x80, signal(libc::SIGABRT));
        check(libc::SIGKILL, None);
        check(libc::SIGTERM, None);
        check(3 << 8, Some(Fault::ExitStatus { status: 3, stderr: "said".to_owned() }));
    }
}
