//! One unit: a worker with loaded contestants, the rounds that it runs, and whether its answers are
//! right.

use super::blame::{Crew, Frame, Suspect, no_worker, unexpected};
use super::conduct::Trial;
use super::counting::{self, Counting};
use super::{Workers, checking, not_linked, sample};
use crate::build::Stock;
use crate::honesty::wrong_checksum;
use crate::system::status_number;
use crate::wire::area::{Record, Turn};
use crate::wire::message::{Load, Member, Reply, Request, Rounds};
use std::cell::Cell;
use std::fs::File;
use std::path::PathBuf;
use tiebreak_core::plan::Scope;
use tiebreak_core::sample::Sample;
use tiebreak_core::sampler::{UnitFailure, UnitRan, UnitRequest};
use tiebreak_core::schedule::{RoundCoins, UnitCoins};
use tiebreak_core::study::{Built, FunctionPlan, Placements};
use tiebreak_machine::clock;

impl Workers {
    /// Starts a unit's process, which loads and prepares the contestants.
    fn start(
        &mut self,
        request: &UnitRequest<'_>,
        unit: &UnitCoins,
        frame: &Frame<'_>,
    ) -> Result<Session, UnitFailure> {
        let UnitRequest { coins, members: loaded, orders, .. } = *request;
        // Before any part of the unit exists: none of this is timed.
        self.inputs.of_unit(unit.input_seed)?;
        for contestant in loaded {
            let contract = self.contract(*contestant)?.to_owned();
            self.inputs.checksum(unit.input_seed, &contract)?;
        }
        let mut placements = Vec::new();
        for contestant in loaded {
            let seed = placement_of(*contestant, coins, unit);
            placements.push(Placement::take(&self.stock, *contestant, seed, &self.functions)?);
        }
        let mut padding = coins.padding_bytes.iter().copied().chain(std::iter::repeat(0));
        let own_padding = padding.next().unwrap_or(0);
        let members = placements.iter().zip(loaded).zip(padding);
        let members = members.map(|((placement, contestant), padding)| Member {
            object: placement.path.clone(),
            padding,
            threads: self.functions.built.get(*contestant).map_or(1, Built::threads),
        });
        let input = self.inputs.of_unit(unit.input_seed)?;
        let load = Load {
            contestants: members.collect(),
            cpu: self.functions.cpu.map(|cpu| cpu as u64),
            helpers: self.helpers.clone(),
            stack_bytes: unit.stack_bytes,
            input: input.sizes(),
            capacity: (orders.len().max(1) * loaded.len()) as u64,
            meters_energy: self.meters_energy,
        };
        let (capacity, file) = (load.capacity as usize, input.file.try_clone().map_err(no_worker)?);
        let (mut crew, shared) =
            Crew::start(&self.program, own_padding, capacity, loaded.to_vec())?;
        let other =
            if self.functions.reads_in_run { self.inputs.other(unit.input_seed)? } else { None };
        let files: Vec<&File> = [&shared, &file].into_iter().chain(other).collect();
        match crew.ask(&Request::Load(load), &files, frame)? {
            Reply::Ready(_) => Ok(Session { crew, input_seed: unit.input_seed }),
            other => Err(unexpected(&other)),
        }
    }

    /// Runs a unit, or continues in the existing process. Records in `suspect` which contestant ran
    /// if the process was killed by a signal that other processes may send.
    pub(super) fn timed_unit(
        &mut self,
        request: &UnitRequest<'_>,
        suspect: &Cell<Option<Suspect>>,
    ) -> Result<UnitRan, UnitFailure> {
        let coins = request.coins;
        let begun_ns = clock::monotonic_ns();
        let workload = self.functions.workload.name.clone();
        let timeout_ns = request.timeout_ns;
        let interrupted = self.interrupted;
        let frame = Frame { workload: &workload, interrupted, timeout_ns, suspect };
        let mut session = match (&coins.unit, self.session.take()) {
            // The previous process ends first: its end must not be timed.
            (Some(unit), before) => {
                drop(before);
                self.start(request, unit, &frame)?
            }
            (None, Some(session)) => session,
            (None, None) => {
                let text = "the process that the round should go on in is gone";
                return Err(UnitFailure::Broken(text.into()));
            }
        };
        let batch = Batch {
            calls: &|contestant| self.functions.calls_a_batch.of(contestant),
            times_each_call: self.functions.times_each_call,
            counts: self.counting == Counting::Always,
        };
        let seed = coins.unit.as_ref().map_or(coins.round, |unit| unit.orders_seed);
        let trial = self.trials.draw(request.orders, seed).map(Trial::of).transpose()?;
        let started_ns = clock::monotonic_ns();
        self.surroundings.before_run();
        let primer = Some(coins.primer);
        let records = session.run(request.orders, primer, batch, trial.as_ref(), &frame)?;
        let around = self.surroundings.after_run(started_ns, 0, 0);
        let batches = sorted(request.orders, &coins.order, &records);
        self.judge(&session, &coins.order, &batches)?;
        let input_bytes = self.inputs.of_unit(session.input_seed)?.bytes;
        self.judge_conduct(&coins.order, &batches, input_bytes, &frame)?;
        let ran_ns = clock::monotonic_ns();
        if let Some(trial) = &trial {
            self.verdict_of(trial, &records[trial.turn.batch], session.input_seed, &frame)?;
        }
        let now_ns = clock::monotonic_ns();
        let dumps_ns: u64 = records.iter().map(|record| record.dump_ns).sum();
        let turn = trial.as_ref().map(|trial| &trial.turn);
        self.trials.spent(turn, now_ns - ran_ns + dumps_ns, now_ns - begun_ns);
        let mut samples: Vec<Sample> =
            batches.iter().map(|records| sample::sum(records, &around)).collect();
        if session.crew.members.len() == 1 {
            let peak_bytes = session.peak_memory_bytes();
            samples.iter_mut().for_each(|sample| sample.peak_memory_bytes = peak_bytes);
        }
        if self.counting == Counting::Once {
            self.count(&mut session, request, &mut samples, &frame)?;
        }
        if self.scope == Scope::Layout {
            self.session = Some(session);
        }
        let walls = batches.iter();
        let walls =
            walls.map(|records| records.iter().map(|record| record.wall_ns.into()).collect());
        Ok(UnitRan { samples, batches: walls.collect() })
    }

    /// Runs one more batch of each contestant, which is counted and is not evidence, in the order
    /// of the last round.
    fn count(
        &mut self,
        session: &mut Session,
        request: &UnitRequest<'_>,
        samples: &mut [Sample],
        frame: &Frame<'_>,
    ) -> Result<(), UnitFailure> {
        let coins = request.coins;
        let orders = &request.orders[request.orders.len().saturating_sub(1)..];
        let calls = counting::calls(&self.functions);
        let times_each_call = self.functions.times_each_call;
        let batch = Batch { calls: &calls, times_each_call, counts: true };
        let records = session.run(orders, None, batch, None, frame)?;
        let batches = sorted(orders, &coins.order, &records);
        self.judge(session, &coins.order, &batches)?;
        for ((sample, records), contestant) in samples.iter_mut().zip(&batches).zip(&coins.order) {
            let ran = request.orders.iter().flatten().filter(|who| *who == contestant).count();
            let timed = self.functions.calls_a_batch.of(*contestant).saturating_mul(ran as u64);
            if let Some(counted) = records.first() {
                counting::scale(sample, counted, calls(*contestant), timed);
            }
        }
        Ok(())
    }

    /// Compares the checksums of a unit with the oracle's. If one is wrong, the checking pass finds
    /// out what is wrong with the answer.
    fn judge(
        &mut self,
        session: &Session,
        order: &[usize],
        batches: &[Vec<Record>],
    ) -> Result<(), UnitFailure> {
        for (contestant, records) in order.iter().zip(batches) {
            let contract = self.contract(*contestant)?.to_owned();
            let seed = session.input_seed;
            let right = self.inputs.checksum(seed, &contract)?;
            let Some(first) = records.first().map(|record| record.checksum) else {
                continue;
            };
            let expected = right.unwrap_or(first);
            let wrong = records.iter().find(|record| record.checksum != expected);
            let torn = records.iter().find(|record| record.is_torn != 0);
            let got = match (wrong, torn) {
                (Some(record), _) => record.checksum.to_string(),
                (None, Some(_)) => checking::TORN.to_owned(),
                (None, None) => continue,
            };
            self.check(*contestant, seed)?;
            let workload = &self.functions.workload.name;
            let fault = wrong_checksum(workload, expected, &got);
            return Err(UnitFailure::Fault(*contestant, fault));
        }
        Ok(())
    }
}

/// Returns the seed of the placement that was drawn for a contestant; 0 for "as it was built".
fn placement_of(contestant: usize, coins: &RoundCoins, unit: &UnitCoins) -> u64 {
    let mut drawn = coins.order.iter().zip(&unit.placements);
    drawn.find(|(other, _)| **other == contestant).map_or(0, |(_, seed)| *seed)
}

/// A placement of one unit. Its file is removed once it was loaded, unless placements are reused.
struct Placement {
    path: PathBuf,
    is_kept: bool,
}

impl Placement {
    fn take(
        stock: &Stock,
        contestant: usize,
        seed: u64,
        functions: &FunctionPlan,
    ) -> Result<Placement, UnitFailure> {
        let path = stock.take(contestant, seed).map_err(not_linked)?;
        let is_kept = matches!(functions.placements, Placements::Reused(_));
        Ok(Placement { path, is_kept })
    }
}

impl Drop for Placement {
    fn drop(&mut self) {
        if !self.is_kept {
            // A file that cannot be removed now is removed with the folder of the stock.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Groups records, given in the order in which they ran, by each contestant of `contestants`.
fn sorted(orders: &[Vec<usize>], contestants: &[usize], records: &[Record]) -> Vec<Vec<Record>> {
    let mut all = Vec::new();
    for contestant in contestants {
        let ran = orders.iter().flatten().zip(records).filter(|(who, _)| *who == contestant);
        all.push(ran.map(|(_, record)| *record).collect());
    }
    all
}

/// A worker with the contestants of a unit, and their input.
#[derive(Debug)]
pub(super) struct Session {
    crew: Crew,
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
        if batches > self.crew.area.capacity {
            return Err(UnitFailure::Broken("a worker has no room for so many rounds".into()));
        }
        for (index, contestant) in orders.iter().flatten().enumerate() {
            let is_judged = trial.is_some_and(|trial| trial.turn.batch == index);
            self.crew
                .area
                .set_turn(index, Turn { position: self.position(*contestant)?, is_judged });
        }
        let request = Request::Rounds(Rounds {
            primer: primer.map(|primer| self.position(primer)).transpose()?,
            batches: batches as u64,
            calls_a_batch: self.crew.members.iter().map(|member| (batch.calls)(*member)).collect(),
            times_each_call: batch.times_each_call,
            counts: batch.counts,
            noise: trial.map_or(0, |trial| trial.turn.seed),
        });
        let files: Vec<&File> = trial.iter().map(|trial| &trial.dump).collect();
        match self.crew.ask(&request, &files, frame)? {
            Reply::Done => Ok((0..batches).map(|index| self.crew.area.record(index)).collect()),
            other => Err(unexpected(&other)),
        }
    }

    /// Returns the most memory that the process has had since its start, as the kernel counts it; 0
    /// if the kernel does not report it.
    pub(super) fn peak_memory_bytes(&self) -> u64 {
        let path = format!("/proc/{}/status", self.crew.process.pid());
        let status = std::fs::read_to_string(path).unwrap_or_default();
        status_number(&status, "VmHWM:").unwrap_or(0) * 1024
    }

    /// Returns a contestant's index in the worker.
    fn position(&self, contestant: usize) -> Result<u32, UnitFailure> {
        let place = self.crew.members.iter().position(|member| *member == contestant);
        place
            .map(|place| place as u32)
            .ok_or_else(|| UnitFailure::Broken(format!("contestant {contestant} is not loaded")))
    }
}
