//! Determines whose fault it is that a worker did not answer correctly.
//!
//! Contestants of a unit share a process. One that is killed there, or whose answer is wrong there
//! and right in the checking pass, need not be at fault. Its work is repeated alone.

use super::unit::placement_of;
use super::{Workers, place};
use crate::wire::message::{Request, Trouble};
use crate::worker_process::{Launch, NoReply, Process};
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use tiebreak_core::plan::Scope;
use tiebreak_core::sampler::{UnitFailure, UnitRan, UnitRequest};
use tiebreak_core::schedule::{RoundCoins, UnitCoins};
use tiebreak_core::study::BatchCalls;
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

/// A worker, and the contestants in it.
#[derive(Debug)]
pub(super) struct Crew {
    pub(super) process: Process,
    /// Indices of contestants in the plan, in the order in which they are loaded.
    pub(super) members: Vec<usize>,
    /// The workload that they run on, for messages.
    pub(super) workload: String,
}

impl Crew {
    /// Starts a worker with this padding in its environment and room for this many batches.
    pub(super) fn start(
        launch: &Launch,
        padding_bytes: u32,
        capacity: usize,
        members: &[usize],
        workload: &str,
    ) -> Result<Crew, UnitFailure> {
        let process = Process::start(launch, padding_bytes, capacity).map_err(no_worker)?;
        Ok(Crew { process, members: members.to_vec(), workload: workload.to_owned() })
    }

    /// Sends a request and returns the reply, or the failure if there is none. If the contestant
    /// that ran was killed by a signal that other processes may send too, [`foreign_signal`] tells
    /// it.
    pub(super) fn ask<T: DeserializeOwned>(
        &mut self,
        request: &Request,
        files: &[&File],
        timeout_ns: u64,
    ) -> Result<T, UnitFailure> {
        self.ask_and(request, files, timeout_ns, &mut || ())
    }

    /// [`Crew::ask`], which does something else after the request was sent.
    pub(super) fn ask_and<T: DeserializeOwned>(
        &mut self,
        request: &Request,
        files: &[&File],
        timeout_ns: u64,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<T, UnitFailure> {
        let no_reply = match self.process.ask_and(request, files, timeout_ns, meanwhile) {
            Ok(reply) => return Ok(reply),
            Err(no_reply) => no_reply,
        };
        let workload = self.workload.clone();
        let fault = match no_reply {
            NoReply::Interrupted => return Err(UnitFailure::Interrupted),
            NoReply::Lost(error) => return Err(no_worker(error)),
            NoReply::Trouble(Trouble::Failed(why)) => return Err(broken(&why)),
            NoReply::Trouble(Trouble::NotPrepared) => Fault::NotPrepared { workload },
            NoReply::Trouble(Trouble::Unusable(reason)) => Fault::CannotStart { reason },
            NoReply::Hung => Fault::Hung { workload, seconds: timeout_ns.div_ceil(1_000_000_000) },
            NoReply::Ended(status) => fault_of(status, self.process.last_errors()),
        };
        let (_, running) = self.process.area.header().look();
        match (self.members.get(running), &fault) {
            (Some(contestant), _) => Err(UnitFailure::Fault(*contestant, fault)),
            (None, Fault::Signal { signal, .. }) if !OWN_SIGNALS.contains(signal) => {
                Err(killed(*signal))
            }
            (None, _) => Err(broken(&format!("while no contestant ran, it {fault}"))),
        }
    }
}

/// Returns the fault of a contestant whose process has ended like this, having printed this.
fn fault_of(status: ExitStatus, stderr: String) -> Fault {
    match status.signal() {
        Some(signal) => Fault::Signal { signal, stderr },
        None => Fault::ExitStatus { status: status.code().unwrap_or_default(), stderr },
    }
}

/// Returns the contestant that ran when its process was killed by a signal that other processes may
/// send, and the signal: the cause is not known yet.
pub(super) fn foreign_signal(failure: &UnitFailure) -> Option<(usize, i32)> {
    match failure {
        UnitFailure::Fault(contestant, Fault::Signal { signal, .. }) => {
            (!OWN_SIGNALS.contains(signal)).then_some((*contestant, *signal))
        }
        _ => None,
    }
}

/// Returns the failure for which no contestant is at fault if the cause is not known.
pub(super) fn without_suspect(failure: UnitFailure) -> UnitFailure {
    foreign_signal(&failure).map_or(failure, |(_, signal)| killed(signal))
}

fn killed(signal: i32) -> UnitFailure {
    UnitFailure::Broken(format!(
        "a worker was killed from outside (signal {signal}): by another process, or for want of \
         memory"
    ))
}

/// Returns the failure if a worker could not be started, or has ended.
pub(super) fn no_worker(error: io::Error) -> UnitFailure {
    broken(&format!("{error}: free memory, or raise the limits on processes and open files"))
}

/// Returns the failure of a worker for which no contestant is at fault.
fn broken(why: &str) -> UnitFailure {
    UnitFailure::Broken(format!("the worker that runs functions failed: {why}"))
}

impl Workers {
    /// Runs a unit, or continues in the existing process. A contestant that ran in it when it was
    /// killed, or whose answer was wrong only in it, is run alone, to determine whether it is at
    /// fault.
    pub(super) fn unit(&mut self, request: &UnitRequest<'_>) -> Result<UnitRan, UnitFailure> {
        let failure = match self.timed_unit(request) {
            Ok(ran) => return Ok(ran),
            Err(failure) => failure,
        };
        if let Some((contestant, signal)) = foreign_signal(&failure) {
            // It is its own fault if it is also killed in its checking pass.
            return Err(match self.check(contestant, self.input_seed(request)) {
                Err(UnitFailure::Interrupted) => UnitFailure::Interrupted,
                Err(again) if foreign_signal(&again) == Some((contestant, signal)) => again,
                _ => killed(signal),
            });
        }
        match failure {
            // No item is named if the checking pass finds nothing.
            UnitFailure::Fault(contestant, Fault::WrongAnswer { item: None, .. })
                if request.members.len() > 1 =>
            {
                Err(self.wrong_again(request, contestant, failure))
            }
            _ => Err(failure),
        }
    }

    /// Returns the failure of a unit in which a contestant's answer was wrong: its fault, if the
    /// answer is also wrong in a separate process, on the same input and with as many calls. If
    /// not, one contestant writes to memory of another, and it is unknown which.
    fn wrong_again(
        &mut self,
        request: &UnitRequest<'_>,
        contestant: usize,
        failure: UnitFailure,
    ) -> UnitFailure {
        let beside = request.coins;
        let mut unit = beside.unit.clone().unwrap_or_else(|| UnitCoins {
            input_seed: self.input_seed(request),
            orders_seed: beside.round,
            stack_bytes: 0,
            placements: Vec::new(),
        });
        unit.placements = vec![placement_of(contestant, beside, &unit)];
        let loaded_at = place(contestant, request.members).unwrap_or(0);
        let padding = [0, 1 + loaded_at].map(|index| beside.padding_bytes.get(index).copied());
        let coins = RoundCoins {
            primer: Some(contestant),
            order: vec![contestant],
            padding_bytes: padding.map(Option::unwrap_or_default).to_vec(),
            unit: Some(unit),
            load_seed: None,
            ..*beside
        };
        let orders = vec![coins.order.clone(); request.orders.len()];
        let (coins, members) = (&coins, &coins.order);
        let alone = UnitRequest { coins, members, orders: &orders, ..*request };
        let calls = self.functions.calls_a_batch.of(contestant, &beside.order);
        let planned =
            std::mem::replace(&mut self.functions.calls_a_batch, BatchCalls::Alike(calls));
        let again = self.timed_unit(&alone);
        self.functions.calls_a_batch = planned;
        self.session = None;
        match again {
            Ok(_) => self.one_writes_to_another(contestant, request.members),
            Err(UnitFailure::Fault(_, Fault::WrongAnswer { .. })) => failure,
            Err(other) => without_suspect(other),
        }
    }

    fn one_writes_to_another(&self, contestant: usize, members: &[usize]) -> UnitFailure {
        let others = members.iter().filter(|other| **other != contestant);
        let others = others.map(|other| self.name(*other)).collect::<Vec<_>>().join(", ");
        UnitFailure::Broken(format!(
            "{accused} answered wrongly next to {others} on {workload} and rightly alone, on the \
             same input with as many calls: one of them writes to memory of another, and none \
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
        let check = |raw: i32, expected: Fault, is_foreign: bool| {
            let fault = fault_of(ExitStatus::from_raw(raw), "said".to_owned());
            assert_eq!(fault, expected, "{raw}");
            let found = foreign_signal(&UnitFailure::Fault(3, fault));
            assert_eq!(found, is_foreign.then_some((3, raw)));
        };
        let signal = |signal| Fault::Signal { signal, stderr: "said".to_owned() };
        check(libc::SIGSEGV, signal(libc::SIGSEGV), false);
        check(libc::SIGABRT | 0x80, signal(libc::SIGABRT), false);
        check(libc::SIGKILL, signal(libc::SIGKILL), true);
        check(libc::SIGTERM, signal(libc::SIGTERM), true);
        check(3 << 8, Fault::ExitStatus { status: 3, stderr: "said".to_owned() }, false);
    }
}
