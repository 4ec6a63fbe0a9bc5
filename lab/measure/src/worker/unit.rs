//! A unit: contestants loaded, prepared, and run in rounds as they are asked for.

use super::area::{Area, NOBODY, Record};
use super::batch;
use super::library::Contestant;
use super::memory::{Mapping, PAGE_BYTES};
use super::message::{Load, Refusal, Reply, Rounds, Sizes};
use super::meters::Meters;
use std::io;
use std::os::fd::OwnedFd;
use tiebreak_abi::RawWorkload;
use tiebreak_machine::cpus;

/// Contestants that are ready to run.
pub(super) struct Unit {
    area: Area,
    contestants: Vec<Prepared>,
    meters: Meters,
    /// What the states point to.
    _input: Mapping,
    _outputs: Vec<Mapping>,
}

#[derive(Clone, Copy)]
struct Prepared {
    contestant: Contestant,
    state: *mut libc::c_void,
}

/// What came of loading a unit.
pub(super) enum Loaded {
    Ready(Box<Unit>),
    Refused(u32, Refusal),
}

impl Unit {
    /// Pins the process, loads all contestants, maps the input, and prepares them, each after
    /// padding in the heap; everything in the order that was drawn.
    ///
    /// # Errors
    /// What the system says; what a contestant refuses is no error.
    pub(super) fn load(load: &Load, area: &OwnedFd, input: &OwnedFd) -> io::Result<Loaded> {
        if let Some(cpu) = load.cpu {
            cpus::pin_this_thread(&[cpu as usize])?;
        }
        let capacity = usize::try_from(load.capacity).map_err(io::Error::other)?;
        let area = Area::map(area, capacity)?;
        let mut libraries = Vec::new();
        for (position, (library, _)) in (0..).zip(&load.contestants) {
            area.header().enter(position);
            match Contestant::load(library) {
                Ok(contestant) => libraries.push(contestant),
                Err(refusal) => return Ok(Loaded::Refused(position, refusal)),
            }
        }
        area.header().enter(NOBODY);
        let slack = libraries.iter().map(Contestant::input_slack_bytes).max().unwrap_or(0);
        let mapped = Mapping::input(input, load.input.bytes as usize, slack)?;
        let (mut contestants, mut outputs) = (Vec::new(), Vec::new());
        for (position, (contestant, (_, padding))) in
            (0..).zip(libraries.into_iter().zip(&load.contestants))
        {
            let output = output(&contestant, &load.input, *padding)?;
            let place = output.as_ref().map_or(std::ptr::null_mut(), |(_, place)| *place);
            outputs.extend(output.map(|(mapping, _)| mapping));
            pad_heap(*padding);
            let workload = workload(&load.input, mapped.start().as_ptr(), place);
            area.header().enter(position);
            // SAFETY: the table says that this prepares a state from a workload, and what the
            // workload points to lives as long as the unit.
            let state = unsafe { (contestant.prepare)(&raw const workload) };
            if state.is_null() {
                return Ok(Loaded::Refused(position, Refusal::NotPrepared));
            }
            contestants.push(Prepared { contestant, state });
        }
        area.header().enter(NOBODY);
        let meters = Meters::open(load.meters_energy);
        let (_input, _outputs) = (mapped, outputs);
        Ok(Loaded::Ready(Box::new(Unit { area, contestants, meters, _input, _outputs })))
    }

    /// Whether each contestant resets its state before a run.
    pub(super) fn resets(&self) -> Vec<bool> {
        self.contestants.iter().map(|prepared| prepared.contestant.reset.is_some()).collect()
    }

    /// Calls the primer once if there is one, then runs the batches in the order that the area
    /// holds, and leaves their records there. Allocates nothing, unless counters are asked for that
    /// are not there.
    pub(super) fn run(&mut self, rounds: &Rounds) -> Reply {
        let batches = usize::try_from(rounds.batches).unwrap_or(usize::MAX);
        let count = self.contestants.len() as u32;
        let is_known = |index: usize| self.area.order(index) < count;
        let is_nobody = rounds.primer.is_some_and(|primer| primer >= count);
        if batches > self.area.capacity() || is_nobody || !(0..batches).all(is_known) {
            return Reply::Failed("more was asked of a worker than it has loaded".to_owned());
        }
        let calls_again = rounds.calls_a_batch > 1 && !rounds.times_each_call;
        if calls_again && self.contestants.iter().any(|each| each.contestant.reset.is_some()) {
            let text = "a contestant has a reset, so each call must be timed by itself";
            return Reply::Failed(text.to_owned());
        }
        if rounds.counts {
            self.meters.count();
        }
        if let Some(primer) = rounds.primer {
            self.call(primer);
        }
        for index in 0..batches {
            let record = self.batch(self.area.order(index), rounds);
            self.area.set_record(index, &record);
        }
        self.area.header().enter(NOBODY);
        Reply::Done
    }

    /// One untimed call after a reset.
    fn call(&self, position: u32) -> u64 {
        self.reset(position);
        let Prepared { contestant, state } = self.contestants[position as usize];
        self.area.header().enter(position);
        // SAFETY: the state is what this contestant has prepared.
        unsafe { (contestant.run)(state) }
    }

    fn reset(&self, position: u32) {
        let Prepared { contestant, state } = self.contestants[position as usize];
        if let Some(reset) = contestant.reset {
            self.area.header().enter(position);
            // SAFETY: the state is what this contestant has prepared.
            unsafe { reset(state) };
        }
    }

    /// A timed batch after an untimed call of the same function.
    fn batch(&mut self, position: u32, rounds: &Rounds) -> Record {
        let checksum = self.call(position);
        let mut record = self.meters.record();
        record.position = u64::from(position);
        record.checksum = checksum;
        let (spans, calls) = match rounds.times_each_call {
            true => (rounds.calls_a_batch, 1),
            false => (1, rounds.calls_a_batch),
        };
        let Prepared { contestant, state } = self.contestants[position as usize];
        for _ in 0..spans {
            self.reset(position);
            self.area.header().enter(position);
            self.meters.begin();
            // SAFETY: the state is what this contestant has prepared.
            let span = unsafe { batch::time(contestant.run, state, calls, checksum) };
            self.meters.end(&mut record);
            record.is_backwards |= u64::from(span.wall_ns.is_none());
            record.wall_ns += span.wall_ns.unwrap_or(0);
            record.is_torn |= u64::from(span.is_torn);
        }
        record
    }
}

/// A contestant's own output, at an offset within its page that was drawn with its padding; nothing
/// if it needs none.
fn output(
    contestant: &Contestant,
    sizes: &Sizes,
    padding: u32,
) -> io::Result<Option<(Mapping, *mut u8)>> {
    let bytes = sizes.output_bytes as usize + contestant.output_slack_bytes();
    if bytes == 0 {
        return Ok(None);
    }
    let offset = padding as usize % PAGE_BYTES;
    let offset = offset - offset % contestant.alignment_bytes();
    let mapping = Mapping::private(bytes + offset)?;
    let place = mapping.start().as_ptr().wrapping_add(offset);
    Ok(Some((mapping, place)))
}

/// Takes so much of the heap, for as long as the process lives.
fn pad_heap(bytes: u32) {
    // SAFETY: the memory is left alone, for good; the address is only kept from being optimised
    // away.
    std::hint::black_box(unsafe { libc::malloc(bytes as usize) });
}

pub(super) fn workload(sizes: &Sizes, input: *const u8, output: *mut u8) -> RawWorkload {
    RawWorkload {
        struct_bytes: size_of::<RawWorkload>() as u32,
        reserved: 0,
        input,
        input_bytes: sizes.bytes,
        output,
        output_bytes: sizes.output_bytes,
        items: sizes.items,
    }
}
