//! A unit: contestants loaded, prepared, and run in rounds on request.

use super::batch;
use super::conduct::Conduct;
use super::helpers::Helpers;
use super::library::{Contestant, Sink};
use super::meters::Meters;
use super::state::Prepared;
use super::tasks::{OwnThreads, Tasks};
use crate::wire::area::{Area, Header, Record, WORKER_ITSELF};
use crate::wire::mapping::Mapping;
use crate::wire::message::{Load, Rounds, Trouble};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};
use tiebreak_machine::{clock, cpus};

/// Contestants that are ready to run.
pub(super) struct Unit {
    area: &'static Area,
    pub(super) contestants: Vec<Placed>,
    meters: Meters,
    input_bytes: usize,
    /// The input and another one, if there is one to exchange it with.
    exchange: Option<[OwnedFd; 2]>,
    conduct: Conduct,
    /// The sink for dumps, whose buffer is allocated before contestants are loaded, so that it
    /// takes none of their heap later.
    pub(super) sink: Sink,
}

/// A contestant of the unit.
pub(super) struct Placed {
    pub(super) prepared: Prepared,
    /// The threads that run the same at the same time as the timed one. They end before the input
    /// is unmapped.
    pub(super) helpers: Helpers,
    /// The threads that it has started itself.
    threads: OwnThreads,
    /// What it did to the process before its first batch.
    conduct: u64,
    /// Its own mapping of the input, to which its states point.
    pub(super) input: Mapping,
}

impl Unit {
    /// Pins the process, loads all contestants, maps the input once for each, and prepares them,
    /// each after padding in the heap; everything in the order that was drawn. The files are the
    /// input, and another input if there is one to exchange it with.
    ///
    /// # Errors
    /// Fails if a system call fails, or if a contestant cannot be loaded or prepared.
    pub(super) fn load(
        load: &Load,
        area: &'static Area,
        files: Vec<OwnedFd>,
    ) -> Result<Unit, Trouble> {
        let input = files.first().ok_or(io::Error::from(io::ErrorKind::InvalidInput))?;
        if let Some(cpu) = load.cpu {
            cpus::pin_this_thread(&[cpu])?;
        }
        let header = area.header();
        let (sink, bytes) = (Sink::new(), load.input.bytes as usize);
        let (mut libraries, mut tasks) = (Vec::new(), Tasks::now());
        let as_begun = Conduct::now(load.starts_processes);
        for (position, member) in load.contestants.iter().enumerate() {
            header.enter(position);
            let library = Contestant::load(Path::new(&member.object))?;
            libraries.push((library, tasks.started()));
        }
        header.enter(WORKER_ITSELF);
        as_begun.restore();
        let mut conduct = Conduct::now(load.starts_processes);
        let mut contestants = Vec::new();
        for (position, (member, library)) in load.contestants.iter().zip(libraries).enumerate() {
            header.enter(position);
            let (contestant, mut threads) = library;
            let input = Mapping::input(input, bytes, contestant.input_slack_bytes())?;
            let place = input.start().as_ptr().cast_const();
            let (count, padding) = (member.beside, member.padding);
            // SAFETY: the input is mapped with that slack until the unit ends.
            let prepared = unsafe { Prepared::new(contestant, &load.input, place, padding)? };
            // Helpers take over what is undone here.
            let did = conduct.look_at_prepare(0);
            threads.extend(tasks.started());
            let (cpus, sizes) = (&load.helpers, &load.input);
            // SAFETY: as above; the helpers end before the input is unmapped.
            let helpers =
                unsafe { Helpers::start(count, cpus, contestant, sizes, place, padding)? };
            let conduct = did | conduct.look_at_prepare(count);
            // Those of the helpers.
            tasks.started();
            let threads = OwnThreads::new(threads);
            contestants.push(Placed { prepared, helpers, threads, conduct, input });
        }
        header.enter(WORKER_ITSELF);
        let meters = Meters::open(load.meters_energy);
        let (input_bytes, exchange) = (bytes, files.try_into().ok());
        Ok(Unit { area, contestants, meters, input_bytes, exchange, conduct, sink })
    }

    pub(super) fn header(&self) -> &'static Header {
        self.area.header()
    }

    /// Runs the batches in order, and writes their records to the area. After those that warm up,
    /// calls each contestant once, the primer last, if there is one. Allocates nothing, unless
    /// counters are requested that do not exist, or a batch is on trial: the file then receives the
    /// dump.
    ///
    /// # Errors
    /// Fails if a dump cannot be written, or if a helper has ended.
    pub(super) fn run(
        &mut self,
        rounds: &Rounds,
        mut dump: Option<OwnedFd>,
    ) -> Result<(), Trouble> {
        let mut each = self.contestants.iter().zip(&rounds.calls_a_batch);
        let calls_again =
            each.any(|(placed, calls)| placed.prepared.contestant.reset.is_some() && *calls > 1);
        if calls_again && !rounds.times_each_call {
            let text = "a contestant has a reset, so each call must be timed by itself";
            return Err(Trouble::Failed(text.to_owned()));
        }
        if rounds.counts {
            self.meters.count();
        }
        for (index, position) in rounds.order.iter().enumerate() {
            if let Some(primer) = rounds.primer.filter(|_| index == rounds.warm) {
                self.prime(primer, &rounds.order);
            }
            let record = match rounds.trial.filter(|(batch, _)| *batch == index) {
                None => self.turn(*position, rounds, None)?,
                Some((_, noise)) => self.trial(*position, rounds, noise, dump.take())?,
            };
            self.area.set_record(index, &record);
        }
        self.header().enter(WORKER_ITSELF);
        Ok(())
    }

    /// Makes an untimed call of each contestant in these batches, the primer last.
    fn prime(&mut self, primer: usize, order: &[usize]) {
        let count = self.contestants.len();
        for one in (1..=count).map(|step| (primer + step) % count) {
            if order.contains(&one) {
                self.header().enter(one);
                self.contestants[one].prepared.call();
                self.contestants[one].conduct |= self.conduct.look();
            }
        }
    }

    /// Runs a batch, and records what the contestant did to the process.
    fn turn(
        &mut self,
        position: usize,
        rounds: &Rounds,
        noise: Option<u64>,
    ) -> Result<Record, Trouble> {
        self.conduct.begin_run();
        let mut record = self.batch(position, rounds, noise)?;
        let Placed { prepared, conduct, threads, .. } = &mut self.contestants[position];
        record.conduct = *conduct;
        threads.report(&mut record);
        self.conduct.look_at_run(&mut record);
        record.prepare_ns = prepared.prepare_ns;
        record.allocates = u64::from(prepared.contestant.allocates());
        Ok(record)
    }

    /// Runs a batch on trial: its output is overwritten before the timed calls, and it dumps its
    /// answer, answers for another input, if there is one, and the pace of the core is measured.
    fn trial(
        &mut self,
        position: usize,
        rounds: &Rounds,
        noise: u64,
        dump: Option<OwnedFd>,
    ) -> Result<Record, Trouble> {
        let mut record = self.turn(position, rounds, Some(noise))?;
        let Placed { prepared, input, .. } = &self.contestants[position];
        if let Some(file) = dump {
            self.area.header().enter(position);
            let begun = Instant::now();
            prepared.dump(&mut self.sink, file)?;
            record.dump_ns = begun.elapsed().as_nanos() as u64;
        }
        if let Some(exchange) = &self.exchange {
            self.area.header().enter(position);
            batch::exchange(exchange, self.input_bytes, prepared, input, &mut record)?;
        }
        self.area.header().enter(WORKER_ITSELF);
        record.conduct |= self.conduct.look();
        batch::measure_pace(&mut record, input, self.input_bytes);
        Ok(record)
    }

    /// Runs a timed batch after an untimed call of the same function. Its helper threads, if it has
    /// any, run from before that call until after the batch. With noise, overwrites the output
    /// before the timed calls.
    fn batch(
        &mut self,
        position: usize,
        rounds: &Rounds,
        noise: Option<u64>,
    ) -> Result<Record, Trouble> {
        let Placed { prepared, helpers, .. } = &mut self.contestants[position];
        let header = self.area.header();
        header.enter(position);
        helpers.begin()?;
        let begun = Instant::now();
        header.enter(position);
        let checksum = prepared.call();
        if let Some(noise) = noise {
            prepared.overwrite_output(noise);
        }
        helpers.wait_until_running(begun.elapsed());
        self.others(position).for_each(OwnThreads::begin);
        let mut record = self.timed(position, rounds, checksum);
        self.others(position).for_each(|threads| threads.end(&record));
        record.is_torn |= u64::from(self.contestants[position].helpers.end(checksum)?);
        Ok(record)
    }

    /// Returns the threads of all contestants but this one.
    fn others(&mut self, position: usize) -> impl Iterator<Item = &mut OwnThreads> {
        let all = self.contestants.iter_mut().enumerate();
        all.filter(move |(other, _)| *other != position).map(|(_, placed)| &mut placed.threads)
    }

    fn timed(&mut self, position: usize, rounds: &Rounds, checksum: u64) -> Record {
        let mut record = Record { checksum, ..self.meters.record() };
        let all = rounds.calls_a_batch[position];
        let (spans, calls) = if rounds.times_each_call { (all, 1) } else { (1, all) };
        let Placed { prepared, helpers, .. } = &mut self.contestants[position];
        let header = self.area.header();
        let mut calls_beside = 0;
        for _ in 0..spans {
            header.enter(position);
            if prepared.contestant.reset.is_some() {
                let begun_ns = clock::thread_cpu_ns();
                prepared.reset();
                record.reset_ns += clock::thread_cpu_ns().saturating_sub(begun_ns);
            }
            header.enter(position);
            self.meters.begin();
            helpers.look();
            // SAFETY: the state is what this contestant has prepared.
            let span =
                unsafe { batch::time(prepared.contestant.run, prepared.state, calls, checksum) };
            let beside_it = helpers.fewest_beside();
            self.meters.end(&mut record);
            let within = Duration::from_nanos(span.wall_ns.unwrap_or(0));
            if beside_it > 0 && helpers.end_soon(within) {
                calls_beside += beside_it;
            }
            record.is_backwards |= u64::from(span.wall_ns.is_none());
            record.wall_ns += span.wall_ns.unwrap_or(0);
            record.is_torn |= u64::from(span.is_torn);
        }
        record.is_alone = u64::from(helpers.count() > 0 && 2 * calls_beside < all);
        record
    }
}
