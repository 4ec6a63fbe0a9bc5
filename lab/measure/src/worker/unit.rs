//! A unit: contestants loaded, prepared, and run in rounds on request.

use super::batch::{self, Exchange};
use super::conduct::Conduct;
use super::helpers::Helpers;
use super::library::{Contestant, Sink};
use super::meters::Meters;
use super::state::Prepared;
use crate::wire::area::{Area, Record, Turn, WORKER_ITSELF};
use crate::wire::mapping::Mapping;
use crate::wire::message::{Load, Refusal, Reply, Rounds};
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};
use tiebreak_machine::{clock, cpus};

/// Contestants that are ready to run.
pub(super) struct Unit {
    area: Area,
    contestants: Vec<Placed>,
    meters: Meters,
    /// The helpers, which end before what their states point to is unmapped.
    helpers: Helpers,
    /// The memory that the states point to: an input each, in order, and outputs.
    inputs: Vec<Mapping>,
    _outputs: Vec<Mapping>,
    input_bytes: usize,
    exchange: Option<Exchange>,
    conduct: Conduct,
    /// The buffer for dumps, allocated before contestants are loaded, so that it takes none of
    /// their heap later.
    buffer: Vec<u8>,
}

/// A contestant of the unit.
#[derive(Clone, Copy)]
struct Placed {
    prepared: Prepared,
    /// The number of threads that run the same at the same time as the timed one.
    beside: usize,
    /// What it did to the process before its first batch.
    conduct: u64,
}

impl Placed {
    fn resets(&self) -> bool {
        self.prepared.contestant.reset.is_some()
    }
}

impl Unit {
    /// Pins the process, loads all contestants, maps the input once for each, and prepares them,
    /// each after padding in the heap; everything in the order that was drawn.
    ///
    /// # Errors
    /// Fails if a system call fails; the refusal of a contestant is a reply.
    pub(super) fn load(
        load: &Load,
        area: &OwnedFd,
        input: &OwnedFd,
        other: Option<&OwnedFd>,
    ) -> io::Result<Result<Unit, Reply>> {
        if let Some(cpu) = load.cpu {
            cpus::pin_this_thread(&[cpu as usize])?;
        }
        let capacity = usize::try_from(load.capacity).map_err(io::Error::other)?;
        let area = Area::map(area, capacity)?;
        let (buffer, bytes) = (Sink::buffer(), load.input.bytes as usize);
        let mut libraries = Vec::new();
        let as_begun = Conduct::now();
        for (position, member) in (0..).zip(&load.contestants) {
            area.header().enter(position);
            match Contestant::load(&member.object) {
                Ok(contestant) => libraries.push(contestant),
                Err(refusal) => return Ok(Err(Reply::Refused(position, refusal))),
            }
        }
        area.header().enter(WORKER_ITSELF);
        let most = load.contestants.iter().map(|member| beside(member.threads)).max();
        as_begun.restore();
        let mut helpers = Helpers::start(most.unwrap_or(0), &load.helpers)?;
        let mut conduct = Conduct::now();
        let (mut contestants, mut inputs, mut outputs) = (Vec::new(), Vec::new(), Vec::new());
        for ((position, contestant), member) in (0..).zip(libraries).zip(&load.contestants) {
            area.header().enter(position);
            let own = Mapping::input(input, bytes, contestant.input_slack_bytes())?;
            let place = own.start().as_ptr().cast_const();
            inputs.push(own);
            // SAFETY: the input is mapped with that slack until the unit ends.
            let made = unsafe { Prepared::new(contestant, &load.input, place, member.padding)? };
            let Some((prepared, output)) = made else {
                return Ok(Err(Reply::Refused(position, Refusal::NotPrepared)));
            };
            outputs.extend(output);
            let (beside, from) = (beside(member.threads), (&load.input, place));
            // SAFETY: as above; the helpers end before the input is unmapped.
            let are_ready =
                unsafe { helpers.prepare(beside, position, contestant, from, member.padding)? };
            if !are_ready {
                return Ok(Err(Reply::Refused(position, Refusal::NotPrepared)));
            }
            let conduct = conduct.look_at_prepare();
            contestants.push(Placed { prepared, beside, conduct });
        }
        area.header().enter(WORKER_ITSELF);
        let meters = Meters::open(load.meters_energy);
        let exchange = other.map(|other| Exchange::new(input, other, bytes)).transpose()?;
        Ok(Ok(Unit {
            area,
            contestants,
            meters,
            helpers,
            inputs,
            _outputs: outputs,
            input_bytes: bytes,
            exchange,
            conduct,
            buffer,
        }))
    }

    /// Returns whether each contestant resets its state before a run.
    pub(super) fn resets(&self) -> Vec<bool> {
        self.contestants.iter().map(Placed::resets).collect()
    }

    /// Calls each contestant once, the primer last, if there is one, then runs the batches in the
    /// order in the area, and writes their records there. Allocates nothing, unless counters are
    /// requested that do not exist, or a batch is judged: the file then receives the dump.
    pub(super) fn run(&mut self, rounds: &Rounds, dump: Option<OwnedFd>) -> Reply {
        let batches = usize::try_from(rounds.batches).unwrap_or(usize::MAX);
        let count = self.contestants.len() as u32;
        let is_nobody = rounds.primer.is_some_and(|primer| primer >= count);
        if batches > self.area.capacity
            || is_nobody
            || (0..batches).any(|index| self.area.turn(index).position >= count)
        {
            return Reply::Failed("more was asked of a worker than it has loaded".to_owned());
        }
        if rounds.calls_a_batch.len() != self.contestants.len() {
            return Reply::Failed("it was not said how many calls each batch has".to_owned());
        }
        let mut each = self.contestants.iter().zip(&rounds.calls_a_batch);
        let calls_again = each.any(|(placed, calls)| placed.resets() && *calls > 1);
        if calls_again && !rounds.times_each_call {
            let text = "a contestant has a reset, so each call must be timed by itself";
            return Reply::Failed(text.to_owned());
        }
        if rounds.counts {
            self.meters.count();
        }
        if let Some(primer) = rounds.primer {
            self.prime(primer, count, batches);
        }
        let mut dump = dump;
        for index in 0..batches {
            match self.turn(self.area.turn(index), rounds, &mut dump) {
                Ok(record) => self.area.set_record(index, &record),
                Err(error) => return Reply::Failed(error.to_string()),
            }
        }
        self.area.header().enter(WORKER_ITSELF);
        Reply::Done
    }

    /// Makes an untimed call of each contestant in these batches, the primer last.
    fn prime(&mut self, primer: u32, count: u32, batches: usize) {
        let takes_part =
            |area: &Area, one| (0..batches).any(|index| area.turn(index).position == one);
        for one in (1..=count).map(|step| (primer + step) % count) {
            if takes_part(&self.area, one) {
                self.call(one);
                self.contestants[one as usize].conduct |= self.conduct.look();
            }
        }
    }

    /// Makes one untimed call after a reset.
    fn call(&self, position: u32) -> u64 {
        self.area.header().enter(position);
        self.contestants[position as usize].prepared.call()
    }

    /// Runs a batch, and dumps its answer if it is judged.
    fn turn(
        &mut self,
        turn: Turn,
        rounds: &Rounds,
        dump: &mut Option<OwnedFd>,
    ) -> io::Result<Record> {
        let noise = turn.is_judged.then_some(rounds.noise);
        let place = turn.position as usize;
        let Placed { prepared, conduct, .. } = self.contestants[place];
        self.conduct.begin_run();
        let mut record = self.batch(turn.position, rounds, noise)?;
        record.conduct = conduct;
        self.conduct.look_at_run(&mut record);
        record.prepare_ns = prepared.prepare_ns;
        record.allocates = u64::from(prepared.contestant.allocates());
        if let Some(file) = dump.take_if(|_| turn.is_judged) {
            self.area.header().enter(turn.position);
            let begun = Instant::now();
            let buffer = std::mem::take(&mut self.buffer);
            self.buffer = prepared.dump(file, buffer)?;
            record.dump_ns = begun.elapsed().as_nanos() as u64;
        }
        if let Some(exchange) = self.exchange.as_ref().filter(|_| turn.is_judged) {
            self.area.header().enter(turn.position);
            exchange.run(&prepared, &self.inputs[place], &mut record)?;
        }
        if turn.is_judged {
            self.area.header().enter(WORKER_ITSELF);
            record.conduct |= self.conduct.look();
            batch::measure_pace(&mut record, &self.inputs[place], self.input_bytes);
        }
        Ok(record)
    }

    /// Runs a timed batch after an untimed call of the same function. Its helper threads, if it has
    /// any, run from before that call until after the batch. With noise, overwrites the output
    /// before the timed calls.
    fn batch(&mut self, position: u32, rounds: &Rounds, noise: Option<u64>) -> io::Result<Record> {
        let beside = self.contestants[position as usize].beside;
        self.area.header().enter(position);
        self.helpers.begin(beside, position)?;
        let begun = Instant::now();
        let checksum = self.call(position);
        if let Some(noise) = noise {
            self.contestants[position as usize].prepared.overwrite_output(noise);
        }
        self.helpers.wait_until_running(beside, begun.elapsed());
        let mut record = self.timed(position, rounds, checksum);
        record.is_torn |= u64::from(self.helpers.end(beside, checksum)?);
        Ok(record)
    }

    fn timed(&mut self, position: u32, rounds: &Rounds, checksum: u64) -> Record {
        let mut record = self.meters.record();
        record.position = u64::from(position);
        record.checksum = checksum;
        let all = rounds.calls_a_batch[position as usize];
        let (spans, calls) = if rounds.times_each_call { (all, 1) } else { (1, all) };
        let Placed { prepared, beside, .. } = self.contestants[position as usize];
        let mut calls_beside = 0;
        for _ in 0..spans {
            self.area.header().enter(position);
            if prepared.contestant.reset.is_some() {
                let begun_ns = clock::thread_cpu_ns();
                prepared.reset();
                record.reset_ns += clock::thread_cpu_ns().saturating_sub(begun_ns);
            }
            self.area.header().enter(position);
            self.meters.begin();
            self.helpers.look(beside);
            // SAFETY: the state is what this contestant has prepared.
            let span =
                unsafe { batch::time(prepared.contestant.run, prepared.state, calls, checksum) };
            let beside_it = self.helpers.fewest_beside(beside);
            self.meters.end(&mut record);
            let within = Duration::from_nanos(span.wall_ns.unwrap_or(0));
            if beside_it > 0 && self.helpers.end_soon(beside, within) {
                calls_beside += beside_it;
            }
            record.is_backwards |= u64::from(span.wall_ns.is_none());
            record.wall_ns += span.wall_ns.unwrap_or(0);
            record.is_torn |= u64::from(span.is_torn);
        }
        let is_alone = beside > 0 && 2 * calls_beside < all;
        record.is_alone = u64::from(is_alone);
        record
    }
}

/// Returns the number of threads that run the same at the same time as the timed one.
pub(super) fn beside(threads: u32) -> usize {
    threads.saturating_sub(1) as usize
}
