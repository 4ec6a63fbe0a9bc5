//! One unit: a worker with loaded contestants, the rounds that it runs, and whether its answers are
//! right.

use super::blame::{Crew, no_worker};
use super::counting::{self, Counting};
use super::{Workers, checking, contract, not_linked, place, sample};
use crate::files::memory_file;
use crate::honesty::wrong_checksum;
use crate::stillness;
use crate::system::status_number;
use crate::wire::area::Record;
use crate::wire::message::{Load, Member, Request, Rounds, Sizes};
use crate::worker_process::{Launch, Process};
use std::fs::File;
use tiebreak_core::plan::Scope;
use tiebreak_core::sample::Sample;
use tiebreak_core::sampler::{UnitFailure, UnitRan, UnitRequest};
use tiebreak_core::schedule::{RoundCoins, UnitCoins};
use tiebreak_core::study::{Built, Placements};
use tiebreak_machine::clock;

/// A process that was started ahead for a unit.
#[derive(Debug)]
pub(super) struct Started {
    process: Process,
    padding_bytes: u32,
    capacity: usize,
}

/// A worker with the contestants of a unit, and the seed of their input.
#[derive(Debug)]
pub(super) struct Session {
    crew: Crew,
    input_seed: u64,
}

impl Workers {
    /// Loads and prepares the contestants of a unit in a new process, which was started ahead if
    /// the unit was expected. Meanwhile, on another CPU if there is one, the process and the
    /// placements of the next unit are made.
    fn start(
        &mut self,
        request: &UnitRequest<'_>,
        unit: &UnitCoins,
    ) -> Result<Session, UnitFailure> {
        let UnitRequest { coins, members: loaded, orders, timeout_ns } = *request;
        let input_seed = unit.input_seed;
        let mut padding = coins.padding_bytes.iter().copied().chain(std::iter::repeat(0));
        let own_padding = padding.next().unwrap_or(0);
        let rounds = orders.len().max(1) + self.functions.pilot.warm_rounds as usize;
        let capacity = rounds * loaded.len();
        let workload = &self.functions.workload.name;
        let fitting = self
            .started
            .take()
            .filter(|one| one.padding_bytes == own_padding && one.capacity >= capacity);
        let mut crew = match fitting {
            Some(Started { mut process, .. }) => {
                process.work_now();
                Crew { process, members: loaded.to_vec(), workload: workload.clone() }
            }
            None => Crew::start(&self.launch, own_padding, capacity, loaded, workload)?,
        };
        for contestant in loaded {
            self.inputs.checksum(input_seed, contract(&self.functions, *contestant)?)?;
        }
        let (input, _) = self.inputs.of_unit(input_seed)?;
        let (sizes, file) = (input.sizes(), input.file.try_clone().map_err(no_worker)?);
        let mut members = Vec::new();
        for (contestant, padding) in loaded.iter().zip(padding) {
            let seed = placement_of(*contestant, coins, unit);
            let object = self.stock.take(*contestant, seed).map_err(not_linked)?;
            members.push(self.member(*contestant, object.into(), padding));
        }
        let load = Load {
            stack_bytes: unit.stack_bytes,
            meters_energy: self.meters_energy,
            ..self.load(members, sizes)
        };
        let objects: Vec<_> = load.contestants.iter().map(|one| one.object.clone()).collect();
        let reads_in_run = self.functions.reads_in_run;
        let other = if reads_in_run { self.inputs.other(input_seed)? } else { None };
        let files: Vec<&File> = [&file].into_iter().chain(other).collect();
        let (stock, launch, started) = (&self.stock, &self.launch, &mut self.started);
        let coming = self.coming.take();
        let ready: Result<(), _> =
            crew.ask_and(&Request::Load(load), &files, timeout_ns, &mut || {
                if let Some(coming) = &coming {
                    *started = Started::of(coming, launch, capacity);
                    stock.make_ahead(&placements(coming));
                }
            });
        if !matches!(self.functions.placements, Placements::Reused(_)) {
            for object in objects {
                // A file that cannot be removed now is removed with the folder of the stock.
                let _ = std::fs::remove_file(object);
            }
        }
        ready.map(|()| Session { crew, input_seed })
    }

    /// Returns what a worker needs to load these, on a stack that was not moved.
    pub(super) fn load(&self, contestants: Vec<Member>, input: Sizes) -> Load {
        let (cpu, helpers) = (self.functions.cpu, self.helpers.clone());
        let (meters_energy, starts_processes) = (false, self.functions.starts_processes);
        Load { contestants, cpu, helpers, stack_bytes: 0, input, meters_energy, starts_processes }
    }

    /// Returns what a worker needs to know of a contestant.
    pub(super) fn member(
        &self,
        contestant: usize,
        object: std::ffi::OsString,
        padding: u32,
    ) -> Member {
        let threads = self.functions.built.get(contestant).map_or(1, Built::threads);
        Member { object, padding, beside: threads.saturating_sub(1) as usize }
    }

    /// Returns a new session for a unit, or the one in which a round goes on.
    fn session_of(&mut self, request: &UnitRequest<'_>) -> Result<Session, UnitFailure> {
        let before = self.session.take();
        match &request.coins.unit {
            Some(unit) => {
                drop(before);
                self.start(request, unit)
            }
            None => before.ok_or_else(|| {
                let text = "the process that the round should go on in is gone";
                UnitFailure::Broken(text.into())
            }),
        }
    }

    /// Runs a unit, or continues in the existing process.
    pub(super) fn timed_unit(&mut self, request: &UnitRequest<'_>) -> Result<UnitRan, UnitFailure> {
        let coins = request.coins;
        let begun_ns = clock::monotonic_ns();
        let mut session = self.session_of(request)?;
        let turn = self.trials.draw(request.orders, seed_within(coins));
        let dump = turn.map(|_| memory_file()).transpose().map_err(no_worker)?;
        // What predicts branches learns the input, and memory is used for the first time.
        let warm_rounds =
            coins.unit.as_ref().map_or(0, |_| self.functions.pilot.warm_rounds as usize);
        let orders = [vec![coins.order.clone(); warm_rounds], request.orders.to_vec()].concat();
        let warm = warm_rounds * coins.order.len();
        let (members, calls) = (&session.crew.members, &self.functions.calls_a_batch);
        let rounds = Rounds {
            warm,
            primer: coins.primer,
            order: orders.concat(),
            calls_a_batch: members.iter().map(|one| calls.of(*one, &coins.order)).collect(),
            times_each_call: self.functions.times_each_call,
            counts: self.counting == Counting::Always,
            trial: turn.map(|turn| (warm + turn.batch, turn.seed)),
        };
        let started_ns = clock::monotonic_ns();
        self.surroundings.before_run();
        let still = stillness::timed();
        let (records, rounds_ns) = session.run(rounds, dump.as_ref(), request.timeout_ns)?;
        // For the next unit: nothing works ahead now.
        self.quiet.look();
        drop(still);
        let around = self.surroundings.after_run(started_ns, 0, 0);
        let peak_bytes = (session.crew.members.len() == 1).then(|| session.peak_memory_bytes());
        let is_counted = self.counting == Counting::Once;
        if self.scope != Scope::Layout && !is_counted {
            session.crew.process.kill(&self.spare_cpus);
        }
        let mut batches = sorted(&orders, &coins.order, &records);
        self.judge(session.input_seed, &coins.order, &batches)?;
        let input_bytes = self.inputs.of_unit(session.input_seed)?.0.bytes;
        self.judge_conduct(&coins.order, &batches, input_bytes)?;
        batches.iter_mut().for_each(|records| drop(records.drain(..warm_rounds)));
        let ran_ns = clock::monotonic_ns();
        if let Some((turn, dump)) = turn.as_ref().zip(dump.as_ref()) {
            let calls = self.functions.calls_a_batch.of(turn.contestant, &coins.order);
            self.judge_trial(turn, calls, dump, &records[warm + turn.batch], session.input_seed)?;
        }
        let now_ns = clock::monotonic_ns();
        let dumps_ns: u64 = records.iter().map(|record| record.dump_ns).sum();
        self.trials.spent(turn.as_ref(), now_ns - ran_ns + dumps_ns, now_ns - begun_ns);
        let mut samples: Vec<Sample> =
            batches.iter().map(|records| sample::sum(records, &around)).collect();
        if let Some(peak_bytes) = peak_bytes {
            samples.iter_mut().for_each(|sample| sample.peak_memory_bytes = peak_bytes);
        }
        if is_counted {
            self.count(&mut session, request, &mut samples)?;
        }
        if self.scope == Scope::Layout {
            self.session = Some(session);
        } else {
            if is_counted {
                session.crew.process.kill(&self.spare_cpus);
            }
            // The one before has ended: no span was timed before that.
            self.ending = Some(session.crew.process);
        }
        let walls = |of: &Vec<Record>| of.iter().map(|record| record.wall_ns.into()).collect();
        Ok(UnitRan {
            samples,
            batches: batches.iter().map(walls).collect(),
            rounds_ns: rounds_ns.saturating_sub(dumps_ns),
        })
    }

    /// Runs one more batch of each contestant, which is counted and is not evidence, in the order
    /// of the last round.
    fn count(
        &mut self,
        session: &mut Session,
        request: &UnitRequest<'_>,
        samples: &mut [Sample],
    ) -> Result<(), UnitFailure> {
        let order = &request.coins.order;
        let orders = &request.orders[request.orders.len().saturating_sub(1)..];
        let members = &session.crew.members;
        let rounds = Rounds {
            warm: 0,
            primer: None,
            order: orders.concat(),
            calls_a_batch: members
                .iter()
                .map(|who| counting::calls(&self.functions, *who, order))
                .collect(),
            times_each_call: self.functions.times_each_call,
            counts: true,
            trial: None,
        };
        let still = stillness::timed();
        let (records, _) = session.run(rounds, None, request.timeout_ns)?;
        drop(still);
        let batches = sorted(orders, order, &records);
        self.judge(session.input_seed, order, &batches)?;
        for ((sample, records), contestant) in samples.iter_mut().zip(&batches).zip(order) {
            let ran = request.orders.iter().flatten().filter(|who| *who == contestant).count();
            let timed = self.functions.calls_a_batch.of(*contestant, order);
            let timed = timed.saturating_mul(ran as u64);
            if let Some(counted) = records.first() {
                let calls = counting::calls(&self.functions, *contestant, order);
                counting::scale(sample, counted, calls, timed);
            }
        }
        Ok(())
    }

    /// Compares the checksums of a unit with the oracle's. If one is wrong, the checking pass finds
    /// out what is wrong with the answer.
    fn judge(
        &mut self,
        input_seed: u64,
        order: &[usize],
        batches: &[Vec<Record>],
    ) -> Result<(), UnitFailure> {
        for (contestant, records) in order.iter().zip(batches) {
            let contract = contract(&self.functions, *contestant)?;
            let right = self.inputs.checksum(input_seed, contract)?;
            let Some(first) = records.first() else { continue };
            let expected = right.unwrap_or(first.checksum);
            let wrong = records.iter().find(|record| record.checksum != expected);
            let got = match wrong {
                Some(record) => record.checksum.to_string(),
                None if records.iter().any(|record| record.is_torn != 0) => {
                    checking::TORN.to_owned()
                }
                None => continue,
            };
            self.check(*contestant, input_seed)?;
            let fault = wrong_checksum(&self.functions.workload.name, expected, &got);
            return Err(UnitFailure::Fault(*contestant, fault));
        }
        Ok(())
    }
}

/// Returns the placements that were drawn for a unit, with the contestant of each.
pub(super) fn placements(coins: &RoundCoins) -> Vec<(usize, u64)> {
    let drawn = coins.unit.iter().flat_map(|unit| unit.placements.iter().copied());
    coins.order.iter().copied().zip(drawn).collect()
}

impl Started {
    /// Starts a process for a unit; `None` if that is impossible now.
    fn of(coins: &RoundCoins, launch: &Launch, capacity: usize) -> Option<Started> {
        let padding_bytes = coins.padding_bytes.first().copied().unwrap_or(0);
        let process = Process::start_ahead(launch, padding_bytes, capacity).ok()?;
        Some(Started { process, padding_bytes, capacity })
    }
}

/// Returns the seed of the placement that was drawn for a contestant; 0 for "as it was built".
pub(super) fn placement_of(contestant: usize, coins: &RoundCoins, unit: &UnitCoins) -> u64 {
    let mut drawn = coins.order.iter().zip(&unit.placements);
    drawn.find(|(other, _)| **other == contestant).map_or(0, |(_, seed)| *seed)
}

/// Returns the seed of what is drawn within a unit, or the number of a round that goes on in one.
fn seed_within(coins: &RoundCoins) -> u64 {
    coins.unit.as_ref().map_or(coins.round, |unit| unit.orders_seed)
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

impl Session {
    /// Runs rounds of contestants that are named by their index in the plan, except in
    /// `calls_a_batch`, and returns the records in the order in which the batches ran, and how long
    /// all took. If a batch is on trial, it leaves its answer in the dump.
    fn run(
        &mut self,
        mut rounds: Rounds,
        dump: Option<&File>,
        timeout_ns: u64,
    ) -> Result<(Vec<Record>, u64), UnitFailure> {
        let Session { crew, .. } = self;
        let batches = rounds.order.len();
        if batches > crew.process.area.capacity {
            return Err(UnitFailure::Broken("a worker has no room for so many rounds".into()));
        }
        for contestant in rounds.order.iter_mut().chain(&mut rounds.primer) {
            *contestant = place(*contestant, &crew.members).ok_or_else(|| {
                UnitFailure::Broken(format!("contestant {contestant} is not loaded"))
            })?;
        }
        let begun_ns = clock::monotonic_ns();
        crew.ask::<()>(&Request::Rounds(rounds), dump.as_slice(), timeout_ns)?;
        let took_ns = clock::monotonic_ns() - begun_ns;
        Ok(((0..batches).map(|index| crew.process.area.record(index)).collect(), took_ns))
    }

    /// Returns the most memory that the process has had since its start, as the kernel counts it; 0
    /// if the kernel does not report it.
    fn peak_memory_bytes(&self) -> u64 {
        let path = format!("/proc/{}/status", self.crew.process.pid());
        let status = std::fs::read_to_string(path).unwrap_or_default();
        status_number(&status, "VmHWM:").unwrap_or(0) * 1024
    }
}
