//! A worker with loaded contestants, and the rounds that it runs.

use super::blame::{Frame, no_worker, unexpected};
use super::process::Process;
use super::trials::Trial;
use crate::worker::area::{Area, Record, Turn};
use crate::worker::message::{Load, Reply, Request, Rounds};
use std::fs::File;
use std::os::fd::AsFd;
use tiebreak_core::sampler::UnitFailure;

/// A worker and its contestants.
#[derive(Debug)]
pub(super) struct Session {
    process: Process,
    area: Area,
    /// Indices of contestants in the plan, in the order in which they were loaded.
    members: Vec<usize>,
    input_seed: u64,
}

/// The kind of a unit's batches.
#[derive(Clone, Copy)]
pub(super) struct Batch<'a> {
    /// The number of calls in a batch, by contestant.
    pub(super) calls: &'a dyn Fn(usize) -> u64,
    pub(super) times_each_call: bool,
    /// Whether hardware counters count them.
    pub(super) counts: bool,
}

impl Session {
    /// Lets a worker load and prepare these contestants, in the order of `load`.
    pub(super) fn start(
        mut process: Process,
        members: Vec<usize>,
        load: Load,
        (input, other, input_seed): (&File, Option<&File>, u64),
        frame: &Frame<'_>,
    ) -> Result<Session, UnitFailure> {
        let made = Area::create(load.capacity as usize);
        let (area, file) = made.map_err(|error| no_worker(&error))?;
        let files = [Some(&file), Some(input), other].into_iter().flatten();
        let descriptors: Vec<_> = files.map(AsFd::as_fd).collect();
        let reply = process.ask(&Request::Load(load), &descriptors, &frame.patience(&area));
        match frame.settle(reply, &mut process, &area, &members)? {
            Reply::Ready(_) => Ok(Session { process, area, members, input_seed }),
            other => Err(unexpected(&other)),
        }
    }

    /// Returns its contestants.
    pub(super) fn members(&self) -> &[usize] {
        &self.members
    }

    /// Returns the seed of the input that they work on.
    pub(super) fn input_seed(&self) -> u64 {
        self.input_seed
    }

    /// Runs rounds, given as orders of contestants of the plan, after a call of each contestant in
    /// them, the primer last, if there is one. Returns the records in the order in which the
    /// batches ran. If a batch is on trial, it leaves its answer in the trial's file.
    pub(super) fn run(
        &mut self,
        orders: &[Vec<usize>],
        primer: Option<usize>,
        batch: Batch<'_>,
        trial: Option<&Trial>,
        frame: &Frame<'_>,
    ) -> Result<Vec<Record>, UnitFailure> {
        let batches: usize = orders.iter().map(Vec::len).sum();
        if batches > self.area.capacity() {
            return Err(UnitFailure::Broken("a worker has no room for so many rounds".into()));
        }
        for (index, contestant) in orders.iter().flatten().enumerate() {
            let is_judged = trial.is_some_and(|trial| trial.turn.batch == index);
            self.area.set_turn(index, Turn { position: self.position(*contestant)?, is_judged });
        }
        let request = Request::Rounds(Rounds {
            primer: primer.map(|primer| self.position(primer)).transpose()?,
            batches: batches as u64,
            calls_a_batch: self.members.iter().map(|member| (batch.calls)(*member)).collect(),
            times_each_call: batch.times_each_call,
            counts: batch.counts,
            noise: trial.map_or(0, |trial| trial.turn.seed),
        });
        let descriptors: Vec<_> = trial.iter().map(|trial| trial.dump.as_fd()).collect();
        let reply = self.process.ask(&request, &descriptors, &frame.patience(&self.area));
        match frame.settle(reply, &mut self.process, &self.area, &self.members)? {
            Reply::Done => Ok((0..batches).map(|index| self.area.record(index)).collect()),
            other => Err(unexpected(&other)),
        }
    }

    /// Returns the most memory that the process has had since its start, as the kernel counts it; 0
    /// if the kernel does not report it.
    pub(super) fn peak_memory_bytes(&self) -> u64 {
        let path = format!("/proc/{}/status", self.process.pid());
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
        kib.unwrap_or(0) * 1024
    }

    /// Returns a contestant's index in the worker.
    fn position(&self, contestant: usize) -> Result<u32, UnitFailure> {
        let place = self.members.iter().position(|member| *member == contestant);
        let missing = || UnitFailure::Broken(format!("contestant {contestant} is not loaded"));
        place.map(|place| place as u32).ok_or_else(missing)
    }
}
