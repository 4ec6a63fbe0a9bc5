//! Contestants on several threads: the CPUs of these, and the pass that judges the answer of each.

use super::Workers;
use super::blame::{no_worker, unexpected};
use super::checking::{Case, wrong_checksum};
use super::difference;
use super::process::{Process, WorkerProgram};
use crate::output::memory_file;
use crate::worker::area::Area;
use crate::worker::message::{HelperCpus, Member, Reply, Request, Sizes, Together};
use std::os::fd::AsFd;
use std::path::Path;
use tiebreak_core::sampler::UnitFailure;
use tiebreak_core::study::{Built, FunctionPlan};
use tiebreak_core::verdict::Fault;
use tiebreak_machine::cpus;

/// Returns the CPUs of the helper threads: as many as the largest team of the plan needs, none if
/// nothing is pinned.
///
/// # Errors
/// Fails if there are fewer CPUs than threads; the text gives both numbers.
pub(super) fn helper_cpus(
    functions: &FunctionPlan,
    allowed: &[usize],
) -> Result<HelperCpus, String> {
    let most = functions.built.iter().map(Built::threads).max().unwrap_or(1).max(1) as usize;
    if most > allowed.len().max(1) {
        let many = allowed.len();
        return Err(format!("a contestant runs on {most} threads, and there are {many} CPUs"));
    }
    let Some(cpu) = functions.cpu else { return Ok(Vec::new()) };
    let order = cpus::apart(cpu, allowed).into_iter().take(most - 1);
    Ok(order.map(|cpu| cpu as u64).collect())
}

/// The pass of a contestant on all of its threads at once.
pub(super) struct Pass {
    member: Member,
    cpu: Option<u64>,
    helpers: HelperCpus,
}

impl Workers {
    /// Returns the pass of a contestant; `None` if it runs on one thread.
    pub(super) fn together(
        &self,
        contestant: usize,
        library: &Path,
    ) -> Result<Option<Pass>, UnitFailure> {
        let threads = self.functions.built.get(contestant).map_or(1, Built::threads);
        let member = Member { object: library.to_owned(), padding: 0, threads };
        let cpu = self.functions.cpu.map(|cpu| cpu as u64);
        let pass = Pass { member, cpu, helpers: self.helpers.clone() };
        Ok((threads > 1).then_some(pass))
    }
}

impl Pass {
    /// Runs the pass in a new process and compares the answers of all threads with the oracle's.
    ///
    /// # Errors
    /// Returns the contestant's fault, an interruption, or an error that no contestant caused.
    pub(super) fn judge(
        self,
        program: &WorkerProgram,
        contestant: usize,
        case: &Case<'_>,
    ) -> Result<(), UnitFailure> {
        let failed = |error: std::io::Error| no_worker(&error);
        let input = Sizes {
            bytes: case.input.bytes,
            items: case.input.items,
            output_bytes: case.input.output_bytes,
        };
        let Pass { member, cpu, helpers } = self;
        let threads = member.threads;
        let request = Request::Together(Together { member, cpu, helpers, input });
        let (area, shared) = Area::create(0).map_err(failed)?;
        let (dump, other) = (memory_file().map_err(failed)?, memory_file().map_err(failed)?);
        let mut process = Process::start(program, 0).map_err(failed)?;
        let descriptors = [shared.as_fd(), case.input.file.as_fd(), dump.as_fd(), other.as_fd()];
        let reply = process.ask(&request, &descriptors, &case.frame.patience(&area));
        let reply = case.frame.settle(reply, &mut process, &area, &[contestant])?;
        let Reply::Together { checksum, other: differing, is_torn } = reply else {
            return Err(unexpected(&reply));
        };
        case.compare(contestant, &dump, [checksum; 2])?;
        let workload = case.frame.workload;
        if let Some(differing) = differing {
            // The first thread is right, so this one is wrong. Without an oracle's answer it is
            // unknown which of the two is.
            let expected = case.answer.map_or(&dump, |answer| &answer.text);
            let compared = difference::first(expected, &other).map_err(failed)?;
            let fault = match compared {
                Some(found) => Fault::WrongAnswer {
                    workload: of(workload, threads),
                    item: Some(found.item),
                    expected: found.expected,
                    got: found.got,
                },
                None => wrong_checksum(&of(workload, threads), checksum, &differing.to_string()),
            };
            return Err(UnitFailure::Fault(contestant, fault));
        }
        if is_torn {
            let got = "another number in some of its calls";
            let fault = wrong_checksum(&of(workload, threads), checksum, got);
            return Err(UnitFailure::Fault(contestant, fault));
        }
        Ok(())
    }
}

/// Returns the name of a workload that is wrong only on several threads at once.
fn of(workload: &str, threads: u32) -> String {
    format!("{workload} on {threads} threads")
}
