//! Determines whose fault it is that a worker did not answer correctly.
//!
//! Contestants of a unit share a process. One that is killed there, or whose answer is wrong there
//! and right in the checking pass, need not be at fault. Its work is repeated alone.

use super::Workers;
use crate::wire::area::Area;
use crate::wire::message::{Refusal, Reply, Request};
use crate::worker_process::{NoReply, Patience, Process, WorkerProgram};
use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::atomic::AtomicBool;
use tiebreak_core::plan::Scope;
use tiebreak_core::sampler::{UnitFailure, UnitRan, UnitRequest};
use tiebreak_core::schedule::{RoundCoins, UnitCoins};
use tiebreak_core::verdict::Fault;

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

/// A worker, the memory that it shares, and the contestants in it.
#[derive(Debug)]
pub(super) struct Crew {
    pub(super) process: Process,
    pub(super) area: Area,
    /// Indices of contestants in the plan, in the order in which they are loaded.
    pub(super) members: Vec<usize>,
}

impl Crew {
    /// Starts a worker with this padding in its environment and an area for this many batches.
    /// Returns it with the file of the area, for the first request.
    pub(super) fn start(
        program: &WorkerProgram,
        padding_bytes: u32,
        capacity: usize,
        members: Vec<usize>,
    ) -> Result<(Crew, File), UnitFailure> {
        let (area, file) = Area::create(capacity).map_err(no_worker)?;
        let process = Process::start(program, padding_bytes).map_err(no_worker)?;
        Ok((Crew { process, area, members }, file))
    }

    /// Sends a request and returns the answer, or the failure if there is none.
    pub(super) fn ask(
        &mut self,
        request: &Request,
        files: &[&File],
        frame: &Frame<'_>,
    ) -> Result<Reply, UnitFailure> {
        let descriptors: Vec<_> = files.iter().map(|file| file.as_fd()).collect();
        let Frame { interrupted, timeout_ns, .. } = *frame;
        let patience = Patience { interrupted, timeout_ns, area: Some(&self.area) };
        let reply = self.process.ask(request, &descriptors, &patience);
        let (_, running) = self.area.header().look();
        let workload = frame.workload.to_owned();
        let (position, fault) = match reply {
            Ok(Reply::Refused(position, Refusal::NotPrepared)) => {
                (position, Fault::NotPrepared { workload })
            }
            Ok(Reply::Refused(position, refusal)) => {
                (position, Fault::CannotStart { reason: refusal.sentence() })
            }
            Ok(Reply::Failed(why)) => return Err(broken(&why)),
            Ok(reply) => return Ok(reply),
            Err(NoReply::Interrupted) => return Err(UnitFailure::Interrupted),
            Err(NoReply::Lost(error)) => return Err(no_worker(error)),
            Err(NoReply::Hung) => {
                let seconds = timeout_ns.div_ceil(1_000_000_000);
                (running, Fault::Hung { workload, seconds })
            }
            Err(NoReply::Ended(status)) => match fault_of(status, || self.process.last_errors()) {
                Some(fault) => (running, fault),
                None => {
                    let signal = status.signal().unwrap_or_default();
                    let running = self.members.get(running as usize).copied();
                    frame.suspect.set(running.map(|contestant| Suspect { contestant, signal }));
                    return Err(killed(signal));
                }
            },
        };
        match self.members.get(position as usize) {
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

fn place(contestant: usize, all: &[usize]) -> Option<usize> {
    all.iter().position(|other| *other == contestant)
}

fn killed(signal: i32) -> UnitFailure {
    UnitFailure::Broken(format!(
        "a worker was killed from outside (signal {signal}), by somebody or for want of memory"
    ))
}

/// Returns the failure if a worker could not be started, or has ended.
pub(super) fn no_worker(error: io::Error) -> UnitFailure {
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

impl Workers {
    /// Runs a unit, or continues in the existing process. A contestant that ran in it when it was
    /// killed, or whose answer was wrong only in it, is run alone, to determine whether it is at
    /// fault.
    pub(super) fn unit(&mut self, request: &UnitRequest<'_>) -> Result<UnitRan, UnitFailure> {
        let suspect = Cell::new(None);
        let ran = self.timed_unit(request, &suspect);
        match (&ran, suspect.get()) {
            (_, Some(suspect)) => self.killed_again(request, suspect, ran),
            // No item is named if the checking pass finds nothing.
            (Err(UnitFailure::Fault(who, Fault::WrongAnswer { item: None, .. })), None)
                if request.members.len() > 1 =>
            {
                self.wrong_again(request, *who, ran)
            }
            _ => ran,
        }
    }

    /// Returns the result of a unit whose process was killed: the contestant's fault, if it is also
    /// killed in its checking pass.
    fn killed_again(
        &mut self,
        request: &UnitRequest<'_>,
        Suspect { contestant, signal }: Suspect,
        ran: Result<UnitRan, UnitFailure>,
    ) -> Result<UnitRan, UnitFailure> {
        match self.check(contestant, self.input_seed(request)) {
            Err(UnitFailure::Fault(who, Fault::Signal { signal: again, stderr }))
                if again == signal =>
            {
                Err(UnitFailure::Fault(who, Fault::Signal { signal, stderr }))
            }
            Err(UnitFailure::Interrupted) => Err(UnitFailure::Interrupted),
            _ => ran,
        }
    }

    /// Returns the result of a unit in which a contestant's answer was wrong: its fault, if the
    /// answer is also wrong in a separate process, on the same input and with as many calls. If
    /// not, one contestant writes to memory of another, and it is unknown which.
    fn wrong_again(
        &mut self,
        request: &UnitRequest<'_>,
        contestant: usize,
        ran: Result<UnitRan, UnitFailure>,
    ) -> Result<UnitRan, UnitFailure> {
        let RoundCoins { order, padding_bytes, unit, .. } = request.coins;
        let loaded_at = place(contestant, request.members).unwrap_or(0);
        let padding = [0, 1 + loaded_at].map(|index| padding_bytes.get(index).copied());
        let placements = unit.as_ref().map_or(&[][..], |unit| &unit.placements);
        let placement = place(contestant, order).and_then(|place| placements.get(place));
        let coins = RoundCoins {
            primer: contestant,
            order: vec![contestant],
            padding_bytes: padding.map(Option::unwrap_or_default).to_vec(),
            unit: Some(UnitCoins {
                input_seed: self.input_seed(request),
                orders_seed: unit.as_ref().map_or(request.coins.round, |unit| unit.orders_seed),
                stack_bytes: unit.as_ref().map_or(0, |unit| unit.stack_bytes),
                placements: vec![placement.copied().unwrap_or(0)],
            }),
            ..*request.coins
        };
        let orders = vec![coins.order.clone(); request.orders.len()];
        let (coins, members) = (&coins, &coins.order);
        let alone = UnitRequest { coins, members, orders: &orders, ..*request };
        let again = self.timed_unit(&alone, &Cell::new(None));
        self.session = None;
        match again {
            Ok(_) => Err(self.one_writes_to_another(contestant, request.members)),
            Err(UnitFailure::Fault(_, Fault::WrongAnswer { .. })) => ran,
            Err(other) => Err(other),
        }
    }

    fn one_writes_to_another(&self, contestant: usize, members: &[usize]) -> UnitFailure {
        let others = members.iter().filter(|other| **other != contestant);
        let others = others.map(|other| self.name(*other)).collect::<Vec<_>>().join(", ");
        UnitFailure::Broken(format!(
            "{accused} answered wrongly beside {others} on {workload} and rightly alone, on the \
             same input with as many calls: one of them writes to memory of another, and nobody \
             is void for it. The finished units are kept: race each of them against others, or run \
             them under a memory checker, to find out which it is",
            accused = self.name(contestant),
            workload = self.functions.workload.name,
        ))
    }

    fn name(&self, contestant: usize) -> &str {
        self.names.get(contestant).map_or("?", String::as_str)
    }

    /// Returns the seed of a request's input; at scope `layout`, where later rounds have none, that
    /// of the last input that was used.
    fn input_seed(&self, request: &UnitRequest<'_>) -> u64 {
        let of_unit = request.coins.unit.as_ref().map(|unit| unit.input_seed);
        let last = self.inputs.last_seed().filter(|_| self.scope == Scope::Layout);
        of_unit.or(last).unwrap_or(self.functions.workload.seed)
    }
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
